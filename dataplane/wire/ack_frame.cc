#include "dataplane/wire/ack_frame.h"

#include <cstring>

#include "dataplane/wire/frame_builder.h"
#include "dataplane/wire/icrc.h"

namespace matchrdma {
namespace {

constexpr uint32_t kIcrcBytes = 4, kBthBytes = 12, kAethBytes = 4;
constexpr uint32_t kNumberBytes = 3 + kAethBytes;  // PSN and AETH
constexpr uint32_t kUdpFromEnd = kUdpBytes + kBthBytes + kAethBytes + kIcrcBytes;
constexpr uint32_t kNumbersFromEnd = kNumberBytes + kIcrcBytes;
constexpr uint32_t kWordsFromEnd = 1 + kNumbersFromEnd;  // the same as words of 16 bits

}  // namespace

void AckFrame::prepare(const L2L3& net, Qpn to, uint16_t pkey, bool mig_req) {
  RoceSpec r;
  r.opcode = op::kRcAck;
  r.dest_qp = to;
  r.pkey = pkey;
  r.mig_req = mig_req;
  const uint32_t size = roce_frame_size(net, r);
  const MutableBytes frame = MutableBytes(bytes_).first(size);
  L2L3 unchecked = net;
  unchecked.udp_checksum = false;
  build_roce(unchecked, r, frame);
  crc_ = crc_of_headers(parse_frame(frame).frame, size - kNumbersFromEnd);
  std::memset(frame.data() + size - kIcrcBytes, 0, kIcrcBytes);
  sum_ = udp_checksum_sum(net, frame);
  udp_checksum_ = net.udp_checksum;
  size_ = static_cast<uint8_t>(size);
}

PacketRef AckFrame::make(Psn psn, uint8_t syndrome, Msn msn, PacketPool& pool) const {
  PacketRef p = pool.alloc(size_);
  if (!p) return p;
  std::memcpy(p->data, bytes_.data(), size_);
  uint8_t* const end = p->data + size_;
  uint8_t* const numbers = end - kNumbersFromEnd;
  store_be24(numbers, psn.v);
  numbers[3] = syndrome;
  store_be24(numbers + 4, msn.v);
  store_le32(end - kIcrcBytes, crc32(crc_, Bytes{numbers, kNumberBytes}));
  if (udp_checksum_) {
    const uint32_t sum = sum16(sum_, end - kWordsFromEnd, kWordsFromEnd);
    store_be16(end - kUdpFromEnd + 6, udp_form(static_cast<uint16_t>(~fold_checksum(sum))));
  }
  return p;
}

}  // namespace matchrdma
