#pragma once
// Which packets of a message form a codeword (HOST.md sdr, C9 to C11).
#include <algorithm>
#include <cstdint>
#include <string>

#include "dataplane/base/check.h"
#include "dataplane/base/result.h"
#include "host/code/erasure.h"

namespace matchrdma::host {

struct CodewordGeometry {
  uint64_t message_bytes = 0;
  uint32_t packet_bytes = 4096;
  uint32_t chunk_packets = 16;
  uint32_t k = 32, m = 8;
};

/// Position of a packet: below k it is data, else parity row `position - k`.
struct CodewordPlace {
  uint64_t group = 0;
  uint32_t codeword = 0;  ///< of the group
  uint32_t position = 0;
  bool operator==(const CodewordPlace&) const = default;
};

/// Duty: the way from packets to codewords and back. A group is k chunks of data and m of parity, sent one
/// after the other. A codeword has one packet of each chunk, so packets that follow each other are of different
/// codewords: along the order of sending the codewords of a group go round and round, and two packets of one
/// codeword are chunk_packets apart at least.
///
/// The last group has fewer chunks if the message ends in it, and its last chunk fewer packets: its codewords
/// are shortened, what is missing counts as zeros that nobody sends. The parity goes on in the round where the
/// data stopped, so the distance holds there too. If all data of the last group is less than a chunk, it has as
/// many codewords as packets. A codeword without data does not exist.
///
/// Data packets and parity packets are numbered from 0 each: parity has a slot range of its own. Only the last
/// data packet may be short. Does not know bytes or how they travel.
class CodewordLayout {
 public:
  static constexpr uint64_t kMaxPackets = uint64_t{1} << 32;

  static Result<CodewordLayout> make(const CodewordGeometry& g) {
    if (g.packet_bytes == 0 || g.chunk_packets == 0) {
      return Error{"packets of " + std::to_string(g.packet_bytes) + " bytes in chunks of " +
                   std::to_string(g.chunk_packets) + ": both must be 1 at least"};
    }
    if (g.k < 1 || g.m < 1 || g.k > ErasureCode::kMaxBlocks || g.m > ErasureCode::kMaxBlocks ||
        g.k + g.m > ErasureCode::kMaxBlocks) {
      return Error{"no codewords of " + std::to_string(g.k) + " data and " + std::to_string(g.m) +
                   " parity packets: choose 1 of each at least and " + std::to_string(ErasureCode::kMaxBlocks) +
                   " together at most"};
    }
    if (packets_of(g) > kMaxPackets) {
      return Error{"a message of " + std::to_string(g.message_bytes) + " bytes has more than " +
                   std::to_string(kMaxPackets) + " packets: cut it"};
    }
    return CodewordLayout(g);
  }

  const CodewordGeometry& geometry() const { return g_; }
  uint64_t data_packets() const { return data_packets_; }
  uint64_t parity_packets() const {
    return groups_ == 0 ? 0 : (groups_ - 1) * g_.m * g_.chunk_packets + uint64_t{g_.m} * codewords(groups_ - 1);
  }
  uint64_t groups() const { return groups_; }
  uint32_t codewords(uint64_t group) const {
    return static_cast<uint32_t>(std::min<uint64_t>(g_.chunk_packets, data_of(group)));
  }

  /// Data packets of a codeword, 1 to k: those at positions 0, 1, ...
  uint32_t data_in(uint64_t group, uint32_t codeword) const {
    MRDMA_CHECK(codeword < codewords(group));
    return static_cast<uint32_t>((data_of(group) - codeword - 1) / g_.chunk_packets + 1);
  }
  uint32_t data_bytes(uint64_t data_packet) const {
    MRDMA_CHECK(data_packet < data_packets_);
    return static_cast<uint32_t>(
        std::min<uint64_t>(g_.packet_bytes, g_.message_bytes - data_packet * g_.packet_bytes));
  }
  /// As long as the longest data packet of the codeword, which is its first.
  uint32_t parity_bytes(uint64_t group, uint32_t codeword) const {
    return data_bytes(data_packet({group, codeword, 0}));
  }

  CodewordPlace place_of_data(uint64_t packet) const {
    MRDMA_CHECK(packet < data_packets_);
    const uint64_t in_group = packet % data_span();
    return {packet / data_span(), static_cast<uint32_t>(in_group % g_.chunk_packets),
            static_cast<uint32_t>(in_group / g_.chunk_packets)};
  }
  CodewordPlace place_of_parity(uint64_t packet) const {
    MRDMA_CHECK(packet < parity_packets());
    const uint64_t group = packet / parity_span(), in_group = packet % parity_span(), round = codewords(group);
    return {group, static_cast<uint32_t>((data_of(group) + in_group) % round),
            static_cast<uint32_t>(g_.k + in_group / round)};
  }

  uint64_t data_packet(const CodewordPlace& p) const {
    MRDMA_CHECK(p.position < data_in(p.group, p.codeword));
    return p.group * data_span() + uint64_t{p.position} * g_.chunk_packets + p.codeword;
  }
  uint64_t parity_packet(const CodewordPlace& p) const {
    MRDMA_CHECK(p.position >= g_.k && p.position < g_.k + g_.m && p.codeword < codewords(p.group));
    const uint64_t round = codewords(p.group), begins_with = data_of(p.group) % round;
    return p.group * parity_span() + (p.position - g_.k) * round + (p.codeword + round - begins_with) % round;
  }

  /// When a packet is sent, counted over data and parity together.
  uint64_t sent_as(const CodewordPlace& p) const {
    const uint64_t before = p.group * (data_span() + parity_span());
    if (p.position < g_.k) return before + data_packet(p) - p.group * data_span();
    return before + data_of(p.group) + parity_packet(p) - p.group * parity_span();
  }

 private:
  explicit CodewordLayout(const CodewordGeometry& g)
      : g_(g), data_packets_(packets_of(g)), groups_((data_packets_ + data_span() - 1) / data_span()) {}

  static uint64_t packets_of(const CodewordGeometry& g) {
    return g.message_bytes / g.packet_bytes + (g.message_bytes % g.packet_bytes != 0 ? 1 : 0);
  }
  /// Packets of a whole group.
  uint64_t data_span() const { return uint64_t{g_.k} * g_.chunk_packets; }
  uint64_t parity_span() const { return uint64_t{g_.m} * g_.chunk_packets; }
  /// Data packets of a group.
  uint64_t data_of(uint64_t group) const {
    MRDMA_CHECK(group < groups_);
    return std::min(data_span(), data_packets_ - group * data_span());
  }

  CodewordGeometry g_;
  uint64_t data_packets_, groups_;
};

}  // namespace matchrdma::host
