#include "host/api/matchrdma_host.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "host/api/nic_handle.h"
#include "host/api/settings.h"
#include "host/control/control_codec.h"
#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"
#include "host/xfer/sdr_messages.h"

using namespace matchrdma;
using namespace matchrdma::host;

namespace {

thread_local std::string last_error, last_event;

int fail(std::string why) {
  last_error = std::move(why);
  return -1;
}

/// Runs `f`; what it throws becomes an error of this thread.
template <class R, class F>
R guarded(R failed, F&& f) {
  try {
    return f();
  } catch (const std::exception& e) {
    fail(std::string("out of memory, or a fault of the library: ") + e.what());
    return failed;
  }
}

/// False after fail(): `r` is an error.
template <class T>
bool got(const Result<T>& r) {
  if (!r) fail(r.error());
  return r.ok();
}

void put(const QpAddress& a, uint8_t* to) {
  store_be32(to, a.qpn);
  store_be32(to + 4, a.psn);
  std::copy(a.gid.begin(), a.gid.end(), to + 8);
}

QpAddress address_at(const uint8_t* from) {
  QpAddress a{load_be32(from), load_be32(from + 4), {}};
  std::copy_n(from + 8, a.gid.size(), a.gid.begin());
  return a;
}
constexpr size_t kShapeNumbers = 7;
constexpr size_t kAddressBytes = 24, kShapeAt = 2 * kAddressBytes, kOverRcAt = kShapeAt + kShapeNumbers * 4;
constexpr int64_t kMostAdvance = 1'000'000'000'000'000;  // ns: eleven days
constexpr size_t kUnderWay = 4096;                       // messages that an endpoint takes at a time

void put_shape(const SdrShape& s, uint8_t* to) {
  const uint32_t element = s.hadamard ? 1 + static_cast<uint32_t>(*s.hadamard) : 0;
  const std::array<uint32_t, kShapeNumbers> numbers{s.epoch,
                                                    s.packet_bytes,
                                                    s.chunk_packets,
                                                    s.datagram_bytes,
                                                    s.code_k,
                                                    s.code_m,
                                                    element << 24 | uint32_t{s.layout.slot_bits} << 16 |
                                                        uint32_t{s.layout.index_bits} << 8 |
                                                        s.layout.generation_bits};
  for (size_t i = 0; i < numbers.size(); ++i) store_be32(to + 4 * i, numbers[i]);
}

SdrShape shape_at(const uint8_t* from) {
  const auto number = [from](size_t i) { return load_be32(from + 4 * i); };
  const auto byte = [&](int i) { return static_cast<uint8_t>(number(6) >> (8 * i)); };
  SdrShape s{number(0), number(1), number(2), number(3), {byte(2), byte(1), byte(0)}, number(4), number(5)};
  if (byte(3) != 0) s.hadamard = static_cast<ElementType>(byte(3) - 1);
  return s;
}

}  // namespace

struct mrdma_model {
  mrdma_model(uint64_t seed, const NicModel& a, const NicModel& b, uint32_t paths) : net(seed, a, b, paths) {}
  ModelNet net;
  mrdma_nic ends[2];
};

struct mrdma_endpoint {
  std::unique_ptr<MessageEnd> end;
  mrdma_nic* nic;
  XferScheme scheme;
  TransferOffer introduction;  ///< the first frame of cells and channels
  Instant polled{};
  bool heard = false;                         ///< control frames since the last poll
  std::string refused{};                      ///< the other end has other options
  std::map<uint64_t, uint32_t> sending{};     ///< the region of each message
  std::deque<std::vector<uint8_t>> frames{};  ///< encoded, not taken
  std::deque<std::string> news{};

  /// Nothing where the scheme has no addresses.
  SdrMessages* sdr() const { return dynamic_cast<SdrMessages*>(end.get()); }
  ~mrdma_endpoint() {
    for (const auto& [message, region] : sending) --nic->regions[region].messages;
  }
};

namespace {

bool over_rc(const mrdma_endpoint& e) { return host::over_rc(e.scheme); }

int no_addresses() {
  return fail("cells and channels have no address: use mrdma_control_begin() and what follows it");
}

}  // namespace

const char* mrdma_version(void) { return MATCHRDMA_VERSION; }
const char* mrdma_error(void) { return last_error.c_str(); }

