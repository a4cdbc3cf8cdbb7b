#pragma once
// Every BTH opcode in one constexpr table (IBA 9.2.1, table "OpCode field"; FLUSH and ATOMIC WRITE: IBA 1.5
// annex A19).
#include <array>
#include <cstdint>

namespace matchrdma {

enum class Transport : uint8_t { kRc, kUc, kRd, kUd, kCnp, kXrc, kReserved };

namespace op {
inline constexpr uint8_t kRcSendFirst = 0x00, kRcSendMiddle = 0x01, kRcSendLast = 0x02, kRcSendLastImm = 0x03,
                         kRcSendOnly = 0x04, kRcSendOnlyImm = 0x05, kRcWriteFirst = 0x06, kRcWriteMiddle = 0x07,
                         kRcWriteLast = 0x08, kRcWriteLastImm = 0x09, kRcWriteOnly = 0x0a,
                         kRcWriteOnlyImm = 0x0b, kRcReadReq = 0x0c, kRcReadRespFirst = 0x0d,
                         kRcReadRespMiddle = 0x0e, kRcReadRespLast = 0x0f, kRcReadRespOnly = 0x10,
                         kRcAck = 0x11, kRcAtomicAck = 0x12, kRcCmpSwap = 0x13, kRcFetchAdd = 0x14,
                         kRcSendLastInv = 0x16, kRcSendOnlyInv = 0x17, kRcFlush = 0x1c, kRcAtomicWrite = 0x1d,
                         kUdSendOnly = 0x64, kCnp = 0x81;
}  // namespace op

/// What one opcode means. Ext-header lengths in bytes, in wire order behind the BTH.
struct OpcodeInfo {
  Transport transport = Transport::kReserved;
  bool known = false;     ///< listed below: an RC, UC or UD opcode, or the CNP (RD and XRC are not)
  bool request = false;   ///< requester -> responder
  bool response = false;  ///< ACK/NAK, READ response, atomic ACK
  bool first = false;     ///< FIRST of a message
  bool middle = false;    ///< MIDDLE
  bool last = false;      ///< LAST (with or without immediate / invalidate)
  bool only = false;      ///< ONLY, and what is one packet by nature: READ request, atomics, FLUSH, atomic ACK
  bool read_class = false;  ///< READ, atomics, FLUSH, ATOMIC WRITE: answered with data (C3, H8)
  bool payload = false;     ///< may carry payload (CNP: its 16 reserved bytes)
  bool deth = false, reth = false, aeth = false, atomic_eth = false, atomic_ack_eth = false, imm = false,
       ieth = false, feth = false;
  uint8_t ext_len = 0;  ///< sum of the extension headers
  bool starts_message() const { return first || only || read_class; }
  bool ends_message() const { return last || only; }
};

/// Table of all 256 values, defined in opcode.cc.
extern const std::array<OpcodeInfo, 256> kOpcodeTable;
inline const OpcodeInfo& opcode_info(uint8_t opcode) { return kOpcodeTable[opcode]; }
/// Name as in traces/README.md: RC_ACK, RC_WRITE_FIRST, UD_SEND_ONLY, CNP, RC_RESERVED_15 (hex) and so on.
const char* opcode_name(uint8_t opcode);

}  // namespace matchrdma
