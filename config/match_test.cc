#include "config/match.h"

#include <gtest/gtest.h>

#include "config/reload.h"
#include "config/test_config.h"

namespace matchrdma {
namespace {

using test::changed, test::small;

const std::string kClasses =
    "classes:\n"
    "  - {name: storage, match: {destination: [10.9.0.0/16, 'fd00::/8']}, completion: transparent}\n"
    "  - {name: tenant, match: {vlan: [7, 0], dscp: 26}, completion: early, learning: off}\n"
    "  - {name: rest, match: {source: 10.0.0.0/8, span: s}, completion: end-to-end}\n";

std::shared_ptr<const Config> config(const std::string& text) {
  ConfigResult r = parse_config(text, "c.yaml");
  EXPECT_TRUE(r.ok()) << complaints(r);
  return r.config;
}

FlowTraits flow(const std::string& source, const std::string& destination, uint16_t vlan, uint8_t dscp) {
  FlowTraits f;
  f.key.src = *parse_address(source);
  f.key.dst = *parse_address(destination);
  f.key.vlan_outer = vlan;
  f.dscp = dscp;
  return f;
}

TEST(Match, FirstClassThatFits) {
  const auto c = config(small() + kClasses);
  const auto name = [&](const FlowTraits& f) {
    const ClassConfig* k = class_of(*c, f);
    return k == nullptr ? std::string("none") : k->name;
  };
  EXPECT_EQ(name(flow("10.1.0.1", "10.9.255.255", 7, 26)), "storage");
  EXPECT_EQ(name(flow("fd00::1", "fdff::1", 7, 26)), "storage");
  EXPECT_EQ(name(flow("10.1.0.1", "10.10.0.0", 7, 26)), "tenant");
  EXPECT_EQ(name(flow("192.0.2.1", "10.10.0.0", 0, 26)), "tenant") << "0: untagged";
  EXPECT_EQ(name(flow("10.1.0.1", "10.10.0.0", 8, 26)), "rest");
  EXPECT_EQ(name(flow("11.1.0.1", "10.10.0.0", 8, 26)), "none");
  FlowTraits elsewhere = flow("10.1.0.1", "10.9.0.1", 7, 26);
  elsewhere.key.port_pair = 1;
  EXPECT_EQ(name(elsewhere), "none") << "no such span";
}

// C7: what fits no class is transparent; a class may leave learned pairs alone.
TEST(Match, Completion) {
  const auto c = config(small() + kClasses);
  EXPECT_EQ(completion_of(*c, flow("11.1.0.1", "10.10.0.0", 8, 0), true), Completion::kTransparent);
  EXPECT_EQ(completion_of(*c, flow("10.1.0.1", "10.10.0.0", 8, 0), false), Completion::kEndToEnd);
  EXPECT_EQ(completion_of(*c, flow("10.1.0.1", "10.10.0.0", 7, 26), true), Completion::kEarly);
  EXPECT_EQ(completion_of(*c, flow("10.1.0.1", "10.10.0.0", 7, 26), false), Completion::kTransparent);
}

TEST(Match, Budgets) {
  const auto c = config(small() +
                        "    budgets:\n      rate: 10Gbps\n      groups:\n"
                        "        - {receivers: 10.1.0.0/16, vlan: 7, rate: 1Gbps, burst: 64KiB}\n"
                        "        - {receivers: 10.0.0.0/8, rate: 2Gbps}\n");
  const SpanConfig& s = c->spans[0];
  const auto bps = [&](const char* to, uint16_t vlan) {
    return budget_of(s, GroupKey{*parse_address(to), vlan, 0, 0}).rate.bps / 1'000'000'000;
  };
  EXPECT_EQ(bps("10.1.2.3", 7), 1);
  EXPECT_EQ(bps("10.1.2.3", 8), 2);
  EXPECT_EQ(bps("11.0.0.1", 7), 10);
  EXPECT_EQ(s.budgets[0].budget.burst_bytes, 64u << 10);
  EXPECT_EQ(s.budgets[1].budget.burst_bytes, Tuning{}.budget_burst_bytes);
  EXPECT_EQ(c->tuning_of(0).budget.bps, 10'000'000'000);
}

TEST(Match, SlotsAreThereWhereAnEstimatorMakesBudgets) {
  const auto fixed = config(small());
  EXPECT_EQ(fixed->tuning_of(0).slot, Duration{});
  EXPECT_EQ(fixed->spans[0].line_rate(), Tuning{}.egress);
  EXPECT_EQ(fixed->spans[0].queue_target(), 300'000u) << "24 us of 100 Gb/s";
  const auto earned = config(small() + "    egress: {rate: 40Gbps}\n    estimator: {scheme: earned}\n");
  EXPECT_EQ(earned->tuning_of(0).slot, Duration::micros(200));
  EXPECT_EQ(earned->spans[0].line_rate(), Rate{40'000'000'000}) << "that of the egress";
  EXPECT_EQ(earned->tuning_of(0).queue_target, 120'000u);
  const auto all =
      config(small() + "    estimator: {scheme: paper, slot: 1ms, line_rate: 25Gbps, queue_target: 64KiB}\n");
  EXPECT_EQ(all->spans[0].estimator.scheme, BudgetScheme::kPaper);
  EXPECT_EQ(all->tuning_of(0).slot, Duration::millis(1));
  EXPECT_EQ(all->spans[0].line_rate(), Rate{25'000'000'000});
  EXPECT_EQ(all->tuning_of(0).queue_target, 64u << 10);
}

TEST(Reload, NamesWhatNeedsARestart) {
  const auto was = config(small());
  const auto restart = [&](const std::string& text) { return restart_needed(*was, *config(text)); };
  using Paths = std::vector<std::string>;
  EXPECT_EQ(restart(small()), Paths{});
  EXPECT_EQ(restart(small() + kClasses), Paths{});
  EXPECT_EQ(restart(small() + "    egress: {rate: 1Gbps}\ntiming: {hold_max: 1ms}\nlog: {level: debug}\n"),
            Paths{});
  EXPECT_EQ(restart(changed("{id: 1, file: k}", "{id: 1, file: k}\n        - {id: 2, file: l}")), Paths{});
  EXPECT_EQ(restart(changed("cores: 1", "cores: [1, 2]")), Paths{"workers.cores"});
  EXPECT_EQ(
      restart(changed("net_null0", "net_null7") + "memory: {no-huge: 1GiB}\nlimits: {max_flows: 65535}\n"),
      (Paths{"memory.hugepages", "memory.no-huge", "spans[0].lan.port", "limits.max_flows"}));
  EXPECT_EQ(restart(changed("192.0.2.1/30", "192.0.2.3/29")), Paths{"spans[0].wan.address"});
  EXPECT_EQ(
      restart(small() + "  - {name: t, lan: {port: net_null2}, wan: {port: net_null3, address: 192.0.2.5/30}, "
                        "peer: {address: 192.0.2.6, keys: [{id: 1, file: k}]}}\n"),
      Paths{"spans"});
  EXPECT_EQ(restart(small() + "register: {listen: '127.0.0.1:1', psk_file: k}\n"), Paths{"register"});
  EXPECT_EQ(restart(small() + "metrics: {listen: off}\n"), Paths{"metrics.listen"});
}

TEST(Defaults, AreThoseOfTheStructs) {
  const auto c = config(small());
  EXPECT_EQ(c->limits.custody_hard_bytes, Limits{}.custody_hard_bytes);
  EXPECT_EQ(c->timing.hold_max, Timing{}.hold_max);
  EXPECT_EQ(c->tuning.learned, Completion::kTransparent);
  EXPECT_EQ(c->metrics->port, 9464);
  EXPECT_EQ(c->memory.bytes(), MemoryConfig::kDefaultBytes);
  EXPECT_FALSE(c->registration.has_value());
  EXPECT_EQ(config(small() + "cnp: {min_interval: 70us}\n")->timing.cnp_min_interval, Duration::micros(70));
}

}  // namespace
}  // namespace matchrdma
