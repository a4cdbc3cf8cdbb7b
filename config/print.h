#pragma once
#include <string>

#include "config/config.h"
#include "config/shown.h"

namespace matchrdma {

/// Every key with its value, defaults too; what has none is left out. Secrets are not in it, only their files.
Shown show_config(const Config& c);
/// The same as a file that can be loaded.
std::string print_config(const Config& c);

}  // namespace matchrdma
