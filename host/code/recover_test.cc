// Code and layout together: a message over a link that loses packets.
#include <gtest/gtest.h>

#include <vector>

#include "dataplane/base/prng.h"
#include "host/code/codeword.h"
#include "host/code/erasure.h"

namespace matchrdma::host {
namespace {

/// A message with its parity, each in one piece of memory as at both ends.
struct Message {
  CodewordLayout layout;
  std::vector<uint8_t> data, parity;

  MutableBytes data_of(uint64_t packet) {
    return MutableBytes(data).subspan(packet * layout.geometry().packet_bytes, layout.data_bytes(packet));
  }
  MutableBytes parity_of(const CodewordPlace& p) {
    return MutableBytes(parity).subspan(layout.parity_packet(p) * layout.geometry().packet_bytes,
                                        layout.parity_bytes(p.group, p.codeword));
  }
};

/// Data packets are added to their parities in the order in which they are sent.
void encode(const ErasureCode& code, Message& m) {
  for (uint64_t i = 0; i < m.layout.data_packets(); ++i) {
    const CodewordPlace p = m.layout.place_of_data(i);
    std::vector<uint8_t*> parities;
    for (uint32_t r = 0; r < code.m(); ++r) {
      parities.push_back(m.parity_of({p.group, p.codeword, code.k() + r}).data());
    }
    code.encode_update(p.position, m.data_of(i), {parities, m.layout.parity_bytes(p.group, p.codeword)});
  }
}

/// Returns how many codewords could not be restored.
uint64_t recover(ErasureCode& code, Message& m, const std::vector<bool>& lost) {
  uint64_t failed = 0;
  for (uint64_t g = 0; g < m.layout.groups(); ++g) {
    for (uint32_t c = 0; c < m.layout.codewords(g); ++c) {
      std::vector<CodeBlock> data, parities;
      for (uint32_t i = 0; i < m.layout.data_in(g, c); ++i) {
        const CodewordPlace p{g, c, i};
        data.push_back({m.data_of(m.layout.data_packet(p)), !lost[m.layout.sent_as(p)]});
      }
      for (uint32_t r = 0; r < code.m(); ++r) {
        const CodewordPlace p{g, c, code.k() + r};
        const bool here = !lost[m.layout.sent_as(p)];
        parities.push_back({here ? m.parity_of(p) : MutableBytes{}, here});
      }
      failed += code.decode(data, parities) == Decoded::kTooManyMissing ? 1 : 0;
    }
  }
  return failed;
}

/// Fills what was lost with rubbish.
void spoil(Message& m, const std::vector<bool>& lost) {
  for (uint64_t i = 0; i < m.layout.data_packets(); ++i) {
    const MutableBytes b = m.data_of(i);
    if (lost[m.layout.sent_as(m.layout.place_of_data(i))]) std::fill(b.begin(), b.end(), uint8_t{0xaa});
  }
  for (uint64_t i = 0; i < m.layout.parity_packets(); ++i) {
    const CodewordPlace p = m.layout.place_of_parity(i);
    const MutableBytes b = m.parity_of(p);
    if (lost[m.layout.sent_as(p)]) std::fill(b.begin(), b.end(), uint8_t{0xaa});
  }
}

Message message_of(Prng& prng, const CodewordGeometry& g) {
  Message m{CodewordLayout::make(g).value(), std::vector<uint8_t>(g.message_bytes), {}};
  m.parity.resize(m.layout.parity_packets() * g.packet_bytes);
  for (uint8_t& b : m.data) b = static_cast<uint8_t>(prng.next());
  return m;
}

TEST(Recover, RandomLoss) {
  Prng prng(1);
  for (int round = 0; round < 40; ++round) {
    const CodewordGeometry g{prng.below(600'000) + 1, 256, static_cast<uint32_t>(prng.between(1, 64)), 32, 8};
    ErasureCode code = ErasureCode::make(g.k, g.m).value();
    Message m = message_of(prng, g);
    encode(code, m);
    const std::vector<uint8_t> whole = m.data;
    std::vector<bool> lost(m.layout.data_packets() + m.layout.parity_packets());
    for (size_t i = 0; i < lost.size(); ++i) lost[i] = prng.chance(0.01);
    spoil(m, lost);
    ASSERT_EQ(recover(code, m, lost), 0u);
    ASSERT_EQ(m.data, whole);
  }
}

// A gap of m chunks of packets in a row costs each codeword m packets, wherever it begins.
TEST(Recover, AGapOfAsManyChunksAsThereIsParity) {
  Prng prng(2);
  const CodewordGeometry g{100 * 64 * 3 - 10, 64, 8, 4, 2};
  ErasureCode code = ErasureCode::make(g.k, g.m).value();
  Message sent = message_of(prng, g);
  encode(code, sent);
  const size_t packets = sent.layout.data_packets() + sent.layout.parity_packets();
  for (size_t begin = 0; begin + 16 <= packets; ++begin) {
    std::vector<bool> lost(packets);
    std::fill_n(lost.begin() + static_cast<std::ptrdiff_t>(begin), 16, true);
    Message m = sent;
    spoil(m, lost);
    ASSERT_EQ(recover(code, m, lost), 0u) << "from packet " << begin;
    ASSERT_EQ(m.data, sent.data);
  }
}

}  // namespace
}  // namespace matchrdma::host
