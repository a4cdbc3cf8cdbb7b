// Replays of every shipped trace: counts, byte identity, delivery, faults, and golden reports.
// MATCHRDMA_GOLDEN=write makes the golden files anew: read the difference before you keep it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "proxy/replay_report.h"
#include "proxy/slots_file.h"
#include "tests/replay_run.h"

namespace matchrdma {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::string kTraces = MATCHRDMA_SOURCE_DIR "/pcap/traces/";
const std::string kGolden = MATCHRDMA_SOURCE_DIR "/tests/golden/";

/// Recordings with losses, retransmissions or without a connection: their own copies are part of them.
bool is_faulty(const std::string& name) {
  return name.starts_with("f_") || name.starts_with("f2_") || name.starts_with("k2_") || name.starts_with("l_");
}

std::vector<std::string> trace_names(bool faulty_too) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kTraces)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".pcap" && (faulty_too || !is_faulty(name))) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

ReplayOptions options_for(const std::string& name) {
  ReplayOptions o;
  o.trace = kTraces + name + ".pcap";
  o.register_flows = true;
  return o;
}

/// Report without what differs between machines.
Json report_of(const ReplayOptions& o) {
  Json j = replay_json(o, run(o));
  j["trace"]["file"] = fs::path(o.trace).filename().string();
  return j;
}

std::vector<std::vector<uint8_t>> packets_of(const std::string& path, int mac_end) {
  std::vector<std::vector<uint8_t>> all;
  auto reader = CaptureReader::open(path);
  if (!reader) {
    ADD_FAILURE() << reader.error();
    return all;
  }
  CapturedPacket p;
  while (reader->next(p) == ReadStatus::kPacket)
    if (mac_end == 0 || p.data[11] == mac_end) all.emplace_back(p.data.begin(), p.data.end());
  EXPECT_EQ(reader->status(), ReadStatus::kEnd) << reader->message();
  return all;
}

class EveryTrace : public testing::TestWithParam<std::string> {};
/// Without faults of its own.
class CleanTrace : public testing::TestWithParam<std::string> {};

/// One row of traces/README.md.
struct ReadmeRow {
  uint64_t packets = 0, roce = 0, right = 0, wrong = 0;
  std::map<std::string, uint64_t> opcodes;
};

ReadmeRow readme_row(const std::string& name) {
  std::ifstream file(kTraces + "README.md");
  std::string line;
  ReadmeRow row;
  while (std::getline(file, line)) {
    if (!line.starts_with("| " + name + " |")) continue;
    std::vector<std::string> cells;
    std::stringstream cut(line);
    for (std::string cell; std::getline(cut, cell, '|');) cells.push_back(cell);
    std::sscanf(cells.at(4).c_str(), " %lu (%lu)", &row.packets, &row.roce);
    std::sscanf(cells.at(5).c_str(), " %lu / %lu", &row.right, &row.wrong);
    std::stringstream opcodes(cells.at(6));
    for (std::string one; std::getline(opcodes, one, ',');) {
      std::stringstream words(one);
      std::string opcode;
      uint64_t n = 0;
      words >> opcode >> n;
      row.opcodes[opcode] = n;
    }
    return row;
  }
  ADD_FAILURE() << name << " is not in the README of the traces";
  return row;
}

TEST_P(EveryTrace, CountsAreThoseOfItsReadme) {
  const ReadmeRow row = readme_row(GetParam());
  const Json j = report_of(options_for(GetParam()));
  EXPECT_EQ(j["trace"]["packets"], row.packets);
  EXPECT_EQ(j["trace"]["roce"], row.roce);
  EXPECT_EQ(j["trace"]["not_roce"], row.packets - row.roce);
  EXPECT_EQ(j["trace"]["icrc_bad"], row.wrong);
  EXPECT_EQ(j["trace"]["malformed"], 0);
  EXPECT_EQ(j["trace"]["truncated"], 0);
  EXPECT_EQ(j["opcodes"].size(), row.opcodes.size());
  for (const auto& [opcode, n] : row.opcodes) EXPECT_EQ(j["opcodes"][opcode], n) << opcode;
}

