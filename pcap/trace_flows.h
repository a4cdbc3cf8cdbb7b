#pragma once
// First pass over a capture: counts, sites, streams and the QP pairs in it.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dataplane/flow/message.h"
#include "pcap/capture_reader.h"
#include "pcap/trace_sites.h"
#include "pcap/trace_stream.h"

namespace matchrdma {

struct TraceCounts {
  std::string file;
  uint64_t packets = 0, roce = 0, icrc_bad = 0, malformed = 0, truncated = 0, not_roce = 0;
  std::array<uint64_t, 256> opcodes{};
  Instant first = Instant::never();  ///< earliest time
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
  /// Index of the stream of an RC, UC or UD packet; -1 for everything else.
  int stream_of(const ParseResult& p) const;
  int stream_of(const FlowKey& key) const;
  /// Whether a stream has a partner and one life only.
  bool can_register(size_t stream) const;
  /// One per QP pair that can be registered; end `a` is the one that sent the first request of the two.
  std::vector<Registration> registrations(Completion completion) const;

 private:
  struct KeyHash {
    size_t operator()(const FlowKey& k) const { return static_cast<size_t>(k.hash()); }
  };
  explicit TraceFlows(std::optional<Cidr> site_a) : sites_(site_a) {}
  int stream_for(const Frame& f);

  TraceCounts counts_;
  TraceSites sites_;
  std::vector<TraceStream> streams_;
  std::unordered_map<FlowKey, int, KeyHash> index_;
  std::vector<bool> bad_icrc_;  ///< by index in the file: the second pass need not read payloads again for it
};

}  // namespace matchrdma
