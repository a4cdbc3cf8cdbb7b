#pragma once
// How much memory this machine has to give.
#include <cstdint>
#include <optional>
#include <string>

namespace matchrdma::daemon {

/// Bytes that this process can still take: what the kernel calls available (MemAvailable, proc_meminfo(5)), and
/// no more than its cgroups leave it (memory.max less memory.current, version 2). Empty: nobody tells. `root`:
/// the folder in which proc and sys stand.
std::optional<uint64_t> memory_room(const std::string& root = "");

}  // namespace matchrdma::daemon
