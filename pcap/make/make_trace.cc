#include "pcap/make/make_trace.h"

#include <algorithm>
#include <memory>

#include "pcap/make/session.h"

namespace matchrdma {
namespace {

constexpr Instant kBegin{1'767'225'600'000'000'000};  ///< 2026-01-01: any date that pcap can write
constexpr uint32_t kStepsPerReport = 256;
constexpr uint32_t kMostStepsAtOnce = 10'000'000;  ///< more is a loop that time does not leave

/// Duty: wakes the sessions in order of time. Does not know what they do.
class Stage {
 public:
  void add(std::unique_ptr<Session> s) {
    due_.push_back(s->next());
    sessions_.push_back(std::move(s));
  }
  /// One step of the session that is due first; never() when all stories are over.
  Instant step() {
    const auto first = std::min_element(due_.begin(), due_.end());
    if (first->is_never()) {
      for (const auto& s : sessions_) MRDMA_CHECK(s->over());
      return *first;
    }
    same_time_ = *first > now_ ? 0 : same_time_ + 1;
    MRDMA_CHECK(same_time_ < kMostStepsAtOnce);
    now_ = later(now_, *first);
    Session& s = *sessions_[static_cast<size_t>(first - due_.begin())];
    s.step(now_);
    *first = s.next();
    return now_;
  }
  uint64_t lost() const {
    uint64_t n = 0;
    for (const auto& s : sessions_) n += s->lost();
    return n;
  }

 private:
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<Instant> due_;
  Instant now_{};
  uint32_t same_time_ = 0;
};

}  // namespace

Result<TraceTruth> make_trace(const TraceRecipe& recipe, PacketSink& sink) {
  if (const Result<void> ok = check_recipe(recipe); !ok) return Error{ok.error()};
  TraceTruth truth;
  truth.begin = kBegin;
  const TracePlan plan(recipe);
  model::PacketArena arena;
  Tap tap(recipe, sink, truth, kBegin);
  Stage stage;
  for (uint32_t i = 0; i < recipe.hosts; ++i)
    stage.add(std::make_unique<Session>(recipe, plan, i, arena, truth, tap, kBegin));
  uint32_t steps = 0;
  for (Instant now = stage.step(); !now.is_never(); now = stage.step()) {
    if (!tap.error().empty()) return Error{tap.error()};
    if (recipe.progress && ++steps % kStepsPerReport == 0) recipe.progress(now - kBegin);
  }
  truth.lost = stage.lost();
  return truth;
}

}  // namespace matchrdma
