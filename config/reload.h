#pragma once
#include <string>
#include <vector>

#include "config/config.h"

namespace matchrdma {

/// Key paths in which `next` differs and that a running daemon cannot change. Empty: apply `next` whole.
/// Otherwise refuse it whole and name them.
std::vector<std::string> restart_needed(const Config& running, const Config& next);

}  // namespace matchrdma
