#include "model/cm_message.h"

#include <cstring>

namespace matchrdma::model {
namespace {

constexpr size_t kHeader = 24;
constexpr uint8_t kCmClass = 7, kCmVersion = 2, kMethodSend = 3;
constexpr uint64_t kTcpServices = 0x0000000001060000;  // IBA A11.2
constexpr uint8_t kRetryCount = 7, kRnrRetry = 7, kMaxCmRetries = 15;
constexpr uint16_t kRequesterPort = 45530;
constexpr uint8_t kAtomicsAndReads = 16;
constexpr uint8_t kHopLimit = 64;

void store_be64(uint8_t* p, uint64_t v) {
  store_be32(p, static_cast<uint32_t>(v >> 32));
  store_be32(p + 4, static_cast<uint32_t>(v));
}

/// EUI-64 of the port's MAC.
void write_guid(const L2L3& path, uint8_t* p) {
  std::memcpy(p, path.mac_src.data(), 3);
  p[0] ^= 2;
  p[3] = 0xff;
  p[4] = 0xfe;
  std::memcpy(p + 5, path.mac_src.data() + 3, 3);
}

/// Code of a path MTU: 1 is 256 ... 5 is 4096.
uint8_t mtu_code(uint32_t mtu) {
  uint8_t code = 1;
  while (code < 5 && (128u << code) < mtu) ++code;
  return code;
}

/// IBA A11.3: addresses and port of who asks.
void write_ip_private_data(const L2L3& path, uint8_t* p) {
  const bool v4 = path.src.is_v4();
  p[1] = v4 ? 0x40 : 0x60;
  store_be16(p + 2, kRequesterPort);
  const size_t skip = v4 ? 12 : 0;
  std::memcpy(p + 4 + skip, path.src.b.data() + skip, 16 - skip);
  std::memcpy(p + 20 + skip, path.dst.b.data() + skip, 16 - skip);
}

/// IBA 12.6.5.
void write_req(const CmMessage& m, const L2L3& path, uint8_t* body) {
  store_be64(body + 8, kTcpServices | m.service_port);
  write_guid(path, body + 16);
  store_be24(body + 32, m.qpn.v);
  body[35] = body[39] = kAtomicsAndReads;
  body[43] = static_cast<uint8_t>(m.response_timeout << 3);
  store_be24(body + 44, m.start.v);
  body[47] = static_cast<uint8_t>((m.response_timeout << 3) | kRetryCount);
  store_be16(body + 48, 0xffff);
  body[50] = static_cast<uint8_t>((mtu_code(m.path_mtu) << 4) | kRnrRetry);
  body[51] = static_cast<uint8_t>(kMaxCmRetries << 4);
  store_be16(body + 52, 0xffff);  // Ethernet has no LIDs
  store_be16(body + 54, 0xffff);
  std::memcpy(body + 56, path.src.b.data(), 16);
  std::memcpy(body + 72, path.dst.b.data(), 16);
  body[92] = path.traffic_class;
  body[93] = kHopLimit;
  body[95] = static_cast<uint8_t>(m.ack_timeout << 3);
  write_ip_private_data(path, body + 140);
}

/// IBA 12.6.8.
void write_rep(const CmMessage& m, const L2L3& path, uint8_t* body) {
  store_be24(body + 12, m.qpn.v);
  store_be24(body + 20, m.start.v);
  body[24] = body[25] = kAtomicsAndReads;
  body[27] = static_cast<uint8_t>(kRnrRetry << 5);
  write_guid(path, body + 28);
}

}  // namespace

void write_cm(const CmMessage& m, const L2L3& path, MutableBytes out) {
  MRDMA_CHECK(out.size() == kCmMadBytes);
  uint8_t* mad = out.data();
  std::memset(mad, 0, kCmMadBytes);
  mad[0] = 1;
  mad[1] = kCmClass;
  mad[2] = kCmVersion;
  mad[3] = kMethodSend;
  store_be64(mad + 8, m.transaction);
  store_be16(mad + 16, static_cast<uint16_t>(m.type));
  uint8_t* body = mad + kHeader;
  store_be32(body, m.local_id);
  if (m.type != CmType::kReq) store_be32(body + 4, m.remote_id);
  if (m.type == CmType::kReq) write_req(m, path, body);
  if (m.type == CmType::kRep) write_rep(m, path, body);
  if (m.type == CmType::kDreq) store_be24(body + 8, m.qpn.v);
}

std::optional<CmMessage> read_cm(const Frame& f) {
  if (f.opcode() != op::kUdSendOnly || f.dest_qp().v != 1 || f.payload_length() < kCmMadBytes)
    return std::nullopt;
  const uint8_t* mad = f.payload().data();
  if (mad[0] != 1 || mad[1] != kCmClass || mad[3] != kMethodSend) return std::nullopt;
  const uint8_t* body = mad + kHeader;
  CmMessage m;
  m.type = static_cast<CmType>(load_be16(mad + 16));
  m.transaction = load_be64(mad + 8);
  m.local_id = load_be32(body);
  switch (m.type) {
    case CmType::kReq:
      m.qpn = Qpn{load_be24(body + 32)};
      m.start = Psn{load_be24(body + 44)};
      m.service_port = load_be16(body + 14);
      m.path_mtu = 128u << (body[50] >> 4);
      m.response_timeout = body[47] >> 3;
      m.ack_timeout = body[95] >> 3;
      return m;
    case CmType::kRep:
      m.qpn = Qpn{load_be24(body + 12)};
      m.start = Psn{load_be24(body + 20)};
      break;
    case CmType::kDreq:
      m.qpn = Qpn{load_be24(body + 8)};
      break;
    case CmType::kRtu:
    case CmType::kDrep:
      break;
    default:
      return std::nullopt;
  }
  m.remote_id = load_be32(body + 4);
  return m;
}

}  // namespace matchrdma::model