// Invariant 6: with both proxies transparent, output equals input byte for byte, in order.
TEST_P(EveryTrace, TransparentOutputsEqualInputs) {
  const fs::path folder = fs::path(testing::TempDir()) / ("replay_" + GetParam());
  fs::create_directories(folder);
  ReplayOptions o = options_for(GetParam());
  o.transparent = true;
  o.write_lan_a = (folder / "a.pcap").string();
  o.write_lan_b = (folder / "b.pcap").string();
  const ReplayResult r = run(o);
  EXPECT_EQ(r.packets_fed, r.trace.packets);
  EXPECT_EQ(r.released_without_cause, 0u);
  EXPECT_EQ(packets_of(o.write_lan_b, 0), packets_of(o.trace, 1));
  EXPECT_EQ(packets_of(o.write_lan_a, 0), packets_of(o.trace, 2));
  fs::remove_all(folder);
}

void expect_sound(const DeliveryReport& d) {
  EXPECT_EQ(d.lost, 0u);
  EXPECT_EQ(d.requests_in, d.requests_out);
  EXPECT_TRUE(d.in_order);
  EXPECT_TRUE(d.bytes_identical);
  EXPECT_TRUE(d.responses_identical);
  EXPECT_EQ(d.bad_icrc_out, 0u);
  EXPECT_EQ(d.unknown_out, 0u);
  EXPECT_EQ(d.aeth_above_fence, 0u);
  EXPECT_EQ(d.aeth_not_owned, 0u);
}

TEST_P(EveryTrace, ProxiedDeliversEveryRequestOnceInOrder) {
  const ReplayResult r = run(options_for(GetParam()));
  expect_sound(r.delivery);
  EXPECT_EQ(r.released_without_cause, 0u);
  EXPECT_EQ(r.unanswered_requests, 0u);
  EXPECT_GE(r.delivery.read_copies_out, r.delivery.read_copies_in);
  EXPECT_EQ(r.delivery.responses_out, r.delivery.responses_in);
  for (const TraceStream& s : r.streams)
    EXPECT_TRUE(s.transport != Transport::kRc || s.partner >= 0) << s.evidence;
  EXPECT_TRUE(r.with_proxy.samples == 0 || r.with_proxy.p50 < 100'000) << r.with_proxy.p50;
}

TEST_P(EveryTrace, EndToEndWaitsForTheReceiver) {
  ReplayOptions o = options_for(GetParam());
  o.completion = Completion::kEndToEnd;
  const ReplayResult r = run(o);
  expect_sound(r.delivery);
  EXPECT_TRUE(r.with_proxy.samples == 0 || r.with_proxy.p50 >= o.one_way().ns * 2) << r.with_proxy.p50;
}

TEST_P(CleanTrace, FaultySpanIsRepaired) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    ReplayOptions o = options_for(GetParam());
    o.loss = o.reorder = o.duplicate = 0.01;
    o.seed = seed;
    expect_sound(run(o).delivery);
  }
}

TEST_P(CleanTrace, HeavyFaultsAreRepaired) {
  ReplayOptions o = options_for(GetParam());
  o.loss = o.reorder = o.duplicate = o.corrupt = 0.05;
  o.seed = 7;
  expect_sound(run(o).delivery);
}

TEST_P(EveryTrace, SameSeedSameReport) {
  ReplayOptions o = options_for(GetParam());
  o.loss = o.reorder = o.duplicate = 0.02;
  o.seed = 3;
  EXPECT_EQ(report_of(o), report_of(o));
}

