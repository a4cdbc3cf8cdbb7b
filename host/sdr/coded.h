#pragma once
// Parity of one message: made at the sender as groups are sent, used at the receiver as codewords become whole.
#include <optional>
#include <vector>

#include "host/code/codeword.h"
#include "host/code/erasure.h"
#include "host/sdr/options.h"
#include "host/sdr/packet_set.h"

namespace matchrdma::host {

/// Whether there is such a code, and what to choose if not.
Result<void> check_code(const SdrShape& shape);
/// The code of a shape that was checked; nothing where it has none.
std::optional<ErasureCode> code_of(const SdrShape& shape);
/// The layout of a message of so many bytes.
CodewordLayout codeword_layout(const SdrShape& shape, uint64_t message_bytes);
/// Bytes of memory for its parity packets.
uint64_t parity_bytes(const SdrShape& shape, uint64_t message_bytes);

/// Duty: the parity packets of a message that is being sent. A group is encoded when its first parity is asked
/// for.
class ParitySource {
 public:
  /// `data` is the message; `memory` has parity_bytes().
  ParitySource(const SdrShape& shape, const ErasureCode& code, Bytes data, MutableBytes memory);
  /// Parity packets that may leave when so many data packets have: groups are sent one after the other.
  uint32_t due(uint32_t data_sent) const;
  uint32_t packets() const { return packets_; }
  Bytes packet(uint32_t index);

 private:
  void encode_group(uint64_t group);
  CodewordLayout layout_;
  const ErasureCode& code_;
  Bytes data_;
  MutableBytes memory_;
  uint32_t packets_, packet_bytes_;
  uint64_t encoded_groups_ = 0;
};

/// Duty: knows of each codeword how many packets are there, and restores what is missing as soon as enough are.
/// Does not know how packets come.
class ParitySink {
 public:
  ParitySink(const SdrShape& shape, uint64_t message_bytes, MutableBytes data, Bytes parity);
  // A peer may write beyond the message that it announced, as long as it is in the buffer: that is in no
  // codeword.
  void data_came(uint32_t packet) {
    if (packet < layout_.data_packets()) came(layout_.place_of_data(packet), true);
  }
  void parity_came(uint32_t packet) {
    if (packet < layout_.parity_packets()) came(layout_.place_of_parity(packet), false);
  }
  /// Restores codewords that have become whole; appends the data packets that it wrote.
  void decode(ErasureCode& code, const PacketSet& data, const PacketSet& parity,
              std::vector<uint32_t>& restored);
  /// Everything of the groups before the newest has been sent before it: what is missing there is lost.
  uint32_t judged_below() const;

 private:
  void came(const CodewordPlace& p, bool data);
  void restore(ErasureCode& code, const CodewordPlace& p, const PacketSet& data, const PacketSet& parity,
               std::vector<uint32_t>& restored);
  CodewordLayout layout_;
  MutableBytes data_;
  Bytes parity_;
  uint32_t packet_bytes_;
  struct Have {
    uint8_t data = 0, all = 0;  ///< packets that are there, at most as many as the codeword needs
  };
  std::vector<Have> have_;
  std::vector<CodewordPlace> whole_;
  uint64_t newest_group_ = 0;
};

}  // namespace matchrdma::host
