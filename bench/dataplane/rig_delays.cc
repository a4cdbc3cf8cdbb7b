// Packets that come at random, and how long a proxy keeps each of them.
#include <cmath>
#include <deque>
#include <utility>

#include "bench/dataplane/rig.h"
#include "bench/statistics.h"
#include "dataplane/base/prng.h"

namespace matchrdma::dataplane_bench {
namespace {

double exponential(Prng& prng, double mean) { return -mean * std::log(1 - prng.unit()); }

/// `n` packets, `mean` cycles apart on average. `put(i)` lets one arrive, which takes no time, and is false
/// when there is no room: then so is the answer; `between` is what the others do after each round. Adds the
/// cycles that each was kept for, where `counts(i)`.
template <typename Put, typename Between, typename Counts>
bool come_at_random(Site& site, io::RingPort& port, size_t n, double mean, Prng& prng, Put&& put,
                    Between&& between, Counts&& counts, std::vector<double>& kept) {
  double now = 0, next = exponential(prng, mean);
  std::deque<double> waiting;
  for (size_t arrived = 0, gone = 0; gone < n;) {
    for (; arrived < n && next <= now; ++arrived) {
      if (!put(arrived)) return false;
      waiting.push_back(next);
      next += exponential(prng, mean);
    }
    const size_t before = port.waiting();
    now += static_cast<double>(site.round());
    for (size_t taken = before - port.waiting(); taken > 0; --taken, ++gone) {
      if (counts(gone)) kept.push_back(now - waiting.front());
      waiting.pop_front();
    }
    between();
  }
  return true;
}

bool is_roce(Bytes frame) { return parse_frame(frame).kind == ParseKind::kRoce; }

}  // namespace

bool Rig::deliver_at_random(double mean, Prng& prng, std::vector<double>& kept) {
  const Flight flight = std::move(span_.front());
  span_.pop_front();
  const auto frame = [&](size_t i) {
    const size_t begin = i == 0 ? 0 : flight.ends[i - 1];
    return Bytes(flight.bytes).subspan(begin, flight.ends[i] - begin);
  };
  const bool room = come_at_random(
      *b_, b_->wan(), flight.ends.size(), mean, prng,
      [&](size_t i) {
        PacketRef p = copy_of(frame(i), b_->pool());
        return p && b_->wan().put(std::move(p));
      },
      [&] { answer(); }, [&](size_t i) { return is_roce(frame(i)); }, kept);
  come_back();
  return room;
}

Result<Delays> Rig::delays(double load, const Turns& t, uint32_t packets) {
  Delays d;
  Prng prng(1);
  const double ns = 1e9 / io::tsc_hz();
  const double source = lower_quartile(t.source) / load, destination = lower_quartile(t.destination) / load;
  // As much is on the span as comes in the same round trip.
  const double under_way = o_.custody * load;
  for (uint32_t done = 0; done < packets; done += o_.phase) {
    // What the destination has said arrives all through the turn.
    const size_t at_once = returning_.size() / o_.phase + 1;
    const bool room = come_at_random(
        *a_, a_->lan(), o_.phase, source, prng,
        [&](size_t) {
          bring_back(at_once);
          PacketRef p = traffic_.next_request(a_->pool());
          return p && a_->lan().put(std::move(p));
        },
        [&] { a_->lan().take([&](Bytes f) { traffic_.acknowledged(f); }); }, [](size_t) { return true; },
        d.source);
    if (!room)
      return Error{"the ring of the senders is full, or their pool empty: " +
                   std::to_string(a_->counters().custody_packets) + " packets are owned"};
    to_span();
    span_.push_back(std::exchange(going_, {}));
    while (static_cast<double>(span_.size() * o_.phase) > under_way) {
      if (!deliver_at_random(destination, prng, d.destination))
        return Error{"the ring of the span is full, or its pool empty: " +
                     std::to_string(b_->counters().held_bytes) + " bytes are held"};
    }
  }
  for (std::vector<double>* all : {&d.source, &d.destination}) {
    for (double& cycles : *all) cycles *= ns;
  }
  return d;
}

}  // namespace matchrdma::dataplane_bench