TEST_P(EveryTrace, ReportIsGolden) {
  const std::string path = kGolden + GetParam() + ".json";
  const std::string made = report_of(options_for(GetParam())).dump(2) + "\n";
  if (const char* mode = std::getenv("MATCHRDMA_GOLDEN"); mode != nullptr && std::string(mode) == "write") {
    std::ofstream(path) << made;
    return;
  }
  std::ifstream file(path);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(made, golden.str()) << path
                                << " differs; if the new report is right: MATCHRDMA_GOLDEN=write, then commit";
}

std::string param_name(const testing::TestParamInfo<std::string>& trace) { return trace.param; }
INSTANTIATE_TEST_SUITE_P(Traces, EveryTrace, testing::ValuesIn(trace_names(true)), param_name);
INSTANTIATE_TEST_SUITE_P(Traces, CleanTrace, testing::ValuesIn(trace_names(false)), param_name);

TEST(Replay, FindsTheFourPairsOfParallelQps) {
  const ReplayResult r = run(options_for("i2_4qps"));
  std::map<uint32_t, uint32_t> pairs;
  for (const TraceStream& s : r.streams)
    if (s.request_packets > 0) pairs[s.key.dst_qpn.v] = r.streams[static_cast<size_t>(s.partner)].key.dst_qpn.v;
  EXPECT_EQ(pairs, (std::map<uint32_t, uint32_t>{{56, 57}, {57, 58}, {58, 59}, {59, 60}}));
}

TEST(Replay, FindsEqualNumbersAtBothEnds) {
  const ReplayResult r = run(options_for("a_rping_rc_cm"));
  size_t rc = 0;
  for (const TraceStream& s : r.streams)
    if (s.transport == Transport::kRc) {
      ++rc;
      EXPECT_EQ(s.key.dst_qpn.v, 0x29u);
      EXPECT_EQ(r.streams[static_cast<size_t>(s.partner)].key.dst_qpn.v, 0x29u);
      EXPECT_EQ(r.streams[static_cast<size_t>(s.partner)].key.src, s.key.dst);
    }
  EXPECT_EQ(rc, 2u);
}

TEST(Replay, SpanCutIsSurvived) {
  ReplayOptions o = options_for("b_write_bw_64k_pmtu1024");
  o.cut = ReplayCut{Duration::micros(100), Duration::millis(30)};
  const ReplayResult r = run(o);
  EXPECT_GT(r.span.lost, 0u);
  EXPECT_GT(r.span.repaired, 0u);
  expect_sound(r.delivery);
}

TEST_P(EveryTrace, LearnersAreNeverWrong) {
  ReplayOptions o = options_for(GetParam());
  o.register_flows = false;
  const ReplayResult r = run(o);
  EXPECT_TRUE(r.delivery.bytes_identical);
  EXPECT_EQ(r.delivery.unknown_out, 0u);
  EXPECT_EQ(r.delivery.bad_icrc_out, 0u);
  EXPECT_EQ(r.delivery.aeth_above_fence, 0u);
  EXPECT_EQ(r.delivery.aeth_not_owned, 0u);
  if (!is_faulty(GetParam())) expect_sound(r.delivery);
  for (size_t i = 0; i < r.streams.size(); ++i) {
    if (r.streams[i].request_packets == 0 || r.streams[i].transport != Transport::kRc) continue;
    const ReplayResult::Learned& l = r.learned[i];
    // Paired and answered for, or the report says why not.
    EXPECT_TRUE(l.by == "none" || l.by == "cm" || l.by == "correlation") << l.by;
    EXPECT_TRUE(l.by != "none" || !l.why_not.empty());
  }
}

TEST(Replay, CmTellsThePairs) {
  for (const char* name : {"a_rping_rc_cm", "h2_ipv6_rping"}) {
    ReplayOptions o = options_for(name);
    o.register_flows = false;
    const ReplayResult r = run(o);
    uint64_t paired = 0;
    for (size_t i = 0; i < r.streams.size(); ++i) paired += r.learned[i].by == "cm" ? 1 : 0;
    EXPECT_EQ(paired, 2u) << name;
    EXPECT_GT(r.proxy[0].pseudo_acks + r.proxy[1].pseudo_acks, 0u) << name;
  }
}

