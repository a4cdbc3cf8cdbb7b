// Writes the seed corpus of control_fuzz: control_seeds <folder>. Same files every time.
#include <cstdio>

#include "host/control/control_codec.h"
#include "host/control/test_hello.h"
#include "tests/fuzz/seed_writer.h"

int main(int argc, char** argv) {
  using namespace matchrdma;
  if (argc != 2) {
    std::fprintf(stderr, "usage: control_seeds <folder>\n");
    return 2;
  }
  SeedWriter seeds(argv[1]);
  std::vector<uint8_t> all;
  for (const host::ControlMessage& m : host::test::one_of_each()) {
    std::vector<uint8_t> one;
    if (!host::encode(m, one)) return 1;
    seeds.write("message_" + std::to_string(one[0]), one);
    all.insert(all.end(), one.begin(), one.end());
  }
  seeds.write("conversation", all);
  std::vector<uint8_t> unknown{200, 0, 0, 2, 1, 2};
  unknown.insert(unknown.end(), all.begin(), all.end());
  seeds.write("unknown_type", unknown);
  seeds.write("huge_length", {3, 0xff, 0xff, 0xff});
  all[9] = 2;
  seeds.write("other_version", all);
  if (!seeds.ok()) std::fprintf(stderr, "%s: a seed could not be written\n", argv[1]);
  return seeds.ok() ? 0 : 1;
}
