#pragma once
// What the tests of this room share: frames from hex, heap buffers of exact size, one spec per opcode, a pool.
#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "dataplane/base/packet.h"
#include "dataplane/wire/frame_builder.h"

namespace matchrdma::test {

/// Bytes of a hex string; blanks are skipped.
inline std::vector<uint8_t> from_hex(std::string_view text) {
  std::vector<uint8_t> out;
  int digits = 0, value = 0;
  for (char c : text) {
    if (c == ' ') continue;
    value = value * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    if (++digits % 2 == 0) out.push_back(static_cast<uint8_t>(value)), value = 0;
  }
  return out;
}

/// CNP of a ConnectX-4 Lx, Ethernet without FCS.
inline std::vector<uint8_t> connectx_cnp() {
  return from_hex(
      "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201 000012b7002800008100ffff40000118"
      "00000000 00000000000000000000000000000000 82fd002a");
}

/// A copy on the heap that ends where the frame ends, so that AddressSanitizer sees a read one byte too far.
class ExactBuffer {
 public:
  explicit ExactBuffer(Bytes b) : size_(b.size()), p_(new uint8_t[b.size()]) {
    std::copy(b.begin(), b.end(), p_.get());
  }
  Bytes bytes() const { return {p_.get(), size_}; }

 private:
  size_t size_;
  std::unique_ptr<uint8_t[]> p_;
};

/// IPv4 or IPv6 endpoints with `tags` VLAN tags (outer 802.1ad where there are two).
inline L2L3 endpoints(bool v4, int tags) {
  L2L3 l;
  l.mac_dst = {2, 0, 0, 0, 0, 0xb};
  l.mac_src = {2, 0, 0, 0, 0, 0xa};
  l.vlan_tags = tags;
  if (tags == 2) l.vlan_tpid[0] = 0x88a8;
  l.vlan_tci = {0x6064, 0xc0c8};  // PCP 3 VLAN 100; PCP 6 VLAN 200
  if (v4) {
    static constexpr uint8_t kA[4] = {10, 9, 0, 1}, kB[4] = {10, 9, 0, 2};
    l.src = IpAddress::v4(kA);
    l.dst = IpAddress::v4(kB);
  } else {
    l.src.b = {0xfd, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    l.dst.b = {0xfd, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
    l.flow_label = 0x12345;
  }
  l.traffic_class = 106;  // DSCP 26, ECT(0)
  l.hop_limit = 61;
  l.udp_source_port = 0xc132;
  return l;
}

/// A packet of this opcode in which every field has a value of its own.
inline RoceSpec spec_of(uint8_t opcode, Bytes payload) {
  RoceSpec r;
  r.opcode = opcode;
  r.dest_qp = Qpn{0xabcdef};
  r.psn = Psn{0xfffffe};
  r.ack_req = true;
  r.solicited = true;
  r.mig_req = false;
  r.becn = true;
  r.fecn = true;
  r.pkey = 0x8001;
  r.va = 0x1122334455667788;
  r.rkey = 0xa1a2a3a4;
  r.dma_length = 0xb1b2b3b4;
  r.swap_add = 0x0102030405060708;
  r.compare = 0x1112131415161718;
  r.atomic_original = 0x2122232425262728;
  r.syndrome = 0x1f;
  r.msn = Msn{0x654321};
  r.imm = 0xc1c2c3c4;
  r.ieth_rkey = 0xd1d2d3d4;
  r.feth = 0x00000021;
  r.qkey = 0x80010000;
  r.source_qp = Qpn{0x000001};
  r.payload = payload;
  return r;
}

inline std::vector<uint8_t> build(const L2L3& l, const RoceSpec& r) {
  std::vector<uint8_t> out(roce_frame_size(l, r));
  build_roce(l, r, out);
  return out;
}

/// A frame most tests start from: RC WRITE_ONLY with 8 bytes, no VLAN tag.
inline std::vector<uint8_t> write_only(bool v4, int tags = 0) {
  static constexpr uint8_t kData[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  return build(endpoints(v4, tags), spec_of(op::kRcWriteOnly, kData));
}

/// Puts `extra` bytes at `at` and tells the IP length field about them.
inline std::vector<uint8_t> insert_into_ip(std::vector<uint8_t> frame, size_t at,
                                           const std::vector<uint8_t>& extra) {
  const bool v4 = (frame[14] >> 4) == 4;
  uint8_t* length = frame.data() + 14 + (v4 ? 2 : 4);
  store_be16(length, static_cast<uint16_t>(load_be16(length) + extra.size()));
  frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(at), extra.begin(), extra.end());
  return frame;
}

/// Hands out at most `limit` packets at a time.
class TestPool : public PacketPool {
 public:
  explicit TestPool(size_t limit) : limit_(limit) {}
  PacketRef alloc(uint32_t size) override {
    if (live_ == limit_) return {};
    ++live_;
    auto* p = new Packet;
    p->data = new uint8_t[size];
    p->size = p->capacity = size;
    p->refs = 1;
    p->pool = this;
    return PacketRef::adopt(p);
  }
  void recycle(Packet* p) noexcept override {
    --live_;
    delete[] p->data;
    delete p;
  }
  size_t live() const { return live_; }

 private:
  size_t limit_;
  size_t live_ = 0;
};

}  // namespace matchrdma::test
