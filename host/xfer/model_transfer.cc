#include "host/xfer/model_transfer.h"

#include "host/model_fabric/model_nic.h"

namespace matchrdma::host {
namespace {

constexpr uint32_t kEpoch = 1;
constexpr Duration kLook = Duration::micros(1);  // of a host at its NIC

/// Duty: the control connection of two ends in one process: in order, without loss, as far as the link is long.
class ControlPipe {
 public:
  ControlPipe(ModelNet& net, MessageEnd& a, MessageEnd& b, Duration delay)
      : net_(net), ends_{&a, &b}, delay_(delay) {}
  void carry() {
    for (MessageEnd* const from : ends_) {
      MessageEnd* const to = from == ends_[0] ? ends_[1] : ends_[0];
      for (ControlMessage& m : from->take_control())
        net_.at(net_.now() + delay_, [this, to, said = std::move(m)] { to->on_control(said, net_.now()); });
    }
  }

 private:
  ModelNet& net_;
  MessageEnd* ends_[2];
  Duration delay_;
};

}  // namespace

Result<ModelTransferResult> run_model_transfer(const ModelTransferSettings& s, Bytes from, MutableBytes to,
                                               const std::function<void(uint64_t)>& progress) {
  const auto settled = settle(s.xfer, s.uc_here, s.uc_there);
  if (!settled) return Error{settled.error()};
  NicModel here, there;
  here.limits.uc = s.uc_here;
  there.limits.uc = s.uc_there;
  const uint32_t paths = settled->settings.scheme == XferScheme::kCells ? settled->settings.paths : 1;
  ModelNet net(s.seed, here, there, paths);
  for (uint32_t p = 0; p < paths; ++p) {
    PathModel path = s.there, back = s.back;
    path.gigabits /= paths;
    back.gigabits /= paths;
    net.set_path(0, path, p);
    net.set_path(1, back, p);
  }
  auto a = make_end(settled->settings, kEpoch, XferSide::kSends, net.nic(0), net.now());
  if (!a) return Error{a.error()};
  auto b = make_end(settled->settings, kEpoch, XferSide::kReceives, net.nic(1), net.now());
  if (!b) return Error{b.error()};
  for (MessageEnd* const end : {a->get(), b->get()}) end->on_peer(kEpoch, net.now());
  ControlPipe pipe(net, **a, **b, s.there.delay);
  TransferReceive receive(**b, to, s.xfer.message_bytes);
  TransferSend send(**a, from, {}, s.xfer.message_bytes, s.xfer.messages_ahead + 4);
  Instant began = Instant::never();
  std::vector<std::string> news;
  while (!send.done()) {
    (*a)->poll(net.now());
    send.poll();
    (*b)->poll(net.now());
    receive.poll(net.now());
    pipe.carry();
    for (std::string& n : (*a)->take_news()) news.push_back(std::move(n));
    for (const std::string& e : {send.error(), receive.error()})
      if (!e.empty()) return Error{e};
    if (began.is_never() && (*a)->figures().packets > 0) began = net.now();
    progress(receive.received_bytes());
    if (net.now() > Instant{} + s.patience)
      return Error{"not done after " + std::to_string(s.patience.ns / 1'000'000'000) + " s of virtual time: " +
                   std::to_string(receive.received_bytes()) + " of " + std::to_string(from.size()) + " bytes"};
    const Instant next =
        earlier(net.next_event(), earlier((*a)->next_wakeup(net.now()), (*b)->next_wakeup(net.now())));
    net.run_until(later(next, net.now() + kLook));
  }
  const EndFigures sent = (*a)->figures(), got = (*b)->figures();
  uint64_t lost = 0;
  for (uint32_t p = 0; p < paths; ++p) lost += net.counters(0, p).lost;
  return ModelTransferResult{settled->settings.scheme,
                             net.now() - earlier(began, net.now()),
                             sent.packets,
                             sent.resent,
                             lost,
                             got.decoded,
                             got.duplicates,
                             got.stale,
                             receive.missing_bytes(),
                             std::move(news)};
}

}  // namespace matchrdma::host
