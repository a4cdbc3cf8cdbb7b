#include "host/sdr/endpoint.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dataplane/base/check.h"
#include "host/sdr/spread.h"

namespace matchrdma::host {
namespace {

constexpr uint32_t kSignalQueue = 256;  // datagrams on their way, each direction
constexpr uint32_t kRepost = 64;        // receives given back at a time
constexpr size_t kCompletions = 256;

}  // namespace

Result<std::unique_ptr<SdrEndpoint>> SdrEndpoint::make(const SdrOptions& options, Nic& nic, Instant now) {
  std::unique_ptr<SdrEndpoint> e(new SdrEndpoint(options, nic));
  if (auto r = e->prepare(now); !r) return Error{r.error()};
  return e;
}

Result<void> SdrEndpoint::prepare(Instant now) {
  const SdrShape& shape = options_.shape;
  for (const auto& r : {check_code(shape), check_spread(shape)})
    if (!r) return Error{"SDR: " + r.error()};
  if (shape.datagram_bytes > options_.connection.path_mtu || shape.datagram_bytes < kSignalHeader + kGrantBytes)
    return Error{"SDR: datagrams of " + std::to_string(shape.datagram_bytes) + " bytes: choose " +
                 std::to_string(kSignalHeader + kGrantBytes) + " to " +
                 std::to_string(options_.connection.path_mtu) + ", the path MTU"};
  auto data = nic_.create_qp({options_.transport, options_.sender.send_queue, options_.receive_queue});
  if (!data) return Error{"SDR data: " + data.error()};
  data_ = *data;
  auto signal = nic_.create_qp({Transport::kUd, kSignalQueue, kSignalQueue});
  if (!signal) return Error{"SDR signals: " + signal.error()};
  signal_ = *signal;
  signal_memory_.resize((kUdPrefix + shape.datagram_bytes) * 2 * kSignalQueue);
  auto region = nic_.add_region(signal_memory_, Access::kLocal);
  if (!region) return Error{"SDR signals: " + region.error()};
  signal_region_ = *region;
  region_added_ = true;
  sender_ = std::make_unique<SdrSender>(shape, options_.sender, nic_, data_, now);
  receiver_ = std::make_unique<SdrReceiver>(shape, options_.receiver, nic_);
  completions_.resize(kCompletions);
  receives_owed_ = options_.receive_queue;
  return {};
}

SdrEndpoint::~SdrEndpoint() {
  receiver_.reset();
  for (const QpHandle qp : {data_, signal_})
    if (qp.v != QpHandle{}.v) nic_.destroy_qp(qp);
  if (region_added_) nic_.remove_region(signal_region_);
}

SdrEndpoint::Addresses SdrEndpoint::addresses() const {
  return {nic_.address(data_), nic_.address(signal_), options_.shape};
}

Result<void> SdrEndpoint::connect(const Addresses& peer) {
  // Packets of one shape would be booked as those of another: right numbers, wrong bytes.
  if (peer.shape != options_.shape)
    return Error{"SDR: the two ends were made with different options (packets of " +
                 std::to_string(options_.shape.packet_bytes) + " bytes here, of " +
                 std::to_string(peer.shape.packet_bytes) +
                 " there; or message length, code, transform, epoch or slots): give both the same"};
  if (auto r = nic_.connect(data_, peer.data, options_.connection); !r) return r;
  if (auto r = nic_.connect(signal_, peer.signal, options_.connection); !r) return r;
  for (uint32_t i = 0; i < kSignalQueue; ++i) {
    const ReceiveRequest r{i, signal_buffer(i), signal_region_.lkey};
    nic_.post_receive(signal_, {&r, 1});
  }
  repost();
  n_.rq_low = 0;  // the first time is no shortage
  return {};
}

void SdrEndpoint::repost() {
  if (receives_owed_ < kRepost) return;
  if (receives_owed_ > options_.receive_queue * 3 / 4) ++n_.rq_low;
  static const std::array<ReceiveRequest, kRepost> kEmpty{};
  while (receives_owed_ > 0) {
    const size_t some = std::min<size_t>(receives_owed_, kRepost);
    const size_t taken = nic_.post_receive(data_, std::span(kEmpty).first(some));
    receives_owed_ -= static_cast<uint32_t>(taken);
    if (taken < some) return;
  }
}

MutableBytes SdrEndpoint::signal_buffer(uint64_t index) {
  const size_t room = kUdPrefix + options_.shape.datagram_bytes;
  return MutableBytes(signal_memory_).subspan(index * room, room);
}

void SdrEndpoint::take_signal(const Completion& c, Instant now) {
  const MutableBytes buffer = signal_buffer(c.id);
  if (c.bytes > kUdPrefix) {
    const auto s = decode_signal(buffer.first(c.bytes).subspan(kUdPrefix), options_.shape.epoch);
    if (!s) {
      ++n_.bad_signals;
    } else if (const auto* state = std::get_if<SenderState>(&*s)) {
      receiver_->on_state(*state, now);
    } else if (const auto* grants = std::get_if<ReceiverState>(&*s)) {
      sender_->on_state(*grants, now);
    } else {
      sender_->on_ack(std::get<Ack>(*s), now);
    }
  }
  const ReceiveRequest again{c.id, buffer, signal_region_.lkey};
  nic_.post_receive(signal_, {&again, 1});
}

// A queue pair in the error state flushes whatever it is given: nothing is posted again.
void SdrEndpoint::take(const Completion& c, Instant now) {
  if (c.status != Completion::Status::kOk) {
    failed_ = true;
  } else if (c.qp == signal_) {
    if (c.kind == Completion::Kind::kSend) {
      signals_sent_ = std::max(signals_sent_, c.id + 1);
    } else {
      take_signal(c, now);
    }
  } else if (c.kind == Completion::Kind::kSend) {
    sender_->on_sent(c.id);
  } else if (c.kind == Completion::Kind::kReceiveImm) {
    ++receives_owed_;
    receiver_->on_packet(c.immediate, now);
  }
}

void SdrEndpoint::send_signals() {
  for (const Signal& s : out_) {
    if (signals_posted_ - signals_sent_ >= kSignalQueue) {
      ++n_.unsent_signals;
      continue;
    }
    const std::vector<uint8_t> bytes = encode_signal(s, options_.shape.epoch);
    MRDMA_CHECK(bytes.size() <= options_.shape.datagram_bytes);
    const MutableBytes place = signal_buffer(kSignalQueue + signals_posted_ % kSignalQueue).first(bytes.size());
    std::copy(bytes.begin(), bytes.end(), place.begin());
    SendRequest r;
    r.op = SendRequest::Op::kSend;
    r.signalled = true;
    r.id = signals_posted_;
    r.data = place;
    r.lkey = signal_region_.lkey;
    if (nic_.post_send(signal_, {&r, 1}) == 1) ++signals_posted_;
  }
  out_.clear();
}

size_t SdrEndpoint::poll(Instant now) {
  size_t n, all = 0;
  do {
    n = nic_.poll(completions_);
    all += n;
    for (size_t i = 0; i < n; ++i) take(completions_[i], now);
    repost();
  } while (n == completions_.size());
  receiver_->poll(now, out_);
  sender_->poll(now, out_);
  send_signals();
  return all;
}

Instant SdrEndpoint::next_wakeup() const { return earlier(receiver_->next_wakeup(), sender_->next_wakeup()); }

}  // namespace matchrdma::host
