#pragma once
// IP addresses as people write them.
#include <optional>
#include <string>

#include "dataplane/base/types.h"

namespace matchrdma::service {

std::string ip_text(const IpAddress& a);
std::optional<IpAddress> ip_from_text(const std::string& text);

}  // namespace matchrdma::service
