#pragma once
// What a schedule has really met: a fault that was drawn and never came counts for nothing.
#include <array>
#include <cstddef>
#include <cstdint>

namespace matchrdma::swarm {

// clang-format off
//   id                 key in JSON              text for people
#define MATCHRDMA_SWARM_EVENTS(X)                                                            \
  X(kSpanLoss,          "span_loss",             "packets lost on the span")                 \
  X(kSpanDuplicate,     "span_duplicate",        "packets doubled on the span")              \
  X(kSpanReorder,       "span_reorder",          "packets out of order on the span")         \
  X(kSpanCorrupt,       "span_corrupt",          "packets spoiled on the span")              \
  X(kSpanCut,           "span_cut",              "packets lost by a cut of the span")        \
  X(kControlLoss,       "control_loss",          "control messages lost")                    \
  X(kControlDuplicate,  "control_duplicate",     "control messages doubled")                 \
  X(kControlReorder,    "control_reorder",       "control messages out of order")            \
  X(kControlCorrupt,    "control_corrupt",       "control messages spoiled")                 \
  X(kLanLoss,           "lan_loss",              "packets lost on a LAN")                    \
  X(kLanReorder,        "lan_reorder",           "packets out of order on a LAN")            \
  X(kLanCorrupt,        "lan_corrupt",           "packets spoiled on a LAN")                 \
  X(kRnr,               "rnr_nak",               "RNR NAKs of receivers")                    \
  X(kUnregister,        "reset_unregister",      "QP resets by UNREGISTER")                  \
  X(kRegister,          "reset_register",        "QP resets by another registration")        \
  X(kRestartA,          "restart_a",             "restarts of proxy A")                      \
  X(kBrokenPromise,     "journaled",             "QPs that the journal failed")              \
  X(kRestartB,          "restart_b",             "restarts of proxy B")                      \
  X(kHostileLan,        "hostile_lan",           "hostile packets from a LAN")               \
  X(kHostileWan,        "hostile_wan",           "hostile packets from the span")            \
  X(kMemoryHard,        "memory_hard",           "packets refused at the hard memory limit") \
  X(kReorderMemory,     "reorder_memory",        "packets refused by the reorder memory")    \
  X(kFlowLimit,         "flow_limit",            "flows without room")                       \
  X(kWindowLimit,       "window_limit",          "packets refused by a full window")         \
  X(kHosts,             "hosts",                 "further hosts on each side")               \
  X(kReceivers,         "receivers",             "further receivers on side B")              \
  X(kEndToEnd,          "end_to_end",            "end-to-end QPs")                           \
  X(kMidFlow,           "mid_flow",              "QPs registered in the middle")             \
  X(kFatal,             "fatal",                 "receivers that fail their QP")             \
  X(kBudgets,           "budgets",               "schedules with an estimator")
// clang-format on

enum class Event : uint8_t {
#define MATCHRDMA_X(id, key, text) id,
  MATCHRDMA_SWARM_EVENTS(MATCHRDMA_X)
#undef MATCHRDMA_X
      kCount
};
inline constexpr size_t kEvents = static_cast<size_t>(Event::kCount);

inline constexpr std::array<const char*, kEvents> kEventKeys = {
#define MATCHRDMA_X(id, key, text) key,
    MATCHRDMA_SWARM_EVENTS(MATCHRDMA_X)
#undef MATCHRDMA_X
};
inline constexpr std::array<const char*, kEvents> kEventTexts = {
#define MATCHRDMA_X(id, key, text) text,
    MATCHRDMA_SWARM_EVENTS(MATCHRDMA_X)
#undef MATCHRDMA_X
};

struct Tally {
  std::array<uint64_t, kEvents> n{};
  uint64_t& operator[](Event e) { return n[static_cast<size_t>(e)]; }
  uint64_t operator[](Event e) const { return n[static_cast<size_t>(e)]; }
  bool operator==(const Tally&) const = default;
};

}  // namespace matchrdma::swarm
