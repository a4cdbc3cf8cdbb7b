#pragma once
// A frame on its way, its pool, and the queues it stands in.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/base/check.h"
#include "dataplane/base/packet.h"
#include "sim/sim_time.h"

namespace matchrdma::sim {

inline constexpr uint32_t kClasses = 8;
inline constexpr uint8_t kControlClass = 0;  ///< strict, not accounted, never paused (SIMULATOR 3)
inline constexpr uint8_t kDataClass = 3;

/// kProxy: a datagram between the proxies of a long link.
enum class FrameKind : uint8_t { kData, kAck, kNack, kCnp, kPfc, kProxy };

struct SimPacket {
  SimPacket* next = nullptr;             ///< in the one queue that holds it
  SimTime due{};                         ///< arrival at the end of the link that carries it
  int64_t seq = 0;                       ///< PSN, not wrapped; ACK, NACK: the next that is expected
  uint32_t size = 0;                     ///< bytes of the frame, without gap
  uint32_t payload = 0;                  ///< bytes
  uint32_t source = 0, destination = 0;  ///< hosts
  uint32_t qp = 0;                       ///< of the destination host
  /// Data: QP of the source host. No field of a request: who answers for a receiver has learned it elsewhere.
  uint32_t source_qp = 0;
  uint32_t flow = 0;     ///< what ECMP hashes besides the hosts
  uint32_t in_port = 0;  ///< of the switch that holds it
  uint32_t message = 0;  ///< first packet: bytes of the message; ACK, NACK: messages complete (MSN)
  FrameKind kind = FrameKind::kData;
  uint8_t traffic_class = kDataClass;  ///< PFC: the class that is paused or resumed
  bool ce = false;                     ///< congestion experienced
  bool cnp = false;                    ///< ACK, NACK: the CNP bit
  bool starts_message = false, ends_message = false;
  bool pause = false;  ///< PFC: PAUSE or RESUME
  PacketRef bytes{};   ///< what a proxy has made of it or sends on; empty everywhere else
};

/// Duty: memory of all packets of a run. Grows in blocks and never shrinks, so nothing is allocated per packet
/// once the fullest moment has been seen.
class SimPacketPool {
 public:
  SimPacket* alloc() {
    if (free_ == nullptr) grow();
    SimPacket* p = free_;
    free_ = p->next;
    *p = SimPacket{};
    ++in_use_;
    return p;
  }
  void release(SimPacket* p) {
    p->bytes.reset();
    p->next = free_;
    free_ = p;
    --in_use_;
  }
  size_t in_use() const { return in_use_; }
  size_t capacity() const { return blocks_.size() * kBlock; }

 private:
  static constexpr size_t kBlock = 1024;
  void grow() {
    blocks_.push_back(std::make_unique<SimPacket[]>(kBlock));
    for (size_t i = kBlock; i-- > 0;) {
      SimPacket* p = &blocks_.back()[i];
      p->next = free_;
      free_ = p;
    }
  }
  std::vector<std::unique_ptr<SimPacket[]>> blocks_;
  SimPacket* free_ = nullptr;
  size_t in_use_ = 0;
};

/// Duty: a queue of packets through their own `next`. Does not own them.
class SimPacketFifo {
 public:
  bool empty() const { return head_ == nullptr; }
  int64_t bytes() const { return bytes_; }
  SimPacket* front() const { return head_; }
  void push(SimPacket* p) {
    p->next = nullptr;
    if (head_ == nullptr) {
      head_ = p;
    } else {
      tail_->next = p;
    }
    tail_ = p;
    bytes_ += p->size;
  }
  SimPacket* pop() {
    MRDMA_CHECK(head_ != nullptr);
    SimPacket* p = head_;
    head_ = p->next;
    bytes_ -= p->size;
    return p;
  }

 private:
  SimPacket* head_ = nullptr;
  SimPacket* tail_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace matchrdma::sim
