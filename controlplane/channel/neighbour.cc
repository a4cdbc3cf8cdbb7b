#include "controlplane/channel/neighbour.h"

#include <algorithm>

namespace matchrdma {
namespace {

using Verdict = Neighbour::Verdict;

constexpr Duration kFirstWait = Duration::seconds(1), kLongestWait = Duration::seconds(10);
constexpr Duration kFreshFor = Duration::seconds(60);
/// A flood of questions must not fill the queue of the subchannel: 100 answers a second, 20 at once.
constexpr Rate kAnswersPerSecond{100 * 8};
constexpr uint64_t kAnswersAtOnce = 20;

/// 1, 2, 4, 8, 10, 10, ... s
Duration wait_after(uint32_t unanswered) {
  return std::min(kFirstWait * (int64_t{1} << std::min(unanswered, 4u)), kLongestWait);
}

bool on_link(const IpAddress& a, const IpAddress& b, uint8_t bits) {
  if (a.is_v4() != b.is_v4()) return false;
  size_t left = bits, i = a.is_v4() ? 12 : 0;
  for (; left >= 8 && i < 16; left -= 8, ++i)
    if (a.b[i] != b.b[i]) return false;
  return left == 0 || i == 16 || ((a.b[i] ^ b.b[i]) >> (8 - left)) == 0;
}

}  // namespace

Neighbour::Neighbour(const NeighbourConfig& config)
    : config_(config), mac_(config.peer_mac), answers_(kAnswersPerSecond, kAnswersAtOnce, Instant{}) {
  MRDMA_CHECK(config.self.address.is_v4() == config.peer.is_v4());
  MRDMA_CHECK(!config.gateway || config.gateway->is_v4() == config.peer.is_v4());
  const bool direct = !config.gateway || on_link(config.self.address, config.peer, config.prefix_bits);
  next_hop_ = direct ? config.peer : *config.gateway;
  L2L3& net = path_.net;
  net.mac_src = config.self.mac;
  net.mac_dst = mac_.value_or(Mac{});
  net.vlan_tags = config.self.vlan ? 1 : 0;
  net.vlan_tci[0] = config.self.vlan.value_or(0);
  net.src = config.self.address;
  net.dst = config.peer;
  net.udp_source_port = path_.port;
}

std::optional<ControlPath> Neighbour::path() const {
  if (!mac_) return {};
  return path_;
}

Verdict Neighbour::take(Bytes frame, Instant now, NeighbourFrame& reply) {
  reply.size = 0;
  const std::optional<NeighbourMessage> m = parse_neighbour(config_.self, frame);
  if (!m) return Verdict::kForeign;
  return m->kind == NeighbourMessage::Kind::kAsk ? asked(*m, now, reply) : told(*m, now);
}

bool Neighbour::is_conflict(const NeighbourMessage& m) {
  if (m.mac.value_or(m.link_source) == config_.self.mac) return false;
  ++(m.sound ? counters_.conflicts : counters_.broken);
  return true;
}

Verdict Neighbour::asked(const NeighbourMessage& m, Instant now, NeighbourFrame& reply) {
  const bool for_us = m.about == config_.self.address;
  if (m.from == config_.self.address) return is_conflict(m) && !for_us ? Verdict::kForeign : Verdict::kConsumed;
  if (!for_us) return Verdict::kForeign;
  if (!m.sound) {
    ++counters_.broken;
    return Verdict::kConsumed;
  }
  if (m.from == next_hop_ && m.mac) learn(m.mac, true, now);
  answers_.refill(now);
  if (!answers_.open()) {
    ++counters_.limited;
    return Verdict::kConsumed;
  }
  answers_.charge(1);
  build_tell(config_.self, m, reply);
  ++counters_.answered;
  return Verdict::kConsumed;
}

Verdict Neighbour::told(const NeighbourMessage& m, Instant now) {
  const bool to_us = m.to == config_.self.address;
  if (m.about == config_.self.address) {
    is_conflict(m);
    return Verdict::kConsumed;
  }
  if (m.about != next_hop_ || !(to_us || m.to_all)) return to_us ? Verdict::kConsumed : Verdict::kForeign;
  if (m.sound)
    learn(m.mac, m.overrides, now);
  else
    ++counters_.broken;
  // The peer's announcement is of the subchannel, a gateway's is for the hosts too.
  return to_us || next_hop_ == config_.peer ? Verdict::kConsumed : Verdict::kForeign;
}

void Neighbour::learn(const std::optional<Mac>& mac, bool overrides, Instant now) {
  if (config_.peer_mac) return;
  // Without an address it confirms the known one; without the override flag it may not replace it (RFC 4861
  // 7.2.5).
  if (!mac && !mac_) return;
  const bool changes = mac && mac != mac_;
  if (changes && (*mac == config_.self.mac || (mac_ && !overrides))) return;
  if (changes) {
    mac_ = mac;
    path_.net.mac_dst = *mac;
    ++counters_.learned;
  }
  unanswered_ = 0;
  ask_at_ = now + kFreshFor;
}

bool Neighbour::due(Instant now, NeighbourFrame& out) {
  if (!announced_) {
    announced_ = true;
    build_announcement(config_.self, out);
    return true;
  }
  if (config_.peer_mac || now < ask_at_) return false;
  // A known MAC is asked itself first (RFC 1122 2.3.2.1, RFC 4861 7.3.3); if it is silent, everybody.
  build_ask(config_.self, next_hop_, unanswered_ == 0 ? mac_ : std::nullopt, out);
  ask_at_ = now + wait_after(unanswered_);
  ++unanswered_;
  ++counters_.asked;
  return true;
}

Instant Neighbour::next_wakeup() const {
  if (!announced_) return Instant{};
  return config_.peer_mac ? Instant::never() : ask_at_;
}

}  // namespace matchrdma
