#pragma once
// Slots of an estimator as a timeline: rates, congestion level, rate window, backlog.
#include <string>
#include <vector>

#include "proxy/slots_file.h"

namespace matchrdma {

/// So many receivers are drawn at most.
inline constexpr size_t kMostPictures = 8;

/// One picture below the other, the busiest receiver first. What a row says about the slot that it governs
/// stands there, so that a forecast can be compared with what happened.
std::string slots_svg(const std::vector<SlotSeries>& all);
/// The same within a page, with the figures of each receiver.
std::string slots_html(const std::vector<SlotSeries>& all);

}  // namespace matchrdma
