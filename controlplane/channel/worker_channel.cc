#include "controlplane/channel/worker_channel.h"

#include <algorithm>

namespace matchrdma {

void ChannelCounters::add(const ChannelCounters& o) {
  sealed += o.sealed;
  no_session += o.no_session;
  unsealed += o.unsealed;
  unencodable += o.unencodable;
  opened += o.opened;
  truncated += o.truncated;
  foreign += o.foreign;
  stale_session += o.stale_session;
  bad_seal += o.bad_seal;
  replayed += o.replayed;
  broken_framing += o.broken_framing;
  wrong_queue += o.wrong_queue;
  messages.malformed += o.messages.malformed;
  messages.unknown_type += o.messages.unknown_type;
}

void WorkerChannel::update(const SessionSnapshot& snapshot) {
  if (snapshot.number <= snapshot_) return;
  snapshot_ = snapshot.number;
  if (!snapshot.seal) {
    sealer_.reset();
  } else if (!sealer_ || sealer_->tag() != snapshot.seal->tag()) {
    sealer_ = std::make_unique<Sealer>(*snapshot.seal, worker_);
  }
  std::vector<std::unique_ptr<Opener>> openers;
  for (const SessionKeys& s : snapshot.open) {
    const auto kept =
        std::find_if(openers_.begin(), openers_.end(), [&](const auto& o) { return o && o->tag() == s.tag(); });
    openers.push_back(kept != openers_.end() ? std::move(*kept) : std::make_unique<Opener>(s, worker_));
  }
  openers_ = std::move(openers);
}

void WorkerChannel::send(const Message& m, DatagramSink& sink) {
  if (!sealer_) {
    ++n_.no_session;
    return;
  }
  const Queue queue = in_data_queue(m) ? Queue::kData : Queue::kControl;
  Batcher& batch = batch_[static_cast<size_t>(queue)];
  Batcher::Added added = batch.add(m);
  if (added == Batcher::Added::kFull) {
    flush(queue, sink);
    added = batch.add(m);
    MRDMA_CHECK(added == Batcher::Added::kAdded);
  }
  if (added == Batcher::Added::kUnencodable) ++n_.unencodable;
}

void WorkerChannel::flush(Queue queue, DatagramSink& sink) {
  Batcher& batch = batch_[static_cast<size_t>(queue)];
  if (batch.empty()) return;
  const Result<size_t> size =
      sealer_ ? sealer_->seal(queue, batch.payload(), buffer_) : Result<size_t>(Error{"no session is up"});
  batch.clear();
  if (!size) {
    ++n_.unsealed;
    return;
  }
  ++n_.sealed;
  sink.datagram(queue, Bytes(buffer_).first(*size));
}

Opener* WorkerChannel::opener(uint64_t tag) {
  for (const auto& o : openers_) {
    if (o->tag() == tag) return o.get();
  }
  return nullptr;
}

void WorkerChannel::receive(Bytes udp_payload, std::vector<Message>& out) {
  if (udp_payload.size() < SessionHeader::kBytes + Aead::kTagBytes || udp_payload.size() > kMaxDatagramBytes) {
    ++n_.truncated;
    return;
  }
  const std::optional<SessionHeader> header = SessionHeader::read(udp_payload);
  if (!header || header->worker != worker_) {
    ++n_.foreign;
    return;
  }
  Opener* o = opener(header->session_tag);
  if (o == nullptr) {
    ++n_.stale_session;
    return;
  }
  Bytes payload;
  switch (o->open(*header, udp_payload, buffer_, payload)) {
    case OpenVerdict::kBadSeal:
      ++n_.bad_seal;
      return;
    case OpenVerdict::kReplayed:
      ++n_.replayed;
      return;
    case OpenVerdict::kOpened:
      ++n_.opened;
  }
  deliver(header->queue, payload, out);
}

void WorkerChannel::deliver(Queue queue, Bytes payload, std::vector<Message>& out) {
  const size_t before = out.size();
  if (!decode(payload, out, n_.messages)) {
    ++n_.broken_framing;
    return;
  }
  const auto misplaced = [&](const Message& m) { return in_data_queue(m) != (queue == Queue::kData); };
  const auto end = std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(), misplaced);
  n_.wrong_queue += static_cast<uint64_t>(out.end() - end);
  out.erase(end, out.end());
}

}  // namespace matchrdma
