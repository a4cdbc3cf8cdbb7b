#pragma once
// When one message is complete, by formula.
#include <cstdint>
#include <memory>

#include "host/planner/line.h"

namespace matchrdma::planner {

/// Number of packet times until all of a message has arrived.
class PacketTimes {
 public:
  virtual ~PacketTimes() = default;
  /// P(that many are enough).
  virtual double cdf(int64_t packet_times) const = 0;
  virtual double mean() const = 0;
  /// Mean number of packets on the line: data, parity and resends.
  virtual double packets_sent() const = 0;
};

/// Duty: the distribution of the completion time T of one message: from the first bit on the line (cold: one
/// round trip earlier, when the grant is asked for) to the return of the answer that all has arrived. Without
/// loss that is serialisation + RTT, 27.7 ms for 128 MiB at 400 Gb/s and 25 ms (HOST, planner). Does not know
/// who asks. docs/host_planner.md derives the formulas.
class Completion {
 public:
  Completion(const Link& link, uint64_t message_bytes, const Scheme& scheme);

  /// P(T <= t), t in seconds.
  double cdf(double seconds) const;
  /// The same in packet times of line(), without what no scheme is spared.
  double cdf_packet_times(int64_t n) const { return law_->cdf(n); }
  /// Seconds.
  double mean() const { return line_.seconds(law_->mean()); }
  /// The least t with P(T <= t) >= q, in seconds; 0 < q < 1. Infinite beyond 2^60 packet times.
  double quantile(double q) const;
  /// T without loss and without parity, in seconds.
  double loss_free() const { return line_.seconds(static_cast<double>(line_.packets)); }
  /// Mean number of payload bytes on the line: data, parity and resends.
  double line_bytes() const { return law_->packets_sent() * line_.packet_bytes; }
  const Line& line() const { return line_; }

 private:
  Line line_;
  std::unique_ptr<PacketTimes> law_;
};

/// Selective repeat: P(T <= t) = product over packets of 1 - p^(1 + floor((t - t_i - d) / RTO)) (HOST,
/// planner), with d = RTT. Exact, and resends take their place on the line: of a message longer than a round
/// the product goes over its last round.
std::unique_ptr<PacketTimes> selective_repeat(const Line& line);
/// Erasure code (HOST, sdr: ErasureCode): each group's data, then its parity. A codeword that lost j > m
/// packets owes j - m, which are repeated selectively, first one round after its group. Approximate where many
/// codewords fail (how often resends get in the way is a mean).
std::unique_ptr<PacketTimes> erasure_code(const Line& line, const Code& code);
/// Go-back-N of a reliable connection, as reference: each loss costs one round, in which all is sent anew, so
/// T = packets + round x failures (negative binomial). Exact for a NIC that learns of each loss one round later
/// (a NAK one RTT after the next packet; no further time-out for the last packet of a message).
std::unique_ptr<PacketTimes> go_back_n(const Line& line);

}  // namespace matchrdma::planner
