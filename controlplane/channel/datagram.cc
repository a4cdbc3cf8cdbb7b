#include "controlplane/channel/datagram.h"

#include "controlplane/channel/archive.h"

namespace matchrdma {
namespace {

template <class A>
void fields(A& a, In<A, SessionHeader>& h) {
  auto version = kChannelVersion;
  auto kind = h.queue == Queue::kControl ? DatagramKind::kControl : DatagramKind::kData;
  auto code = static_cast<uint8_t>(kind);
  a.u8(version);
  a.require(version == kChannelVersion);
  a.u8(code);
  kind = static_cast<DatagramKind>(code);
  a.require(kind == DatagramKind::kControl || kind == DatagramKind::kData);
  if constexpr (!A::kWrites) h.queue = kind == DatagramKind::kControl ? Queue::kControl : Queue::kData;
  a.u16(h.worker);
  a.u32(h.key.v);
  a.u64(h.session_tag);
  a.u64(h.counter);
}

template <class A>
void fields(A& a, In<A, HelloHeader>& h) {
  auto kind = h.ack ? DatagramKind::kHelloAck : DatagramKind::kHello;
  auto code = static_cast<uint8_t>(kind);
  a.u8(h.version);
  a.u8(code);
  kind = static_cast<DatagramKind>(code);
  a.require(kind == DatagramKind::kHello || kind == DatagramKind::kHelloAck);
  if constexpr (!A::kWrites) h.ack = kind == DatagramKind::kHelloAck;
  a.u32(h.key.v);
  a.bytes(h.nonce);
}

template <class Header>
void write_header(const Header& h, MutableBytes out) {
  Encoder e(out.first(Header::kBytes));
  fields(e, h);
  MRDMA_CHECK(e.ok() && e.size() == Header::kBytes);
}

template <class Header>
std::optional<Header> read_header(Bytes datagram) {
  if (datagram.size() < Header::kBytes + Aead::kTagBytes || datagram.size() > kMaxDatagramBytes) return {};
  Header h;
  Decoder d(datagram.first(Header::kBytes));
  fields(d, h);
  if (!d.complete()) return {};
  return h;
}

}  // namespace

void SessionHeader::write(MutableBytes out) const { write_header(*this, out); }
std::optional<SessionHeader> SessionHeader::read(Bytes datagram) {
  return read_header<SessionHeader>(datagram);
}
void HelloHeader::write(MutableBytes out) const { write_header(*this, out); }
std::optional<HelloHeader> HelloHeader::read(Bytes datagram) { return read_header<HelloHeader>(datagram); }

}  // namespace matchrdma
