// Random schedules of SDR over the model fabric: every byte right, or the seed that shows otherwise.
#include <sstream>

#include "tests/host/schedule_line.h"
#include "tests/host/sdr_draw.h"

int main(int argc, char** argv) {
  using namespace matchrdma::host::test;
  CLI::App app{"Random schedules of SDR over the model fabric. Exit 1: a seed failed."};
  ScheduleLine line(app);
  bool no_fence = false;
  app.add_flag("--no-key-fence", no_fence, "keys that were removed go on working: stale packets are written");
  CLI11_PARSE(app, argc, argv);
  uint64_t messages = 0;
  const auto play = [&](uint64_t seed) -> std::string {
    RigSettings s = draw_sdr(seed);
    s.nic.keys_never_end = no_fence;
    SdrRig rig(s);
    const std::string wrong = rig.run();
    messages += rig.delivered();
    if (wrong.empty()) return {};
    std::ostringstream why;
    const auto& o = s.sdr;
    why << wrong << "\n"
        << "packet " << o.shape.packet_bytes << ", message up to " << s.traffic.most_bytes << ", code "
        << o.shape.code_k << "+" << o.shape.code_m << ", chunk " << o.shape.chunk_packets << ", slots "
        << o.receiver.slots << ", copy " << o.receiver.copy << ", loss " << s.there.loss << ", duplicates "
        << s.there.duplicate << " up to " << s.there.stale_by.ns / 1000 << " us, reorder " << s.there.reorder
        << ", restarts " << s.restarts << ", transform "
        << (o.shape.hadamard ? static_cast<int>(*o.shape.hadamard) : -1);
    return why.str();
  };
  const auto sum = [&] {
    std::ostringstream all_of_it;
    all_of_it << messages << " messages, every byte right";
    return all_of_it.str();
  };
  return line.run(play, sum);
}