mrdma_nic* mrdma_nic_open(const mrdma_nic_options* options) {
  return guarded<mrdma_nic*>(nullptr, [&]() -> mrdma_nic* {
    const auto read = options_of(options);
    if (!got(read)) return nullptr;
    const mrdma_nic_options& o = *read;
    auto opened = open_rdma_nic(o.device == nullptr ? "" : o.device, o.choose_gid != 0 ? o.gid_index : -1);
    if (!opened) {
      fail(opened.error());
      return nullptr;
    }
    auto handle = std::make_unique<mrdma_nic>();
    handle->own = std::move(*opened);
    handle->nic = handle->own.get();
    return handle.release();
  });
}

int mrdma_nic_fd(const mrdma_nic* nic) { return nic->nic->fd(); }

int mrdma_nic_arm(mrdma_nic* nic) {
  return guarded(-1, [&] {
    nic->nic->arm();
    return 0;
  });
}

const char* mrdma_nic_event(mrdma_nic* nic) {
  return guarded<const char*>(nullptr, [&]() -> const char* {
    auto e = nic->nic->event();
    if (!e) return nullptr;
    last_event = std::move(*e);
    return last_event.c_str();
  });
}

int mrdma_nic_has_uc(const mrdma_nic* nic) { return nic->nic->limits().uc ? 1 : 0; }

void mrdma_nic_close(mrdma_nic* nic) {
  if (nic != nullptr && nic->own) delete nic;
}

mrdma_model* mrdma_model_open(const mrdma_model_options* options) {
  return guarded<mrdma_model*>(nullptr, [&]() -> mrdma_model* {
    const auto read = options_of(options);
    if (!got(read)) return nullptr;
    const mrdma_model_options& o = *read;
    if (const auto fine = check_model(o); !fine) {
      fail(fine.error());
      return nullptr;
    }
    NicModel nics[2];
    for (int end = 0; end < 2; ++end) nics[end].limits.uc = (o.without_uc >> end & 1) == 0;
    const uint32_t paths = std::max(o.paths, 1u);
    auto model = std::make_unique<mrdma_model>(o.seed, nics[0], nics[1], paths);
    PathModel path;
    if (o.gigabits > 0) path.gigabits = o.gigabits;
    if (o.one_way_ns > 0) path.delay = {o.one_way_ns};
    path.loss = o.loss;
    for (uint32_t end = 0; end < 2; ++end) {
      for (uint32_t p = 0; p < paths; ++p) model->net.set_path(end, path, p);
      model->ends[end].nic = &model->net.nic(end);
    }
    return model.release();
  });
}

void mrdma_model_close(mrdma_model* model) { delete model; }
mrdma_nic* mrdma_model_nic(mrdma_model* model, int end) { return &model->ends[end == 0 ? 0 : 1]; }
int64_t mrdma_model_now(const mrdma_model* model) { return model->net.now().ns; }

int64_t mrdma_model_advance(mrdma_model* model, int64_t most_ns) {
  const Instant limit = model->net.now() + Duration{std::clamp<int64_t>(most_ns, 1, kMostAdvance)};
  model->net.run_until(earlier(model->net.next_event(), limit));
  return model->net.now().ns;
}

int mrdma_register(mrdma_nic* nic, void* memory, size_t bytes, mrdma_region* out) {
  return guarded(-1, [&] {
    if (memory == nullptr) return fail("register: no memory was given");
    const MutableBytes range(static_cast<uint8_t*>(memory), bytes);
    auto r = nic->nic->add_region(range, Access::kLocal);
    if (!r) return fail(r.error());
    nic->regions[r->handle] = {*r, range, 0};
    *out = {r->handle, r->lkey, r->rkey, 0, r->remote};
    return 0;
  });
}

int mrdma_unregister(mrdma_nic* nic, const mrdma_region* region) {
  return guarded(-1, [&] {
    const auto known = nic->regions.find(region->handle);
    if (known == nic->regions.end()) return fail("unregister: no such region; was it unregistered before?");
    if (const size_t n = known->second.messages; n != 0)
      return fail("unregister: " + std::to_string(n) + " messages of this region are under way");
    nic->nic->remove_region(known->second.region);
    nic->regions.erase(known);
    return 0;
  });
}

