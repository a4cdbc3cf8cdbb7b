// schedules --count N --seed S: random schedules, any of them again with --one SEED.
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "pcap/capture_folder.h"
#include "sim/swarm/run.h"

using namespace matchrdma::swarm;

namespace {

Options schedule(uint64_t seed, bool canary) {
  Options o = random_options(seed);
  if (canary) o.canary = Canary::kPayload;
  return o;
}

void report(uint64_t seed, const std::string& complaint, bool canary, const std::string& dir) {
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), complaint.c_str());
  const Options small = shrink(schedule(seed, canary));
  matchrdma::CaptureFolder captures(dir, {"lan-a", "wan", "lan-b"});
  const Outcome again = run_schedule(small, [&](Tap tap, matchrdma::Instant at, matchrdma::Bytes b) {
    captures.write(static_cast<size_t>(tap), at, b);
  });
  std::printf("simplest schedule that still fails (%s), %llu packets, captures in %s:\n%s",
              again.complaint.c_str(), static_cast<unsigned long long>(again.packets), dir.c_str(),
              describe(small).c_str());
  std::printf("again: schedules --one %llu\n", static_cast<unsigned long long>(seed));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"random schedules against the seven invariants"};
  uint64_t count = 1000, seed = 1, one = 0;
  int max_failures = 1;
  bool canary = false, expect_failure = false, brief = false;
  std::string dir = "schedule-failure";
  app.add_option("--count", count, "schedules to run");
  app.add_option("--seed", seed, "first seed");
  const auto* single = app.add_option("--one", one, "run this seed alone");
  app.add_option("--max-failures", max_failures, "stop after so many");
  app.add_option("--captures", dir, "folder for the captures of a failing schedule");
  app.add_flag("--canary", canary, "put a fault into the world that must be found");
  app.add_flag("--expect-failure", expect_failure, "succeed only if a schedule fails");
  app.add_flag("--brief", brief, "no shrinking");
  CLI11_PARSE(app, argc, argv);
  if (single->count() > 0) {
    seed = one;
    count = 1;
  }
  const bool tty = isatty(STDERR_FILENO) != 0;
  uint64_t packets = 0;
  int failures = 0;
  uint64_t done = 0;
  for (; done < count && failures < max_failures; ++done) {
    const Outcome r = run_schedule(schedule(seed + done, canary));
    packets += r.packets;
    if (tty && done % 16 == 0) {
      std::fprintf(stderr, "\r%llu of %llu schedules", static_cast<unsigned long long>(done),
                   static_cast<unsigned long long>(count));
    }
    if (r.complaint.empty()) continue;
    ++failures;
    if (brief) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed + done), r.complaint.c_str());
    } else if (!expect_failure) {
      report(seed + done, r.complaint, canary, dir);
    }
  }
  if (tty) std::fprintf(stderr, "\r");
  std::printf("%llu schedules from seed %llu, %llu packets, %d failed\n", static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(packets), failures);
  if (expect_failure) return failures > 0 ? 0 : 1;
  return failures == 0 ? 0 : 1;
}
