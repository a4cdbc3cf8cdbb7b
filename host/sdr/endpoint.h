#pragma once
// One end of an SDR connection: both halves on one NIC, and the queue pairs between.
#include <memory>
#include <vector>

#include "host/sdr/receiver.h"
#include "host/sdr/sender.h"

namespace matchrdma::host {

struct SdrOptions {
  Transport transport = Transport::kUc;  ///< of the data: kUc, or kRc where the NIC has no UC (C7)
  SdrShape shape;
  SenderOptions sender;
  ReceiverOptions receiver;
  ConnectOptions connection;
  uint32_t receive_queue = 1024;  ///< of the data queue pair: rate x the longest stall of the caller (H2)
};

struct EndpointCounters {
  uint64_t rq_low = 0;  ///< the receive queue was found nearly empty: packets may have been dropped
  uint64_t bad_signals = 0;
  uint64_t unsent_signals = 0;  ///< the signalling queue was full; they are repeated
};

/// Duty: makes the queue pairs, takes completions to whom they concern, reposts receives. Time is an argument.
class SdrEndpoint {
 public:
  static Result<std::unique_ptr<SdrEndpoint>> make(const SdrOptions& options, Nic& nic, Instant now);
  ~SdrEndpoint();
  SdrEndpoint(const SdrEndpoint&) = delete;

  /// What the peer's connect() wants, out of band.
  struct Addresses {
    QpAddress data, signal;
    SdrShape shape;  ///< both ends must have the same
  };
  Addresses addresses() const;
  Result<void> connect(const Addresses& peer);

  SdrSender& sender() { return *sender_; }
  SdrReceiver& receiver() { return *receiver_; }

  /// Takes completions and does all that is due. Call at next_wakeup() at the latest, and often. Returns how
  /// many completions there were.
  size_t poll(Instant now);
  Instant next_wakeup() const;
  /// A queue pair has failed: what is under way cannot end on this endpoint.
  bool failed() const { return failed_; }
  const EndpointCounters& counters() const { return n_; }

 private:
  SdrEndpoint(const SdrOptions& options, Nic& nic) : options_(options), nic_(nic) {}
  Result<void> prepare(Instant now);
  void take(const Completion& c, Instant now);
  void take_signal(const Completion& c, Instant now);
  void send_signals();
  /// Of signal_memory_: kSignalQueue to receive into, then as many to send from.
  MutableBytes signal_buffer(uint64_t index);
  void repost();

  SdrOptions options_;
  Nic& nic_;
  QpHandle data_, signal_;
  std::unique_ptr<SdrSender> sender_;
  std::unique_ptr<SdrReceiver> receiver_;
  std::vector<uint8_t> signal_memory_;  ///< receives, then sends
  Region signal_region_;
  bool region_added_ = false, failed_ = false;
  uint32_t receives_owed_ = 0;
  uint64_t signals_posted_ = 0, signals_sent_ = 0;
  std::vector<Completion> completions_;
  std::vector<Signal> out_;
  EndpointCounters n_;
};

}  // namespace matchrdma::host