uint32_t mrdma_messages_ahead(uint64_t bits_per_second, int64_t round_trip_ns, uint64_t message_bytes) {
  const auto rate = static_cast<int64_t>(std::min<uint64_t>(bits_per_second, INT64_MAX));
  return messages_ahead({rate}, {std::max<int64_t>(round_trip_ns, 0)}, std::max<uint64_t>(message_bytes, 1));
}

mrdma_endpoint* mrdma_endpoint_create(mrdma_nic* nic, const mrdma_options* options, int64_t now_ns) {
  return guarded<mrdma_endpoint*>(nullptr, [&]() -> mrdma_endpoint* {
    const auto read = options_of(options);
    if (!got(read)) return nullptr;
    const mrdma_options& o = *read;
    const auto settings = read_settings(o);
    if (!got(settings)) return nullptr;
    const auto settled = settle(*settings, nic->nic->limits().uc, o.peer_has_no_uc == 0);
    if (!got(settled)) return nullptr;
    const uint32_t epoch = o.epoch == 0 ? 1 : o.epoch;
    const XferSide side = o.offers != 0 ? XferSide::kSends : XferSide::kReceives;
    auto end = make_end(settled->settings, epoch, side, *nic->nic, {now_ns});
    if (!got(end)) return nullptr;
    return new mrdma_endpoint{std::move(*end), nic, settled->settings.scheme,
                              offer_of(settled->settings, epoch)};
  });
}

int mrdma_endpoint_scheme(const mrdma_endpoint* endpoint) { return static_cast<int>(endpoint->scheme); }

void mrdma_endpoint_destroy(mrdma_endpoint* endpoint) { delete endpoint; }

int mrdma_endpoint_address(const mrdma_endpoint* endpoint, mrdma_address* out) {
  const SdrMessages* const sdr = endpoint->sdr();
  if (sdr == nullptr) return no_addresses();
  const SdrEndpoint::Addresses a = sdr->addresses();
  put(a.data, out->bytes);
  put(a.signal, out->bytes + kAddressBytes);
  put_shape(a.shape, out->bytes + kShapeAt);
  store_be32(out->bytes + kOverRcAt, over_rc(*endpoint) ? 1 : 0);
  return 0;
}

int mrdma_endpoint_connect(mrdma_endpoint* endpoint, const mrdma_address* peer) {
  return guarded(-1, [&] {
    if (endpoint->sdr() == nullptr) return no_addresses();
    if (const bool theirs = load_be32(peer->bytes + kOverRcAt) != 0; theirs != over_rc(*endpoint))
      return fail(std::string("connect: ") + (theirs ? "the other end" : "this end") +
                  " goes over RC, the other not: give both the same scheme and transport, and peer_has_no_uc "
                  "where mrdma_nic_has_uc() is 0 at the other end");
    const auto r = endpoint->sdr()->connect(
        {address_at(peer->bytes), address_at(peer->bytes + kAddressBytes), shape_at(peer->bytes + kShapeAt)});
    return r ? 0 : fail(r.error());
  });
}

int64_t mrdma_send(mrdma_endpoint* endpoint, const void* data, size_t bytes, const mrdma_region* region) {
  return guarded<int64_t>(-1, [&]() -> int64_t {
    const auto known = endpoint->nic->regions.find(region->handle);
    if (known == endpoint->nic->regions.end()) return fail("send: the region is not registered on this NIC");
    const Bytes message(static_cast<const uint8_t*>(data), bytes), memory = known->second.memory;
    const bool inside = data != nullptr && message.data() >= memory.data() && bytes <= memory.size() &&
                        static_cast<size_t>(message.data() - memory.data()) <= memory.size() - bytes;
    if (!inside || bytes == 0) return fail("send: a message is 1 byte or more, and lies in its region whole");
    if (endpoint->end->sending() >= kUnderWay) return MRDMA_AGAIN;
    const auto number = endpoint->end->send(message, known->second.region.lkey);
    if (!number) return fail("send: " + number.error());
    ++known->second.messages;
    endpoint->sending[*number] = region->handle;
    return static_cast<int64_t>(*number);
  });
}

int64_t mrdma_receive(mrdma_endpoint* endpoint, void* buffer, size_t bytes, int64_t now_ns) {
  return guarded<int64_t>(-1, [&]() -> int64_t {
    if (buffer == nullptr) return fail("receive: no buffer was given");
    auto r = endpoint->end->receive_post({static_cast<uint8_t*>(buffer), bytes}, {now_ns});
    if (!r) return fail(r.error());
    return *r ? static_cast<int64_t>(**r) : int64_t{MRDMA_AGAIN};
  });
}

