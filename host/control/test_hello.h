#pragma once
#include "host/control/control_message.h"

namespace matchrdma::host::test {

inline ControlHello hello(uint64_t life) {
  ControlHello h;
  h.library = "0.1.0";
  h.life = life;
  h.uc = true;
  return h;
}

/// One of each type, none of them with default values.
inline std::vector<ControlMessage> one_of_each() {
  QpAddress qp{0xabcdef, 0x123456, {}};
  qp.gid.fill(7);
  FlowEnd end{{}, 0x11, 0xffffff};
  end.gid[15] = 9;
  TransferOffer offer{9, 1,  true, 2,    1ull << 33, 1 << 20,    4096,       8,
                      2, 20, 3,    true, 1ull << 37, 1ull << 27, {5, 8, 19}, {}};
  offer.sha256.fill(3);
  TransferReport report{9, 1ull << 40, 2, 3, 4, 5, 6, 7, 8, 9, 10, {}};
  report.sha256.fill(4);
  return {hello(77),
          PathAddresses{{{1, 2, Transport::kUc, qp}, {3, 4, Transport::kUd, {}}}},
          Fence{5, 6},
          Fenced{5, 6, 1ull << 40, {1, 2, 3}},
          Resume{7, 1ull << 50},
          RelayRegister{8, true, 4096, end, {}},
          RelayRegistered{8, false, "there is no such flow"},
          Ping{1ull << 60},
          Pong{1ull << 61},
          Bye{true, "enough"},
          offer,
          TransferAnswer{9, true, "why not"},
          report,
          CellPathOpen{1, 2, 4, 4096, 8, 1024, {5, 8, 19}, qp, 3, 1ull << 40, 1ull << 41},
          CellPathReady{3, 4},
          CellGrant{1ull << 40, 2, 3, 1ull << 41, 1ull << 42},
          ChannelPiece{{9, 8, 7}}};
}

}  // namespace matchrdma::host::test
