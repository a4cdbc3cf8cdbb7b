#include "sim/event_core.h"

#include <algorithm>

#include "dataplane/base/check.h"

namespace matchrdma::sim {

void EventCore::schedule(SimTime at, EventHandler& handler, uint64_t argument) {
  MRDMA_CHECK(at >= now_);
  const Event e{at, next_sequence_++, &handler, argument};
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

EventCore::Event EventCore::pop() {
  const Event first = heap_.front(), last = heap_.back();
  heap_.pop_back();
  const size_t size = heap_.size();
  if (size == 0) return first;
  size_t hole = 0;
  for (;;) {
    const size_t child = hole * kArity + 1;
    if (child >= size) break;
    size_t least = child;
    for (size_t c = child + 1; c < std::min(child + kArity, size); ++c)
      if (heap_[c].before(heap_[least])) least = c;
    if (!heap_[least].before(last)) break;
    heap_[hole] = heap_[least];
    hole = least;
  }
  heap_[hole] = last;
  return first;
}

bool EventCore::run_one() {
  if (heap_.empty()) return false;
  const Event e = pop();
  now_ = e.at;
  ++executed_;
  e.handler->on_event(now_, e.argument);
  return true;
}

void EventCore::run_until(SimTime end) {
  while (next_due() <= end && run_one()) {
  }
  now_ = std::max(now_, end);
}

}  // namespace matchrdma::sim
