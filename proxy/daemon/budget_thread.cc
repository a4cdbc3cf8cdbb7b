#include "proxy/daemon/budget_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace matchrdma::daemon {

BudgetThread::BudgetThread(std::vector<BudgetSpan> spans, uint32_t workers, uint32_t max_groups,
                           std::function<Instant()> now, std::function<void(uint32_t)> wake)
    : now_(std::move(now)), wake_(std::move(wake)) {
  for (const BudgetSpan& s : spans) {
    auto& made = spans_.emplace_back(std::make_unique<Span>(s, workers, max_groups));
    for (uint32_t w = 0; w < workers; ++w) made->lanes.push_back(std::make_unique<BudgetLane>());
  }
}

BudgetThread::~BudgetThread() { stop(); }

BudgetLane* BudgetThread::lane(size_t span, uint32_t worker) {
  const Span* s = find(span);
  return s == nullptr ? nullptr : s->lanes[worker].get();
}

Result<void> BudgetThread::start() {
  if (spans_.empty()) return {};
  event_ = FileDescriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (event_.get() < 0) return Error{std::string("no descriptor: ") + std::strerror(errno)};
  thread_ = std::thread([this] { run(); });
  return {};
}

void BudgetThread::stop() {
  if (!thread_.joinable()) return;
  stop_ = true;
  const uint64_t one = 1;
  static_cast<void>(!write(event_.get(), &one, sizeof one));
  thread_.join();
}

void BudgetThread::told(bool urgent) {
  // What was put into the lane must be seen by who falls asleep now.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const Sleep seen = sleep_.load();
  if (seen == Sleep::kAwake || (seen == Sleep::kBetweenSlots && !urgent)) return;
  if (sleep_.exchange(Sleep::kAwake) == Sleep::kAwake) return;
  const uint64_t one = 1;
  static_cast<void>(!write(event_.get(), &one, sizeof one));
}

Instant BudgetThread::next_wakeup() const {
  Instant at = Instant::never();
  for (const auto& s : spans_) {
    const Instant end = s->maker.next_deadline();
    if (!end.is_never()) at = earlier(at, end + grace(*s));
  }
  return at;
}

void BudgetThread::run() {
  prctl(PR_SET_NAME, "budgets");
  prctl(PR_SET_TIMERSLACK, 1000ul);  // ns; the usual 50 us is a quarter of a slot
  while (!stop_.load()) {
    const Instant now = now_();
    for (auto& s : spans_) serve(*s, now);
    const Instant until = next_wakeup();
    const bool waits =
        std::any_of(spans_.begin(), spans_.end(), [](const auto& s) { return s->maker.waiting(); });
    const Sleep how = !until.is_never() && !waits ? Sleep::kBetweenSlots : Sleep::kForRecords;
    sleep_ = how;
    std::atomic_thread_fence(std::memory_order_seq_cst);  // told() has its counterpart
    if (nothing_came(how)) sleep(until);
    sleep_ = Sleep::kAwake;
  }
}

bool BudgetThread::nothing_came(Sleep how) const {
  return std::all_of(spans_.begin(), spans_.end(), [how](const auto& s) {
    return std::all_of(s->lanes.begin(), s->lanes.end(), [how](const auto& l) {
      return l->looked.empty() && (how == Sleep::kBetweenSlots || l->closed.empty());
    });
  });
}

void BudgetThread::sleep(Instant until) {
  pollfd event{event_.get(), POLLIN, 0};
  timespec wait{};
  if (!until.is_never()) {
    const int64_t ns = std::max<int64_t>(0, (until - now_()).ns);
    wait = {ns / 1'000'000'000, ns % 1'000'000'000};
  }
  if (ppoll(&event, 1, until.is_never() ? nullptr : &wait, nullptr) <= 0) return;
  uint64_t count = 0;
  static_cast<void>(!read(event_.get(), &count, sizeof count));
}

void BudgetThread::serve(Span& s, Instant now) {
  Duration rtt{};
  GroupSlot seen;
  for (uint32_t w = 0; w < s.lanes.size(); ++w) {
    BudgetLane& l = *s.lanes[w];
    while (l.closed.pop(seen)) s.maker.record(w, {&seen, 1});
    while (l.looked.pop(seen)) s.maker.look(w, {&seen, 1});
    const Duration of_worker{l.rtt_ns.load(std::memory_order_relaxed)};
    if (of_worker.ns > 0) rtt = rtt.ns == 0 ? of_worker : std::min(rtt, of_worker);
  }
  std::vector<bool> woken(s.lanes.size());
  for (const WorkerBudget& b : s.maker.run(now - grace(s), rtt / 2)) {
    if (s.lanes[b.worker]->budgets.push(b.told)) woken[b.worker] = true;
  }
  for (uint32_t w = 0; w < woken.size(); ++w) {
    if (woken[w]) wake_(w);
  }
  if (s.maker.closed() == s.shown) return;
  s.shown = s.maker.closed();
  const std::lock_guard lock(history_mutex_);
  s.history.add(s.maker.why());
  s.counts = s.maker.counts();
}

const BudgetThread::Span* BudgetThread::find(size_t span) const {
  const auto s =
      std::find_if(spans_.begin(), spans_.end(), [span](const auto& x) { return x->number == span; });
  return s == spans_.end() ? nullptr : s->get();
}

service::SlotList BudgetThread::history(size_t span) const {
  const std::lock_guard lock(history_mutex_);
  const Span* s = find(span);
  return s == nullptr ? service::SlotList{} : s->history.newest();
}

BudgetCounts BudgetThread::counts(size_t span) const {
  const std::lock_guard lock(history_mutex_);
  const Span* s = find(span);
  return s == nullptr ? BudgetCounts{} : s->counts;
}

}  // namespace matchrdma::daemon