TEST(Replay, NobodyAnswersWhereThePolicyIsTransparent) {
  ReplayOptions o = options_for("b_write_bw_64k_pmtu1024");
  o.completion = Completion::kTransparent;
  o.register_flows = false;
  const ReplayResult r = run(o);
  expect_sound(r.delivery);
  EXPECT_EQ(r.proxy[0].pseudo_acks + r.proxy[1].pseudo_acks, 0u);
  EXPECT_GE(r.with_proxy.p50, o.one_way().ns * 2);
}

TEST(Replay, SiteCanBeTurnedRound) {
  ReplayOptions o = options_for("b_write_bw_64k_pmtu1024");
  o.site_a = *Cidr::parse("10.9.0.2");
  const ReplayResult r = run(o);
  expect_sound(r.delivery);
  for (const HostReport& h : r.hosts) EXPECT_EQ(h.site, h.name == "10.9.0.2" ? 0 : 1);
  EXPECT_GT(r.proxy[1].pseudo_acks, 0u);
  EXPECT_EQ(r.proxy[0].pseudo_acks, 0u);
}

TEST(Replay, NoDistanceIsNoProblem) {
  ReplayOptions o = options_for("i_rc_pingpong_imm");
  o.distance_km = 0;
  expect_sound(run(o).delivery);
}

TEST(Replay, AnswersWaitForWhatTheyAnswer) {
  const ReplayResult r = run(options_for("b_write_bw_64k_pmtu1024"));
  ASSERT_EQ(r.hosts.size(), 2u);
  EXPECT_EQ(r.hosts[0].shift.ns, 0);
  EXPECT_GE(r.hosts[1].shift, Duration::millis(5));
  EXPECT_LT(r.hosts[1].shift, Duration::millis(6));
}

TEST(Replay, ErrorsNameTheFile) {
  ReplayOptions o = options_for("no_such_trace");
  const auto r = replay(o);
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.error().find("no_such_trace"), std::string::npos);
}

// What `--slots` writes is what `matchrdma slots` reads.
TEST(Estimator, SlotsOfAReplayAreWrittenAndRead) {
  ReplayOptions o = options_for("i2_4qps");
  o.estimator.emplace();
  o.keep_slots = true;
  const ReplayResult r = run(o);
  EXPECT_EQ(r.delivery.lost, 0u);
  EXPECT_TRUE(r.delivery.in_order && r.delivery.bytes_identical && r.delivery.responses_identical);
  EXPECT_FALSE(r.delivery.broken());
  ASSERT_FALSE(r.slots.empty());
  const std::string path = (fs::path(testing::TempDir()) / "replay_slots.json").string();
  const auto written = write_slots(*o.estimator, r.slots, path);
  ASSERT_TRUE(written.ok()) << written.error();
  const auto read = read_slots(path);
  ASSERT_TRUE(read.ok()) << read.error();
  size_t points = 0;
  for (const SlotSeries& s : *read) {
    EXPECT_TRUE(s.span == "A" || s.span == "B") << s.span;
    points += s.points.size();
  }
  EXPECT_EQ(points, r.slots.size());
  EXPECT_EQ(read->size(), r.budgets.size());
  std::ostringstream report;
  print_replay(report, o, r);
  EXPECT_NE(report.str().find("Budgets that the estimators made, before --budget bounds them"),
            std::string::npos);
  const Json j = replay_json(o, r);
  EXPECT_EQ(j["estimator"]["scheme"], "earned");
  EXPECT_EQ(j["estimator"]["queue_target_bytes"], 300'000);
  ASSERT_FALSE(j["budgets"].empty());
  EXPECT_GE(j["budgets"][0]["highest_bps"], j["budgets"][0]["lowest_bps"]);
  EXPECT_NE(report.str().find("estimator earned, slots of 200us"), std::string::npos);
  fs::remove(path);
}

}  // namespace
}  // namespace matchrdma
