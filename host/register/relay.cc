#include "host/register/relay.h"

#include <algorithm>
#include <utility>

namespace matchrdma::host {

bool RegisterRelay::take(const ControlMessage& m, Instant now) {
  if (const auto* question = std::get_if<RelayRegister>(&m)) {
    serve(*question, now);
    return true;
  }
  if (const auto* answer = std::get_if<RelayRegistered>(&m)) {
    const auto known = asked_.find(answer->request);
    if (known == asked_.end()) return true;  // of an earlier life
    known->second = true;
    outcomes_.push_back({answer->request, answer->done, answer->why});
    return true;
  }
  return false;
}

// What is the peer's own end is the far one here.
void RegisterRelay::serve(const RelayRegister& m, Instant now) {
  const ProxiedPair pair{m.remote, m.local, m.path_mtu};
  const auto refuse = [&](const char* why) { out_->push_back(RelayRegistered{m.request, false, why}); };
  if (ours_ == nullptr) return refuse("has no proxy to register with");
  std::erase_if(served_, [&pair](const ProxiedPair& p) { return p.names_same(pair); });
  if (served_.size() >= kMostPairs) return refuse("has registered as many pairs for you as it may");
  const auto told = [out = out_, request = m.request](const PairOutcome& o) {
    out->push_back(RelayRegistered{request, o.done, o.done ? std::string() : sayable(o.why)});
  };
  if (m.remove) {
    ours_->remove(pair, told, now);
  } else {
    ours_->add(pair, told, now);
  }
  served_.push_back(pair);
}

uint32_t RegisterRelay::ask(const ProxiedPair& pair, bool remove) {
  const uint32_t request = next_request_++;
  asked_[request] = false;
  out_->push_back(RelayRegister{request, remove, pair.path_mtu, pair.local, pair.remote});
  return request;
}

std::optional<RelayOutcome> RegisterRelay::next() {
  if (outcomes_.empty()) return {};
  RelayOutcome o = std::move(outcomes_.front());
  outcomes_.pop_front();
  return o;
}

void RegisterRelay::run(ControlSession& session, Instant now) {
  while (!out_->empty() && session.send(out_->front(), now)) out_->pop_front();
}

void RegisterRelay::peer_gone() {
  for (const ProxiedPair& p : served_) ours_->forget(p);
  served_.clear();
  out_->clear();
  for (const auto& [request, answered] : asked_)
    if (!answered) outcomes_.push_back({request, false, "the other end was gone before it answered"});
  asked_.clear();
}

}  // namespace matchrdma::host
