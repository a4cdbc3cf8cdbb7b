#include "tests/host/verbs_end.h"

#include <poll.h>

#include <chrono>

namespace matchrdma::host {
namespace {

constexpr Duration kPatience = Duration::seconds(20);

Instant now() {
  return {std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

template <class T>
T must(Result<T> r) {
  if (!r) throw TestFailed(r.error());
  return std::move(*r);
}
void must(Result<void> r) {
  if (!r) throw TestFailed(r.error());
}

constexpr Transport kTransports[VerbsEnd::kPaths] = {Transport::kUc, Transport::kUd, Transport::kRc};

}  // namespace

VerbsEnd::VerbsEnd(const EndOptions& options)
    : options_(options),
      nic_(must(open_verbs_nic({.device = options.device}))),
      datagrams_(kReceives * (kUdPrefix + options.path_mtu)),
      done_(kPaths) {
  add(datagrams_, Access::kLocal);
  make_pairs();
  open_control();
  connect_pairs();
}

void VerbsEnd::add(Block& b, Access access) { b.region = must(nic().add_region(b.bytes, access)); }

void VerbsEnd::open_control() {
  LinkOptions o;
  o.hello.library = "verbs_pair";
  o.hello.life = static_cast<uint64_t>(now().ns);
  o.hello.uc = nic().limits().uc;
  o.hello.path_mtu = nic().limits().max_path_mtu;
  o.open = kPatience;
  std::optional<ControlListener> listener;
  if (is_client()) {
    auto key = std::make_shared<TlsPskClient>(must(TlsPskClient::load(options_.key_file, "")));
    link_ = must(ControlLink::connect(options_.server, options_.port, std::move(key), o, now()));
  } else {
    auto keys = std::make_shared<TlsPskServer>(must(TlsPskServer::load(options_.key_file)));
    listener.emplace(must(ControlListener::open("0.0.0.0", options_.port, std::move(keys), o)));
    for (const Instant end = now() + kPatience; !link_ && now() < end;) {
      pollfd p{listener->fd(), POLLIN, 0};
      ::poll(&p, 1, 100);
      link_ = listener->accept(now());
    }
    require(link_ != nullptr, "nobody connected");
  }
  wait("the control connection", [this] { return link_->open(); });
}

void VerbsEnd::make_pairs() {
  for (const Transport t : kTransports) {
    qps_.push_back(must(nic().create_qp({.transport = t, .send_queue = 64, .receive_queue = kReceives})));
    for (uint32_t i = 0; i < kReceives; ++i) repost(static_cast<Path>(qps_.size() - 1), i);
  }
}

void VerbsEnd::connect_pairs() {
  PathAddresses mine;
  for (uint32_t p = 0; p < kPaths; ++p) mine.all.push_back({p, 1, kTransports[p], nic().address(qps_[p])});
  say(mine);
  const auto theirs = std::get<PathAddresses>(hear("the other end's queue pairs"));
  for (const PathAddress& a : theirs.all)
    must(nic().connect(qps_.at(a.path), a.address, {.path_mtu = options_.path_mtu}));
  meet("connected");
}

void VerbsEnd::say(const ControlMessage& m) {
  require(link_->session() != nullptr && link_->session()->send(m, now()),
          "the control connection takes no more");
}

ControlMessage VerbsEnd::hear(const std::string& what) {
  std::optional<ControlMessage> m;
  wait(what, [&] {
    m = link_->session()->next();
    return m.has_value();
  });
  return *m;
}

void VerbsEnd::meet(const std::string& where) {
  // RESUME stands in for a message of the test's own.
  say(Resume{0, 0});
  require(std::holds_alternative<Resume>(hear("the other end, which is to come to: " + where)),
          "the other end says something else at: " + where);
}

void VerbsEnd::good_bye() {
  if (is_client()) link_->session()->end("all steps done", now());
  for (const Instant end = now() + kPatience; !link_->over() && now() < end;) turn();
  require(link_->over() && link_->orderly(), "the good-bye failed: " + link_->reason());
}

void VerbsEnd::send(Path p, const SendRequest& r) {
  require(nic().post_send(qps_[p], {&r, 1}) == 1, "a send queue takes nothing");
}

void VerbsEnd::repost(Path p, uint64_t id) {
  ReceiveRequest r{.id = id};
  if (p == kUd) {
    r.data = MutableBytes(datagrams_.bytes).subspan(id * slot_bytes(), slot_bytes());
    r.lkey = datagrams_.region.lkey;
  }
  require(nic().post_receive(qps_[p], {&r, 1}) == 1, "a receive queue takes nothing");
}

Completion VerbsEnd::completion(Path p, const std::string& what) {
  wait(what, [&] { return !done_[p].empty(); });
  const Completion c = done_[p].front();
  done_[p].pop_front();
  return c;
}

std::vector<Completion> VerbsEnd::completions_for(Path p, Duration time) {
  for (const Instant end = now() + time; now() < end;) turn();
  std::vector<Completion> all(done_[p].begin(), done_[p].end());
  done_[p].clear();
  return all;
}

void VerbsEnd::turn() {
  std::vector<Completion> found(16);
  const size_t n = nic().poll(found);
  for (size_t i = 0; i < n; ++i)
    for (uint32_t p = 0; p < kPaths; ++p)
      if (qps_[p] == found[i].qp) done_[p].push_back(found[i]);
  pollfd fd{link_->fd(), link_->events(), 0};
  ::poll(&fd, link_->over() ? 0 : 1, n == 0 ? 1 : 0);
  link_->run(now());
}

void VerbsEnd::wait(const std::string& what, const std::function<bool()>& done) {
  for (const Instant end = now() + kPatience; !done();) {
    require(!link_->over(), "while waiting for " + what + ": " + link_->reason());
    require(now() < end, what + " did not come within 20 s");
    turn();
  }
}

}  // namespace matchrdma::host