int mrdma_poll(mrdma_endpoint* endpoint, int64_t now_ns) {
  return guarded(-1, [&] {
    endpoint->polled = {now_ns};
    endpoint->heard = false;
    endpoint->end->poll({now_ns});
    if (!endpoint->refused.empty()) return fail(endpoint->refused);
    const std::string wrong = endpoint->end->error();
    return wrong.empty() ? 0 : fail(wrong + ": make new endpoints with another epoch");
  });
}

int64_t mrdma_next_wakeup(const mrdma_endpoint* endpoint) {
  return endpoint->heard ? endpoint->polled.ns : endpoint->end->next_wakeup(endpoint->polled).ns;
}

int mrdma_control_begin(mrdma_endpoint* endpoint, uint64_t peer_life, int64_t now_ns) {
  return guarded(-1, [&] {
    if (endpoint->sdr() != nullptr)
      return fail("control: of cells and channels alone; the others have an address");
    MRDMA_CHECK(encode(endpoint->introduction, endpoint->frames.emplace_back()));
    endpoint->end->on_peer(peer_life, {now_ns});
    return 0;
  });
}

int64_t mrdma_control_take(mrdma_endpoint* endpoint, void* frame, size_t room) {
  return guarded<int64_t>(-1, [&]() -> int64_t {
    auto& frames = endpoint->frames;
    if (frames.empty() && endpoint->refused.empty())
      for (const ControlMessage& m : endpoint->end->take_control())
        MRDMA_CHECK(encode(m, frames.emplace_back()));
    if (frames.empty()) return 0;
    if (frames.front().size() > room)
      return fail("a control frame of " + std::to_string(frames.front().size()) +
                  " bytes: give room for MRDMA_CONTROL_FRAME");
    const std::vector<uint8_t> f = std::move(frames.front());
    frames.pop_front();
    std::copy(f.begin(), f.end(), static_cast<uint8_t*>(frame));
    return static_cast<int64_t>(f.size());
  });
}

int mrdma_control_give(mrdma_endpoint* endpoint, const void* frame, size_t bytes, int64_t now_ns) {
  return guarded(-1, [&] {
    const Bytes b(static_cast<const uint8_t*>(frame), bytes);
    const auto head = frame == nullptr ? std::nullopt : frame_at(b);
    const bool whole = head && bytes == kControlHeaderBytes + head->body;
    const auto m = whole ? decode(head->type, b.subspan(kControlHeaderBytes)) : std::nullopt;
    if (!m)
      return fail("control: " + std::to_string(bytes) + " bytes that are no frame of mrdma_control_take()");
    endpoint->heard = true;
    if (const auto* theirs = std::get_if<TransferOffer>(&*m)) {
      endpoint->refused = difference(endpoint->introduction, *theirs);
      return endpoint->refused.empty() ? 0 : fail(endpoint->refused);
    }
    if (!endpoint->end->on_control(*m, {now_ns})) return fail("control: a frame that is none of this scheme's");
    return 0;
  });
}

const char* mrdma_endpoint_news(mrdma_endpoint* endpoint) {
  return guarded<const char*>(nullptr, [&]() -> const char* {
    for (std::string& n : endpoint->end->take_news()) endpoint->news.push_back(std::move(n));
    if (endpoint->news.empty()) return nullptr;
    last_event = std::move(endpoint->news.front());
    endpoint->news.pop_front();
    return last_event.c_str();
  });
}

int mrdma_take_sent(mrdma_endpoint* endpoint, mrdma_sent* out) {
  return guarded(-1, [&] {
    const auto d = endpoint->end->take_sent();
    if (!d) return 0;
    if (const auto sent = endpoint->sending.extract(d->message))
      --endpoint->nic->regions[sent.mapped()].messages;
    *out = {d->message, d->error.empty() ? 0 : fail(d->error)};
    return 1;
  });
}

int mrdma_take_received(mrdma_endpoint* endpoint, mrdma_received* out) {
  return guarded(-1, [&] {
    const auto d = endpoint->end->take_received();
    if (!d) return 0;
    *out = {d->message, d->length, d->missing};
    return 1;
  });
}
