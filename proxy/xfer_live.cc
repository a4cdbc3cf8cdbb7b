#include "proxy/xfer_live.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <random>
#include <utility>

#include "proxy/progress.h"
#include "proxy/xfer_offer.h"
#include "proxy/xfer_options.h"
#include "proxy/xfer_plan.h"

namespace matchrdma {
namespace {

using host::MessageEnd;
using host::TransferAnswer;
using host::TransferOffer;
using host::TransferReport;
using host::XferScheme;
using host::XferSettings;

constexpr Duration kSpin = Duration::micros(20);  // without a completion before it sleeps
constexpr Duration kNap = Duration::micros(100);  // what a receive queue bears easily (H2)
constexpr Duration kLook = Duration::millis(1);   // at the control connection
constexpr Duration kStandstill = Duration::seconds(60);
constexpr size_t kUnderWayMore = 4;  // messages of the sender beyond those that are granted
constexpr Duration kFarewell = Duration::seconds(2);
constexpr Duration kRegistration =
    Duration::seconds(5);  // both proxies have taken all paths by then, or data goes

/// A channel shows nothing of a message on its way, and watches its path and its peer itself.
uint64_t watched(const XferSettings& s) {
  return s.scheme == XferScheme::kChannel ? static_cast<uint64_t>(clock_now().ns / 1'000'000'000) : 0;
}

uint64_t random_number() {
  std::random_device r;
  return uint64_t{r()} << 32 | r();
}

}  // namespace

host::ControlHello live_hello(const host::NicLimits& nic) {
  host::ControlHello h;
  h.library = MATCHRDMA_VERSION;
  h.life = random_number();
  h.uc = nic.uc;
  h.tier = host::ReceiveTier::kOwnKey;
  h.path_mtu = nic.max_path_mtu;
  return h;
}

/// The bytes to send as the NIC knows them, for as long as this lives.
struct LiveEnd::Source {
  Source(host::Nic& n, Bytes b, const Digest& d) : nic(n), bytes(b), digest(d) {}
  ~Source() {
    for (const host::Region& r : regions) nic.remove_region(r);
  }
  Source(const Source&) = delete;

  Result<void> add(uint64_t message_bytes) {
    keys.lkeys.clear();
    const uint64_t most = nic.limits().max_region == 0 ? UINT64_MAX : nic.limits().max_region;
    keys.region_bytes =
        bytes.size() <= most ? UINT64_MAX : std::max<uint64_t>(most / message_bytes, 1) * message_bytes;
    for (Bytes rest = bytes; !rest.empty();) {
      const Bytes part = rest.first(std::min<uint64_t>(keys.region_bytes, rest.size()));
      rest = rest.subspan(part.size());
      // The interface has no memory that is only read.
      auto r = nic.add_region({const_cast<uint8_t*>(part.data()), part.size()}, host::Access::kLocal);
      if (!r) return Error{r.error()};
      regions.push_back(*r);
      keys.lkeys.push_back(r->lkey);
    }
    return {};
  }

