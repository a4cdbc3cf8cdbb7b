#include "host/channel/rc_path.h"

#include <numeric>
#include <utility>

namespace matchrdma::host {

RcPath::RcPath(const ChannelOptions& options, Nic& nic, ChannelCounters& n)
    : options_(options),
      nic_(nic),
      n_(n),
      places_{options.connections, options.windows},
      table_(nic, places_.all()),
      ring_(options.send_queue, options.send_window / 8),
      room_(kChannelFrameBytes + options.small_bytes),
      values_(places_.all()),
      told_(places_.all()),
      writing_(places_.all()),
      is_marked_(places_.all()) {}

RcPath::~RcPath() {
  end();
  if (send_region_) nic_.remove_region(*send_region_);
  if (receive_region_) nic_.remove_region(*receive_region_);
}

Result<void> RcPath::prepare() {
  send_memory_.resize(room_ * options_.send_slots);
  receive_memory_.resize(room_ * options_.receives);
  auto sends = nic_.add_region(send_memory_, Access::kLocal);
  if (!sends) return Error{"channel, memory of SENDs: " + sends.error()};
  send_region_ = *sends;
  auto receives = nic_.add_region(receive_memory_, Access::kLocal);
  if (!receives) return Error{"channel, memory of receives: " + receives.error()};
  receive_region_ = *receives;
  forget_requests();
  return {};
}

MutableBytes RcPath::slot(uint32_t i) { return MutableBytes(send_memory_).subspan(i * room_, room_); }
MutableBytes RcPath::receive(uint64_t i) { return MutableBytes(receive_memory_).subspan(i * room_, room_); }

uint32_t RcPath::take_slot() {
  const uint32_t s = free_slots_.back();
  free_slots_.pop_back();
  return s;
}

void RcPath::forget_requests() {
  ring_.clear();
  done_.clear();
  free_slots_.resize(options_.send_slots);
  std::iota(free_slots_.rbegin(), free_slots_.rend(), 0u);
  std::fill(writing_.begin(), writing_.end(), uint8_t{0});
  counters_under_way_ = 0;
}

// ---- epochs

Result<QpAddress> RcPath::make(uint32_t epoch) {
  auto made = nic_.create_qp({Transport::kRc, options_.send_queue, options_.receives});
  if (!made) return Error{"channel: " + made.error()};
  qp_ = *made;
  epoch_ = epoch;
  broken_ = failed_ = open_ = false;
  if (auto r = table_.begin(epoch); !r) return Error{"channel, counters: " + r.error()};
  used_ = 0;
  credits_ = receives_at_peer_ = 1;
  values_[places_.credits()] = 0;
  std::fill(told_.begin(), told_.end(), 0);
  for (uint32_t p = 0; p < places_.all(); ++p)
    if (values_[p] > 0) mark(p);
  owed_.resize(options_.receives);
  std::iota(owed_.begin(), owed_.end(), uint64_t{0});
  receives_posted_ = 0;
  post_receives();
  return nic_.address(*qp_);
}

Result<void> RcPath::connect(const QpAddress& peer) { return nic_.connect(*qp_, peer, options_.connection); }

void RcPath::say_open() {
  ChannelFrame f;
  f.kind = ChannelFrame::Kind::kOpen;
  f.length = options_.receives;
  f.remote = table_.region()->remote;
  f.rkey = table_.region()->rkey;
  send(f, {}, {});
}

void RcPath::on_open(const ChannelFrame& f) {
  open_ = true;
  remote_ = f.remote;
  rkey_ = f.rkey;
  credits_ = receives_at_peer_ = f.length;
}

void RcPath::fail() {
  if (!qp_ || failed_) return;
  failed_ = true;
  open_ = false;
  nic_.fail_qp(*qp_);
  table_.end();
}

void RcPath::end() {
  if (qp_) nic_.destroy_qp(*qp_);
  qp_.reset();
  receives_posted_ = 0;
  table_.end();
  if (send_region_) forget_requests();
}

void RcPath::abandon() {
  qp_.reset();
  receives_posted_ = 0;
  open_ = false;
  forget_requests();
}

// ---- completions

std::optional<RcArrival> RcPath::take(const Completion& c) {
  const bool ok = c.status == Completion::Status::kOk;
  if (!ok) broken_ = true;
  if (ok) ++progress_;
  if (c.kind == Completion::Kind::kSend) {
    if (!ok) {
      ring_.flushed(c.id);
      return {};
    }
    ring_.complete(c.id, [this](const RequestNote& note) {
      if (note.slot != UINT32_MAX) free_slots_.push_back(note.slot);
      if (note.what == RequestNote::What::kCounter) {
        --writing_[note.stream];
        --counters_under_way_;
        if (values_[note.stream] > told_[note.stream]) mark(note.stream);
      } else if (note.what != RequestNote::What::kNone) {
        done_.push_back(note);
      }
    });
    return {};
  }
  --receives_posted_;
  if (!ok) return {};
  if (c.kind == Completion::Kind::kReceiveImm) return RcArrival{c.id, c.immediate, {}};
  return RcArrival{c.id, {}, receive(c.id).first(c.bytes)};
}

// ---- requests

// The counter says how many were posted since the queue pair was made.
void RcPath::look() {
  if (!open_) return;
  const uint64_t posted = counter(places_.credits());
  if (posted <= credits_) return;
  credits_ = posted;
  ++progress_;
}

bool RcPath::has_credit() {
  if (used_ < credits_) return true;
  ++n_.no_credit;
  return false;
}

bool RcPath::can_send() { return ring_.free() > kReserve && free_slots_.size() > kReserve && has_credit(); }

bool RcPath::has_room(size_t bytes) {
  if (ring_.free() <= kReserve) return false;
  if (ring_.bytes() == 0 || ring_.bytes() + bytes <= options_.send_window) return true;
  ++n_.window_full;
  return false;
}

void RcPath::send(const ChannelFrame& f, Bytes payload, const RequestNote& note) {
  RequestNote n = note;
  n.slot = take_slot();
  const MutableBytes place = slot(n.slot).first(kChannelFrameBytes + payload.size());
  ChannelFrame stamped = f;
  stamped.epoch = epoch_;
  encode_frame(stamped, place);
  std::copy(payload.begin(), payload.end(), place.begin() + kChannelFrameBytes);
  SendRequest r;
  r.op = SendRequest::Op::kSend;
  r.data = place;
  r.lkey = send_region_->lkey;
  ring_.add(r, n);
  ++used_;
}

void RcPath::write(Bytes data, uint32_t lkey, uint64_t remote, uint32_t rkey, const RequestNote& note) {
  ring_.add({.op = SendRequest::Op::kWrite, .data = data, .lkey = lkey, .remote = remote, .rkey = rkey}, note);
}

void RcPath::write_last(Bytes data, uint32_t lkey, uint64_t remote, uint32_t rkey, uint32_t immediate,
                        const RequestNote& note) {
  ring_.add({.op = SendRequest::Op::kWriteImm,
             .data = data,
             .lkey = lkey,
             .remote = remote,
             .rkey = rkey,
             .immediate = immediate},
            note);
  ++used_;
}

void RcPath::write_counter(uint32_t place, uint64_t value, const RequestNote& note) {
  RequestNote n = note;
  n.slot = take_slot();
  const MutableBytes bytes = slot(n.slot).first(CounterWrite::kBytes);
  CounterWrite::of(epoch_, place, value).store(bytes);
  write(bytes, send_region_->lkey, remote_ + place * CounterWrite::kBytes, rkey_, n);
}

void RcPath::atomic(SendRequest r, uint64_t number) {
  RequestNote n{RequestNote::What::kAtomic, take_slot(), 0, number};
  r.result = slot(n.slot).first(sizeof(uint64_t));
  r.lkey = send_region_->lkey;
  r.signalled = true;
  ring_.add(r, n);
}

uint64_t RcPath::result(const RequestNote& note) const {
  uint64_t v = 0;
  std::memcpy(&v, send_memory_.data() + note.slot * room_, sizeof v);
  return v;
}

}  // namespace matchrdma::host
