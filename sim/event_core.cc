#include "sim/event_core.h"

#include <algorithm>

namespace matchrdma::sim {

void EventCore::schedule(SimTime at, EventHandler& handler, uint64_t argument) {
  MRDMA_CHECK(at >= now_);
  const Event e{at, next_sequence_++, &handler, argument};
  if (running_) {
    running_ = false;
    return fill_top(e);
  }
  size_t hole = heap_.size();
  heap_.push_back(e);
  while (hole > 0) {
    const size_t parent = (hole - 1) / kArity;
    if (!e.before(heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = e;
}

size_t EventCore::least_child(size_t first) const {
  const size_t size = heap_.size();
  if (first + kArity <= size) {
    // Sums instead of branches: which child is least is a coin to the processor.
    const size_t a = first + (heap_[first + 1].before(heap_[first]) ? 1 : 0);
    const size_t b = first + 2 + (heap_[first + 3].before(heap_[first + 2]) ? 1 : 0);
    return heap_[b].before(heap_[a]) ? b : a;
  }
  size_t least = first;
  for (size_t c = first + 1; c < size; ++c)
    if (heap_[c].before(heap_[least])) least = c;
  return least;
}

void EventCore::fill_top(const Event& e) {
  size_t hole = 0;
  for (;;) {
    const size_t child = hole * kArity + 1;
    if (child >= heap_.size()) break;
    const size_t least = least_child(child);
    if (!heap_[least].before(e)) break;
    heap_[hole] = heap_[least];
    hole = least;
  }
  heap_[hole] = e;
}

bool EventCore::run_one() {
  if (heap_.empty()) return false;
  const Event e = heap_.front();
  now_ = e.at;
  ++executed_;
  running_ = true;
  e.handler->on_event(now_, e.argument);
  if (running_) {
    running_ = false;
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) fill_top(last);
  }
  return true;
}

void EventCore::run_until(SimTime end) {
  while (next_due() <= end && run_one()) {
  }
  now_ = std::max(now_, end);
}

}  // namespace matchrdma::sim
