#include "pcap/cm_mad.h"

namespace matchrdma {
namespace {

constexpr size_t kMadHeader = 24, kMadBytes = 256;
constexpr uint8_t kCmClass = 0x07, kSend = 0x03;

}  // namespace

std::optional<CmMad> parse_cm_mad(const Frame& f) {
  if (f.opcode() != op::kUdSendOnly || f.dest_qp().v != 1 || f.payload_length() < kMadBytes)
    return std::nullopt;
  const uint8_t* mad = f.payload().data();
  if (mad[0] != 1 || mad[1] != kCmClass || (mad[3] & 0x7f) != kSend) return std::nullopt;
  const uint8_t* body = mad + kMadHeader;
  CmMad cm;
  cm.attribute = load_be16(mad + 16);
  if (cm.attribute < CmMad::kReq || cm.attribute > CmMad::kDrep) return std::nullopt;
  cm.local_id = load_be32(body);
  if (cm.attribute == CmMad::kReq) {
    cm.qpn = Qpn{load_be24(body + 32)};
    cm.starting_psn = Psn{load_be24(body + 44)};
    const uint8_t code = body[50] >> 4;  // 1: 256 ... 5: 4096
    if (code >= 1 && code <= 5) cm.path_mtu = 128u << code;
    return cm;
  }
  cm.remote_id = load_be32(body + 4);
  if (cm.attribute == CmMad::kRep) {
    cm.qpn = Qpn{load_be24(body + 12)};
    cm.starting_psn = Psn{load_be24(body + 20)};
  }
  return cm;
}

}  // namespace matchrdma
