// classes: which traffic is proxied, and what its completions mean.
#include "config/schema.h"

namespace matchrdma {
namespace {

const auto kReload = Apply::kReload;

Kind<MatchConfig> match_section() {
  using M = MatchConfig;
  return section<M>({
      key<M>("source", &M::sources, one_or_more(prefix(), "prefix or list of them"), kReload,
             "addresses of the senders of requests"),
      key<M>("destination", &M::destinations, one_or_more(prefix(), "prefix or list of them"), kReload,
             "addresses of the receivers"),
      key<M>("vlan", &M::vlans, one_or_more(whole<uint16_t>(0, 4094), "VLAN id or list of them, 0 is untagged"),
             kReload, "outer VLAN id"),
      key<M>("dscp", &M::dscps, one_or_more(whole<uint8_t>(0, 63), "number 0 to 63 or list of them"), kReload,
             "DSCP of the requests"),
      key<M>("span", &M::spans, one_or_more(words("a name", 32), "name or list of them"), kReload,
             "spans the requests enter"),
  });
}

}  // namespace

Kind<std::vector<ClassConfig>> classes_list() {
  using C = ClassConfig;
  const auto completion = choice<Completion>({{"early", Completion::kEarly},
                                              {"end-to-end", Completion::kEndToEnd},
                                              {"transparent", Completion::kTransparent}});
  const auto one = section<C>({
      required<C>("name", &C::name, words("a name", 32), kReload, "of this class, in metrics and `ctl`"),
      key<C>("match", &C::match, match_section(), kReload,
             "all that is written must fit; nothing written fits all"),
      required<C>("completion", &C::completion, completion, kReload,
                  "when a work request may complete; `early` is not safe for every application"),
      key<C>(
          "weight", &C::weight, whole<uint32_t>(1, 100), kReload,
          "a flow of weight 4 gets four times what one of weight 1 does, to the same receiver, while both have "
          "something to send"),
      key<C>("learning", &C::learning, on_off(), kReload,
             "off: only registered queue pairs get this policy, learned ones are transparent"),
  });
  return list_of(one, "list");
}

}  // namespace matchrdma
