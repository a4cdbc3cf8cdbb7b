#pragma once
// Random traffic for the learners, by the conditions under which they must or must not pair.
#include <string>

#include "pcap/make/trace_recipe.h"

namespace matchrdma::learning {

/// What the rules of PROTOCOL 3 allow for a kind of traffic.
enum class Allowed { kAll, kNone, kSome };

struct Kind {
  const char* name;
  Allowed allowed;
};
inline constexpr Kind kKinds[] = {
    {"hashed ports, PSN 0, lock step", Allowed::kAll},
    {"hashed ports, random PSNs", Allowed::kAll},
    {"own QPN as port", Allowed::kAll},
    {"random ports, random PSNs", Allowed::kSome},  // two flows may begin too near to each other
    {"one port, PSN 0, lock step", Allowed::kNone},
    {"one port, random PSNs", Allowed::kSome},
    {"CM", Allowed::kAll},
    {"joined in the middle, hashed ports", Allowed::kAll},
    {"joined in the middle, one port", Allowed::kNone},
    {"QPNs reused with other partners", Allowed::kSome},
    {"half of the flows hidden both ways", Allowed::kSome},
    {"half of the flows hidden one way", Allowed::kSome},
    {"all of it at once", Allowed::kSome},
};
inline constexpr size_t kKindCount = sizeof kKinds / sizeof kKinds[0];

/// Seeds go through the kinds in turn.
inline size_t kind_of(uint64_t seed) { return static_cast<size_t>(seed % kKindCount); }
TraceRecipe random_recipe(uint64_t seed);
std::string describe(const TraceRecipe& r);

}  // namespace matchrdma::learning
