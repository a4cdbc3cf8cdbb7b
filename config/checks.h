#pragma once
// What no value can tell alone. Each check says which key is wrong and what to do; a value that could not be
// read is not held against another one.
#include <functional>

#include "config/config.h"
#include "config/notes.h"

namespace matchrdma {

void check_spans(const Config& c, Notes& notes);
void check_classes(const Config& c, Notes& notes);
void check_limits(const Config& c, Notes& notes);
void check_daemon(const Config& c, Notes& notes);

/// The same text for all ways to write the path of one file.
using OneName = std::function<std::string(const std::string& path)>;
/// A file that is written has one use. `own`: the path of the configuration, or empty.
void check_paths(const Config& c, const std::string& own, const OneName& one_name, Notes& notes);

/// "spans[3]"
inline std::string nth(const std::string& list, size_t i) { return list + "[" + std::to_string(i) + "]"; }

}  // namespace matchrdma
