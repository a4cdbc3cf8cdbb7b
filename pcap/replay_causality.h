#pragma once
// What a captured packet answers, and whether that has been delivered in the replay.
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/wire/cm_mad.h"
#include "pcap/packet_view.h"
#include "pcap/seq_window.h"

namespace matchrdma {

/// What must have reached a host before it sends a packet.
struct Dependency {
  enum class Kind : uint8_t { kNone, kRequest, kReadCopy, kCm };
  using CmKey = std::tuple<IpAddress, uint32_t, uint16_t>;  ///< sender, its communication id, attribute
  Kind kind = Kind::kNone;
  int stream = -1;  ///< of the request
  Seq seq = 0;
  uint32_t copy = 0;  ///< kReadCopy: 0 is the first
  CmKey cm{};
  Duration turnaround;  ///< captured time between the two
};

/// Duty: in file order, finds the dependency of each captured packet; in virtual order, notes deliveries.
/// Memory is bounded per flow: what was answered long ago counts as delivered. Does not know hosts or shifts.
class Causality {
 public:
  explicit Causality(const TraceFlows& flows);
  /// Call for every packet in file order.
  Dependency captured(const PacketView& v, Instant time);
  /// A packet has reached the LAN of its receiver.
  void delivered(const PacketView& v, Instant now);
  /// When the dependency was fulfilled; nothing: not yet.
  std::optional<Instant> fulfilled(const Dependency& d);

 private:
  struct CapturedRequest {
    Instant time;  ///< newest copy
    uint32_t copies = 0;
    uint32_t psns = 1;  ///< READ: PSNs of its responses
  };
  struct Flow {
    Seq captured_near = 0, delivered_near = 0;
    Seq newest = 0;  ///< PSN of the request captured last
    bool any = false;
    SeqWindow<CapturedRequest> captured;  ///< SEND, WRITE and READ-class
    SeqWindow<CapturedRequest> reads;     ///< READ-class alone
    SeqWindow<Instant> first_delivery;
    SeqWindow<std::vector<Instant>> read_deliveries;
    Seq forgotten = 0;  ///< deliveries below are not remembered any more
  };
  static constexpr size_t kRemembered = 1 << 17;
  static constexpr Seq kSlack = 4096;  ///< PSNs kept behind the newest one that was answered

  void captured_request(const PacketView& v, Instant time);
  Dependency captured_answer(const PacketView& v, Instant time);
  Dependency captured_cm(const PacketView& v, Instant time);
  void trim(Flow& f, Seq answered);
  uint32_t response_psns(int stream, const Frame& f) const;

  const TraceFlows& flows_;
  std::vector<Flow> state_;
  std::map<Dependency::CmKey, Instant> cm_delivered_;
  std::map<std::tuple<IpAddress, uint32_t>, std::pair<uint16_t, Instant>>
      cm_captured_;  ///< newest MAD of an id
};

/// PSNs that a READ-class request occupies (C13).
uint32_t read_psns(const Frame& f, uint32_t path_mtu);

}  // namespace matchrdma
