#include "sim/fattree/flowcell_load.h"

#include <algorithm>
#include <utility>

namespace matchrdma::sim {
namespace {

Instant instant(SimTime t) { return {t.ps / 1000}; }
SimTime sim_time(Instant t) { return {t.ns * 1000}; }
Duration duration(SimSpan s) { return {s.ps / 1000}; }

constexpr uint64_t kTokenEvent = uint64_t{1} << 32;

}  // namespace

FlowcellLoad::FlowcellLoad(Network& network, std::vector<Arrival> arrivals, const FlowcellSettings& settings,
                           const SenderSettings& sender, const ReceiverSettings& receiver)
    : TransferLoad(network, std::move(arrivals)),
      s_(settings),
      sender_(sender),
      receiver_(receiver),
      line_(static_cast<double>(network.line_rate(0).bps)),
      pairs_(size_t{network.hosts()} * network.hosts()),
      of_receiver_(network.hosts()) {
  MRDMA_CHECK(s_.paths > 0);
  s_.rule.mtu = sender.mtu;
}

void FlowcellLoad::open(uint32_t p, const Transfer& t) {
  Pair& pair = pairs_[p];
  pair.suspicion = &timers_.emplace_back(network().events(), static_cast<EventHandler&>(*this), p);
  SenderSettings tokens = sender_;
  tokens.traffic_class = kControlClass;
  tokens.reaction.reset();
  for (uint32_t i = 0; i < s_.paths; ++i) {
    pair.paths.push_back({.flow = network().open(t.source, t.destination, sender_, receiver_),
                          .tokens = network().open(t.destination, t.source, tokens, receiver_),
                          .known = FlowcellPath(s_.rule, line_)});
    of_receiver_.set(t.destination, pair.paths[i].flow.destination_qp, number(p, i, false));
    of_receiver_.set(t.source, pair.paths[i].tokens.destination_qp, number(p, i, true));
  }
}

// What each transfer of the references gets: QPs that DCQCN has not seen yet. Those that are busy keep their
// rates.
void FlowcellLoad::start_anew(Pair& pair) {
  for (const Path& path : pair.paths) {
    Host& host = network().host(path.flow.source);
    if (host.sender(path.flow.source_qp).idle()) host.start_anew(path.flow.source_qp);
  }
}

void FlowcellLoad::begin(uint32_t t, SimTime now) {
  const uint32_t p = pair_of(transfer(t).source, transfer(t).destination);
  if (pairs_[p].paths.empty()) open(p, transfer(t));
  start_anew(pairs_[p]);
  pairs_[p].sending.push_back({.transfer = t});
  seen_.emplace_back();
  missing_.push_back(0);
  fill(p, now);
}

void FlowcellLoad::fill(uint32_t p, SimTime now) {
  Pair& pair = pairs_[p];
  while (!pair.again.empty()) {
    const Cell cell = pair.again.back();
    pair.again.pop_back();
    send(p, cell, now);
  }
  // In turn, so that a small transfer does not wait for a large one.
  for (bool sent = true; sent;) {
    sent = false;
    for (Sending& s : pair.sending) sent = send_next(p, s, now) || sent;
  }
  set_timer(p);
}

int64_t FlowcellLoad::cell_size(const Pair& pair, const Transfer& t, const Sending& s) const {
  int64_t size = s_.rule.least_cell;
  for (const Path& path : pair.paths) size = std::max(size, path.known.cell_bytes());
  return std::min(size, t.bytes - s.offset);
}

bool FlowcellLoad::send_next(uint32_t p, Sending& s, SimTime now) {
  const Transfer& t = transfer(s.transfer);
  if (s.offset == t.bytes) return false;
  const int64_t bytes = cell_size(pairs_[p], t, s);
  if (s.in_flight > 0 && s.in_flight + bytes > s_.window) return false;
  const Cell cell{s.transfer, s.next_number++, bytes, 0};
  s.offset += bytes;
  s.in_flight += bytes;
  ++s.unconfirmed;
  seen_[s.transfer].push_back(0);
  ++missing_[s.transfer];
  send(p, cell, now);
  return true;
}

// A copy goes where tokens have come from, anything where no suspicion is, as long as there is such a path.
// Among equals the next in turn has it: paths without samples, and those that have all been idle for long.
uint32_t FlowcellLoad::best_path(Pair& pair, const Cell& cell, SimTime now) const {
  uint32_t best = s_.paths;
  std::pair<int, Duration> least;
  pair.turn = (pair.turn + 1) % s_.paths;
  for (uint32_t i = 0; i < s_.paths; ++i) {
    const uint32_t n = (pair.turn + i) % s_.paths;
    const Path& path = pair.paths[n];
    const Instant oldest = path.tracked.empty() ? instant(now) : path.tracked.front().post.at;
    const int doubt = (path.suspect ? 2 : 0) + (cell.copies > 0 && !path.known.measured() ? 1 : 0);
    const std::pair<int, Duration> cost{doubt, path.known.expected(cell.bytes, oldest, instant(now))};
    if (best < s_.paths && cost >= least) continue;
    best = n;
    least = cost;
  }
  return best;
}

void FlowcellLoad::send(uint32_t p, const Cell& cell, SimTime now) {
  Path& path = pairs_[p].paths[best_path(pairs_[p], cell, now)];
  path.tracked.push_back({cell, path.known.post(cell.bytes, instant(now)), false});
  path.posted.push_back(cell);
  network().post(path.flow, cell.bytes);
}

void FlowcellLoad::on_delivered(uint32_t host, uint32_t qp, int64_t, bool message_ended, SimTime now) {
  if (!message_ended) return;
  const uint32_t n = of_receiver_.of(host, qp);
  const uint32_t p = n / 2 / s_.paths, i = n / 2 % s_.paths;
  if (n % 2 == 1) return take_token(p, i, now);
  Path& path = pairs_[p].paths[i];
  const Cell cell = path.posted.front();
  path.posted.pop_front();
  arrived(cell, now);
  network().events().schedule(now + s_.turnaround, *this, kTokenEvent | n);
}

void FlowcellLoad::arrived(const Cell& cell, SimTime now) {
  uint8_t& seen = seen_[cell.transfer][cell.number];
  if ((seen & kArrived) != 0) return;
  seen |= kArrived;
  --missing_[cell.transfer];
  // Cells are made as the window opens: the last one is there when they hold all bytes.
  const Pair& pair = pairs_[pair_of(transfer(cell.transfer).source, transfer(cell.transfer).destination)];
  if (missing_[cell.transfer] > 0) return;
  for (const Sending& s : pair.sending)
    if (s.transfer == cell.transfer && s.offset == transfer(cell.transfer).bytes)
      set_delivered(cell.transfer, now);
}

void FlowcellLoad::on_other_event(SimTime now, uint64_t argument) {
  if ((argument & kTokenEvent) == 0) return look_for_suspects(static_cast<uint32_t>(argument), now);
  const uint32_t n = static_cast<uint32_t>(argument) / 2;
  network().post(pairs_[n / s_.paths].paths[n % s_.paths].tokens, s_.token_bytes);
}

void FlowcellLoad::take_token(uint32_t p, uint32_t i, SimTime now) {
  Path& path = pairs_[p].paths[i];
  const Tracked t = path.tracked.front();
  path.tracked.pop_front();
  path.suspect = false;
  path.known.token(t.post, duration(s_.turnaround), instant(now), t.cell.copies == 0 && !t.copied);
  confirm(p, t.cell, now);
  fill(p, now);
}

void FlowcellLoad::confirm(uint32_t p, const Cell& cell, SimTime now) {
  uint8_t& seen = seen_[cell.transfer][cell.number];
  if ((seen & kConfirmed) != 0) return;
  seen |= kConfirmed;
  std::vector<Sending>& sending = pairs_[p].sending;
  const auto s = std::find_if(sending.begin(), sending.end(),
                              [&](const Sending& x) { return x.transfer == cell.transfer; });
  s->in_flight -= cell.bytes;
  --s->unconfirmed;
  if (s->unconfirmed > 0 || s->offset < transfer(cell.transfer).bytes) return;
  sending.erase(s);
  set_confirmed(cell.transfer, now);
}

void FlowcellLoad::set_timer(uint32_t p) {
  Instant first = Instant::never();
  for (const Path& path : pairs_[p].paths) {
    size_t n = 0;
    while (n < path.tracked.size() && path.tracked[n].copied) ++n;
    if (n < path.tracked.size()) first = earlier(first, overdue_at(path, path.tracked[n]));
  }
  pairs_[p].suspicion->set(first.is_never() ? SimTime::never() : std::max(sim_time(first), network().now()));
}

// Each cell has its own T_soft: what was posted late to a path that has got slow is not overdue yet. A copy
// waits four times as long as what it copies, so that a network that is slow everywhere is not flooded with
// copies.
Instant FlowcellLoad::overdue_at(const Path& path, const Tracked& t) {
  return t.post.at + path.known.t_soft() * (int64_t{1} << std::min(2 * t.cell.copies, 12u));
}

void FlowcellLoad::look_for_suspects(uint32_t p, SimTime now) {
  Pair& pair = pairs_[p];
  for (Path& path : pair.paths) {
    for (size_t n = 0; n < path.tracked.size(); ++n) {
      Tracked& t = path.tracked[n];
      if (t.copied) continue;
      if (overdue_at(path, t) > instant(now)) break;
      t.copied = true;
      if (!path.suspect) ++suspected_;
      path.suspect = true;
      if ((seen_[t.cell.transfer][t.cell.number] & kConfirmed) != 0) continue;
      copied_ += t.cell.bytes;
      pair.again.push_back({t.cell.transfer, t.cell.number, t.cell.bytes, t.cell.copies + 1});
    }
  }
  fill(p, now);
}

int64_t FlowcellLoad::sent_again() const {
  int64_t bytes = copied_;
  for (const Pair& pair : pairs_)
    for (const Path& path : pair.paths)
      bytes += network().host(path.flow.source).sender(path.flow.source_qp).sent_again();
  return bytes;
}

}  // namespace matchrdma::sim
