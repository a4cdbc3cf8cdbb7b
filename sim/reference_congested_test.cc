// Congested cases against the field's reference code (SIMULATOR 10), one seed. Eight seeds: tests/sim.
#include <gtest/gtest.h>

#include <string_view>

#include "sim/test_reference_cases.h"

namespace matchrdma::sim {
namespace {

class ReferenceCongested : public ::testing::TestWithParam<size_t> {};

/// A single run of chance can only be held against a range: the reference's run and the eight of the
/// independent model, widened by the tolerance.
TEST_P(ReferenceCongested, OneSeedIsWithinWhatOthersSaw) {
  const ReferenceCase c = with_seed(reference_cases()[GetParam()], 1);
  for (const ReferenceFigure& f : c.figures) {
    if (std::string_view(f.what) == "Gb/s") continue;
    EXPECT_GE(f.ours, f.least()) << c.name << ", " << f.what << ": reference " << f.reference;
    EXPECT_LE(f.ours, f.most()) << c.name << ", " << f.what << ": reference " << f.reference;
  }
}

INSTANTIATE_TEST_SUITE_P(Page, ReferenceCongested, ::testing::Range<size_t>(0, reference_cases().size()),
                         [](const auto& row) { return identifier_of(row.param); });

}  // namespace
}  // namespace matchrdma::sim
