#include "host/channel/remote_atomics.h"

namespace matchrdma::host {

uint64_t RemoteAtomics::request(const Place& place, SendRequest::Op op, uint64_t add_or_compare,
                                uint64_t swap) {
  SendRequest r;
  r.op = op;
  r.id = next_;
  r.remote = place.remote;
  r.rkey = place.rkey;
  r.add_or_compare = add_or_compare;
  r.swap = swap;
  waiting_.push_back(r);
  return next_++;
}

std::optional<ChannelAtomic> RemoteAtomics::take() {
  if (done_.empty()) return {};
  const ChannelAtomic a = done_.front();
  done_.pop_front();
  return a;
}

void RemoteAtomics::work(RcPath& path) {
  while (!waiting_.empty() && posted_.size() < kUnderWay && path.can_write_counters(3)) {
    const SendRequest r = waiting_.front();
    waiting_.pop_front();
    path.atomic(r, r.id);
    path.write_counter(path.places().atomics(), r.id + 1, {});
    posted_.push_back(r.id);
  }
}

void RemoteAtomics::on_done(const RequestNote& note, uint64_t before) {
  std::erase(posted_, note.message);
  done_.push_back({note.message, ChannelAtomic::What::kDone, before});
}

void RemoteAtomics::fence(uint64_t logged) {
  for (const uint64_t n : posted_)
    done_.push_back({n, n < logged ? ChannelAtomic::What::kTookEffect : ChannelAtomic::What::kUnknown, 0});
  posted_.clear();
}

void RemoteAtomics::give_up() {
  fence(0);
  for (const SendRequest& r : waiting_) done_.push_back({r.id, ChannelAtomic::What::kNotSent, 0});
  waiting_.clear();
}

}  // namespace matchrdma::host
