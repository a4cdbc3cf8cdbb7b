// A short message beside bulk on the same engine (HOST.md, channel: fragments, round robin, the send window).
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/host/channel_pair.h"

namespace matchrdma::host::test {
namespace {

struct ShortMessage {
  double longest = 0;  ///< microseconds
  double bulk = 0;     ///< Gb/s beside it
};

/// Some 4 KiB messages, one after the other.
ShortMessage short_message(Duration one_way, bool bulk, bool round_robin) {
  ChannelOptions o;
  o.fragment_bytes = o.small_bytes = 4096;
  size_for_path(o, Rate{100'000'000'000}, one_way * 2);
  o.round_robin = round_robin;
  o.connection.timeout_exponent = 20;
  o.path_patience = Duration::seconds(10);
  o.fallback_after = Duration::seconds(100);
  PathModel path;
  path.delay = one_way;
  ChannelPair p(o, path);
  EXPECT_TRUE(p.up());
  // More than 10 times the one way delay, in the FIFO before the short message.
  const std::vector<uint8_t> block(static_cast<size_t>(std::max<int64_t>(1 << 20, one_way.ns * 100 / 8))),
      message(4096);
  uint64_t blocks = 0, begun = 0;
  for (; bulk && blocks < 15; ++blocks) EXPECT_TRUE(p.engine[0]->send(0, block, 0).ok());
  const auto take = [&] {
    bool came = false;
    while (const auto r = p.engine[1]->in().take_received()) came |= r->connection == 1;
    return came;
  };
  p.run(one_way * (round_robin ? 6 : 3));  // the bulk's bytes are under way
  ShortMessage m;
  const Instant since = p.net.now();
  const uint64_t fragments = p.engine[0]->counters().requests;
  for (; begun < 2; ++begun) {
    const Instant at = p.net.now();
    EXPECT_TRUE(p.engine[0]->send(1, message, 0).ok());
    EXPECT_TRUE(p.run(Duration::seconds(1), take));
    m.longest = std::max(m.longest, static_cast<double>((p.net.now() - at).ns) / 1000);
    if (bulk && !round_robin) break;  // the bulk is over with it
  }
  if (bulk && round_robin) {
    EXPECT_GT(p.engine[0]->under_way(), 1u) << "still beside bulk";
  }
  m.bulk = static_cast<double>((p.engine[0]->counters().requests - fragments) * 4096 * 8) /
           static_cast<double>((p.net.now() - since).ns);
  return m;
}

TEST(Channel, AShortMessageIsNotBehindBulk) {
  for (const Duration one_way : {Duration::micros(10), Duration::millis(5)}) {
    const double alone = short_message(one_way, false, true).longest;
    const ShortMessage turns = short_message(one_way, true, true);
    const double fifo = short_message(one_way, true, false).longest;
    std::cout << "one way " << one_way.ns / 1000 << " us: 4 KiB alone " << alone << " us, beside bulk of "
              << turns.bulk << " Gb/s " << turns.longest << " us (" << turns.longest / alone
              << " times), without round robin " << fifo << " us (" << fifo / alone << " times)\n";
    EXPECT_LT(turns.longest, 10 * alone);
    EXPECT_GT(turns.bulk, 80);
    EXPECT_GT(fifo, 10 * alone);
  }
}

}  // namespace
}  // namespace matchrdma::host::test
