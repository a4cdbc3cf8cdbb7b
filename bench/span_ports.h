#pragma once
// The two ports of a span for a benchmark's worker, and the memory of its packets.
#include <memory>
#include <string>
#include <vector>

#include "proxy/daemon/dpdk_io.h"

namespace matchrdma {

struct SpanPorts {
  std::unique_ptr<io::MbufPool> pool;
  std::vector<daemon::PortPair> ports;  ///< one pair, as DpdkIo takes them
};

/// `pool`: its name. `ports`: what both have in common; device and tag are filled in.
Result<SpanPorts> open_span_ports(const std::string& pool, uint32_t packets, const std::string& lan,
                                  const std::string& wan, const io::PortOptions& ports);

}  // namespace matchrdma
