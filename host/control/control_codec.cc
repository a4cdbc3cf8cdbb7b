#include "host/control/control_codec.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace matchrdma::host {
namespace {

constexpr uint32_t kMagic = 0x6d726463;  // "mrdc"
constexpr uint32_t k24Bits = 0xffffff;

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Appends fields; remembers that one of them cannot be said.
class Put {
 public:
  explicit Put(std::vector<uint8_t>& out) : out_(&out) {}
  bool ok() const { return ok_; }
  bool require(bool holds) { return ok_ = ok_ && holds; }
  void number(uint64_t v, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) out_->push_back(static_cast<uint8_t>(v >> (8 * i)));
  }
  template <class T>
  void value(T& v, int bytes = sizeof(T)) {
    number(static_cast<uint64_t>(v), bytes);
  }
  void raw(MutableBytes b) { out_->insert(out_->end(), b.begin(), b.end()); }
  /// Length of a list or text of `element` bytes each.
  template <class List>
  void length(List& list, size_t) {
    number(list.size(), 2);
  }
  void rest() {}

 private:
  std::vector<uint8_t>* out_;
  bool ok_ = true;
};

/// Takes fields; remembers that something was missing or out of range, and yields zeros from there on.
class Take {
 public:
  explicit Take(Bytes in) : in_(in) {}
  bool ok() const { return ok_; }
  bool done() const { return ok_ && in_.empty(); }
  bool require(bool holds) { return ok_ = ok_ && holds; }
  uint64_t number(int bytes) {
    if (!require(in_.size() >= static_cast<size_t>(bytes))) return 0;
    uint64_t v = 0;
    for (int i = 0; i < bytes; ++i) v = v << 8 | in_[i];
    in_ = in_.subspan(bytes);
    return v;
  }
  template <class T>
  void value(T& v, int bytes = sizeof(T)) {
    const uint64_t read = number(bytes);
    if constexpr (std::is_same_v<T, bool>) require(read <= 1);
    v = static_cast<T>(read);
  }
  void raw(MutableBytes b) {
    if (!require(in_.size() >= b.size())) return;
    std::copy_n(in_.begin(), b.size(), b.begin());
    in_ = in_.subspan(b.size());
  }
  template <class List>
  void length(List& list, size_t element) {
    const uint64_t n = number(2);
    if (require(n * element <= in_.size())) list.resize(n);
  }
  void rest() { in_ = {}; }

 private:
  Bytes in_;
  bool ok_ = true;
};

// The layouts, once for both directions.
template <class Io>
void text(Io& io, std::string& s) {
  io.length(s, 1);
  io.raw({reinterpret_cast<uint8_t*>(s.data()), s.size()});
  io.require(s.size() <= kMaxControlText && printable(s));
}
template <class Io>
void layout(Io& io, ImmediateLayout& m) {
  io.value(m.slot_bits);
  io.value(m.index_bits);
  io.value(m.generation_bits);
  io.require(m.slot_bits + m.index_bits + m.generation_bits == 32 && m.slot_bits > 0 && m.index_bits > 0 &&
             m.generation_bits >= ImmediateLayout::kLeastGenerationBits);
}
template <class Io>
void path_mtu(Io& io, uint32_t& bytes) {
  io.value(bytes);
  io.require(std::has_single_bit(bytes) && bytes >= 256 && bytes <= 4096);  // IBA 9.6.1.1 of MTUs
}
template <class Io>
void layout(Io& io, ControlHello& m) {
  uint32_t magic = kMagic;
  io.value(magic);
  io.require(magic == kMagic);
  io.value(m.version);
  if (m.version != kControlVersion) return io.rest();
  text(io, m.library);
  io.value(m.life);
  io.value(m.uc);
  io.value(m.tier);
  io.require(m.tier <= ReceiveTier::kCopy);
  path_mtu(io, m.path_mtu);
  layout(io, m.layout);
  io.value(m.page_size);
  io.require(std::has_single_bit(m.page_size));
}
template <class Io>
void layout(Io& io, QpAddress& m) {
  io.value(m.qpn);
  io.value(m.psn);
  io.require(m.qpn <= k24Bits && m.psn <= k24Bits);
  io.raw(m.gid);
}
template <class Io>
void layout(Io& io, PathAddress& m) {
  io.value(m.path);
  io.value(m.epoch);
  io.value(m.transport);
  io.require(m.transport <= Transport::kUd);
  layout(io, m.address);
}
constexpr size_t kPathAddressBytes = 4 + 4 + 1 + 4 + 4 + 16;
template <class Io>
void layout(Io& io, PathAddresses& m) {
  io.length(m.all, kPathAddressBytes);
  io.require(m.all.size() <= kMaxPathAddresses);
  for (PathAddress& p : m.all) layout(io, p);
}
template <class Io>
void layout(Io& io, Fence& m) {
  io.value(m.path);
  io.value(m.epoch);
}
template <class Io>
void layout(Io& io, Fenced& m) {
  io.value(m.path);
  io.value(m.epoch);
  io.value(m.received);
  io.length(m.detail, 1);
  io.require(m.detail.size() <= kMaxFenceDetail);
  io.raw(m.detail);
}
template <class Io>
void layout(Io& io, Resume& m) {
  io.value(m.stream);
  io.value(m.delivered);
}
template <class Io>
void layout(Io& io, FlowEnd& m) {
  io.raw(m.gid);
  io.value(m.qpn);
  io.value(m.psn);
  io.require(m.qpn <= k24Bits && m.psn <= k24Bits);
}
template <class Io>
void layout(Io& io, RelayRegister& m) {
  io.value(m.request);
  io.value(m.remove);
  path_mtu(io, m.path_mtu);
  layout(io, m.local);
  layout(io, m.remote);
}
template <class Io>
void layout(Io& io, RelayRegistered& m) {
  io.value(m.request);
  io.value(m.done);
  text(io, m.why);
}
template <class Io>
void layout(Io& io, Ping& m) {
  io.value(m.number);
}
template <class Io>
void layout(Io& io, Pong& m) {
  io.value(m.number);
}
template <class Io>
void layout(Io& io, Bye& m) {
  io.value(m.fault);
  text(io, m.reason);
}
template <class Io>
void layout(Io& io, TransferOffer& m) {
  io.value(m.epoch);
  io.value(m.scheme);
  io.value(m.copy);
  io.value(m.transform);
  io.value(m.bytes);
  io.value(m.message_bytes);
  path_mtu(io, m.path_mtu);
  io.value(m.code_k);
  io.value(m.code_m);
  io.value(m.messages_ahead);
  io.value(m.paths);
  io.value(m.proxied);
  io.value(m.rate);
  io.value(m.round_trip);
  layout(io, m.layout);
  io.raw(m.sha256);
}
template <class Io>
void layout(Io& io, TransferAnswer& m) {
  io.value(m.epoch);
  io.value(m.accepted);
  text(io, m.why);
}
template <class Io>
void layout(Io& io, TransferReport& m) {
  io.value(m.epoch);
  for (uint64_t* n : {&m.took, &m.packets, &m.resent, &m.rate_halved, &m.round_trip, &m.decoded, &m.duplicates,
                      &m.stale, &m.missing_bytes, &m.rq_low})
    io.value(*n);
  io.raw(m.sha256);
}

