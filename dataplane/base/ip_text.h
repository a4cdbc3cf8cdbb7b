#pragma once
// IP addresses as people write them.
#include <optional>
#include <string>

#include "dataplane/base/types.h"

namespace matchrdma {

/// RFC 5952 for IPv6.
std::string ip_text(const IpAddress& a);
/// The whole text must be one address.
std::optional<IpAddress> ip_from_text(const std::string& text);

}  // namespace matchrdma
