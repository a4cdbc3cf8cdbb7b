#pragma once
// What `ctl show` prints for people.
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

namespace matchrdma {

/// `what` as in `show`; `result` as the daemon sends it.
void print_view(const std::string& what, const nlohmann::ordered_json& result, std::ostream& out);

}  // namespace matchrdma
