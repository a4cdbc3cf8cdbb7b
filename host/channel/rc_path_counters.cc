// What an RcPath writes into the peer's counters, and the receives that it posts.
#include <utility>

#include "host/channel/rc_path.h"

namespace matchrdma::host {

void RcPath::mark(uint32_t place) {
  if (is_marked_[place]) return;
  is_marked_[place] = true;
  marked_.push_back(place);
}

void RcPath::set_counter(uint32_t place, uint64_t value) {
  if (values_[place] == value) return;
  values_[place] = value;
  mark(place);
}

// A newer value says all that an older one said, so few of each are under way.
void RcPath::write_counters() {
  for (size_t left = marked_.size(); open_ && left > 0; --left) {
    if (!can_write_counters(1) || counters_under_way_ >= options_.send_slots / 2) return;
    const uint32_t place = marked_.front();
    marked_.pop_front();
    is_marked_[place] = false;
    if (values_[place] <= told_[place] || writing_[place] >= kWritesPerCounter) continue;
    ++writing_[place];
    ++counters_under_way_;
    ++n_.counter_writes;
    told_[place] = values_[place];
    write_counter(place, values_[place], {RequestNote::What::kCounter, 0, place, 0});
  }
}

void RcPath::post_receives() {
  std::vector<ReceiveRequest> batch;
  for (const uint64_t i : owed_) batch.push_back({i, receive(i), receive_region_->lkey});
  const size_t taken = nic_.post_receive(*qp_, batch);
  owed_.erase(owed_.begin(), owed_.begin() + static_cast<std::ptrdiff_t>(taken));
  receives_posted_ += static_cast<uint32_t>(taken);
  if (taken > 0) set_counter(places_.credits(), values_[places_.credits()] + taken);
}

void RcPath::flush() {
  if (!qp_ || failed_ || broken_) return;
  if (!owed_.empty()) post_receives();
  write_counters();
  n_.requests += ring_.pending();
  n_.batches += ring_.post(nic_, *qp_);
}

}  // namespace matchrdma::host
