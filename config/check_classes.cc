#include <algorithm>
#include <map>
#include <tuple>

#include "config/checks.h"
#include "config/units.h"
#include "config/words.h"

namespace matchrdma {
namespace {

/// NICs with adaptive retransmission resend spuriously above about this RTT (H4).
constexpr Duration kAdaptiveRtt = Duration::millis(1);

/// Whether a list that asks for one of `first` lets through everything that `later` lets through.
template <class V, class Covers>
bool wider(const std::vector<V>& first, const std::vector<V>& later, Covers covers) {
  if (first.empty()) return true;
  return !later.empty() && std::all_of(later.begin(), later.end(), [&](const V& l) {
    return std::any_of(first.begin(), first.end(), [&](const V& f) { return covers(f, l); });
  });
}

bool takes_all_of(const MatchConfig& first, const MatchConfig& later) {
  const auto prefixes = [](const Prefix& a, const Prefix& b) { return a.covers(b); };
  const auto same = [](const auto& a, const auto& b) { return a == b; };
  return wider(first.sources, later.sources, prefixes) &&
         wider(first.destinations, later.destinations, prefixes) && wider(first.vlans, later.vlans, same) &&
         wider(first.dscps, later.dscps, same) && wider(first.spans, later.spans, same);
}

bool any_family(const std::vector<Prefix>& prefixes, bool v4) {
  return prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(),
                                         [&](const Prefix& p) { return p.address.is_v4() == v4; });
}

bool can_fit(const MatchConfig& m) {
  return (any_family(m.sources, true) && any_family(m.destinations, true)) ||
         (any_family(m.sources, false) && any_family(m.destinations, false));
}

void check_shadow(const Config& c, size_t i, const std::string& at, Notes& notes) {
  for (size_t j = 0; j < i; ++j) {
    if (!notes.good(nth("classes", j)) || !takes_all_of(c.classes[j].match, c.classes[i].match)) continue;
    notes.warning(at, "can never match: class " + c.classes[j].name +
                          " before it takes all of its traffic; move it up, or leave it out");
    return;
  }
}

void check_spans_of(const Config& c, size_t i, const std::string& at, Notes& notes) {
  const MatchConfig& m = c.classes[i].match;
  for (size_t n = 0; n < m.spans.size(); ++n) {
    const bool known =
        std::any_of(c.spans.begin(), c.spans.end(), [&](const SpanConfig& s) { return s.name == m.spans[n]; });
    if (known || m.spans[n].empty()) continue;
    const std::string element = nth(at + ".match.span", n);
    notes.error(notes.written(element) ? element : at + ".match.span",
                "no span has the name " + m.spans[n] + "; there are: " + listed(c.spans, &SpanConfig::name));
  }
}

/// An empty list would ask nothing and fit all, which nobody means who writes it.
void check_lists(const MatchConfig& m, const std::string& match, Notes& notes) {
  const std::vector<std::tuple<const char*, bool, const char*>> lists{
      {"source", m.sources.empty(), "10.1.0.0/16"},
      {"destination", m.destinations.empty(), "10.2.0.0/16"},
      {"vlan", m.vlans.empty(), "100"},
      {"dscp", m.dscps.empty(), "26"},
      {"span", m.spans.empty(), "north"}};
  for (const auto& [name, empty, example] : lists)
    if (const std::string path = match + "." + name; empty && notes.written(path) && notes.good(path))
      notes.error(path, std::string("is an empty list; write what it shall fit, like ") + example +
                            ", or leave the key out: then any fits");
}

void check_completion(const Config& c, size_t i, const std::string& at, Notes& notes) {
  const ClassConfig& k = c.classes[i];
  const std::string completion = at + ".completion";
  if (k.completion != Completion::kTransparent && !c.tuning.check_icrc)
    notes.error(
        completion,
        "acknowledges packets whose ICRC nobody checked; set check_icrc: on, or completion: transparent");
  if (k.completion != Completion::kEndToEnd) return;
  for (const SpanConfig& s : c.spans) {
    const auto& of = k.match.spans;
    if (!s.expected_rtt || *s.expected_rtt <= kAdaptiveRtt ||
        (!of.empty() && std::find(of.begin(), of.end(), s.name) == of.end()))
      continue;
    notes.warning(completion,
                  "span " + s.name + " has an RTT of " + to_text(*s.expected_rtt) +
                      ": above 1ms NICs with adaptive retransmission resend what is on its way; switch "
                      "that off at the hosts, or look at spurious_retransmit");
    return;
  }
}

}  // namespace

void check_classes(const Config& c, Notes& notes) {
  std::map<std::string, size_t> names;
  for (size_t i = 0; i < c.classes.size(); ++i) {
    const std::string at = nth("classes", i);
    const ClassConfig& k = c.classes[i];
    if (const auto [first, fresh] = names.emplace(k.name, i); !fresh && !k.name.empty())
      notes.error(at + ".name", "is the name of " + nth("classes", first->second) + " too; choose another one");
    check_lists(k.match, at + ".match", notes);
    check_spans_of(c, i, at, notes);
    check_completion(c, i, at, notes);
    if (!notes.good(at)) continue;
    if (!can_fit(k.match))
      notes.warning(at,
                    "can never match: its sources and destinations are of different IP versions; correct them");
    else
      check_shadow(c, i, at, notes);
  }
}

}  // namespace matchrdma
