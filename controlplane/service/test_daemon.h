#pragma once
// A daemon that has everything a view can show, and remembers what was asked of it.
#include <string>
#include <utility>
#include <vector>

#include "controlplane/service/daemon_control.h"
#include "controlplane/service/daemon_view.h"
#include "dataplane/base/ip_text.h"

namespace matchrdma::service {

inline FlowRow test_flow(uint32_t i) {
  FlowRow r;
  r.flow.key.src = *ip_from_text(i % 2 == 0 ? "10.0.0.1" : "fd00::1");
  r.flow.key.dst = *ip_from_text(i % 2 == 0 ? "10.0.1.1" : "fd00:1::1");
  r.flow.key.dst_qpn = Qpn{100 + i};
  r.flow.sender_qpn = Qpn{5000 + i};
  r.flow.source = i % 3 != 0;
  r.flow.state = i % 3 == 0 ? "opened" : "active";
  r.flow.learned_by = LearnedBy::kCm;
  r.flow.epsn = 70 + i;
  r.flow.owned_packets = i;
  r.span = "north";
  r.worker = i % 2;
  return r;
}

inline std::shared_ptr<DaemonView> test_view(uint32_t flows = 4) {
  auto v = std::make_shared<DaemonView>();
  v->version = "0.1.0-test";
  v->started_unix_s = 1'700'000'000;
  v->uptime = Duration::seconds(90);
  v->cycles_per_second = 2'000'000'000;
  v->reloads = 2;
  v->conditions = {{"ports", true, "all links are up"}, {"peer north", true, "session is up"}};
  for (uint32_t i = 0; i < 2; ++i) {
    WorkerView w;
    w.worker = i;
    w.core = i + 1;
    w.busy_cycles = 3'000'000'000;
    w.idle_cycles = 1'000'000'000;
    w.rx_packets = 12'345'678;
    w.counters.pseudo_acks = 41 + i;
    w.counters.custody_bytes = 1 << 20;
    w.counters.custody_packets = 17;
    w.counters.reasons.add(Reason::kIcrcWan);
    w.latencies.ack.add(Duration::micros(3));
    w.latencies.gate_wait.add(Duration::millis(2));
    w.latencies.custody_age.add(Duration::seconds(1000));
    v->workers.push_back(w);
    CustodyView c;
    c.worker = i;
    c.soft_limit_bytes = 768 << 20;
    c.hard_limit_bytes = 1 << 30;
    c.bytes = 1 << 20;
    c.owned_packets = 17;
    c.oldest = Duration::millis(12);
    v->custody.push_back(c);
  }
  SlotRow row;
  row.group.dst = *ip_from_text("10.0.1.1");
  row.slot.why.slot = 5000;
  row.slot.why.c = 60;
  row.slot.why.sample = {SampleKind::kSaturated, 60, 60, true};
  row.slot.why.granted = 58;
  row.slot.budget = {Rate{58'000'000'000}, Duration::millis(4), 17};
  v->slots.push_back({"north", Duration::micros(200), 5010, {row}, {.late = 1, .no_room = 2, .lowered = 3}});
  PortView lan;
  lan.name = "lan0";
  lan.span = "north";
  lan.kind = "net_af_packet";
  lan.device = "net_af_packet0,iface=veth0";
  lan.mac = "02:00:00:00:00:01";
  lan.mtu = 9216;
  lan.link_up = true;
  lan.dispatch = Dispatch::kSoftware;
  lan.queues = 1;
  lan.rx_packets = 99;
  PortView wan = lan;
  wan.name = "wan0";
  wan.side = Side::kWan;
  v->ports = {lan, wan};
  PeerView peer;
  peer.span = "north";
  peer.address = "192.0.2.2";
  peer.session = SessionState::kUp;
  peer.key_id = 1;
  peer.ever_heard = true;
  peer.last_heard = Duration::millis(4);
  peer.rtt = Duration::millis(10);
  peer.version = peer.peer_version = 1;
  peer.channel.sealed = 1000;
  v->peers = {peer};
  BudgetView b;
  b.span = "north";
  b.group.dst = *ip_from_text("10.0.1.1");
  b.rate = Rate{100'000'000'000};
  b.backlog_bytes = 4096;
  v->budgets = {b, b};
  auto list = std::make_shared<FlowList>();
  for (uint32_t i = 0; i < flows; ++i) list->flows.push_back(test_flow(i));
  UnpairedRow u;
  u.report = {test_flow(0).flow.key, Unpaired::kNoAnswers};
  u.span = "north";
  list->unpaired.push_back(u);
  v->flows = list;
  v->config_text = "# a config\nspans: [north]\n";
  return v;
}

/// Refuses what is named "refused"; register, unregister and drain are done when asked `rounds` times.
class TestDaemon : public DaemonControl {
 public:
  int rounds = 1;
  std::vector<std::string> asked;
  PairRequest pair;
  ModeRequest mode;
  CaptureRequest capture;

  Result<Progress> register_pair(const PairRequest& p) override { return later("register", p); }
  Result<Progress> unregister_pair(const PairRequest& p) override { return later("unregister", p); }
  Result<std::string> set_mode(const ModeRequest& r) override {
    asked.push_back("mode");
    mode = r;
    const auto* name = std::get_if<std::string>(&r.what);
    if (name != nullptr && *name == "refused") return Error{"there is no class refused; there is: bulk"};
    return std::string("mode is set");
  }
  Result<Progress> drain() override { return later("drain", {}); }
  Result<std::string> reload() override {
    asked.push_back("reload");
    return Error{"lab.yaml:7: unknown key \"spam\"; did you mean \"span\"?"};
  }
  Result<std::string> capture_start(const CaptureRequest& r) override {
    asked.push_back("capture");
    capture = r;
    return "capturing to /var/lib/matchrdma/" + r.file;
  }
  Result<CaptureStatus> capture_stop() override {
    if (capture.file.empty()) return Error{"no capture is running"};
    return CaptureStatus{false, capture.file, 10, 1000, 0, "stopped"};
  }
  CaptureStatus capture_status() const override { return {}; }

 private:
  Result<Progress> later(const char* what, const PairRequest& p) {
    asked.emplace_back(what);
    pair = p;
    if (p.span == "refused") return Error{"there is no span refused; there is: north"};
    const bool done = static_cast<int>(asked.size()) >= rounds;
    return Progress{done, done ? "done" : "the peer has not answered yet"};
  }
};

}  // namespace matchrdma::service
