// Any bytes into everything of the channel that reads: as they are, and under a right seal, where only the
// codec and the rules of the HELLO stand between them and the core. What decodes must encode to the same bytes.
#include <vector>

#include "controlplane/channel/codec.h"
#include "controlplane/channel/control_packet.h"
#include "controlplane/channel/peer_session.h"
#include "controlplane/channel/worker_channel.h"

namespace {

using namespace matchrdma;
using Buffer = std::vector<uint8_t>;

class CountingEntropy : public Entropy {
 public:
  void fill(MutableBytes out) override {
    for (uint8_t& b : out) b = ++next_;
  }

 private:
  uint8_t next_ = 0;
};

const Psk& key() {
  static const Psk made = [] {
    Psk p{KeyId{1}, {}};
    CountingEntropy().fill(p.secret.writable());
    return p;
  }();
  return made;
}

/// The frames of `payload`, one by one: each decodes to what encodes to it, or counts.
void check_codec(Bytes payload) {
  std::vector<Message> all;
  DecodeCounts n;
  if (!decode(payload, all, n)) {
    MRDMA_CHECK(all.empty() && n == DecodeCounts{});
    return;
  }
  size_t decoded = 0, frames = 0;
  for (; !payload.empty(); ++frames) {
    const Bytes frame = payload.first(kMessageHeaderBytes + load_be16(payload.data() + 1));
    payload = payload.subspan(frame.size());
    std::vector<Message> one;
    DecodeCounts m;
    MRDMA_CHECK(decode(frame, one, m));
    MRDMA_CHECK(one.size() + m.malformed + m.unknown_type == 1);
    if (one.empty()) continue;
    Buffer again(kMaxMessageBytes);
    again.resize(encode(one[0], again));
    MRDMA_CHECK(again == Buffer(frame.begin(), frame.end()));
    ++decoded;
  }
  MRDMA_CHECK(all.size() == decoded && decoded + n.malformed + n.unknown_type == frames);
}

RandomPair numbers() {
  CountingEntropy entropy;
  return {entropy.nonce32(), entropy.nonce32()};
}

void check_channel(Bytes bytes) {
  static const SessionKeys here(key(), numbers()), there(key(), numbers().mirrored());
  WorkerChannel channel(0);
  channel.update({1, here, {here}});
  Sealer sealer(there, 0);
  std::vector<Message> got;
  channel.receive(bytes, got);
  MRDMA_CHECK(got.empty() && channel.counters().opened == 0);
  const Bytes payload = bytes.first(std::min(bytes.size(), kMaxPayloadBytes));
  Buffer d(kMaxDatagramBytes);
  d.resize(*sealer.seal(Queue::kControl, payload, d));
  channel.receive(d, got);
  MRDMA_CHECK(channel.counters().opened == 1);
  for (const Message& m : got) MRDMA_CHECK(!in_data_queue(m));
  const size_t before = got.size();
  channel.receive(d, got);
  MRDMA_CHECK(channel.counters().replayed == 1 && got.size() == before);
}

/// The bytes as they are, then as the body of a HELLO with a right seal: nothing in them can echo our number.
void check_hello(Bytes bytes) {
  CountingEntropy entropy;
  PeerSession peer(Offer{}, entropy, Instant{});
  MRDMA_CHECK(peer.set_keys({key()}, Instant{}).ok());
  PeerOutput out;
  peer.receive(bytes, Instant{}, out);
  HelloSeal seal(key());
  const Bytes body =
      bytes.first(std::min(bytes.size(), kMaxDatagramBytes - HelloHeader::kBytes - Aead::kTagBytes));
  const Buffer sealed =
      seal.seal_body({kChannelVersion, !body.empty() && body[0] % 2 == 1, KeyId{1}, {}}, body);
  peer.receive(sealed, Instant{}, out);
  MRDMA_CHECK(peer.counters().bad_seal == (is_hello(bytes) && HelloHeader::read(bytes)->key == KeyId{1}));
  MRDMA_CHECK(out.datagrams.size() <= 1 && peer.counters().not_hello + peer.counters().unknown_key <= 1);
}

void check_recogniser(Bytes bytes) {
  for (const bool v4 : {true, false}) {
    ControlPath path;
    if (v4) {
      static constexpr uint8_t kA[4] = {10, 9, 0, 1}, kB[4] = {10, 9, 0, 2};
      path.net.src = IpAddress::v4(kA);
      path.net.dst = IpAddress::v4(kB);
    } else {
      path.net.src.b = {0xfd, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
      path.net.dst.b = {0xfd, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
    }
    const ControlVerdict v = recognise_control(path, bytes);
    MRDMA_CHECK(v.kind == ControlVerdict::Kind::kOurs || v.payload.empty());
    if (v.kind != ControlVerdict::Kind::kOurs) continue;
    const size_t headers = control_packet_size(path, 0);
    MRDMA_CHECK(v.payload.size() + headers <= bytes.size());
    MRDMA_CHECK(v.payload.empty() || v.payload.data() >= bytes.data() + headers);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes{data, size};
  check_codec(bytes);
  check_channel(bytes);
  check_hello(bytes);
  check_recogniser(bytes);
  return 0;
}
