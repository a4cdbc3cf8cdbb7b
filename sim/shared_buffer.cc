#include "sim/shared_buffer.h"

#include <algorithm>

#include "dataplane/base/check.h"

namespace matchrdma::sim {

void SharedBuffer::add_port(const LinkSpec& spec) {
  Port p;
  p.wanted = bytes_in(spec.rate, spec.delay * s_.headroom_delays);
  p.shift = s_.shift;
  for (int64_t rate = spec.rate.bps; rate >= 2 * s_.nic_rate.bps && p.shift > 0; rate /= 2) --p.shift;
  ports_.push_back(p);
  share_headroom();
}

void SharedBuffer::share_headroom() {
  std::vector<int64_t> wanted;
  for (const Port& p : ports_) wanted.push_back(p.wanted);
  std::sort(wanted.begin(), wanted.end());
  int64_t level = wanted.back();
  if (!s_.threshold_wraps) {
    int64_t left = s_.bytes / 2;
    for (size_t i = 0; i < wanted.size(); ++i) {
      level = left / static_cast<int64_t>(wanted.size() - i);
      left -= std::min(wanted[i], level);
    }
  }
  headrooms_ = 0;
  for (Port& p : ports_) {
    p.headroom = std::min(p.wanted, level);
    headrooms_ += p.headroom;
  }
}

int64_t SharedBuffer::threshold(uint32_t port) const {
  const int64_t ports = static_cast<int64_t>(ports_.size());
  const int64_t free = s_.bytes - headrooms_ - ports * s_.reserved_bytes - shared_used_;
  const int shift = ports_[port].shift;
  if (s_.threshold_wraps) return static_cast<uint32_t>(free) >> shift;
  return std::max<int64_t>(free, 0) >> shift;
}

bool SharedBuffer::admits(uint32_t port, uint32_t traffic_class, int64_t bytes) const {
  const Port& p = ports_[port];
  const Account& a = p.accounts[traffic_class];
  return a.headroom + bytes <= p.headroom || shared_with(a, bytes) <= threshold(port);
}

void SharedBuffer::charge(uint32_t port, uint32_t traffic_class, int64_t bytes) {
  Account& a = ports_[port].accounts[traffic_class];
  const int64_t shared_after = shared_with(a, bytes);
  if (shared_after > 0 && shared_after > threshold(port)) {
    a.headroom += bytes;
  } else {
    shared_used_ += shared_after - shared(a);
    a.held += bytes;
  }
  used_ += bytes;
  peak_ = std::max(peak_, used_);
}

void SharedBuffer::release(uint32_t port, uint32_t traffic_class, int64_t bytes) {
  Account& a = ports_[port].accounts[traffic_class];
  // What came last goes first: headroom must be empty before the sender may resume.
  const int64_t from_headroom = std::min(a.headroom, bytes);
  a.headroom -= from_headroom;
  const int64_t before = shared(a);
  a.held -= bytes - from_headroom;
  MRDMA_CHECK(a.held >= 0);
  shared_used_ -= before - shared(a);
  used_ -= bytes;
}

bool SharedBuffer::should_pause(uint32_t port, uint32_t traffic_class) {
  Account& a = ports_[port].accounts[traffic_class];
  if (a.paused || (a.headroom == 0 && shared(a) < threshold(port))) return false;
  a.paused = true;
  return true;
}

bool SharedBuffer::should_resume(uint32_t port, uint32_t traffic_class) {
  Account& a = ports_[port].accounts[traffic_class];
  if (!a.paused || a.headroom > 0) return false;
  const int64_t s = shared(a);
  if (s > 0 && s + s_.resume_gap_bytes > threshold(port)) return false;
  a.paused = false;
  return true;
}

}  // namespace matchrdma::sim
