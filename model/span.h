#pragma once
// One direction of a path: rate, queue, delay and every way to lose, double, reorder or spoil what it carries.
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "dataplane/base/packet.h"
#include "dataplane/base/prng.h"
#include "dataplane/base/time.h"
#include "dataplane/base/types.h"
#include "model/growing_ring.h"

namespace matchrdma::model {

/// The path is dark in [from, until): what is on the fibre then is lost.
struct SpanCut {
  Instant from, until;
};

/// Behaviour of a Span. May be changed while the span runs (Span::config): it holds for what is pushed later.
struct SpanConfig {
  Duration delay{};
  Rate rate{};              ///< 0: no serialisation time
  int64_t queue_bytes = 0;  ///< bound of what waits for serialisation; 0: unbounded. Needs a rate.
  double loss = 0, duplicate = 0, reorder = 0, corrupt = 0;  ///< probabilities per item
  Duration reorder_extra{};  ///< a reordered item comes up to this much later than the others
  std::vector<SpanCut> cuts{};
};

struct SpanStats {
  uint64_t pushed = 0, delivered = 0;
  uint64_t lost = 0;        ///< by the loss probability
  uint64_t cut = 0;         ///< by a cut window, or in the dark
  uint64_t tail_drops = 0;  ///< by the queue bound
  uint64_t duplicated = 0, reordered = 0, corrupted = 0;
  int64_t peak_queue_bytes = 0;
  int64_t peak_in_flight_bytes = 0;
};

/// Carries items of any type (packets, control datagrams, a variant of both) in virtual time. Deterministic:
/// same seed, same pushes, same result; equal due times leave in the order of their pushes. Does not know what
/// it carries.
template <class T>
class Span {
 public:
  using Clone = std::function<T(const T&)>;
  using Corrupt = std::function<void(T&, Prng&)>;

  Span(SpanConfig config, uint64_t seed) : config_(std::move(config)), prng_(seed) {
    if constexpr (std::copy_constructible<T>) clone_ = [](const T& t) { return t; };
  }

  /// How to double an item; needed for move-only items when `duplicate` > 0. An empty result (T{}) is delivered
  /// too.
  void set_clone(Clone f) { clone_ = std::move(f); }
  /// How to spoil an item; needed when `corrupt` > 0. Must not touch bytes that the sender still holds.
  void set_corrupt(Corrupt f) { corrupt_ = std::move(f); }
  SpanConfig& config() { return config_; }

  /// Sends an item of `size_bytes` at `now`; calls must not go back in time.
  void push(T item, uint32_t size_bytes, Instant now) {
    ++stats_.pushed;
    const std::optional<Instant> left = serialise(size_bytes, now);
    if (!left) return;
    if (config_.loss > 0 && prng_.chance(config_.loss)) {
      ++stats_.lost;
      return;
    }
    if (config_.duplicate > 0 && prng_.chance(config_.duplicate)) {
      MRDMA_CHECK(clone_ != nullptr);
      ++stats_.duplicated;
      launch(clone_(item), size_bytes, *left);
    }
    launch(std::move(item), size_bytes, *left);
  }

  /// The path goes dark now, without notice: what is on it is lost, and so is all that comes until light().
  void darken() {
    dark_ = true;
    stats_.cut += in_flight();
    while (!line_.empty()) line_.pop_front();
    strays_.clear();
    in_flight_bytes_ = 0;
    busy_until_ = {};
  }
  void light() { dark_ = false; }
  bool dark() const { return dark_; }

  Instant next_due() const {
    const Entry* e = earliest();
    return e == nullptr ? Instant::never() : e->due;
  }
  /// The earliest item due at or before `now`.
  std::optional<T> pop_due(Instant now) {
    const Entry* e = earliest();
    if (e == nullptr || now < e->due) return std::nullopt;
    ++stats_.delivered;
    in_flight_bytes_ -= e->size_bytes;
    if (!line_.empty() && e == &line_.front()) {
      std::optional<T> item(std::move(line_.front().item));
      line_.pop_front();
      return item;
    }
    std::pop_heap(strays_.begin(), strays_.end(), Later{});
    std::optional<T> item(std::move(strays_.back().item));
    strays_.pop_back();
    return item;
  }
  /// What is likely to come `ahead` items after the next, for prefetching; nullptr: not known.
  const T* upcoming(size_t ahead) const { return ahead < line_.size() ? &line_[ahead].item : nullptr; }

  bool empty() const { return line_.empty() && strays_.empty(); }
  size_t in_flight() const { return line_.size() + strays_.size(); }
  uint64_t in_flight_bytes() const { return static_cast<uint64_t>(in_flight_bytes_); }
  const SpanStats& stats() const { return stats_; }
  /// Bytes that wait for serialisation at `now`.
  int64_t queue_bytes(Instant now) const {
    if (config_.rate.bps <= 0 || busy_until_ <= now) return 0;
    const auto bits = static_cast<__int128>((busy_until_ - now).ns) * config_.rate.bps / kNanos;
    return static_cast<int64_t>((bits + 7) / 8);
  }

