// Writes the seed corpus of channel_fuzz: channel_seeds <folder>. Same files every time.
#include <cstdio>
#include <string>

#include "controlplane/channel/codec.h"
#include "controlplane/channel/control_packet.h"
#include "controlplane/channel/test_messages.h"
#include "controlplane/channel/test_proxy.h"
#include "dataplane/wire/test_frames.h"
#include "tests/fuzz/seed_writer.h"

namespace {

using namespace matchrdma;
using test::Buffer;

/// One message of each type, and one datagram's worth of all.
void write_messages(SeedWriter& seeds) {
  test::MessageMaker make(1);
  Buffer all;
  for (size_t type = 0; type < std::variant_size_v<Message>; ++type) {
    Buffer b(kMaxMessageBytes);
    b.resize(encode(make.of_type(type), b));
    seeds.write("message_" + std::to_string(b[0]), b);
    if (all.size() + b.size() <= kMaxPayloadBytes) all.insert(all.end(), b.begin(), b.end());
  }
  all.insert(all.end(), {0xee, 0, 2, 1, 2});
  seeds.write("several_and_unknown", all);
  all.pop_back();
  seeds.write("broken_framing", all);
}

void write_datagrams(SeedWriter& seeds) {
  test::Pair pair(1);
  pair.run(Duration::millis(100));
  for (size_t i = 0; i < 3; ++i) seeds.write("hello_" + std::to_string(i), pair.to_b.at(i));
  pair.a.say(FlowClosed{FlowId{1}});
  seeds.write("session", pair.a.taken().at(0));
  // Where a HELLO's seal hides it: its body alone.
  Buffer body(4 * 32 + 26);
  body[0] = 1;
  seeds.write("hello_body", body);
}

void write_frames(SeedWriter& seeds) {
  for (const bool v4 : {true, false}) {
    ControlPath path;
    path.net = test::endpoints(v4, 0);
    std::swap(path.net.src, path.net.dst);
    Buffer b(control_packet_size(path, 40));
    build_control_packet(path, Buffer(40, 7), b);
    seeds.write(v4 ? "frame_v4" : "frame_v6", b);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: channel_seeds <folder>\n");
    return 2;
  }
  SeedWriter seeds(argv[1]);
  write_messages(seeds);
  write_datagrams(seeds);
  write_frames(seeds);
  if (!seeds.ok()) std::fprintf(stderr, "%s: a seed could not be written\n", argv[1]);
  return seeds.ok() ? 0 : 1;
}
