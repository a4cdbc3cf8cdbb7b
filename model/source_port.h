#pragma once
// UDP source port of connection management (the others: dataplane/wire/source_port.h).
#include <cstdint>

namespace matchrdma::model {

/// Port of QP 1 at Soft-RoCE: a hash of its own number alone.
inline constexpr uint16_t kCmSourcePort = 0xd872;

}  // namespace matchrdma::model
