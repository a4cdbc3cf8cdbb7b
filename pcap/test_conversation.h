#pragma once
// Captures of two hosts talking RoCEv2, put together packet by packet: for tests of the replayer's parts.
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "dataplane/wire/frame_builder.h"
#include "pcap/capture_bytes.h"
#include "pcap/packet_view.h"
#include "pcap/trace_flows.h"

namespace matchrdma::test {

/// Host A is 10.0.0.1, host B 10.0.0.2. Every packet is captured a microsecond after the one before.
class Conversation {
 public:
  Conversation() : file_(false) { file_.file_header(0xa1b23c4d); }

  static L2L3 net(bool from_a, uint16_t port) {
    static constexpr uint8_t kA[4] = {10, 0, 0, 1}, kB[4] = {10, 0, 0, 2};
    L2L3 l;
    l.mac_src = {2, 0, 0, 0, 0, static_cast<uint8_t>(from_a ? 1 : 2)};
    l.mac_dst = {2, 0, 0, 0, 0, static_cast<uint8_t>(from_a ? 2 : 1)};
    l.src = IpAddress::v4(from_a ? kA : kB);
    l.dst = IpAddress::v4(from_a ? kB : kA);
    l.udp_source_port = port;
    return l;
  }
  static std::vector<uint8_t> frame(bool from_a, const RoceSpec& r, uint16_t port = 0xc001) {
    const L2L3 l = net(from_a, port);
    std::vector<uint8_t> f(roce_frame_size(l, r));
    build_roce(l, r, f);
    return f;
  }
  /// A request of one PSN with `payload` bytes.
  static RoceSpec request(uint8_t opcode, uint32_t qpn, uint32_t psn, uint32_t payload = 64) {
    static const std::vector<uint8_t> kZeros(4096);
    RoceSpec r;
    r.opcode = opcode;
    r.dest_qp = Qpn{qpn};
    r.psn = Psn{psn};
    r.ack_req = opcode_info(opcode).ends_message();
    r.dma_length = payload;
    if (opcode_info(opcode).payload) r.payload = Bytes{kZeros}.first(payload);
    return r;
  }
  static RoceSpec ack(uint32_t qpn, uint32_t psn, uint32_t msn, uint8_t syndrome = kAethAck | 31) {
    RoceSpec r;
    r.opcode = op::kRcAck;
    r.dest_qp = Qpn{qpn};
    r.psn = Psn{psn};
    r.msn = Msn{msn};
    r.syndrome = syndrome;
    return r;
  }

  Conversation& a(const RoceSpec& r, uint16_t port = 0xc001) { return add(frame(true, r, port)); }
  Conversation& b(const RoceSpec& r, uint16_t port = 0xc001) { return add(frame(false, r, port)); }
  Conversation& add(const std::vector<uint8_t>& f) {
    file_.record(seconds_, ++count_ * 1000, f);
    frames_.push_back(f);
    return *this;
  }
  /// Nobody says anything for so long; time_of() does not know of it.
  Conversation& pause(uint32_t seconds) {
    seconds_ += seconds;
    return *this;
  }
  static Instant time_of(size_t index) {
    return Instant{1'000'000'000'000 + static_cast<int64_t>(index + 1) * 1000};
  }

  TraceFlows scan() const {
    auto reader = CaptureReader::from_bytes(file_.bytes, "conversation");
    return std::move(*TraceFlows::scan(std::move(*reader), std::nullopt, nullptr));
  }
  /// Views the frame kept here.
  PacketView view(size_t index, const TraceFlows& flows) const { return PacketView::of(frames_[index], flows); }
  size_t size() const { return frames_.size(); }
  const std::vector<uint8_t>& bytes() const { return file_.bytes; }

 private:
  CaptureBytes file_;
  std::vector<std::vector<uint8_t>> frames_;
  uint32_t count_ = 0, seconds_ = 1000;
};

}  // namespace matchrdma::test
