#pragma once
#include <string>

namespace matchrdma {

/// Every key of the schema as tables in Markdown, for docs/configuration.md.
std::string config_reference();

}  // namespace matchrdma
