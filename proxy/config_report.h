#pragma once
#include <iosfwd>
#include <nlohmann/json.hpp>

#include "config/load.h"

namespace matchrdma {

/// Errors and warnings as a table for people. Nothing where there are none.
void print_complaints(std::ostream& out, const ConfigResult& r);
/// {"file", "ok", "errors": [...], "warnings": [...]}
nlohmann::ordered_json complaints_json(const std::string& file, const ConfigResult& r);
/// Every key with its value; lists of words stay lists.
nlohmann::ordered_json config_json(const Config& c);

}  // namespace matchrdma
