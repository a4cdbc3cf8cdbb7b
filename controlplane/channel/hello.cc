#include "controlplane/channel/hello.h"

#include "controlplane/channel/archive.h"

namespace matchrdma {
namespace {

constexpr size_t kBodyBytes = 4 * 32 + 4 + 8 + 8 + 2 + 4;

template <class A>
void fields(A& a, In<A, Hello>& h) {
  a.bytes(h.fresh.b);
  a.bytes(h.echo.b);
  a.bytes(h.pair.own.b);
  a.bytes(h.pair.peer.b);
  a.u32(h.seals_under.v);
  a.u64(h.life);
  a.u64(h.offer.capabilities);
  a.u16(h.offer.workers);
  a.u32(h.offer.max_flows);
  a.require(!h.fresh.none());
  a.require(h.ack != h.echo.none());
  a.require(h.pair.own.none() == h.pair.peer.none());
  a.require(h.pair.own.none() || h.pair.own != h.pair.peer);
  a.require(h.seals_under == KeyId{} || !h.pair.own.none());
}

Secret hello_key(const Psk& psk) {
  static constexpr uint8_t kHello[] = {'h', 'e', 'l', 'l', 'o'};
  std::array<uint8_t, 4> id;
  store_be32(id.data(), psk.id.v);
  return hkdf_expand(hkdf_extract(kHello, psk.secret.bytes()), id);
}

}  // namespace

HelloSeal::HelloSeal(const Psk& psk) : key_(psk.id), aead_(hello_key(psk)) {}

std::vector<uint8_t> HelloSeal::seal(const Hello& hello, Entropy& entropy) {
  std::array<uint8_t, kBodyBytes> body;
  Encoder e(body);
  fields(e, hello);
  MRDMA_CHECK(e.ok() && e.size() == kBodyBytes);
  HelloHeader header{kChannelVersion, hello.ack, key_, {}};
  entropy.fill(header.nonce);
  return seal_body(header, body);
}

std::vector<uint8_t> HelloSeal::seal_body(const HelloHeader& header, Bytes body) {
  std::vector<uint8_t> out(HelloHeader::kBytes + body.size() + Aead::kTagBytes);
  header.write(out);
  aead_.seal(header.nonce, Bytes(out).first(HelloHeader::kBytes), body,
             MutableBytes(out).subspan(HelloHeader::kBytes));
  return out;
}

OpenedHello HelloSeal::open(const HelloHeader& header, Bytes datagram) {
  const Bytes sealed = datagram.subspan(HelloHeader::kBytes);
  std::array<uint8_t, kMaxDatagramBytes> buffer;
  const MutableBytes body = MutableBytes(buffer).first(sealed.size() - Aead::kTagBytes);
  if (!aead_.open(header.nonce, datagram.first(HelloHeader::kBytes), sealed, body)) return HelloFault::kBadSeal;
  if (header.version != kChannelVersion) return OtherVersion{header.version};
  Hello hello;
  hello.ack = header.ack;
  Decoder d(body);
  fields(d, hello);
  if (!d.complete()) return HelloFault::kMalformed;
  return hello;
}

}  // namespace matchrdma
