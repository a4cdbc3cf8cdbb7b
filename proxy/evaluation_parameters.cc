#include "proxy/evaluation_parameters.h"

#include "config/units.h"
#include "proxy/svg.h"
#include "sim/reaction_point.h"

namespace matchrdma {
namespace {

std::string text(bool on) { return on ? "yes" : "no"; }
std::string text(sim::SimSpan t) { return axis_number(t.us()) + " us"; }
std::string text(Duration d) { return to_text(d); }
std::string bytes(int64_t n) { return std::to_string(n) + " B"; }
std::string gbps(double bps) { return axis_number(bps / 1e9) + " Gb/s"; }
std::string text(Rate r) { return gbps(static_cast<double>(r.bps)); }
std::string percent(double share) { return axis_number(share * 100) + " %"; }

const char* completion_word(Completion c) {
  return c == Completion::kEarly ? "early" : c == Completion::kEndToEnd ? "end to end" : "transparent";
}
const char* load_word(sim::LoadSpec::Kind k) {
  switch (k) {
    case sim::LoadSpec::Kind::kLeafPairs:
      return "W1, a pair for each leaf";
    case sim::LoadSpec::Kind::kHostPairs:
      return "W1, a pair for each host";
    case sim::LoadSpec::Kind::kMixed:
      return "W3, mixed";
    case sim::LoadSpec::Kind::kIterations:
      return "W2, iterations";
  }
  return "";
}
const char* pattern_word(sim::Pattern p) {
  switch (p) {
    case sim::Pattern::kRing:
      return "ring";
    case sim::Pattern::kPairwise:
      return "pairwise";
    case sim::Pattern::kMirror:
      return "mirror";
  }
  return "";
}

/// Duty: writes the settings of one case in order.
class Writer {
 public:
  explicit Writer(const sim::Case& c) : c_(c), w_(c.world) {}

  std::vector<std::pair<std::string, std::string>> write() {
    topology();
    ends();
    if (w_.scheme == sim::LongHaul::kMatchRdma) proxy();
    if (w_.scheme == sim::LongHaul::kThemis) themis();
    load();
    add("warm-up", text(c_.window.warm_up));
    add(c_.window.to_the_end ? "window, until the workload ends, at most" : "window", text(c_.window.length));
    add("seed", std::to_string(w_.seed));
    return std::move(out_);
  }

 private:
  void add(const char* name, std::string value) { out_.push_back({name, std::move(value)}); }

  void topology() {
    const sim::TopologySettings& t = w_.topology;
    add("scheme", scheme_name(w_.scheme));
    add("distance", std::to_string(t.km) + " km");
    add("leaves of a site", std::to_string(t.leaves));
    add("hosts of a leaf", std::to_string(t.hosts_per_leaf));
    add("spines of a site", std::to_string(t.spines));
    add("host to leaf", text(t.host));
    add("leaf to spine", text(t.leaf_spine));
    add("spine to OTN node", text(t.spine_otn));
    add("long link", text(t.long_link));
    add("cable, one way", text(t.cable));
    add("frame loss of the long link", axis_number(t.loss));
    std::string dark;
    for (const sim::DownTime& d : t.down)
      dark +=
          (dark.empty() ? "" : "; ") + text(d.from - sim::SimTime{}) + " to " + text(d.until - sim::SimTime{});
    add("long link dark", dark.empty() ? "never" : dark);
    add("buffer of a leaf or spine", bytes(w_.buffer_bytes));
    add("buffer of an OTN node", w_.otn_buffer_bytes == 0 ? "never full" : bytes(w_.otn_buffer_bytes));
  }

  void ends() {
    add("payload of a packet", bytes(w_.mtu));
    add("headers of a data frame", bytes(w_.frames.data_overhead));
    add("preamble and gap", bytes(w_.frames.gap));
    // The constants that the world gives its senders.
    const bool themis = w_.scheme == sim::LongHaul::kThemis;
    const sim::ReactionSettings r = themis ? sim::ReactionSettings::themis() : sim::ReactionSettings::hpcc();
    add("DCQCN g", "1/" + axis_number(1 / r.gain));
    add("DCQCN alpha timer", text(r.alpha_interval));
    add("DCQCN decrease interval", text(r.decrease_interval));
    add("DCQCN increase timer", text(r.increase_interval));
    add("DCQCN fast recovery stages", std::to_string(r.fast_recovery_stages));
    add("DCQCN additive increase", gbps(r.additive_increase));
    add("DCQCN hyper increase", gbps(r.hyper_increase));
    add("DCQCN least rate", gbps(r.least_rate));
  }

  void proxy() {
    const sim::ProxySettings& p = w_.proxy;
    add("MatchRDMA completion", completion_word(p.completion));
    add("MatchRDMA estimator", p.estimator ? scheme_word(*p.estimator) : "none");
    add("MatchRDMA slot", text(p.slot));
    add("MatchRDMA gate", text(p.gate));
    add("MatchRDMA CNP proxy", text(p.cnp_proxy));
    add("MatchRDMA checks ICRC", text(p.check_icrc));
  }

  void themis() {
    const sim::ThemisSettings& t = w_.themis;
    add("THEMIS PNP", text(t.pnp));
    add("THEMIS TRP", text(t.trp));
    add("THEMIS CNP delay", text(t.cnp_delay));
    add("THEMIS CNP gap", text(t.cnp_gap));
    add("THEMIS loop delay", text(t.loop_delay));
    add("THEMIS loop rate", text(t.loop_rate));
    add("THEMIS first alpha", std::to_string(t.first_step));
    add("THEMIS CNPs count once within", text(t.cnp_apart));
    add("THEMIS recovery", text(t.recovery));
    add("THEMIS recovery resets alpha", text(t.recovery_resets));
    add("THEMIS most loops", t.most_loops == 0 ? "no limit" : std::to_string(t.most_loops));
  }

  void load() {
    const sim::LoadSpec& l = c_.load;
    add("workload", load_word(l.kind));
    switch (l.kind) {
      case sim::LoadSpec::Kind::kMixed:
        add("load", percent(l.mixed.load));
        add("arrivals for", text(l.mixed.duration));
        add("share between the sites", percent(l.mixed.inter));
        add("QPs of a pair, at most", std::to_string(l.mixed.qps_per_pair));
        break;
      case sim::LoadSpec::Kind::kIterations:
        add("pattern", pattern_word(l.iterations.pattern));
        add("volume and computing divided by", std::to_string(l.iterations.scale));
        add("jitter", percent(l.iterations.jitter));
        add("iterations", std::to_string(l.iterations.iterations));
        break;
      default:
        add("message", bytes(l.loop.message_bytes));
        add("outstanding", std::to_string(l.loop.outstanding));
        break;
    }
  }

  const sim::Case& c_;
  const sim::WorldSettings& w_;
  std::vector<std::pair<std::string, std::string>> out_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> evaluation_parameters(const sim::Case& c) {
  return Writer(c).write();
}

}  // namespace matchrdma
