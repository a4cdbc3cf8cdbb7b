// The figures that the issue names, the formula against itself written out, and limits.
#include "host/planner/completion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

namespace matchrdma::planner {
namespace {

constexpr uint64_t kMiB = 1 << 20, kGiB = 1 << 30;
constexpr Scheme kSr{}, kEc{Method::kErasureCode, {32, 8}}, kXor{Method::kErasureCode, {4, 1}},
    kGoBack{Method::kGoBackN, {}};

Link link_of(double loss, Duration rtt = Duration::millis(25), int64_t gbps = 400) {
  Link l;
  l.rtt = rtt;
  l.rate = {gbps * 1'000'000'000};
  l.loss = loss;
  return l;
}

double mean_ms(uint64_t bytes, const Scheme& s, double loss = 1e-5) {
  return Completion(link_of(loss), bytes, s).mean() * 1e3;
}

// HOST, planner: checks at 400 Gb/s, 25 ms, grants ahead, 1e-5.
TEST(Completion, HasTheFiguresOfTheIssue) {
  const auto within = [](double ms, double expected) { EXPECT_NEAR(ms, expected, 0.02 * expected); };
  within(Completion(link_of(1e-5), 128 * kMiB, kSr).loss_free() * 1e3, 27.7);
  within(mean_ms(128 * kMiB, kSr), 34.3);
  within(Completion(link_of(1e-5), 8 * kGiB, kSr).loss_free() * 1e3, 196.8);
  within(mean_ms(8 * kGiB, kSr), 214.0);
  within(mean_ms(8 * kGiB, kEc), 239.7);
  EXPECT_LT(mean_ms(128 * kMiB, kEc), 1.05 * 27.7);
}

// The issue prints one digit: that one is right too.
TEST(Completion, HasTheFiguresOfTheIssueToTheDigit) {
  EXPECT_NEAR(Completion(link_of(1e-5), 128 * kMiB, kSr).loss_free() * 1e3, 27.7, 0.05);
  EXPECT_NEAR(mean_ms(128 * kMiB, kSr), 34.3, 0.05);
  EXPECT_NEAR(mean_ms(8 * kGiB, kSr), 214.0, 0.05);
  EXPECT_NEAR(mean_ms(8 * kGiB, kEc), 239.7, 0.055);
}

TEST(Completion, EcBeatsSrInTheMiddleAndSrForVeryLargeMessagesAndLittleLoss) {
  EXPECT_LT(mean_ms(128 * kMiB, kEc), mean_ms(128 * kMiB, kSr));
  EXPECT_GT(mean_ms(8 * kGiB, kEc), mean_ms(8 * kGiB, kSr));
  EXPECT_GT(mean_ms(128 * kMiB, kEc, 1e-8), mean_ms(128 * kMiB, kSr, 1e-8));
  EXPECT_GT(mean_ms(128 * kMiB, kGoBack, 1e-4), 2 * mean_ms(128 * kMiB, kSr, 1e-4));
}

// HOST: P(T <= t) = product over packets of 1 - p^(1 + floor((t - t_i - d) / RTO)), packet by packet.
TEST(Completion, SrIsTheProductOverPackets) {
  for (const double loss : {1e-5, 1e-3, 0.2}) {
    const Completion c(link_of(loss), 8 * kMiB, kSr);
    const Line& l = c.line();
    ASSERT_LT(l.packets, l.round);
    for (double t = 0.0249; t < 0.3; t += 0.0007) {
      double product = 1;
      const double rto = static_cast<double>(l.round) * l.packet_time;
      for (int64_t i = 1; i <= l.packets; ++i) {
        const double since = t - static_cast<double>(i) * l.packet_time - 0.025;
        product *= since < 0 ? 0 : 1 - std::pow(loss, 1 + std::floor(since / rto));
      }
      EXPECT_NEAR(c.cdf(t), product, 1e-9) << loss << ' ' << t;
    }
  }
}

TEST(Completion, MeanIsTheSumOverTheDistribution) {
  for (const Scheme& s : {kSr, kEc, kXor, kGoBack})
    for (const double loss : {1e-3, 0.05, 0.2})
      for (const uint64_t bytes : {uint64_t{4096}, kMiB / 4, 4 * kMiB}) {
        const Completion c(link_of(loss, Duration::micros(50), 100), bytes, s);
        double sum = 0;
        for (int64_t n = 0; n < 1'000'000 && c.cdf_packet_times(n) < 1 - 1e-12; ++n)
          sum += 1 - c.cdf_packet_times(n);
        EXPECT_NEAR(c.mean(), c.line().seconds(sum), 1e-3 * c.mean())
            << scheme_name(s) << ' ' << loss << ' ' << bytes;
      }
}

TEST(Completion, QuantilesInvertTheDistribution) {
  for (const Scheme& s : {kSr, kEc, kXor, kGoBack})
    for (const double loss : {0.0, 1e-5, 1e-2, 0.2}) {
      const Completion c(link_of(loss), 16 * kMiB, s);
      for (const double q : {0.001, 0.5, 0.99, 0.999}) {
        const double t = c.quantile(q);
        EXPECT_GE(c.cdf(t), q) << scheme_name(s);
        EXPECT_LT(c.cdf(t - c.line().packet_time), q) << scheme_name(s);
      }
    }
}

TEST(Completion, RisesFromZeroToOneForAllSizesAndLosses) {
  for (const Scheme& s : {kSr, kEc, kXor, kGoBack})
    for (const double loss : {0.0, 1e-12, 1e-9, 1e-5, 1e-2, 0.2, kMostLoss})
      for (const uint64_t bytes : {uint64_t{1}, uint64_t{4096}, kMiB, kGiB, 64 * kGiB}) {
        const Completion c(link_of(loss), bytes, s);
        EXPECT_EQ(c.cdf(c.loss_free() - 1.5 * c.line().packet_time), 0);
        double last = 0;
        for (const double q : {0.5, 0.9, 1.0, 1.1, 2.0, 4.0, 1e3}) {
          const double p = c.cdf(q * c.mean());
          EXPECT_GE(p, last - 1e-12) << scheme_name(s) << ' ' << loss << ' ' << bytes << ' ' << q;
          EXPECT_LE(p, 1);
          last = p;
        }
        EXPECT_NEAR(last, 1, 1e-9);
        EXPECT_TRUE(std::isfinite(c.mean()));
        EXPECT_GE(c.mean(), c.loss_free());
        EXPECT_GE(c.line_bytes(), static_cast<double>(bytes) * 0.999999);
      }
}

TEST(Completion, WithoutLossEverySchemeTakesWhatItSends) {
  Link l = link_of(0);
  const double line = static_cast<double>(128 * kMiB) * 8 / 400e9;
  EXPECT_NEAR(Completion(l, 128 * kMiB, kSr).mean(), 0.025 + line, 1e-9);
  EXPECT_NEAR(Completion(l, 128 * kMiB, kGoBack).mean(), 0.025 + line, 1e-9);
  EXPECT_NEAR(Completion(l, 128 * kMiB, kEc).mean(), 0.025 + 1.25 * line, 1e-9);
  EXPECT_NEAR(Completion(l, 128 * kMiB, kXor).line_bytes(), 1.25 * 128 * kMiB, 1);
  l.cold = true;
  EXPECT_NEAR(Completion(l, 128 * kMiB, kSr).mean(), 0.050 + line, 1e-9);
}

// One packet: lost x times with chance p^x, each time one time-out and its own time on the line.
TEST(Completion, OfOnePacketIsGeometric) {
  Link l = link_of(0.1, Duration::millis(25), 1);
  l.rto = Duration::millis(100);
  const Completion c(l, 4096, kSr);
  const double packet = 4096 * 8 / 1e9;
  EXPECT_NEAR(c.mean(), packet + 0.025 + (0.1 / 0.9) * (0.1 + packet), 2 * packet);
  EXPECT_NEAR(c.cdf(0.026), 0.9, 1e-12);
  EXPECT_NEAR(c.cdf(0.127), 0.99, 1e-12);
}

// A short codeword has all of its parity: one packet and eight others, of which one has to arrive.
TEST(Completion, ShortCodewordsKeepTheirParity) {
  const Completion c(link_of(0.1), 4096, kEc);
  EXPECT_NEAR(c.cdf_packet_times(9), 1 - 1e-9, 1e-12);
  EXPECT_NEAR(c.line_bytes(), 9 * 4096, 1);
}

// The corners of what `matchrdma plan` takes: nothing overflows.
TEST(Completion, HoldsAtTheCorners) {
  for (const Scheme& s : {kSr, kEc, kXor, kGoBack})
    for (const uint64_t packet : {64, 1 << 20})
      for (const int64_t bps : {int64_t{1000}, int64_t{100'000'000'000'000}})
        for (const Duration rtt : {Duration::nanos(1), Duration::seconds(10)})
          for (const double loss : {1e-15, kMostLoss}) {
            Link l;
            l.rtt = rtt;
            l.rate = {bps};
            l.loss = loss;
            l.packet_bytes = packet;
            const Completion c(l, 64 * kGiB, s);
            EXPECT_GE(c.mean(), c.loss_free());
            EXPECT_GE(c.quantile(0.999), c.quantile(0.01));
            const double median = c.quantile(0.5);
            EXPECT_TRUE(std::isinf(median) || c.cdf(2 * median) >= 0.5);
          }
}

}  // namespace
}  // namespace matchrdma::planner
