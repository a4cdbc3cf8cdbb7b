#pragma once
// A host: one RNIC port and its QPs (SIMULATOR 2).
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sim/index_set.h"
#include "sim/link.h"
#include "sim/pause_state.h"
#include "sim/receive_qp.h"
#include "sim/send_qp.h"
#include "sim/sim_context.h"
#include "sim/timer.h"

namespace matchrdma::sim {

/// Who is told what becomes of messages. `qp` numbers the QP at its own host.
class HostListener {
 public:
  /// The sender's oldest `messages` are complete.
  virtual void on_acknowledged(uint32_t host, uint32_t qp, size_t messages, SimTime now) = 0;
  /// Payload has come in order at the receiver; `message_ended`: with it the last byte of a message.
  virtual void on_delivered(uint32_t host, uint32_t qp, int64_t bytes, bool message_ended, SimTime now) = 0;

 protected:
  ~HostListener() = default;
};

struct HostSettings {
  /// Class that pauses ACK, NACK and CNP at this host; 0: none does (ACK_HIGH_PRIO on the host).
  uint8_t control_pause_class = kControlClass;
  /// Class that they have on switches. HPCC's switches carry ACKs in class 3 (SIMULATOR 3, defect 2).
  uint8_t control_class = kControlClass;
};

/// Where the other end of a QP is.
struct PeerQp {
  uint32_t host = 0;
  uint32_t qp = 0;
  uint32_t flow = 0;  ///< what ECMP hashes
};

/// Duty: arbitrates the port (control frames, then QPs in turn), hands frames to QPs and answers for them.
class Host final : public Node, private EventHandler {
 public:
  Host(SimContext& context, uint32_t number, const HostSettings& settings)
      : context_(context), number_(number), s_(settings), wake_(context.events, *this, kWake) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  void attach(Link& out) { out_ = &out; }
  void listen(HostListener* listener) { listener_ = listener; }
  uint32_t number() const { return number_; }

  uint32_t add_sender(const SenderSettings& settings);
  uint32_t add_receiver(const ReceiverSettings& settings);
  void join_sender(uint32_t qp, const PeerQp& peer) { senders_[qp].peer = peer; }
  void join_receiver(uint32_t qp, const PeerQp& peer) { receivers_[qp].peer = peer; }
  void post(uint32_t qp, int64_t bytes, SimTime now);
  /// The sender's rate is the line's again, as of a new connection. Only while it is idle.
  void start_anew(uint32_t qp) {
    senders_[qp].qp.start_anew();
    refresh(qp);
  }
  void relabel_sender(uint32_t qp, uint32_t label) { senders_[qp].peer.flow = label; }
  void relabel_receiver(uint32_t qp, uint32_t label) { receivers_[qp].peer.flow = label; }

  void receive(SimPacket* p, uint32_t port, SimTime now) override;

  const SendQp& sender(uint32_t qp) const { return senders_[qp].qp; }
  const ReceiveQp& receiver(uint32_t qp) const { return receivers_[qp].qp; }
  const PauseState& pauses() const { return pauses_; }

 private:
  static constexpr uint64_t kWake = ~uint64_t{0};
  struct Sender {
    Sender(const SenderSettings& settings, Rate line, EventCore& core, Host& host, uint32_t number)
        : qp(settings, line), timer(core, host, number) {}
    SendQp qp;
    PeerQp peer{};
    Timer timer;
  };
  struct Receiver {
    ReceiveQp qp;
    PeerQp peer{};
  };

  void on_event(SimTime now, uint64_t argument) override;
  void take_data(const SimPacket& p, SimTime now);
  void take_answer(const SimPacket& p, SimTime now);
  void queue_control(FrameKind kind, const Receiver& r, const Answer& a);
  void refresh(uint32_t qp);
  void send(SimTime now);
  bool send_control(SimTime now);
  bool send_data(SimTime now);

  SimContext& context_;
  uint32_t number_;
  HostSettings s_;
  Link* out_ = nullptr;
  HostListener* listener_ = nullptr;
  PauseState pauses_;
  SimPacketFifo control_;
  std::deque<Sender> senders_;  ///< timers do not move
  std::vector<Receiver> receivers_;
  std::vector<SimTime> ready_;  ///< by sender, so that the round robin reads one short array
  IndexSet active_;             ///< senders that are ready now or later
  uint32_t served_ = 0;         ///< sender that sent last
  Timer wake_;
};

}  // namespace matchrdma::sim
