#include "host/flowcell/token.h"

#include <algorithm>

namespace matchrdma::host {
namespace {

// Fibonacci hashing (Knuth, TAOCP 6.4). Half an older token beside half a newer one must not pass.
uint32_t check_of(const CellToken& t, uint32_t residence, uint32_t epoch) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  uint64_t h = (uint64_t{epoch} << 32 | t.number) * kGolden;
  h = (h ^ (h >> 29) ^ (uint64_t{t.tails} << 32 | residence)) * kGolden;
  return static_cast<uint32_t>(h >> 32);
}

}  // namespace

void encode_token(const CellToken& t, uint32_t epoch, MutableBytes out) {
  const auto residence = static_cast<uint32_t>(std::clamp<int64_t>(t.residence.ns, 0, UINT32_MAX));
  store_be32(&out[0], t.number);
  store_be32(&out[4], t.tails);
  store_be32(&out[8], residence);
  store_be32(&out[12], check_of(t, residence, epoch));
}

std::optional<CellToken> decode_token(Bytes in, uint32_t epoch) {
  const uint32_t residence = load_be32(&in[8]);
  const CellToken t{load_be32(&in[0]), load_be32(&in[4]), Duration{residence}};
  if (load_be32(&in[12]) != check_of(t, residence, epoch)) return std::nullopt;
  return t;
}

void encode_plan(const CellPlan& p, MutableBytes out) {
  store_be32(&out[0], static_cast<uint32_t>(p.message >> 32));
  store_be32(&out[4], static_cast<uint32_t>(p.message));
  store_be32(&out[8], static_cast<uint32_t>(p.length >> 32));
  store_be32(&out[12], static_cast<uint32_t>(p.length));
  store_be32(&out[16], p.cell_bytes);
  store_be32(&out[20], 0);
}

CellPlan decode_plan(Bytes in) { return {load_be64(&in[0]), load_be64(&in[8]), load_be32(&in[16])}; }

}  // namespace matchrdma::host
