#include "dataplane/wire/cm_mad.h"

namespace matchrdma {
namespace {

constexpr size_t kMadHeader = 24, kMadBytes = 256;
constexpr uint8_t kCmClass = 0x07, kSend = 0x03;

// IBA 12.6.5, table 106.
void read_req(const uint8_t* body, CmMad& cm) {
  cm.qpn = Qpn{load_be24(body + 32)};
  cm.reliable_connected = ((body[43] >> 1) & 3) == 0;
  cm.flow_control = (body[43] & 1) != 0;
  cm.starting_psn = Psn{load_be24(body + 44)};
  cm.retry_count = body[47] & 7;
  const uint8_t mtu = body[50] >> 4;  // 1: 256 ... 5: 4096
  if (mtu >= 1 && mtu <= 5) cm.path_mtu = 128u << mtu;
  cm.rnr_retry_count = body[50] & 7;
  cm.ack_timeout = body[95] >> 3;
}

// IBA 12.6.8, table 110.
void read_rep(const uint8_t* body, CmMad& cm) {
  cm.qpn = Qpn{load_be24(body + 12)};
  cm.starting_psn = Psn{load_be24(body + 20)};
  cm.flow_control = (body[26] & 1) != 0;
  cm.rnr_retry_count = body[27] >> 5;
}

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
    read_req(body, cm);
    return cm;
  }
  cm.remote_id = load_be32(body + 4);
  if (cm.attribute == CmMad::kRep) read_rep(body, cm);
  if (cm.attribute == CmMad::kDreq) cm.qpn = Qpn{load_be24(body + 8)};
  return cm;
}

}  // namespace matchrdma
