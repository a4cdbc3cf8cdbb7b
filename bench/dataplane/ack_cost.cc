#include "bench/dataplane/ack_cost.h"

#include "dataplane/io/ring/primitives.h"

#include "dataplane/wire/ack_frame.h"

namespace matchrdma::dataplane_bench {

std::vector<double> ack_cycles(io::MbufPool& pool) {
  constexpr uint32_t kBatch = 1024, kBatches = 1024;
  L2L3 net;
  net.src = IpAddress::v4(std::array<uint8_t, 4>{10, 1, 0, 1}.data());
  net.dst = IpAddress::v4(std::array<uint8_t, 4>{10, 0, 0, 1}.data());
  AckFrame frame;
  frame.prepare(net, Qpn{7}, 0xffff, true);
  std::vector<double> all;
  uint32_t psn = 0;
  for (uint32_t b = 0; b < kBatches; ++b) {
    const uint64_t began = io::tsc();
    for (uint32_t i = 0; i < kBatch; ++i, ++psn) {
      const PacketRef p = frame.make(wire_psn(psn), 31, wire_msn(psn), pool);
      MRDMA_CHECK(static_cast<bool>(p));
    }
    all.push_back(static_cast<double>(io::tsc() - began) / kBatch);
  }
  return all;
}

}  // namespace matchrdma::dataplane_bench
