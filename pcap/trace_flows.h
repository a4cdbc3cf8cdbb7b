#pragma once
// First pass over a capture: counts, sites, streams and the QP pairs in it.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dataplane/flow/message.h"
#include "pcap/capture_clock.h"
#include "pcap/capture_reader.h"
#include "pcap/trace_lives.h"
#include "pcap/trace_sites.h"
#include "pcap/trace_stream.h"

namespace matchrdma {

class TracePairing;

struct TraceCounts {
  std::string file;
  uint64_t packets = 0, roce = 0, icrc_bad = 0, malformed = 0, truncated = 0, not_roce = 0;
  std::array<uint64_t, 256> opcodes{};
  Instant first = Instant::never();  ///< earliest time, by CaptureClock
  std::string incomplete;            ///< why the file ends before its end; empty: it does not
};

/// Duty: what a replay must know before its first packet. Streams the file: memory grows with flows, and by one
/// bit for every packet.
class TraceFlows {
 public:
  using ProgressFn = std::function<void(uint64_t bytes_read)>;
  static Result<TraceFlows> scan(CaptureReader reader, std::optional<Cidr> site_a, const ProgressFn& progress);

  const TraceCounts& counts() const { return counts_; }
  const TraceSites& sites() const { return sites_; }
  const std::vector<TraceStream>& streams() const { return streams_; }
  /// Whether the ICRC of the packet at `index` of the file was wrong; none where the scan has not come to.
  std::optional<bool> bad_icrc(uint64_t index) const {
    if (index >= counts_.packets) return std::nullopt;
    return bad_icrc_[index];
  }
  /// Index of the stream of an RC, UC or UD packet; -1 for everything else. Of a QP with several lives the
  /// newest.
  int stream_of(const ParseResult& p) const;
  int stream_of(const FlowKey& key) const;
  /// The same for the packet at `index` of the file, which knows its life.
  int stream_at(const ParseResult& p, uint64_t index) const;
  /// The partner, where it cannot be another; else -1.
  int sure_partner(int stream) const {
    const TraceStream& s = streams_[static_cast<size_t>(stream)];
    return s.sure ? s.partner : -1;
  }
  /// Whether a stream has a partner beyond doubt and one life only.
  bool can_register(size_t stream) const;
  /// One per QP pair that can be registered; end `a` is the one that sent the first request of the two.
  std::vector<Registration> registrations(Completion completion) const;

 private:
  struct KeyHash {
    size_t operator()(const FlowKey& k) const { return static_cast<size_t>(k.hash()); }
  };
  explicit TraceFlows(std::optional<Cidr> site_a) : sites_(site_a) {}
  int stream_for(const Frame& f, uint64_t index, Instant time, TracePairing& pairing);
  int new_stream(const FlowKey& key, Transport transport, uint64_t index);
  void learn(const CapturedPacket& packet, const Frame& f, Instant time, TracePairing& pairing);
  static constexpr int kMostLives = 256;  ///< of one QP; behind that it is one life

  TraceCounts counts_;
  TraceSites sites_;
  std::vector<TraceStream> streams_;
  std::unordered_map<FlowKey, int, KeyHash> index_;  ///< of the newest life
  std::vector<LifeWatch> lives_;                     ///< per stream, while scanning
  std::unordered_set<FlowKey, KeyHash> reborn_;      ///< a handshake said so: the next packet begins a life
  std::vector<bool> bad_icrc_;  ///< by index in the file: the second pass need not read payloads again for it
};

}  // namespace matchrdma
