#pragma once
// The sending half: selective repeat over granted buffers.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/token_bucket.h"
#include "host/fabric/nic.h"
#include "host/fabric/round_trip.h"
#include "host/sdr/coded.h"
#include "host/sdr/options.h"
#include "host/sdr/packet_set.h"
#include "host/sdr/signal.h"

namespace matchrdma::host {

/// A message whose buffer the application has back.
struct SendDone {
  uint64_t message = 0;
  std::string error{};  ///< empty: the receiver has said that it is whole
};

struct SenderCounters {
  uint64_t packets = 0;  ///< posted, resends included
  uint64_t resent = 0;
  uint64_t bad_signals = 0;
  uint64_t rate_halved = 0;
};

/// Duty: rules 1 and 2 of HOST.md at the sender: a buffer is the application's again when the receiver has the
/// message and the NIC has nothing of it left to send. Repairs what reports show as lost. Does not poll the
/// NIC, has no clock.
class SdrSender {
 public:
  SdrSender(const SdrShape& shape, const SenderOptions& options, Nic& nic, QpHandle data_qp, Instant now);
  ~SdrSender();
  SdrSender(const SdrSender&) = delete;

  /// Takes the next message and returns its number; it leaves when the receiver has granted a buffer for it.
  /// `data` stays until take_done(). An error, and no number is used up: the transform cannot take it.
  Result<uint64_t> send(Bytes data, uint32_t lkey);
  std::optional<SendDone> take_done();
  size_t under_way() const { return messages_.size(); }

  /// A request of data_qp is done, and with it all before it.
  void on_sent(uint64_t id);
  void on_state(const ReceiverState& s, Instant now);
  void on_ack(const Ack& a, Instant now);
  /// Posts what may leave and says what is due. Call at next_wakeup() at the latest.
  void poll(Instant now, std::vector<Signal>& out);
  Instant next_wakeup() const;

  void set_rate(Rate rate, Instant now);
  Duration round_trip() const { return round_trip_.average(); }
  const SenderCounters& counters() const { return n_; }

 private:
  struct Message;
  void echo(const Echo& e, Instant now);
  Instant seen_until(const Echo& e, Instant now) const;
  void post(Message& m, const GrantedPart& part, uint32_t index, Bytes bytes, uint32_t lkey, Instant now);
  void post_data(Message& m, uint32_t index, Instant now);
  void begin(Message& m, const Grant& grant);
  Result<void> prepare(Message& m);
  void forget(Message& m);
  void post_what_may(Instant now);
  void post_some(Message& m, Instant now);
  void lost(Message& m, uint32_t index, Instant now);
  void count_loss(bool was_lost, Instant now);
  void release(Message& m);
  void say_state(Instant now, std::vector<Signal>& out);
  bool has_work(const Message& m) const;
  void note_work(Message& m);

  SdrShape shape_;
  SenderOptions options_;
  Nic& nic_;
  QpHandle qp_;
  std::optional<ErasureCode> code_;
  std::map<uint64_t, std::unique_ptr<Message>> messages_;  ///< not finished at the receiver
  std::map<uint64_t, Grant> grants_;                       ///< of messages that nobody sends yet
  std::map<uint64_t, Message*> to_send_;                   ///< those of which something is to be sent
  std::vector<Message*> acknowledged_;                     ///< whose last copies are in the NIC still
  uint64_t next_message_ = 0, granted_below_ = 0;
  uint64_t granted_end_ = 0;  ///< behind the last message with a grant
  std::vector<SendRequest> batch_;
  uint64_t posted_ = 0, completed_ = 0;  ///< requests of the data queue pair
  TokenBucket pacer_;
  Rate rate_;
  RoundTrip round_trip_;
  Instant state_at_ = Instant::never();
  std::deque<SendDone> done_;
  uint64_t sent_in_window_ = 0, lost_in_window_ = 0;
  SenderCounters n_;
};

}  // namespace matchrdma::host
