#include "pcap/make/session.h"

namespace matchrdma {
namespace {

constexpr Duration kBetweenConnects = Duration::micros(40);  ///< an application opens one after the other
constexpr Duration kBetweenLives = Duration::millis(5);

}  // namespace

Session::Session(const TraceRecipe& r, const TracePlan& plan, uint32_t number, model::PacketArena& arena,
                 TraceTruth& truth, Tap& tap, Instant begin)
    : r_(r), plan_(plan), truth_(truth), tap_(tap), net_(r, number, arena), wake_(begin) {}

uint32_t Session::cm_id(size_t index, int side) {
  return plan_.cm_id(pair(index), static_cast<uint32_t>(index), side);
}

void Session::begin_life(Instant now) {
  phase_ = Phase::kConnecting;
  first_pair_ = truth_.pairs.size();
  asked_ = 0;
  for (TracePair& p : plan_.connections(net_.number(), life_)) truth_.pairs.push_back(std::move(p));
  for (size_t i = 0; i < r_.qps; ++i) {
    const model::PairConfig c = plan_.config(pair(i), static_cast<uint32_t>(i));
    lanes_.push_back({model::connect(net_.host(0), net_.host(1), c), c.memory_a, c.memory_b});
    tap_.watch(first_pair_ + i, cm_id(i, 0), cm_id(i, 1));
    if (by_cm()) net_.cm(1).listen(plan_.cm_endpoint(pair(i), static_cast<uint32_t>(i), 1));
  }
  connect_due(now);
}

/// Queue pairs whose numbers went another way are simply there, one after the other.
void Session::connect_due(Instant now) {
  const size_t index = asked_++;
  wake_ = asked_ == r_.qps ? Instant::never() : now + kBetweenConnects;
  if (by_cm())
    net_.cm(0).connect(plan_.cm_endpoint(pair(index), static_cast<uint32_t>(index), 0), now);
  else
    pair(index).born = now;
}

void Session::start_work(Instant now) {
  phase_ = Phase::kWorking;
  const uint64_t seed = (r_.seed * lives(r_) + life_) * r_.hosts + net_.number();
  work_.emplace(r_, lanes_, seed, now);
}

bool Session::settled() const {
  for (const Lane& l : lanes_)
    if (!l.qps.a->requester.idle() || !l.qps.b->requester.idle()) return false;
  return net_.quiet();
}

void Session::close(Instant now) {
  phase_ = Phase::kClosing;
  if (!by_cm()) return;
  for (size_t i = 0; i < r_.qps; ++i) net_.cm(0).disconnect(cm_id(i, 0), now);
}

bool Session::closed() {
  if (!by_cm()) return true;
  for (size_t i = 0; i < r_.qps; ++i)
    for (const int side : {0, 1})
      if (net_.cm(side).find(cm_id(i, side))->state != model::CmAgent::State::kClosed) return false;
  return net_.quiet();
}

/// The model NICs must agree that everything arrived: a trace of a broken conversation would prove nothing.
void Session::end_life(Instant now) {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const model::QpPair& q = lanes_[i].qps;
    MRDMA_CHECK(!q.a->failed() && !q.b->failed() && q.check_memory(now));
    MRDMA_CHECK(q.a->violations() + q.b->violations() == 0);
    TracePair& p = pair(i);
    p.ended = now;
    p.messages = q.a->requester.completed() + q.b->requester.completed();
    p.retransmitted = q.a->requester.stats().retransmitted + q.b->requester.stats().retransmitted;
    truth_.messages += p.messages;
    truth_.retransmitted += p.retransmitted;
  }
  work_.reset();
  lanes_.clear();
  for (size_t i = 0; i < r_.qps; ++i) {
    net_.host(0).remove_qp(pair(i).a.qpn);
    net_.host(1).remove_qp(pair(i).b.qpn);
  }
  const bool again = ++life_ < lives(r_);
  phase_ = again ? Phase::kWaiting : Phase::kOver;
  wake_ = again ? now + kBetweenLives : Instant::never();
}

void Session::change_phase(Instant now) {
  if (phase_ == Phase::kWaiting && now >= wake_) begin_life(now);
  if (phase_ == Phase::kConnecting) {
    while (now >= wake_) connect_due(now);
    bool all = asked_ == r_.qps;
    for (size_t i = 0; by_cm() && i < asked_; ++i) {
      const bool up = net_.cm(0).find(cm_id(i, 0))->state == model::CmAgent::State::kEstablished &&
                      net_.cm(1).find(cm_id(i, 1))->state == model::CmAgent::State::kEstablished;
      if (up && pair(i).born.is_never()) pair(i).born = now;
      all = all && up;
    }
    if (all) start_work(now);
  }
  if (phase_ == Phase::kWorking) {
    work_->run(now);
    if (work_->finished()) phase_ = Phase::kSettling;
  }
  if (phase_ == Phase::kSettling && settled()) close(now);
  if (phase_ == Phase::kClosing && closed()) end_life(now);
}

void Session::step(Instant now) {
  const bool arrived = net_.arrive(now);
  if (arrived || now >= own_wake()) {
    change_phase(now);
    net_.touch();
  }
  net_.depart(now, tap_);
  // A wire falls silent without an arrival when its last packet is lost.
  if ((phase_ == Phase::kSettling || phase_ == Phase::kClosing) && net_.quiet()) {
    change_phase(now);
    net_.touch();
    net_.depart(now, tap_);
  }
}

Instant Session::own_wake() const { return earlier(wake_, work_ ? work_->next() : Instant::never()); }

Instant Session::next() const { return earlier(own_wake(), net_.next()); }

}  // namespace matchrdma