  host::Nic& nic;
  Bytes bytes;
  Digest digest;
  host::SourceKeys keys;
  std::vector<host::Region> regions;
};

// What the peer says, what the proxy says, and what is to be said to them.
Result<void> LiveEnd::look_around(MessageEnd& end, const Drive& d, Duration most, LiveRow& row) {
  const Instant now = clock_now();
  if (peer_.has_room())
    for (const host::ControlMessage& m : end.take_control())
      if (auto r = peer_.say(m); !r) return r;
  const auto flows = end.take_flows();
  std::vector<std::string> news = end.take_news();
  if (registration_ != nullptr) {
    registration_->tell(flows, row.settings.path_mtu, now);
    registration_->run(now);
    for (std::string& n : registration_->take_news()) news.push_back(std::move(n));
  }
  while (auto e = nic_.event()) news.push_back(std::move(*e));
  for (const std::string& n : news) {
    std::fprintf(stderr, "matchrdma-xfer: %s\n", n.c_str());
    row.news.push_back(n);
  }
  peer_.turn(most);
  while (const auto m = peer_.next())
    if (!end.on_control(*m, clock_now()) && !d.heard(*m))
      return Error{"the other end says something that does not belong to this transfer"};
  return peer_.going();
}

Result<void> LiveEnd::drive(MessageEnd& end, const Drive& d, LiveRow& row) {
  Instant now = clock_now(), busy = now, looked = now, moved_at = now;
  uint64_t moved = d.moved();
  while (!d.done()) {
    const size_t n = end.poll(now);
    if (std::string wrong = d.step(now); !wrong.empty()) return Error{std::move(wrong)};
    if (n != 0) busy = now;
    const Instant due = end.next_wakeup(now);
    const bool idle = now - busy >= kSpin && due > now;
    if (idle || now - looked >= kLook) {
      if (auto r = look_around(end, d, idle ? Duration{std::min(kNap.ns, (due - now).ns)} : Duration{}, row);
          !r)
        return r;
      looked = now;
      if (const uint64_t m = d.moved(); m != moved) {
        moved = m;
        moved_at = now;
      }
      if (now - moved_at >= kStandstill) return Error{"nothing has moved for a minute; is the path cut?"};
    }
    now = clock_now();
  }
  return {};
}

// The end goes on meanwhile: the other one may not have heard the last signals.
Result<void> LiveEnd::drive_until_report(MessageEnd& end, const Drive& d, LiveRow& row, TransferReport& out) {
  bool here = false;
  Drive more = d;
  more.heard = [&](const host::ControlMessage& m) {
    const auto* report = std::get_if<TransferReport>(&m);
    if (report == nullptr || report->epoch != out.epoch) return false;
    out = *report;
    here = true;
    return true;
  };
  more.moved = [&] { return d.moved() + (d.done() ? clock_now().ns / 1'000'000'000 : 0); };
  more.done = [&] { return here && d.done(); };
  return drive(end, more, row);
}

Result<void> LiveEnd::drive_until_registered(MessageEnd& end, const XferSettings& s, LiveRow& row) {
  if (registration_ == nullptr || s.scheme != XferScheme::kCells) return {};
  const Instant until = clock_now() + kRegistration;
  const size_t wanted = registration_->known() + s.paths;
  Drive d{[](Instant) { return std::string(); }, [] { return uint64_t{0}; },
          [&] { return registration_->known() >= wanted || clock_now() >= until; }};
  return drive(end, d, row);
}

Result<LiveRow> LiveEnd::send_one(const Source& source, const XferSettings& s, uint32_t epoch) {
  auto offer = make_offer(s, source.bytes.size(), epoch);
  if (!offer) return Error{offer.error()};
  offer->sha256 = source.digest;
  auto end = make_end(s, epoch, host::XferSide::kSends, nic_, clock_now());
  if (!end) return Error{end.error()};
  if (auto r = peer_.say(*offer); !r) return Error{r.error()};
  const auto answer = peer_.hear<TransferAnswer>("its answer to the offer");
  if (!answer) return Error{answer.error()};
  if (!answer->accepted) return Error{"the other end refuses: " + answer->why};
  (*end)->on_peer(peer_.hello().life, clock_now());

  LiveRow row{s, source.bytes.size(), {}, {}};
  if (auto r = drive_until_registered(**end, s, row); !r) return Error{r.error()};
  host::TransferSend send(**end, source.bytes, source.keys, s.message_bytes, s.messages_ahead + kUnderWayMore);
  Progress progress(scheme_name(s.scheme), source.bytes.size());
  Instant began = Instant::never(), ended = Instant::never();
  const auto packets = [&] { return (*end)->figures().packets; };
  const auto step = [&](Instant now) {
    send.poll();
    if (began.is_never() && packets() > 0) began = now;
    if (ended.is_never() && send.done()) ended = now;
    progress.update(send.released_bytes());
    return send.error();
  };
  const Drive d{step, [&] { return packets() + send.released_bytes() + watched(s); },
                [&] { return send.done(); }};
  if (auto r = drive(**end, d, row); !r) return Error{r.error()};
  progress.finish();
  const host::EndFigures n = (*end)->figures();
  TransferReport& mine = row.sender;
  mine.epoch = row.receiver.epoch = epoch;
  mine.took = static_cast<uint64_t>(std::max<int64_t>((ended - earlier(began, ended)).ns, 1));
  mine.packets = n.packets;
  mine.resent = n.resent;
  mine.rate_halved = n.rate_halved;
  mine.round_trip = static_cast<uint64_t>(n.round_trip.ns);
  mine.sha256 = source.digest;
  if (auto r = peer_.say(mine); !r) return Error{r.error()};
  if (auto r = drive_until_report(**end, d, row, row.receiver); !r) return Error{r.error()};
  return row;
}

Result<LiveRow> LiveEnd::receive_one(const TransferOffer& offer, std::vector<uint8_t>& to) {
  const auto refuse = [&](const std::string& why) {
    peer_.say(TransferAnswer{offer.epoch, false, host::sayable(why)}).ok();
    return Error{"this end refuses: " + why};
  };
  const auto taken = take_offer(offer, nic_.limits());
  if (!taken) return refuse(taken.error());
  try {
    to.assign(offer.bytes, 0);
  } catch (const std::bad_alloc&) {
    return refuse("has no memory for " + std::to_string(offer.bytes) + " bytes");
  }
  const XferSettings& s = *taken;
  auto end = make_end(s, offer.epoch, host::XferSide::kReceives, nic_, clock_now());
  if (!end) return refuse(end.error());
  (*end)->on_peer(peer_.hello().life, clock_now());
  if (auto r = peer_.say(TransferAnswer{offer.epoch, true, {}}); !r) return Error{r.error()};

  host::TransferReceive receive(**end, to, s.message_bytes);
  Progress progress(scheme_name(s.scheme), to.size());
  const auto step = [&](Instant now) {
    receive.poll(now);
    progress.update(receive.received_bytes());
    return receive.error();
  };
  LiveRow row{s, offer.bytes, {}, {}};
  row.sender.epoch = offer.epoch;
  const Drive d{step, [&] { return (*end)->figures().arrived + receive.received_bytes() + watched(s); },
                [&] { return receive.done(); }};
  if (auto r = drive_until_report(**end, d, row, row.sender); !r) return Error{r.error()};
  progress.finish();
  const host::EndFigures n = (*end)->figures();
  TransferReport& mine = row.receiver;
  mine.epoch = offer.epoch;
  mine.decoded = n.decoded;
  mine.duplicates = n.duplicates;
  mine.stale = n.stale;
  mine.missing_bytes = receive.missing_bytes();
  mine.rq_low = n.rq_low;
  mine.sha256 = sha256(to, [this] { peer_.turn({}); });
  if (auto r = peer_.say(mine); !r) return Error{r.error()};
  return row;
}

Result<std::vector<LiveRow>> LiveEnd::send_all(Bytes from, const XferSettings& settings,
                                               const std::vector<XferScheme>& schemes) {
  Source source(nic_, from, sha256(from, [this] { peer_.turn({}); }));
  if (auto r = source.add(settings.message_bytes); !r) return Error{r.error()};
  std::vector<LiveRow> rows;
  auto epoch = static_cast<uint32_t>(random_number());
  const auto plan = plan_transfers(settings, schemes, nic_.limits().uc, peer_.hello().uc);
  if (!plan) return Error{plan.error()};
  for (const PlannedTransfer& p : *plan) {
    for (const auto& fit : {fits(p.settings, nic_.limits().max_path_mtu, "this end"),
                            fits(p.settings, peer_.hello().path_mtu, "the other end")})
      if (!fit) return Error{fit.error()};
    auto row = send_one(source, p.settings, ++epoch);
    if (!row) return Error{std::string(scheme_name(p.settings.scheme)) + ": " + row.error()};
    rows.push_back(*row);
    rows.back().note = p.note();
    unregister();
  }
  peer_.will_end("done");
  return rows;
}

// The queue pairs of a transfer that has ended are gone.
void LiveEnd::unregister() {
  if (registration_ == nullptr) return;
  registration_->end(clock_now());
  for (const Instant until = clock_now() + kFarewell; !registration_->ended() && clock_now() < until;) {
    registration_->run(clock_now());
    peer_.turn(kNap);
  }
}

// What was said about the paths of a transfer that is over concerns nobody any more.
Result<TransferOffer> LiveEnd::next_offer() {
  for (;;) {
    auto m = peer_.hear_any("an offer");
    if (!m) return Error{m.error()};
    if (auto* offer = std::get_if<TransferOffer>(&*m)) return std::move(*offer);
    if (!host::of_paths(*m)) return Error{"the other end says something else in place of an offer"};
  }
}

Result<std::vector<LiveRow>> LiveEnd::receive_all(const std::function<Result<void>(Bytes)>& arrived) {
  std::vector<LiveRow> rows;
  std::vector<uint8_t> to;
  for (;;) {
    auto offer = next_offer();
    if (!offer && !rows.empty() && peer_.said_good_bye()) return rows;
    if (!offer) return Error{offer.error()};
    auto row = receive_one(*offer, to);
    if (!row) return Error{row.error()};
    rows.push_back(*row);
    unregister();
    if (auto r = arrived(to); !r) return Error{r.error()};
  }
}

}  // namespace matchrdma
