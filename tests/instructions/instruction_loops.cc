// instruction_loops LOOP: a fixed number of packets through one part of the proxy, for count.py. What is
// counted is the functions called counted_*; all around it is warm-up, the other end and the hosts. Prints how
// many packets were counted, and fails when what came out is wrong: then the counts mean nothing.
#include <CLI/CLI.hpp>

#include <cinttypes>
#include <cstdio>
#include <functional>
#include <map>

#include "dataplane/flow/flow_table.h"
#include "tests/instructions/world.h"

namespace matchrdma::instructions {
namespace {

constexpr uint32_t kWarmBursts = 256, kBursts = 256;

// No tail calls: the caller of what is counted has to stay on the stack, where callgrind sees it return.
[[gnu::noinline]] void counted_run(Shard& shard, std::span<RxItem> burst, std::span<const Message> messages,
                                   Instant now, Outbox& out) {
  shard.run_once(burst, messages, now, out);
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] uint64_t counted_parse(std::span<const PacketRef> packets) {
  uint64_t sum = 0;
  for (const PacketRef& p : packets) sum += parse_frame(p->bytes()).frame.psn().v;
  return sum;
}

[[gnu::noinline]] uint64_t counted_find(const FlowTable& table, std::span<const FlowKey> keys) {
  uint64_t sum = 0;
  for (const FlowKey& k : keys) sum += table.find(k);
  return sum;
}

/// What a loop counted; a complaint where something is wrong.
struct Counted {
  uint64_t packets = 0;
  std::string wrong;
};

Counted source(uint32_t message, bool proxied) {
  World w(proxied);
  w.send(kWarmBursts, message, unmeasured, unmeasured);
  const uint64_t acks = w.pseudo_acks();
  w.send(kBursts, message, counted_run, unmeasured);
  const uint64_t new_acks = w.pseudo_acks() - acks;
  Counted c{uint64_t{kBursts} * kBurst, w.finish()};
  if (c.wrong.empty() && proxied && new_acks < c.packets / message / 2)
    c.wrong = "too few pseudo-ACKs are made";
  return c;
}

Counted destination() {
  World w(true);
  w.send(kWarmBursts, 4, unmeasured, unmeasured);
  const uint64_t before = w.arrived_at_b();
  w.send(kBursts, 4, unmeasured, counted_run);
  const uint64_t packets = w.arrived_at_b() - before;
  return {packets, w.finish()};
}

Counted parse() {
  model::PacketArena arena;
  std::vector<PacketRef> packets;
  uint64_t wanted = 0;
  for (uint32_t i = 0; i < kBursts * kBurst; ++i) {
    packets.push_back(build_roce(path(true), write_packet(Qpn{i + 2}, i, i % 4, 4), arena));
    wanted += i;
  }
  return {packets.size(), counted_parse(packets) == wanted ? "" : "a frame is not parsed as it was built"};
}

Counted lookup() {
  constexpr uint32_t kKeys = 40'000;
  FlowTable table(65536);
  std::vector<FlowKey> keys;
  uint64_t wanted = 0;
  for (uint32_t i = 0; i < kKeys; ++i) {
    keys.push_back({path(true).src, path(true).dst, Qpn{2 + i * 7}, 0, 0, 0});
    wanted += table.insert(keys.back());
  }
  return {keys.size(), counted_find(table, keys) == wanted ? "" : "a flow is not found where it was put"};
}

const std::map<std::string, std::function<Counted()>> kLoops{
    {"source", [] { return source(4, true); }},
    {"pseudo-ack", [] { return source(1, true); }},
    {"destination", destination},
    {"transparent", [] { return source(4, false); }},
    {"parse", parse},
    {"lookup", lookup},
};

}  // namespace
}  // namespace matchrdma::instructions

int main(int argc, char** argv) {
  using matchrdma::instructions::kLoops;
  CLI::App app{"a fixed number of packets through one part of the proxy, to count its instructions"};
  std::string name;
  std::vector<std::string> names;
  for (const auto& [loop, unused] : kLoops) names.push_back(loop);
  app.add_option("loop", name, "which part")->required()->check(CLI::IsMember(names));
  CLI11_PARSE(app, argc, argv);
  const auto counted = kLoops.at(name)();
  if (!counted.wrong.empty()) {
    std::fprintf(stderr, "instruction_loops %s: %s\n", name.c_str(), counted.wrong.c_str());
    return 1;
  }
  std::printf("%" PRIu64 "\n", counted.packets);
  return 0;
}
