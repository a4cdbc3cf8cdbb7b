// Writes the seed corpus of frame_fuzz: frame_seeds <folder>. Same files every time.
#include <cstdio>
#include <string>

#include "dataplane/wire/test_frames.h"
#include "tests/fuzz/seed_writer.h"

namespace {

using namespace matchrdma;
using Buffer = std::vector<uint8_t>;

void write_opcodes(SeedWriter& seeds) {
  static constexpr uint8_t kData[5] = {1, 2, 3, 4, 5};
  for (int code = 0; code < 256; ++code) {
    const auto opcode = static_cast<uint8_t>(code);
    if (!opcode_info(opcode).known) continue;
    L2L3 l = test::endpoints(code % 2 == 0, code % 3);
    l.udp_checksum = code % 4 == 0;
    seeds.write(opcode_name(opcode), test::build(l, test::spec_of(opcode, kData)));
  }
}

void write_shapes(SeedWriter& seeds) {
  seeds.write("connectx_cnp", test::connectx_cnp());
  for (int tags : {0, 1, 2}) {
    seeds.write("v4_tags_" + std::to_string(tags), test::write_only(true, tags));
    seeds.write("v6_tags_" + std::to_string(tags), test::write_only(false, tags));
  }
  Buffer options = test::insert_into_ip(test::write_only(true), 34, Buffer(12, 1));
  options[14] = 0x48;
  seeds.write("v4_options", options);
  Buffer chain = test::insert_into_ip(
      test::write_only(false), 54,
      {43, 0, 1, 4, 0, 0, 0, 0, 60, 0, 0, 0, 0, 0, 0, 0, 44, 0, 1, 4, 0, 0, 0, 0, 17, 0, 0, 0, 1, 2, 3, 4});
  chain[20] = 0;
  seeds.write("v6_chain", chain);
  chain[54 + 16 + 8 + 3] = 1;
  seeds.write("v6_fragment", chain);
  Buffer padded = test::write_only(true);
  padded.resize(padded.size() + 10);
  seeds.write("padded", padded);
  Buffer version = test::write_only(true);
  version[43] |= 1;
  seeds.write("transport_version", version);
  Buffer xrc = test::write_only(false);
  xrc[62] = 0xaa;
  seeds.write("xrc", xrc);
  Buffer cut = test::write_only(true);
  cut.erase(cut.begin() + 50, cut.end());
  seeds.write("cut", cut);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: frame_seeds <folder>\n");
    return 2;
  }
  SeedWriter seeds(argv[1]);
  write_opcodes(seeds);
  write_shapes(seeds);
  if (!seeds.ok()) std::fprintf(stderr, "%s: a seed could not be written\n", argv[1]);
  return seeds.ok() ? 0 : 1;
}
