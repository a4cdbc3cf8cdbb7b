#pragma once
// Figures of the slots of a receiver.
#include <cstddef>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "proxy/slots_file.h"

namespace matchrdma {

/// Means are over the slots that there are: idle ones have no row.
struct SlotSummary {
  size_t slots = 0, saturated = 0;
  double arrived = 0, acked = 0, budget = 0;  ///< means, Gb/s
  /// sum |R - c| / sum c over the saturated slots that a forecast R was made for (docs/estimator.md). None:
  /// there is none.
  std::optional<double> error;
  double peak_backlog = 0, mean_backlog = 0;  ///< bytes
  std::optional<Duration> period;             ///< the newest one
};
SlotSummary summary_of(const SlotSeries& s);

/// "10.2.0.1", with VLAN ids where there are any.
std::string receiver_text(const SlotSeries& s);
/// The series whose receivers got most bytes, most first, at most `most`.
std::vector<const SlotSeries*> busiest(const std::vector<SlotSeries>& all, size_t most);

/// Names and values of a summary, as people read them.
std::vector<std::pair<std::string, std::string>> summary_words(const SlotSummary& s);
void print_summaries(std::ostream& out, const std::vector<SlotSeries>& all);
nlohmann::ordered_json summaries_json(const std::vector<SlotSeries>& all);

}  // namespace matchrdma
