// Counts and ICRC verdicts of every capture, against the table that was made when it was taken.
#include "pcap/trace_info.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "dataplane/base/ip_text.h"

namespace matchrdma {
namespace {

std::filesystem::path traces() { return std::filesystem::path(MATCHRDMA_SOURCE_DIR) / "pcap" / "traces"; }

std::string trimmed(const std::string& s) {
  const size_t from = s.find_first_not_of(' ');
  return from == std::string::npos ? std::string() : s.substr(from, s.find_last_not_of(' ') - from + 1);
}

/// Cells of the table in a Markdown file, without its heading and rule.
std::vector<std::vector<std::string>> table_of(const std::filesystem::path& readme) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream in(readme);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] != '|') continue;
    std::vector<std::string> cells;
    std::istringstream text(line.substr(1));
    for (std::string cell; std::getline(text, cell, '|');) cells.push_back(trimmed(cell));
    rows.push_back(std::move(cells));
  }
  if (rows.size() > 2) rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

TraceInfo read(const std::filesystem::path& file) {
  TraceInfo t;
  auto reader = CaptureReader::open(file.string());
  EXPECT_TRUE(reader.ok()) << reader.error();
  if (!reader) return t;
  t.add_all(*reader);
  EXPECT_EQ(reader->status(), ReadStatus::kEnd) << reader->message();
  EXPECT_EQ(t.packets, t.roce + t.malformed + t.truncated + t.not_roce);
  return t;
}

using Counts = std::map<std::string, uint64_t>;

template <size_t N, class Name>
Counts named(const std::array<uint64_t, N>& counts, Name name) {
  Counts out;
  for (size_t i = 0; i < N; ++i) {
    if (counts[i] != 0) out[name(static_cast<uint8_t>(i))] = counts[i];
  }
  return out;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool is_name(const std::string& s) {
  return s.size() > 1 && s.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos &&
         !is_digit(s[0]);
}

/// "RC_ACK 25, RC_READ_REQ 5": every upper-case word with a number behind it.
Counts counts_of(const std::string& text) {
  Counts out;
  std::string before;
  std::istringstream words(text);
  for (std::string word; words >> word; before = word) {
    if (is_digit(word[0]) && is_name(before)) out[before] = std::stoull(word);
  }
  return out;
}

/// What stands behind `key`, up to the next semicolon.
std::string behind(const std::string& text, const std::string& key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return {};
  const size_t from = at + key.size();
  return text.substr(from, text.find(';', from) - from);
}

/// The number behind `key`, 0 when there is none.
uint64_t number_behind(const std::string& text, const std::string& key) {
  for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    const size_t number = at + key.size();
    if (number < text.size() && is_digit(text[number])) return std::stoull(text.substr(number));
  }
  return 0;
}

std::string test_name(const std::string& file) {
  std::string s = file;
  for (char& c : s) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return s;
}

// ---- our own captures ----
// | file | run | path MTU | packets (RoCEv2) | ICRC right / wrong | opcodes | notes |

class OwnTrace : public testing::TestWithParam<std::vector<std::string>> {};
INSTANTIATE_TEST_SUITE_P(Readme, OwnTrace, testing::ValuesIn(table_of(traces() / "README.md")),
                         [](const auto& i) { return test_name(i.param.at(0)); });

TEST_P(OwnTrace, CountsAreThoseOfTheTable) {
  const auto& row = GetParam();
  ASSERT_EQ(row.size(), 7u);
  const TraceInfo t = read(traces() / (row[0] + ".pcap"));
  EXPECT_EQ(std::to_string(t.packets) + " (" + std::to_string(t.roce) + ")", row[3]);
  EXPECT_EQ(std::to_string(t.roce - t.icrc_bad) + " / " + std::to_string(t.icrc_bad), row[4]);
  EXPECT_EQ(named(t.opcodes, opcode_name), counts_of(row[5]));
  EXPECT_EQ(t.malformed, 0u);
  EXPECT_EQ(t.truncated, 0u);
}

TEST_P(OwnTrace, NotesAreRight) {
  const auto& row = GetParam();
  ASSERT_EQ(row.size(), 7u);
  const TraceInfo t = read(traces() / (row[0] + ".pcap"));
  std::string ports;
  for (const auto& [port, n] : t.udp_source_ports) ports += (ports.empty() ? "" : ", ") + std::to_string(port);
  EXPECT_EQ(ports, behind(row[6], "UDP source ports: "));

  const std::array<uint64_t, 4> ecn{number_behind(row[6], "Not-ECT "), 0, number_behind(row[6], "ECT(0) "),
                                    number_behind(row[6], "CE ")};
  EXPECT_EQ(t.ecn, ecn);

  Counts naks = named(t.aeth_syndromes, aeth_syndrome_name);
  std::erase_if(naks, [](const auto& n) { return n.first.starts_with("ACK_"); });
  EXPECT_EQ(naks, counts_of(behind(row[6], "AETH NAKs: ")));
}

