#include "host/xfer/sdr_messages.h"

#include <utility>

namespace matchrdma::host {
namespace {

constexpr uint32_t kDataPath = 0, kSignalPath = 1;

}  // namespace

Result<std::unique_ptr<SdrMessages>> SdrMessages::make(const SdrOptions& options, Nic& nic, Instant now) {
  auto end = SdrEndpoint::make(options, nic, now);
  if (!end) return Error{end.error()};
  return std::unique_ptr<SdrMessages>(new SdrMessages(options, std::move(*end)));
}

SdrMessages::SdrMessages(const SdrOptions& options, std::unique_ptr<SdrEndpoint> end)
    : options_(options), end_(std::move(end)) {
  const SdrEndpoint::Addresses mine = end_->addresses();
  const uint32_t epoch = options_.shape.epoch;
  control_.emplace_back(PathAddresses{
      {{kDataPath, epoch, options_.transport, mine.data}, {kSignalPath, epoch, Transport::kUd, mine.signal}}});
}

bool SdrMessages::on_control(const ControlMessage& m, Instant) {
  const auto* a = std::get_if<PathAddresses>(&m);
  if (a == nullptr || connected_) return false;
  const uint32_t epoch = options_.shape.epoch;
  if (a->all.size() != 2 || a->all[0].epoch != epoch || a->all[1].epoch != epoch ||
      a->all[0].path != kDataPath || a->all[1].path != kSignalPath) {
    refused_ = "the other end names other queue pairs than those of this transfer";
    return true;
  }
  // The shape was agreed on before: both ends make it of the same offer.
  if (auto r = connect({a->all[0].address, a->all[1].address, options_.shape}); !r) refused_ = r.error();
  return true;
}

Result<void> SdrMessages::connect(const SdrEndpoint::Addresses& peer) {
  auto r = end_->connect(peer);
  connected_ = r.ok();
  return r;
}

std::optional<MessageSent> SdrMessages::take_sent() {
  auto d = end_->sender().take_done();
  if (!d) return {};
  return MessageSent{d->message, std::move(d->error)};
}

Result<std::optional<uint64_t>> SdrMessages::receive_post(MutableBytes buffer, Instant now) {
  return end_->receiver().receive_post(buffer, now);
}

std::optional<MessageReceived> SdrMessages::take_received() {
  const auto d = end_->receiver().take_done();
  if (!d) return {};
  MessageReceived r{d->message, d->length, 0};
  for (const MissingRange& m : d->missing) r.missing += m.length;
  return r;
}

std::string SdrMessages::error() const {
  return end_->failed() && refused_.empty() ? "the queue pair has failed" : refused_;
}

EndFigures SdrMessages::figures() const {
  const SenderCounters& sent = end_->sender().counters();
  const ReceiverCounters& got = end_->receiver().counters();
  return {sent.packets,
          sent.resent,
          sent.rate_halved,
          got.decoded_packets,
          got.duplicates,
          got.stale,
          end_->counters().rq_low,
          got.packets,
          end_->sender().round_trip()};
}

}  // namespace matchrdma::host
