// A peer that holds the right key and speaks another version of the control subchannel: its HELLOs, and nothing
// else. Until it is ended.
//
//   other_version INTERFACE KEY-FILE KEY-ID OWN-ADDRESS PEER-ADDRESS VERSION
#include <algorithm>
#include <iostream>
#include <iterator>
#include <vector>

#include "config/key_file.h"
#include "config/net.h"
#include "controlplane/channel/control_packet.h"
#include "controlplane/channel/hello.h"
#include "tests/daemon/raw_link.h"

int main(int argc, char** argv) {
  using namespace matchrdma;
  if (argc != 7) {
    std::cerr << "usage: other_version INTERFACE KEY-FILE KEY-ID OWN-ADDRESS PEER-ADDRESS VERSION\n";
    return 2;
  }
  const auto secret = read_key_file(argv[2]);
  const auto own = parse_address(argv[4]), peer = parse_address(argv[5]);
  const auto link = daemon_tests::RawLink::open(argv[1]);
  if (!secret || !own || !peer || !link) {
    std::cerr << "other_version: "
              << (!secret ? secret.error()
                  : !own  ? own.error()
                  : !peer ? peer.error()
                          : link.error())
              << '\n';
    return 1;
  }
  Psk psk{KeyId{static_cast<uint32_t>(std::stoul(argv[3]))}, {}};
  std::copy(secret->b.begin(), secret->b.end(), psk.secret.writable().begin());
  HelloSeal seal(psk);

  ControlPath path;
  path.net.mac_src = {0x02, 0, 0, 0, 0, 0xee};
  path.net.mac_dst = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  path.net.src = *own;
  path.net.dst = *peer;
  HelloHeader header{static_cast<uint8_t>(std::stoul(argv[6])), false, psk.id, {}};
  // What stands in it only that version knows.
  const std::vector<uint8_t> body(200, 0x5a);
  for (uint8_t count = 0;; ++count) {
    header.nonce.fill(count);
    const std::vector<uint8_t> datagram = seal.seal_body(header, body);
    std::vector<uint8_t> frame(control_packet_size(path, datagram.size()));
    build_control_packet(path, datagram, frame);
    (*link)->send(frame);
    ::poll(nullptr, 0, 200);
  }
}
