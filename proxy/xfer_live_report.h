#pragma once
#include <iosfwd>
#include <string>
#include <vector>

#include "proxy/xfer_live.h"

namespace matchrdma {

/// Payload bits a second, seen by the sender from its first packet until it had all buffers back.
double live_bits_per_second(const LiveRow& row);
void print_live(const std::vector<LiveRow>& rows, std::ostream& out);
/// `device`: this end's.
Result<void> write_live_json(const std::vector<LiveRow>& rows, const std::string& device,
                             const std::string& path);
/// Wrong bytes that nobody told of.
bool any_wrong(const std::vector<LiveRow>& rows);

}  // namespace matchrdma
