#include "dataplane/wire/opcode.h"

#include <cstddef>
#include <initializer_list>

namespace matchrdma {
namespace {

using Table = std::array<OpcodeInfo, 256>;
using Names = std::array<const char*, 256>;

enum class Place : uint8_t { kFirst, kMiddle, kLast, kOnly, kNone };
enum class Role : uint8_t { kRequest, kResponse, kNotice };
enum class Ext : uint8_t { kDeth, kFeth, kReth, kAeth, kAtomicEth, kAtomicAckEth, kImm, kIeth };

/// One row of the list below.
struct Row {
  uint8_t code;
  Transport transport;
  const char* name;
  Role role;
  Place place;
  bool payload;
  std::initializer_list<Ext> ext;
  bool read_class = false;
};

/// Marks one extension header; the lengths are those of IBA 9.3.
constexpr void add_ext(OpcodeInfo& o, Ext e) {
  switch (e) {
    case Ext::kDeth:
      o.deth = true, o.ext_len += 8;
      break;
    case Ext::kFeth:
      o.feth = true, o.ext_len += 4;
      break;
    case Ext::kReth:
      o.reth = true, o.ext_len += 16;
      break;
    case Ext::kAeth:
      o.aeth = true, o.ext_len += 4;
      break;
    case Ext::kAtomicEth:
      o.atomic_eth = true, o.ext_len += 28;
      break;
    case Ext::kAtomicAckEth:
      o.atomic_ack_eth = true, o.ext_len += 8;
      break;
    case Ext::kImm:
      o.imm = true, o.ext_len += 4;
      break;
    case Ext::kIeth:
      o.ieth = true, o.ext_len += 4;
      break;
  }
}

constexpr OpcodeInfo make_info(const Row& r) {
  OpcodeInfo o;
  o.transport = r.transport;
  o.known = true;
  o.request = r.role == Role::kRequest;
  o.response = r.role == Role::kResponse;
  o.first = r.place == Place::kFirst;
  o.middle = r.place == Place::kMiddle;
  o.last = r.place == Place::kLast;
  o.only = r.place == Place::kOnly;
  o.read_class = r.read_class;
  o.payload = r.payload;
  for (Ext e : r.ext) add_ext(o, e);
  return o;
}

/// Bits 7..5 of the opcode name the transport (IBA 9.2.1); of the 0x80 block only the CNP is defined (IBA
/// A17.9.3).
constexpr Transport block_transport(int code) {
  constexpr Transport kBlocks[8] = {Transport::kRc,       Transport::kUc,      Transport::kRd,
                                    Transport::kUd,       Transport::kCnp,     Transport::kXrc,
                                    Transport::kReserved, Transport::kReserved};
  return kBlocks[code >> 5];
}

/// Calls `visit` with every opcode whose headers we know. RD and XRC are left out on purpose: their RDETH and
/// XRCETH are not parsed, so no header flag may be set for them.
template <class Visit>
constexpr void for_each_row(Visit visit) {
  using enum Transport;
  using enum Role;
  using enum Place;
  using enum Ext;
  visit(Row{0x00, kRc, "RC_SEND_FIRST", kRequest, kFirst, true, {}});
  visit(Row{0x01, kRc, "RC_SEND_MIDDLE", kRequest, kMiddle, true, {}});
  visit(Row{0x02, kRc, "RC_SEND_LAST", kRequest, kLast, true, {}});
  visit(Row{0x03, kRc, "RC_SEND_LAST_IMM", kRequest, kLast, true, {kImm}});
  visit(Row{0x04, kRc, "RC_SEND_ONLY", kRequest, kOnly, true, {}});
  visit(Row{0x05, kRc, "RC_SEND_ONLY_IMM", kRequest, kOnly, true, {kImm}});
  visit(Row{0x06, kRc, "RC_WRITE_FIRST", kRequest, kFirst, true, {kReth}});
  visit(Row{0x07, kRc, "RC_WRITE_MIDDLE", kRequest, kMiddle, true, {}});
  visit(Row{0x08, kRc, "RC_WRITE_LAST", kRequest, kLast, true, {}});
  visit(Row{0x09, kRc, "RC_WRITE_LAST_IMM", kRequest, kLast, true, {kImm}});
  visit(Row{0x0a, kRc, "RC_WRITE_ONLY", kRequest, kOnly, true, {kReth}});
  visit(Row{0x0b, kRc, "RC_WRITE_ONLY_IMM", kRequest, kOnly, true, {kReth, kImm}});
  visit(Row{0x0c, kRc, "RC_READ_REQ", kRequest, kOnly, false, {kReth}, true});
  visit(Row{0x0d, kRc, "RC_READ_RESP_FIRST", kResponse, kFirst, true, {kAeth}});
  visit(Row{0x0e, kRc, "RC_READ_RESP_MIDDLE", kResponse, kMiddle, true, {}});
  visit(Row{0x0f, kRc, "RC_READ_RESP_LAST", kResponse, kLast, true, {kAeth}});
  visit(Row{0x10, kRc, "RC_READ_RESP_ONLY", kResponse, kOnly, true, {kAeth}});
  visit(Row{0x11, kRc, "RC_ACK", kResponse, kNone, false, {kAeth}});
  visit(Row{0x12, kRc, "RC_ATOMIC_ACK", kResponse, kOnly, false, {kAeth, kAtomicAckEth}});
  visit(Row{0x13, kRc, "RC_CMP_SWAP", kRequest, kOnly, false, {kAtomicEth}, true});
  visit(Row{0x14, kRc, "RC_FETCH_ADD", kRequest, kOnly, false, {kAtomicEth}, true});
  visit(Row{0x16, kRc, "RC_SEND_LAST_INV", kRequest, kLast, true, {kIeth}});
  visit(Row{0x17, kRc, "RC_SEND_ONLY_INV", kRequest, kOnly, true, {kIeth}});
  visit(Row{0x1c, kRc, "RC_FLUSH", kRequest, kOnly, false, {kFeth, kReth}, true});
  visit(Row{0x1d, kRc, "RC_ATOMIC_WRITE", kRequest, kOnly, true, {kReth}, true});

  visit(Row{0x20, kUc, "UC_SEND_FIRST", kRequest, kFirst, true, {}});
  visit(Row{0x21, kUc, "UC_SEND_MIDDLE", kRequest, kMiddle, true, {}});
  visit(Row{0x22, kUc, "UC_SEND_LAST", kRequest, kLast, true, {}});
  visit(Row{0x23, kUc, "UC_SEND_LAST_IMM", kRequest, kLast, true, {kImm}});
  visit(Row{0x24, kUc, "UC_SEND_ONLY", kRequest, kOnly, true, {}});
  visit(Row{0x25, kUc, "UC_SEND_ONLY_IMM", kRequest, kOnly, true, {kImm}});
  visit(Row{0x26, kUc, "UC_WRITE_FIRST", kRequest, kFirst, true, {kReth}});
  visit(Row{0x27, kUc, "UC_WRITE_MIDDLE", kRequest, kMiddle, true, {}});
  visit(Row{0x28, kUc, "UC_WRITE_LAST", kRequest, kLast, true, {}});
  visit(Row{0x29, kUc, "UC_WRITE_LAST_IMM", kRequest, kLast, true, {kImm}});
  visit(Row{0x2a, kUc, "UC_WRITE_ONLY", kRequest, kOnly, true, {kReth}});
  visit(Row{0x2b, kUc, "UC_WRITE_ONLY_IMM", kRequest, kOnly, true, {kReth, kImm}});

  visit(Row{0x64, kUd, "UD_SEND_ONLY", kRequest, kOnly, true, {kDeth}});
  visit(Row{0x65, kUd, "UD_SEND_ONLY_IMM", kRequest, kOnly, true, {kDeth, kImm}});

  visit(Row{0x81, kCnp, "CNP", kNotice, kNone, true, {}});
}

constexpr Table make_table() {
  Table t{};
  for (int code = 0; code < 256; ++code) t[static_cast<size_t>(code)].transport = block_transport(code);
  for_each_row([&t](const Row& r) { t[r.code] = make_info(r); });
  return t;
}

// clang-format off
#define MATCHRDMA_HEX(X, block)                                                                     \
  X(block##0) X(block##1) X(block##2) X(block##3) X(block##4) X(block##5) X(block##6) X(block##7) \
  X(block##8) X(block##9) X(block##A) X(block##B) X(block##C) X(block##D) X(block##E) X(block##F)
// clang-format on
#define MATCHRDMA_RC(h) "RC_RESERVED_" #h,
#define MATCHRDMA_UC(h) "UC_RESERVED_" #h,
#define MATCHRDMA_RD(h) "RD_" #h,
#define MATCHRDMA_UD(h) "UD_RESERVED_" #h,
#define MATCHRDMA_CNP(h) "CNP_RESERVED_" #h,
#define MATCHRDMA_XRC(h) "XRC_" #h,
#define MATCHRDMA_OTHER(h) "RESERVED_" #h,

constexpr Names make_names() {
  // clang-format off
  Names n = {
      MATCHRDMA_HEX(MATCHRDMA_RC, 0) MATCHRDMA_HEX(MATCHRDMA_RC, 1)
      MATCHRDMA_HEX(MATCHRDMA_UC, 2) MATCHRDMA_HEX(MATCHRDMA_UC, 3)
      MATCHRDMA_HEX(MATCHRDMA_RD, 4) MATCHRDMA_HEX(MATCHRDMA_RD, 5)
      MATCHRDMA_HEX(MATCHRDMA_UD, 6) MATCHRDMA_HEX(MATCHRDMA_UD, 7)
      MATCHRDMA_HEX(MATCHRDMA_CNP, 8) MATCHRDMA_HEX(MATCHRDMA_CNP, 9)
      MATCHRDMA_HEX(MATCHRDMA_XRC, A) MATCHRDMA_HEX(MATCHRDMA_XRC, B)
      MATCHRDMA_HEX(MATCHRDMA_OTHER, C) MATCHRDMA_HEX(MATCHRDMA_OTHER, D)
      MATCHRDMA_HEX(MATCHRDMA_OTHER, E) MATCHRDMA_HEX(MATCHRDMA_OTHER, F)
  };
  // clang-format on
  for_each_row([&n](const Row& r) { n[r.code] = r.name; });
  return n;
}

#undef MATCHRDMA_HEX
#undef MATCHRDMA_RC
#undef MATCHRDMA_UC
#undef MATCHRDMA_RD
#undef MATCHRDMA_UD
#undef MATCHRDMA_CNP
#undef MATCHRDMA_XRC
#undef MATCHRDMA_OTHER

constexpr Names kNames = make_names();

}  // namespace

constexpr std::array<OpcodeInfo, 256> kOpcodeTable = make_table();

const char* opcode_name(uint8_t opcode) { return kNames[opcode]; }

}  // namespace matchrdma