 private:
  static constexpr int64_t kNanos = 1'000'000'000;
  struct Entry {
    Instant due;
    uint64_t order = 0;
    uint32_t size_bytes = 0;
    T item{};
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.due != b.due ? a.due > b.due : a.order > b.order;
    }
  };

  /// When the last bit leaves, or nothing when the queue is full.
  std::optional<Instant> serialise(uint32_t size_bytes, Instant now) {
    if (config_.rate.bps <= 0) return now;
    const int64_t waiting = queue_bytes(now) + size_bytes;
    if (config_.queue_bytes > 0 && waiting > config_.queue_bytes) {
      ++stats_.tail_drops;
      return std::nullopt;
    }
    stats_.peak_queue_bytes = std::max(stats_.peak_queue_bytes, waiting);
    if (busy_until_ < now) {
      busy_until_ = now;
      carry_ = 0;
    }
    // The remainder is carried: 64 bytes at 100 Gb/s are 5.12 ns, and the rate must be exact over many packets.
    const int64_t work = int64_t{size_bytes} * 8 * kNanos + carry_;
    busy_until_ = busy_until_ + Duration{work / config_.rate.bps};
    carry_ = work % config_.rate.bps;
    return busy_until_;
  }

  const Entry* earliest() const {
    if (strays_.empty()) return line_.empty() ? nullptr : &line_.front();
    return line_.empty() || Later{}(line_.front(), strays_.front()) ? &strays_.front() : &line_.front();
  }

  void launch(T item, uint32_t size_bytes, Instant left) {
    if (dark_) {
      ++stats_.cut;
      return;
    }
    Instant due = left + config_.delay;
    const bool reordered = config_.reorder > 0 && prng_.chance(config_.reorder);
    if (reordered) {
      ++stats_.reordered;
      due = due + Duration{prng_.between(0, config_.reorder_extra.ns)};
    }
    for (const SpanCut& c : config_.cuts)
      if (left < c.until && due >= c.from) {
        ++stats_.cut;
        return;
      }
    if (config_.corrupt > 0 && prng_.chance(config_.corrupt)) {
      MRDMA_CHECK(corrupt_ != nullptr);
      ++stats_.corrupted;
      corrupt_(item, prng_);
    }
    in_flight_bytes_ += size_bytes;
    stats_.peak_in_flight_bytes = std::max(stats_.peak_in_flight_bytes, in_flight_bytes_);
    Entry e{due, order_++, size_bytes, std::move(item)};
    if (!reordered && (line_.empty() || due >= line_.back().due)) {
      line_.push_back(std::move(e));
      return;
    }
    strays_.push_back(std::move(e));
    std::push_heap(strays_.begin(), strays_.end(), Later{});
  }

  SpanConfig config_;
  Prng prng_;
  Clone clone_;
  Corrupt corrupt_;
  SpanStats stats_;
  GrowingRing<Entry> line_;    // as pushed, which is nearly always the order in which they arrive
  std::vector<Entry> strays_;  // a heap of the others
  int64_t in_flight_bytes_ = 0;
  Instant busy_until_{};
  int64_t carry_ = 0;
  uint64_t order_ = 0;
  bool dark_ = false;
};

/// What travels between two proxies: a packet, or the bytes of a control datagram.
struct SpanItem {
  PacketRef packet{};
  std::vector<uint8_t> control{};
};

/// Copy with its own memory; empty when the pool is exhausted (then the copy was lost).
PacketRef clone_packet(const PacketRef& p, PacketPool& pool);
/// First byte that a fault inside of a box may flip. What stands before it (MACs, VLAN tags) no ICRC covers;
/// the link's own checksum finds it there, and drops (seeds 74548, 571316).
uint32_t fragile_from(Bytes frame);
/// Flips 1 to 3 bits at or behind `from` in a private copy and puts it in `p`'s place: the sender may retain
/// `p`. Three flips stay within what a CRC-32 always finds at these lengths. Empty `p` when the pool is
/// exhausted.
void corrupt_packet(PacketRef& p, Prng& prng, PacketPool& pool, uint32_t from = 0);

using PacketSpan = Span<PacketRef>;
using ItemSpan = Span<SpanItem>;
/// The same with the callbacks set. `pool` must outlive the span.
PacketSpan make_packet_span(SpanConfig config, uint64_t seed, PacketPool& pool);
ItemSpan make_item_span(SpanConfig config, uint64_t seed, PacketPool& pool);

}  // namespace matchrdma::model
