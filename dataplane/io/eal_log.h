#pragma once
// What DPDK has to say, kept instead of printed.
#include <string>

namespace matchrdma::io {

/// Sends DPDK's log into a bounded buffer of this process, from now on. Call it before anything of DPDK.
void capture_dpdk_log();
/// A place in the log, for log_since().
size_t log_mark();
/// The last lines that were logged behind `mark`, in one line, for the end of an error sentence; "(DPDK logged
/// nothing)" when there are none.
std::string log_since(size_t mark, size_t lines = 4);

}  // namespace matchrdma::io
