#include "pcap/capture_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "pcap/capture_bytes.h"

namespace matchrdma {
namespace {

using test::CaptureBytes;
using test::operator+;
using Data = std::vector<uint8_t>;

struct Seen {
  int64_t ns;
  Data data;
  uint32_t original_length;
  bool operator==(const Seen&) const = default;
};

/// All that a reader yields, and how it ended.
struct ReadAll {
  std::vector<Seen> packets;
  ReadStatus status = ReadStatus::kError;
  std::string message;

  explicit ReadAll(const Data& file) {
    auto r = CaptureReader::from_bytes(file, "x.pcap");
    if (!r) {
      message = r.error();
      return;
    }
    CapturedPacket p;
    while (r->next(p) == ReadStatus::kPacket) {
      EXPECT_EQ(p.index, packets.size());
      packets.push_back({p.time.ns, Data(p.data.begin(), p.data.end()), p.original_length});
    }
    EXPECT_EQ(r->packets_read(), packets.size());
    status = r->status();
    message = r->message();
    EXPECT_EQ(r->next(p), status) << "the end must stay the end";
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class BothOrders : public testing::TestWithParam<bool> {
 protected:
  CaptureBytes file{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Order, BothOrders, testing::Bool(),
                         [](const auto& i) { return i.param ? std::string("Big") : std::string("Little"); });

TEST_P(BothOrders, ClassicMicroseconds) {
  file.file_header(0xa1b2c3d4).record(7, 123456, {1, 2, 3}).record(4294967295u, 999999, {});
  const ReadAll r(file.bytes);
  EXPECT_EQ(r.status, ReadStatus::kEnd) << r.message;
  EXPECT_EQ(r.packets, (std::vector<Seen>{{7'123'456'000, {1, 2, 3}, 3}, {4'294'967'295'999'999'000, {}, 0}}));
}

TEST_P(BothOrders, ClassicNanoseconds) {
  file.file_header(0xa1b23c4d).record(7, 123456789, {9});
  file.u32(8).u32(1).u32(2).u32(1500).raw({4, 5});  // cut by a snap length
  const ReadAll r(file.bytes);
  EXPECT_EQ(r.status, ReadStatus::kEnd) << r.message;
  EXPECT_EQ(r.packets, (std::vector<Seen>{{7'123'456'789, {9}, 1}, {8'000'000'001, {4, 5}, 1500}}));
}

TEST_P(BothOrders, IsToldByItsBeginning) {
  for (const Data& capture : {file.file_header(0xa1b2c3d4).bytes, file.fresh().file_header(0xa1b23c4d).bytes,
                              file.fresh().section().bytes}) {
    EXPECT_TRUE(begins_as_capture(Bytes{capture}.first(kCaptureMagicBytes)));
    EXPECT_FALSE(begins_as_capture(Bytes{capture}.first(kCaptureMagicBytes - 1)));
    EXPECT_FALSE(begins_as_capture(Bytes{capture}.subspan(1)));
  }
}

TEST_P(BothOrders, PcapngDefaultsToMicroseconds) {
  file.section().interface().enhanced(0, 0x5'0000'0001, {1, 2, 3, 4, 5});
  const ReadAll r(file.bytes);
  EXPECT_EQ(r.status, ReadStatus::kEnd) << r.message;
  EXPECT_EQ(r.packets, (std::vector<Seen>{{0x5'0000'0001 * 1000, {1, 2, 3, 4, 5}, 5}}));
}

TEST_P(BothOrders, PcapngResolutionsAndOffsets) {
  struct Case {
    Data options;
    uint64_t ticks;
    int64_t ns;
  };
  const Data end = file.option(0, {});
  const std::vector<Case> cases = {
      {file.resolution(9) + end, 1'700'000'000'123'456'789, 1'700'000'000'123'456'789},
      {file.resolution(0) + end, 17, 17'000'000'000},
      {file.resolution(3), 17, 17'000'000},  // without an end-of-options
      {file.resolution(12), 17'999, 17},
      {file.resolution(127), ~uint64_t{0}, 0},
      {file.resolution(0x80 | 10), 1536, 1'500'000'000},
      {file.resolution(0x80 | 32), uint64_t{3} << 31, 1'500'000'000},
      {file.resolution(0x80 | 127), ~uint64_t{0}, 0},
      {file.offset(100) + end, 5, 100'000'005'000},
      {file.offset(-1), 5, -999'995'000},
      {file.option(2, {'e', 't', 'h', '0', '!'}) + file.resolution(9) + file.offset(2) + end, 1, 2'000'000'001},
      {end + file.resolution(9), 1, 1000},  // behind the end of the options: not read
  };
  file.section();
  std::vector<Seen> expected;
  for (size_t i = 0; i < cases.size(); ++i) {
    file.interface(cases[i].options);
    file.enhanced(static_cast<uint32_t>(i), cases[i].ticks, {static_cast<uint8_t>(i)});
    expected.push_back({cases[i].ns, {static_cast<uint8_t>(i)}, 1});
  }
  const ReadAll r(file.bytes);
  EXPECT_EQ(r.status, ReadStatus::kEnd) << r.message;
  ASSERT_EQ(r.packets.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(r.packets[i], expected[i]) << "case " << i;
}

TEST_P(BothOrders, PcapngTimeOutsideTheRange) {
  file.section().interface(file.resolution(0)).enhanced(0, 9'223'372'037, {1});
  const ReadAll r(file.bytes);
  EXPECT_EQ(r.status, ReadStatus::kError);
  EXPECT_TRUE(has(r.message, "9223372037 ticks")) << r.message;
  CaptureBytes far = file.fresh().section();
  far.interface(far.offset(std::numeric_limits<int64_t>::min())).enhanced(0, 0, {1});
  EXPECT_EQ(ReadAll(far.bytes).status, ReadStatus::kError);
}

TEST_P(BothOrders, PcapngSimplePackets) {
  file.section().interface({}, 4).enhanced(0, 3, {1, 2});
  file.simple(9, {1, 2, 3, 4}).simple(3, {7, 8, 9});
  const ReadAll r(file.bytes);
  EXPECT_EQ(r.status, ReadStatus::kEnd) << r.message;
  EXPECT_EQ(r.packets, (std::vector<Seen>{{3000, {1, 2}, 2}, {3000, {1, 2, 3, 4}, 9}, {3000, {7, 8, 9}, 3}}));
}

TEST_P(BothOrders, PcapngSimplePacketWithoutSnapLength) {
  file.section().interface().simple(5, {1, 2, 3, 4, 5});
  EXPECT_EQ(ReadAll(file.bytes).packets, (std::vector<Seen>{{0, {1, 2, 3, 4, 5}, 5}}));
}

TEST_P(BothOrders, PcapngObsoletePacket) {
  CaptureBytes body = file.fresh();
  body.u16(0).u16(77).u32(0).u32(6).u32(2).u32(60).padded({1, 2});
  file.section().interface().block(2, body.bytes);
  const ReadAll r(file.bytes);
  EXPECT_EQ(r.packets, (std::vector<Seen>{{6000, {1, 2}, 60}})) << r.message;
}

TEST_P(BothOrders, PcapngUnknownBlocksAndPacketOptionsAreSkipped) {
  file.section().block(0x0bad, {}).interface();
  file.block(4, Data(3 << 20, 0xee));  // larger than the reader's buffer
  file.enhanced(0, 1, {1}, file.option(1, {'n', 'o', 't', 'e'}) + file.option(0, {}));
  file.block(5, Data(16)).block(0x80000001, Data(4)).enhanced(0, 2, {2});
  const ReadAll r(file.bytes);
  EXPECT_EQ(r.status, ReadStatus::kEnd) << r.message;
  EXPECT_EQ(r.packets, (std::vector<Seen>{{1000, {1}, 1}, {2000, {2}, 1}}));
}

TEST_P(BothOrders, PcapngSectionsHaveTheirOwnOrderAndInterfaces) {
  CaptureBytes other(!GetParam());
  other.section().interface(other.resolution(9)).interface(other.resolution(3)).enhanced(1, 5, {2});
  file.section().interface().enhanced(0, 5, {1}).raw(other.bytes);
  file.section().interface().enhanced(1, 5, {3});
  const ReadAll r(file.bytes);
  EXPECT_EQ(r.packets, (std::vector<Seen>{{5'000, {1}, 1}, {5'000'000, {2}, 1}}));
  EXPECT_EQ(r.status, ReadStatus::kError) << "interface 1 belonged to the section before";
  EXPECT_TRUE(has(r.message, "packet 3") && has(r.message, "interface 1")) << r.message;
}

TEST_P(BothOrders, LinkTypeOtherThanEthernet) {
  EXPECT_TRUE(
      has(ReadAll(file.fresh().file_header(0xa1b2c3d4, 113).bytes).message, "link type 113 (Linux cooked"));
  // The upper half is about the frame check sequence.
  EXPECT_EQ(ReadAll(file.fresh().file_header(0xa1b2c3d4, 0x24000001).bytes).status, ReadStatus::kEnd);
  // An interface that no packet uses does not matter.
  file.section().interface({}, 0, 276).interface().enhanced(1, 1, {1}).enhanced(0, 1, {1});
  const ReadAll r(file.bytes);
  EXPECT_EQ(r.packets.size(), 1u);
  EXPECT_EQ(r.status, ReadStatus::kError);
  EXPECT_TRUE(has(r.message, "interface 0 has link type 276")) << r.message;
}

// ---- damage ----

TEST_P(BothOrders, EveryTruncationOfAClassicFile) {
  file.file_header(0xa1b2c3d4).record(1, 2, {1, 2, 3}).record(3, 4, {4}).record(5, 6, {});
  const size_t ends[] = {24, 24 + 19, 24 + 19 + 17, 24 + 19 + 17 + 16};
  for (size_t n = 0; n <= file.bytes.size(); ++n) {
    const ReadAll r(Data(file.bytes.begin(), file.bytes.begin() + static_cast<ptrdiff_t>(n)));
    if (n < 24) {
      EXPECT_EQ(r.status, ReadStatus::kError) << n;
      EXPECT_TRUE(has(r.message, "x.pcap: ")) << r.message;
      continue;
    }
    size_t whole = 0;
    while (whole < 3 && ends[whole + 1] <= n) ++whole;
    EXPECT_EQ(r.packets.size(), whole) << n;
    if (n == ends[whole]) {
      EXPECT_EQ(r.status, ReadStatus::kEnd) << n;
    } else {
      EXPECT_EQ(r.status, ReadStatus::kCutOff) << n;
      EXPECT_TRUE(has(r.message, "file ends inside packet " + std::to_string(whole + 1))) << r.message;
      EXPECT_TRUE(has(r.message, "the " + std::to_string(whole) + " packets before it were read")) << r.message;
    }
  }
}

TEST_P(BothOrders, EveryTruncationOfAPcapngFile) {
  file.section().interface(file.resolution(9)).enhanced(0, 1, {1, 2, 3}).block(5, Data(8)).simple(1, {7});
  std::vector<size_t> boundaries;  // of blocks, by walking over the lengths
  for (size_t at = 0; at < file.bytes.size();) {
    boundaries.push_back(at);
    at += FileOrder{GetParam()}.u32(file.bytes.data() + at + 4);
  }
  boundaries.push_back(file.bytes.size());
  ASSERT_EQ(boundaries.size(), 6u);
  for (size_t n = 0; n <= file.bytes.size(); ++n) {
    const ReadAll r(Data(file.bytes.begin(), file.bytes.begin() + static_cast<ptrdiff_t>(n)));
    if (n < boundaries[1]) {
      EXPECT_EQ(r.status, ReadStatus::kError) << n;
      continue;
    }
    EXPECT_EQ(r.packets.size(), n >= boundaries[5] ? 2u : n >= boundaries[3] ? 1u : 0u) << n;
    const bool boundary = std::find(boundaries.begin(), boundaries.end(), n) != boundaries.end();
    EXPECT_EQ(r.status, boundary ? ReadStatus::kEnd : ReadStatus::kCutOff) << n << ' ' << r.message;
  }
}

TEST_P(BothOrders, HostileLengthsOfClassicRecords) {
  for (const uint32_t captured : {kMaxCapturedBytes + 1, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    CaptureBytes f = file.fresh().file_header(0xa1b2c3d4).record(1, 1, {1});
    f.u32(1).u32(1).u32(captured).u32(captured).raw(Data(100));
    const ReadAll r(f.bytes);
    EXPECT_EQ(r.packets.size(), 1u);
    EXPECT_EQ(r.status, ReadStatus::kError);
    EXPECT_TRUE(has(r.message, "x.pcap: packet 2 at byte 41: the record claims " + std::to_string(captured)))
        << r.message;
  }
  CaptureBytes largest = file.fresh().file_header(0xa1b2c3d4).record(1, 1, Data(kMaxCapturedBytes, 5));
  EXPECT_EQ(ReadAll(largest.bytes).packets.size(), 1u);
}

TEST_P(BothOrders, HostileLengthsOfBlocks) {
  for (const uint32_t type : {0x0a0d0d0au, 1u, 2u, 3u, 6u, 99u}) {
    for (const uint32_t length :
         {0u, 1u, 8u, 11u, 12u, 13u, 20u, 24u, 28u, 0x00100000u, 0x7ffffffcu, 0xfffffffcu}) {
      CaptureBytes f = file.fresh().section().interface();
      f.u32(type).u32(length).raw(Data(200));
      const ReadAll r(f.bytes);
      EXPECT_TRUE(r.packets.empty());
      EXPECT_TRUE(r.status == ReadStatus::kError || r.status == ReadStatus::kCutOff) << type << ' ' << length;
      EXPECT_FALSE(r.message.empty());
    }
  }
}

TEST_P(BothOrders, HostileLengthsInsideBlocks) {
  for (const uint32_t captured : {5u, 0x7fffffffu, 0xfffffffdu, 0xffffffffu}) {
    CaptureBytes body = file.fresh();
    body.u32(0).u32(0).u32(0).u32(captured).u32(4).u32(0);
    const ReadAll r(file.fresh().section().interface().block(6, body.bytes).bytes);
    EXPECT_EQ(r.status, ReadStatus::kError);
    EXPECT_TRUE(has(r.message, "claims " + std::to_string(captured) + " captured bytes")) << r.message;
    const ReadAll s(file.fresh().section().interface().simple(captured, {1, 2, 3, 4}).bytes);
    EXPECT_EQ(s.status, ReadStatus::kError);
  }
  for (const uint16_t length : {uint16_t{5}, uint16_t{0xffff}}) {
    const Data option = file.fresh().u16(2).u16(length).u32(0).bytes;
    const ReadAll r(file.fresh().section().interface(option).bytes);
    EXPECT_EQ(r.status, ReadStatus::kError);
    EXPECT_TRUE(has(r.message, "option 2 of interface 0")) << r.message;
  }
  EXPECT_EQ(ReadAll(file.fresh().section().interface(file.option(9, {1, 2})).bytes).status, ReadStatus::kError);
  EXPECT_EQ(ReadAll(file.fresh().section().interface(file.option(14, {1})).bytes).status, ReadStatus::kError);
}

TEST_P(BothOrders, BlockLengthsMustAgree) {
  for (const uint32_t type : {1u, 6u, 99u}) {
    CaptureBytes f = file.fresh().section().interface();
    f.u32(type).u32(36).raw(Data(24)).u32(40);
    const ReadAll r(f.bytes);
    EXPECT_EQ(r.status, ReadStatus::kError);
    EXPECT_TRUE(has(r.message, "a block of 36 bytes ends with the length 40")) << r.message;
  }
}

TEST_P(BothOrders, PacketsNeedAnInterface) {
  EXPECT_TRUE(has(ReadAll(file.fresh().section().enhanced(0, 1, {1}).bytes).message, "names interface 0"));
  EXPECT_TRUE(has(ReadAll(file.fresh().section().simple(1, {1}).bytes).message, "names interface 0"));
}

TEST_P(BothOrders, TooManyInterfaces) {
  file.section();
  for (int i = 0; i < 4097; ++i) file.interface();
  EXPECT_TRUE(has(ReadAll(file.bytes).message, "more than 4096 interfaces"));
}

TEST_P(BothOrders, VersionsAndMagics) {
  CaptureBytes old = file.fresh();
  old.u32(0xa1b2c3d4).u16(1).u16(0).raw(Data(16));
  EXPECT_TRUE(has(ReadAll(old.bytes).message, "file header: pcap version 1.0"));
  EXPECT_TRUE(has(ReadAll(file.fresh().section(2).bytes).message, "pcapng version 2.0"));
  Data no_magic = file.fresh().section().bytes;
  no_magic[9] = 0;
  EXPECT_TRUE(has(ReadAll(no_magic).message, "byte-order magic"));
}

TEST(CaptureReader, NamesWhatIsNoCapture) {
  EXPECT_TRUE(has(ReadAll({}).message, "x.pcap: is empty"));
  EXPECT_TRUE(has(ReadAll({1, 2}).message, "has 2 bytes"));
  EXPECT_TRUE(has(ReadAll({0x1f, 0x8b, 8, 0}).message, "gunzip"));
  EXPECT_TRUE(has(ReadAll({0x28, 0xb5, 0x2f, 0xfd}).message, "zstd -d"));
  EXPECT_TRUE(has(ReadAll({0xfd, '7', 'z', 'X', 'Z', 0}).message, "xz -d"));
  EXPECT_TRUE(has(ReadAll({0xa1, 0xb2, 0xcd, 0x34}).message, "editcap"));
  EXPECT_TRUE(has(ReadAll({'h', 'e', 'l', 'l', 'o'}).message, "0x68656c6c, which is neither pcap nor pcapng"));
}

TEST(CaptureReader, NamesFilesThatCannotBeRead) {
  auto missing = CaptureReader::open("no/such/file.pcap");
  ASSERT_FALSE(missing.ok());
  EXPECT_TRUE(has(missing.error(), "no/such/file.pcap: cannot be opened: No such file")) << missing.error();
  auto folder = CaptureReader::open(std::filesystem::temp_directory_path().string());
  ASSERT_FALSE(folder.ok());
  EXPECT_TRUE(has(folder.error(), "is a folder")) << folder.error();
}

TEST(CaptureReader, StaysUsableWhenMoved) {
  const Data file = CaptureBytes(false).file_header(0xa1b2c3d4).record(1, 0, {1}).record(2, 0, {2}).bytes;
  auto first = CaptureReader::from_bytes(file, "x.pcap");
  ASSERT_TRUE(first.ok());
  CapturedPacket p;
  ASSERT_EQ(first->next(p), ReadStatus::kPacket);
  CaptureReader second = std::move(*first);
  ASSERT_EQ(second.next(p), ReadStatus::kPacket);
  EXPECT_EQ(p.data[0], 2);
  EXPECT_EQ(second.next(p), ReadStatus::kEnd);
}

}  // namespace
}  // namespace matchrdma
