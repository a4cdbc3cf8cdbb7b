#include "dataplane/wire/opcode.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace matchrdma {
namespace {

// Written down apart from the table: opcode -> bytes between BTH and payload (IBA 9.2.1 and 9.3, annex A19).
const std::map<int, int> kExtensionBytes = {
    {0x00, 0},  {0x01, 0}, {0x02, 0},  {0x03, 4},  {0x04, 0},  {0x05, 4}, {0x06, 16}, {0x07, 0},
    {0x08, 0},  {0x09, 4}, {0x0a, 16}, {0x0b, 20}, {0x0c, 16}, {0x0d, 4}, {0x0e, 0},  {0x0f, 4},
    {0x10, 4},  {0x11, 4}, {0x12, 12}, {0x13, 28}, {0x14, 28}, {0x16, 4}, {0x17, 4},  {0x1c, 20},
    {0x1d, 16}, {0x20, 0}, {0x21, 0},  {0x22, 0},  {0x23, 4},  {0x24, 0}, {0x25, 4},  {0x26, 16},
    {0x27, 0},  {0x28, 0}, {0x29, 4},  {0x2a, 16}, {0x2b, 20}, {0x64, 8}, {0x65, 12}, {0x81, 0}};

TEST(Opcode, ExactlyTheListedOnesAreKnownAndHaveTheirLength) {
  for (int code = 0; code < 256; ++code) {
    const OpcodeInfo& o = opcode_info(static_cast<uint8_t>(code));
    const auto it = kExtensionBytes.find(code);
    EXPECT_EQ(o.known, it != kExtensionBytes.end()) << code;
    EXPECT_EQ(o.ext_len, it == kExtensionBytes.end() ? 0 : it->second) << code;
  }
}

TEST(Opcode, FlagsAgreeWithEachOther) {
  for (int code = 0; code < 256; ++code) {
    const OpcodeInfo& o = opcode_info(static_cast<uint8_t>(code));
    const int sum = 8 * o.deth + 4 * o.feth + 16 * o.reth + 4 * o.aeth + 28 * o.atomic_eth +
                    8 * o.atomic_ack_eth + 4 * o.imm + 4 * o.ieth;
    EXPECT_EQ(sum, o.ext_len) << code;
    EXPECT_LE(o.first + o.middle + o.last + o.only, 1) << code;
    EXPECT_FALSE(o.request && o.response) << code;
    EXPECT_TRUE(!o.read_class || (o.request && o.only && o.transport == Transport::kRc)) << code;
    EXPECT_EQ(o.request || o.response, o.known && code != op::kCnp) << code;
    EXPECT_EQ(o.ends_message(), o.last || o.only) << code;
  }
}

TEST(Opcode, TransportIsInTheHighThreeBits) {
  const Transport blocks[] = {Transport::kRc,  Transport::kUc,  Transport::kRd,       Transport::kUd,
                              Transport::kCnp, Transport::kXrc, Transport::kReserved, Transport::kReserved};
  for (int code = 0; code < 256; ++code) {
    EXPECT_EQ(opcode_info(static_cast<uint8_t>(code)).transport, blocks[code / 32]) << code;
  }
}

TEST(Opcode, ReadClassIsWhatIsAnsweredWithData) {
  std::set<int> found;
  for (int code = 0; code < 256; ++code) {
    if (opcode_info(static_cast<uint8_t>(code)).read_class) found.insert(code);
  }
  EXPECT_EQ(found,
            (std::set<int>{op::kRcReadReq, op::kRcCmpSwap, op::kRcFetchAdd, op::kRcFlush, op::kRcAtomicWrite}));
}

TEST(Opcode, PlacesOfRcMessages) {
  for (uint8_t c : {op::kRcSendFirst, op::kRcWriteFirst, op::kRcReadRespFirst})
    EXPECT_TRUE(opcode_info(c).first);
  for (uint8_t c : {op::kRcSendMiddle, op::kRcWriteMiddle, op::kRcReadRespMiddle}) {
    EXPECT_TRUE(opcode_info(c).middle);
  }
  for (uint8_t c : {op::kRcSendLast, op::kRcSendLastImm, op::kRcSendLastInv, op::kRcWriteLast,
                    op::kRcWriteLastImm, op::kRcReadRespLast}) {
    EXPECT_TRUE(opcode_info(c).last);
  }
  EXPECT_FALSE(opcode_info(op::kRcAck).ends_message());
  EXPECT_TRUE(opcode_info(op::kRcAck).response);
  EXPECT_TRUE(opcode_info(op::kRcReadRespMiddle).response);
}

TEST(Opcode, NamesAreUniqueAndAsInTheTraces) {
  std::set<std::string> names;
  for (int code = 0; code < 256; ++code) names.insert(opcode_name(static_cast<uint8_t>(code)));
  EXPECT_EQ(names.size(), 256u);
  EXPECT_STREQ(opcode_name(op::kRcAck), "RC_ACK");
  EXPECT_STREQ(opcode_name(op::kRcReadRespOnly), "RC_READ_RESP_ONLY");
  EXPECT_STREQ(opcode_name(op::kRcFetchAdd), "RC_FETCH_ADD");
  EXPECT_STREQ(opcode_name(op::kUdSendOnly), "UD_SEND_ONLY");
  EXPECT_STREQ(opcode_name(0x27), "UC_WRITE_MIDDLE");
  EXPECT_STREQ(opcode_name(op::kCnp), "CNP");
  EXPECT_STREQ(opcode_name(0x15), "RC_RESERVED_15");
  EXPECT_STREQ(opcode_name(0x3f), "UC_RESERVED_3F");
  EXPECT_STREQ(opcode_name(0x44), "RD_44");
  EXPECT_STREQ(opcode_name(0x80), "CNP_RESERVED_80");
  EXPECT_STREQ(opcode_name(0xa4), "XRC_A4");
  EXPECT_STREQ(opcode_name(0xff), "RESERVED_FF");
}

}  // namespace
}  // namespace matchrdma
