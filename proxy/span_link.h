#pragma once
// The emulated link: two ports, and what travels between them.
#include <array>
#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/io/port.h"
#include "model/span.h"
#include "proxy/span_settings.h"

namespace matchrdma {

/// What one direction has seen.
struct SpanDirectionStats {
  uint64_t frames_in = 0, bytes_in = 0, frames_out = 0;
  uint64_t overflow = 0;    ///< dropped: the memory for frames on the way is used up
  uint64_t not_sent = 0;    ///< dropped at the far port
  int64_t late_sum_ns = 0;  ///< of all that went out: how long after its time
  int64_t late_most_ns = 0;
};

/// Duty: moves frames from each port to the other through a Span of the model. Does not know a clock, commands
/// or signals.
class SpanLink {
 public:
  /// `most_on_the_way`: frames that both directions together may hold.
  SpanLink(io::Port& a, io::Port& b, PacketPool& pool, const SpanSettings& settings, uint64_t seed,
           uint64_t most_on_the_way);

  /// Takes one burst from each port. `now` is asked behind each of them. True when there was something.
  template <class Now>
  bool receive(Now&& now) {
    bool any = false;
    for (size_t from = 0; from < 2; ++from) {
      const uint32_t n = ports_[from]->rx_burst(0, burst_);
      if (n == 0) continue;
      any = true;
      push(from, n, now());
    }
    return any;
  }
  /// Sends one burst in each direction of what is due. True when there was something.
  bool send(Instant now);
  Instant next_due() const;

  void set(const SpanSettings& settings);
  const SpanSettings& settings() const { return settings_; }
  void cut();
  void restore();
  bool dark() const { return spans_[0].dark(); }

  /// Direction 0 is from a to b.
  const SpanDirectionStats& stats(size_t direction) const { return stats_[direction]; }
  const model::SpanStats& model_stats(size_t direction) const { return spans_[direction].stats(); }
  uint64_t on_the_way(size_t direction) const { return spans_[direction].in_flight(); }
  uint64_t most_on_the_way() const { return most_on_the_way_; }

 private:
  static constexpr uint32_t kBurst = 32;
  void push(size_t from, uint32_t n, Instant now);

  std::array<io::Port*, 2> ports_;
  std::array<model::PacketSpan, 2> spans_;
  std::array<SpanDirectionStats, 2> stats_;
  std::array<PacketRef, kBurst> burst_;
  SpanSettings settings_;
  uint64_t most_on_the_way_;
};

}  // namespace matchrdma
