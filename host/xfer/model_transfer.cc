#include "host/xfer/model_transfer.h"

#include "host/model_fabric/model_nic.h"

namespace matchrdma::host {
namespace {

constexpr uint32_t kEpoch = 1;
constexpr Duration kLook = Duration::micros(1);  // of a host at its NIC

}  // namespace

Result<ModelTransferResult> run_model_transfer(const ModelTransferSettings& s, Bytes from, MutableBytes to,
                                               const std::function<void(uint64_t)>& progress) {
  const auto settled = settle(s.xfer, s.uc_here, s.uc_there);
  if (!settled) return Error{settled.error()};
  auto options = sdr_options(settled->settings, kEpoch);
  if (!options) return Error{options.error()};
  NicModel here, there;
  here.limits.uc = s.uc_here;
  there.limits.uc = s.uc_there;
  ModelNet net(s.seed, here, there);
  net.set_path(0, s.there);
  net.set_path(1, s.back);
  auto a = SdrEndpoint::make(*options, net.nic(0), net.now());
  if (!a) return Error{a.error()};
  auto b = SdrEndpoint::make(*options, net.nic(1), net.now());
  if (!b) return Error{b.error()};
  if (auto r = (*a)->connect((*b)->addresses()); !r) return Error{r.error()};
  if (auto r = (*b)->connect((*a)->addresses()); !r) return Error{r.error()};
  TransferReceive receive(**b, to, s.xfer.message_bytes);
  TransferSend send(**a, from, {}, s.xfer.message_bytes, s.xfer.messages_ahead + 4);
  Instant began = Instant::never();
  while (!send.done()) {
    (*a)->poll(net.now());
    send.poll();
    (*b)->poll(net.now());
    receive.poll(net.now());
    for (const std::string& e : {send.error(), receive.error()})
      if (!e.empty()) return Error{e};
    if (began.is_never() && (*a)->sender().counters().packets > 0) began = net.now();
    progress(receive.received_bytes());
    if (net.now() > Instant{} + s.patience)
      return Error{"not done after " + std::to_string(s.patience.ns / 1'000'000'000) + " s of virtual time: " +
                   std::to_string(receive.received_bytes()) + " of " + std::to_string(from.size()) + " bytes"};
    const Instant next = earlier(net.next_event(), earlier((*a)->next_wakeup(), (*b)->next_wakeup()));
    net.run_until(later(next, net.now() + kLook));
  }
  const SenderCounters& sent = (*a)->sender().counters();
  const ReceiverCounters& got = (*b)->receiver().counters();
  return ModelTransferResult{settled->settings.scheme,
                             net.now() - earlier(began, net.now()),
                             sent.packets,
                             sent.resent,
                             net.counters(0).lost,
                             got.decoded_packets,
                             got.duplicates,
                             got.stale,
                             receive.missing_bytes()};
}

}  // namespace matchrdma::host