TEST_P(OwnTrace, FlowsAddUp) {
  const TraceInfo t = read(traces() / (GetParam().at(0) + ".pcap"));
  uint64_t packets = 0, bytes = 0;
  for (const auto& [key, flow] : t.flows) {
    packets += flow.packets;
    bytes += flow.bytes;
    EXPECT_EQ(flow.first_psn.has_value(), flow.last_psn.has_value());
  }
  EXPECT_EQ(packets, t.roce);
  EXPECT_LE(bytes, t.bytes);
  EXPECT_EQ(bytes == t.bytes, t.not_roce == 0);
  EXPECT_GT(t.duration().ns, 0);
}

TEST(OwnTraces, TableAndFolderAgree) {
  size_t files = 0;
  for (const auto& e : std::filesystem::directory_iterator(traces())) files += e.path().extension() == ".pcap";
  EXPECT_EQ(files, table_of(traces() / "README.md").size());
  EXPECT_GT(files, 20u);
}

TEST(OwnTraces, FlowOfAWrite) {
  const TraceInfo t = read(traces() / "b_write_bw_64k_pmtu1024.pcap");
  ASSERT_EQ(t.flows.size(), 2u);  // data, and its ACKs
  const auto& [key, data] = *t.flows.begin();
  EXPECT_EQ(ip_text(key.source), "10.9.0.1");
  EXPECT_EQ(ip_text(key.destination), "10.9.0.2");
  EXPECT_EQ(data.packets, 320u);
  ASSERT_TRUE(data.first_psn && data.last_psn);
  EXPECT_EQ((data.last_psn->v - data.first_psn->v) & Psn::kMask, 319u);
}

// ---- captures of others, where they are ----
// | file | what | RoCEv2 packets, ICRC right / wrong |

TEST(PublicTraces, CountsAreThoseOfTheTable) {
  const char* folder = std::getenv("MATCHRDMA_TRACES_PUBLIC");
  if (folder == nullptr) GTEST_SKIP() << "MATCHRDMA_TRACES_PUBLIC is not set";
  const auto rows = table_of(std::filesystem::path(folder) / "README.md");
  ASSERT_FALSE(rows.empty()) << folder;
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 3u);
    SCOPED_TRACE(row[0]);
    const TraceInfo t = read(std::filesystem::path(folder) / (row[0] + ".pcap"));
    EXPECT_EQ(std::to_string(t.roce) + ": " + std::to_string(t.roce - t.icrc_bad) + " / " +
                  std::to_string(t.icrc_bad),
              row[2]);
    // "RC SEND_FIRST 33, ACK 37;": opcodes in front of the first semicolon, without their transport.
    const Counts opcodes = named(t.opcodes, opcode_name);
    for (const auto& [name, n] : counts_of(row[1].substr(0, row[1].find(';')))) {
      const auto it = opcodes.find("RC_" + name);
      EXPECT_EQ(it == opcodes.end() ? 0 : it->second, n) << name;
    }
  }
}

// ---- the rest ----

TEST(TraceInfo, WhatIsNotRoceIsCounted) {
  TraceInfo t;
  const std::vector<uint8_t> empty, arp = [] {
    std::vector<uint8_t> f(42);
    f[12] = 8;
    f[13] = 6;
    return f;
  }();
  t.add({Instant{5}, arp, 60, 0});
  t.add({Instant{2}, empty, 60, 1});
  EXPECT_EQ(t.packets, 2u);
  EXPECT_EQ(t.bytes, 120u);
  EXPECT_EQ(t.roce, 0u);
  EXPECT_EQ(t.not_roce + t.truncated + t.malformed, 2u);
  EXPECT_EQ(t.reasons[Reason::kNotIp] >= 1, true);
  EXPECT_EQ(t.duration().ns, 3);
}

TEST(TraceInfo, DurationOfDamagedTimesSaturates) {
  TraceInfo t;
  t.add({Instant{std::numeric_limits<int64_t>::min()}, {}, 0, 0});
  t.add({Instant{std::numeric_limits<int64_t>::max()}, {}, 0, 1});
  EXPECT_EQ(t.duration().ns, std::numeric_limits<int64_t>::max());
}

TEST(TraceInfo, NamesOfSyndromes) {
  EXPECT_EQ(aeth_syndrome_name(0x1f), "ACK_31");
  EXPECT_EQ(aeth_syndrome_name(0x2c), "RNR_NAK_12");
  EXPECT_EQ(aeth_syndrome_name(0x60), "NAK_0");
  EXPECT_EQ(aeth_syndrome_name(0x41), "RESERVED_1");
}

}  // namespace
}  // namespace matchrdma
