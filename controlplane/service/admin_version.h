#pragma once
#include <cstdint>

namespace matchrdma::service {

/// "v" of every request and reply of the admin protocol (docs/admin.md).
inline constexpr uint64_t kAdminVersion = 1;
inline constexpr const char* kAdminSocket = "/run/matchrdma/admin.sock";

}  // namespace matchrdma::service