template <class Io>
void layout(Io& io, CellPathOpen& m) {
  for (uint32_t* n : {&m.path, &m.epoch, &m.paths}) io.value(*n);
  path_mtu(io, m.path_mtu);
  io.value(m.slots);
  io.value(m.ring);
  layout(io, m.layout);
  layout(io, m.address);
  io.value(m.rkey);
  io.value(m.tokens);
  io.value(m.plans);
}
template <class Io>
void layout(Io& io, CellPathReady& m) {
  io.value(m.path);
  io.value(m.epoch);
}
template <class Io>
void layout(Io& io, CellGrant& m) {
  io.value(m.message);
  io.value(m.slot);
  io.value(m.rkey);
  io.value(m.remote);
  io.value(m.length);
}

template <class Io>
void layout(Io& io, ChannelPiece& m) {
  io.length(m.bytes, 1);
  io.require(m.bytes.size() <= kMaxChannelPiece);
  io.raw(m.bytes);
}

/// The default message of the type at this place of the variant.
template <size_t I = 0>
ControlMessage made(size_t place) {
  if constexpr (I + 1 == std::variant_size_v<ControlMessage>) {
    return ControlMessage(std::in_place_index<I>);
  } else {
    return place == I ? ControlMessage(std::in_place_index<I>) : made<I + 1>(place);
  }
}

}  // namespace

std::string sayable(std::string text) {
  for (char& c : text)
    if (!printable({&c, 1})) c = '?';
  text.resize(std::min(text.size(), kMaxControlText));
  return text;
}

bool encode(const ControlMessage& m, std::vector<uint8_t>& out) {
  const size_t before = out.size();
  out.push_back(static_cast<uint8_t>(m.index() + 1));
  out.resize(before + kControlHeaderBytes);
  Put put(out);
  std::visit([&put](auto copy) { layout(put, copy); }, m);
  const size_t body = out.size() - before - kControlHeaderBytes;
  if (!put.ok() || body > kMaxControlBody) {
    out.resize(before);
    return false;
  }
  store_be24(&out[before + 1], static_cast<uint32_t>(body));
  return true;
}

std::optional<ControlFrame> frame_at(Bytes bytes) {
  if (bytes.size() < kControlHeaderBytes) return std::nullopt;
  return ControlFrame{bytes[0], load_be24(bytes.data() + 1)};
}

bool known(uint8_t type) { return type >= 1 && type <= std::variant_size_v<ControlMessage>; }

std::optional<ControlMessage> decode(uint8_t type, Bytes body) {
  if (!known(type) || body.size() > kMaxControlBody) return std::nullopt;
  ControlMessage m = made(type - 1u);
  Take take(body);
  std::visit([&take](auto& into) { layout(take, into); }, m);
  if (!take.done()) return std::nullopt;
  return m;
}

}  // namespace matchrdma::host
