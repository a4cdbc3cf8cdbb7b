// Random schedules of SDR over the model fabric: every byte right, or the seed that shows otherwise.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tests/host/sdr_draw.h"

int main(int argc, char** argv) {
  using namespace matchrdma::host::test;
  CLI::App app{"Random schedules of SDR over the model fabric. Exit 1: a seed failed."};
  uint64_t count = 10'000, first = 1, one = 0;
  bool no_fence = false, expect_failure = false;
  app.add_option("--count", count, "how many")->capture_default_str();
  app.add_option("--seed", first, "the first")->capture_default_str();
  app.add_option("--one", one, "this seed alone");
  app.add_flag("--no-key-fence", no_fence, "keys that were removed go on working: stale packets are written");
  app.add_flag("--expect-failure", expect_failure, "exit 0 when a seed fails, 1 when none does");
  CLI11_PARSE(app, argc, argv);
  if (one != 0) {
    first = one;
    count = 1;
  }
  uint64_t messages = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    RigSettings s = draw_sdr(seed);
    s.nic.keys_never_end = no_fence;
    SdrRig rig(s);
    const std::string wrong = rig.run();
    messages += rig.delivered();
    if (wrong.empty()) continue;
    const auto& o = s.sdr;
    std::cout << "seed " << seed << ": " << wrong << "\n"
              << "packet " << o.shape.packet_bytes << ", message up to " << s.traffic.most_bytes << ", code "
              << o.shape.code_k << "+" << o.shape.code_m << ", chunk " << o.shape.chunk_packets << ", slots "
              << o.receiver.slots << ", copy " << o.receiver.copy << ", loss " << s.there.loss
              << ", duplicates " << s.there.duplicate << " up to " << s.there.stale_by.ns / 1000
              << " us, reorder " << s.there.reorder << ", restarts " << s.restarts << ", transform "
              << (o.shape.hadamard ? static_cast<int>(*o.shape.hadamard) : -1) << "\n";
    return expect_failure ? 0 : 1;
  }
  std::cout << count << " schedules, " << messages << " messages, every byte right\n";
  return expect_failure ? 1 : 0;
}
