#include "host/sdr/coded.h"

#include <algorithm>
#include <utility>

namespace matchrdma::host {

Result<void> check_code(const SdrShape& s) {
  if (!s.coded()) return {};
  if (auto r = CodewordLayout::make({1, s.packet_bytes, s.chunk_packets, s.code_k, s.code_m}); !r)
    return Error{r.error()};
  return {};
}

std::optional<ErasureCode> code_of(const SdrShape& s) {
  if (!s.coded()) return {};
  auto code = ErasureCode::make(s.code_k, s.code_m);
  MRDMA_CHECK(code.ok());  // the shape was checked when the endpoint was made
  return std::move(*code);
}

CodewordLayout codeword_layout(const SdrShape& shape, uint64_t message_bytes) {
  auto layout = CodewordLayout::make(
      {message_bytes, shape.packet_bytes, shape.chunk_packets, shape.code_k, shape.code_m});
  MRDMA_CHECK(layout.ok());  // the shape was checked when the endpoint was made
  return *layout;
}

uint64_t parity_bytes(const SdrShape& shape, uint64_t message_bytes) {
  return codeword_layout(shape, message_bytes).parity_packets() * shape.packet_bytes;
}

// ---- sender

ParitySource::ParitySource(const SdrShape& shape, const ErasureCode& code, Bytes data, MutableBytes memory)
    : layout_(codeword_layout(shape, data.size())),
      code_(code),
      data_(data),
      memory_(memory),
      packets_(static_cast<uint32_t>(layout_.parity_packets())),
      packet_bytes_(shape.packet_bytes) {}

uint32_t ParitySource::due(uint32_t data_sent) const {
  if (data_sent >= layout_.data_packets()) return packets_;
  const uint64_t group = layout_.place_of_data(data_sent).group;  // whose data is being sent
  return group == 0 ? 0
                    : static_cast<uint32_t>(group * layout_.geometry().m * layout_.geometry().chunk_packets);
}

void ParitySource::encode_group(uint64_t group) {
  const CodewordGeometry& g = layout_.geometry();
  std::vector<Bytes> data;
  std::vector<uint8_t*> parities;
  for (uint32_t c = 0; c < layout_.codewords(group); ++c) {
    data.clear();
    parities.clear();
    for (uint32_t i = 0; i < layout_.data_in(group, c); ++i) {
      const uint64_t p = layout_.data_packet({group, c, i});
      data.push_back(data_.subspan(p * packet_bytes_, layout_.data_bytes(p)));
    }
    for (uint32_t j = 0; j < g.m; ++j) {
      const uint64_t p = layout_.parity_packet({group, c, g.k + j});
      parities.push_back(memory_.subspan(p * packet_bytes_, layout_.parity_bytes(group, c)).data());
    }
    code_.encode(data, EqualBlocks{parities, layout_.parity_bytes(group, c)});
  }
}

Bytes ParitySource::packet(uint32_t index) {
  const CodewordPlace p = layout_.place_of_parity(index);
  while (encoded_groups_ <= p.group) encode_group(encoded_groups_++);
  return memory_.subspan(uint64_t{index} * packet_bytes_, layout_.parity_bytes(p.group, p.codeword));
}

// ---- receiver

ParitySink::ParitySink(const SdrShape& shape, uint64_t message_bytes, MutableBytes data, Bytes parity)
    : layout_(codeword_layout(shape, message_bytes)),
      data_(data),
      parity_(parity),
      packet_bytes_(shape.packet_bytes),
      have_(layout_.groups() * shape.chunk_packets) {}

void ParitySink::came(const CodewordPlace& p, bool data) {
  newest_group_ = std::max(newest_group_, p.group);
  Have& have = have_[p.group * layout_.geometry().chunk_packets + p.codeword];
  const uint32_t needs = layout_.data_in(p.group, p.codeword);
  if (have.all >= needs) return;
  have.data = static_cast<uint8_t>(have.data + (data ? 1 : 0));
  if (++have.all == needs && have.data < needs) whole_.push_back(p);
}

void ParitySink::decode(ErasureCode& code, const PacketSet& data, const PacketSet& parity,
                        std::vector<uint32_t>& restored) {
  for (const CodewordPlace& p : std::exchange(whole_, {})) restore(code, p, data, parity, restored);
}

void ParitySink::restore(ErasureCode& code, const CodewordPlace& p, const PacketSet& data,
                         const PacketSet& parity, std::vector<uint32_t>& restored) {
  std::vector<CodeBlock> blocks, parities;
  const size_t before = restored.size();
  for (uint32_t i = 0; i < layout_.data_in(p.group, p.codeword); ++i) {
    const uint64_t n = layout_.data_packet({p.group, p.codeword, i});
    const bool there = data.has(static_cast<uint32_t>(n));
    blocks.push_back({data_.subspan(n * packet_bytes_, layout_.data_bytes(n)), there});
    if (!there) restored.push_back(static_cast<uint32_t>(n));
  }
  if (restored.size() == before) return;
  std::vector<std::vector<uint8_t>> copies;  // the decoder takes blocks that it could write to
  const uint32_t length = layout_.parity_bytes(p.group, p.codeword);
  const CodewordGeometry& g = layout_.geometry();
  copies.reserve(g.m);
  for (uint32_t j = 0; j < g.m; ++j) {
    const uint64_t n = layout_.parity_packet({p.group, p.codeword, g.k + j});
    if (!parity.has(static_cast<uint32_t>(n))) {
      parities.push_back({{}, false});
      continue;
    }
    const Bytes b = parity_.subspan(n * packet_bytes_, length);
    copies.emplace_back(b.begin(), b.end());
    parities.push_back({copies.back(), true});
  }
  MRDMA_CHECK(code.decode(blocks, parities) == Decoded::kRestored);
}

uint32_t ParitySink::judged_below() const {
  return static_cast<uint32_t>(std::min(
      layout_.data_packets(), newest_group_ * layout_.geometry().k * layout_.geometry().chunk_packets));
}

}  // namespace matchrdma::host
