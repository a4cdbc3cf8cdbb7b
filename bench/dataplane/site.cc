#include "bench/dataplane/site.h"

namespace matchrdma::dataplane_bench {
namespace {

constexpr uint32_t kRing = 1 << 15;
/// Not the first: that one asks for the peer's MAC and probes by the wall clock.
constexpr uint16_t kWorker = 1;

IpAddress control_address(uint8_t last) {
  return IpAddress::v4(std::array<uint8_t, 4>{192, 0, 2, last}.data());
}
Mac mac(uint8_t last) { return {2, 0, 0, 0, 0, last}; }

ControlPath path(const SiteOptions& o) {
  ControlPath p;
  p.net.mac_src = mac(o.own);
  p.net.mac_dst = mac(o.peer);
  p.net.src = control_address(o.own);
  p.net.dst = control_address(o.peer);
  return p;
}

}  // namespace

Result<std::unique_ptr<Site>> Site::create(const SiteOptions& o, const io::Clock& clock) {
  std::unique_ptr<Site> site(new Site(clock));
  if (auto r = site->open_ports(o); !r) return Error{r.error()};
  site->make_worker(o);
  PeerConfig peer;
  peer.address = control_address(o.peer);
  peer.keys.resize(1);
  peer.keys[0].id = 1;
  peer.keys[0].secret.b.fill(7);
  if (auto r = site->link_->set_keys(peer, site->time_.now()); !r) return Error{r.error()};
  return site;
}

Result<void> Site::open_ports(const SiteOptions& o) {
  auto lan = io::RingPort::create(o.name + "_lan", kRing), wan = io::RingPort::create(o.name + "_wan", kRing);
  if (!lan) return Error{lan.error()};
  if (!wan) return Error{wan.error()};
  lan_ = std::move(*lan);
  wan_ = std::move(*wan);
  io::PortOptions p;
  p.mtu = o.mtu;
  p.standing = true;
  auto opened = open_span_ports(o.name, o.pool_packets, lan_->name(), wan_->name(), p);
  if (!opened) return Error{opened.error()};
  at_ = std::move(*opened);
  return {};
}

void Site::make_worker(const SiteOptions& o) {
  io_ = std::make_unique<BenchIo>(time_, clock_, at_.ports);
  worker_ = std::make_unique<daemon::Worker<BenchIo>>(kWorker, *io_, kBurst);
  daemon::SpanEndConfig c;
  c.worker = kWorker;
  c.shard = o.shard;
  c.neighbour.self = {mac(o.own), control_address(o.own), {}};
  c.neighbour.prefix_bits = 24;
  c.neighbour.peer = control_address(o.peer);
  daemon::SpanEndHooks h;
  h.hello = [this](Bytes b) { link_->hello(b, time_.now()); };
  h.other_worker = [](uint16_t, Bytes) {};
  worker_->add(std::make_unique<daemon::SpanEnd>(c, *at_.pool, h));
  end().set_path(path(o));
  daemon::PeerLink::Hooks l;
  l.send = [this](Bytes b) { end().send_hello(b); };
  l.keys = [this](const SessionSnapshot& s, bool started) { end().set_session(s, started, time_.now()); };
  l.tell = [](const std::string&) {};
  link_ = std::make_unique<daemon::PeerLink>("span", Offer{.workers = kWorker + 1}, time_.now(), l);
}

}  // namespace matchrdma::dataplane_bench
