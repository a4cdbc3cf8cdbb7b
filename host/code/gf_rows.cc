#include "host/code/gf_rows.h"

#include <isa-l/erasure_code.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

namespace matchrdma::host {
namespace {

// ISA-L takes everything as pointers to what may be written; it writes to the outputs alone.
uint8_t* writable(const uint8_t* p) { return const_cast<uint8_t*>(p); }

using Pointers = std::array<uint8_t*, 256>;

int isal_length(size_t bytes) {
  MRDMA_CHECK(bytes <= INT_MAX);
  return static_cast<int>(bytes);
}

size_t shortest(std::span<const Bytes> sources, std::span<const MutableBytes> outs) {
  size_t n = SIZE_MAX;
  for (const Bytes& s : sources) n = std::min(n, s.size());
  for (const MutableBytes& o : outs) n = std::min(n, o.size());
  return n;
}

/// outs[.][0, n) = all columns x sources[.][0, n), in one pass.
void multiply_front(const GfTables& t, std::span<const Bytes> sources, std::span<const MutableBytes> outs,
                    size_t n) {
  Pointers from, to;
  for (size_t i = 0; i < sources.size(); ++i) from[i] = writable(sources[i].data());
  for (size_t r = 0; r < outs.size(); ++r) to[r] = outs[r].data();
  ec_encode_data(isal_length(n), static_cast<int>(t.columns), static_cast<int>(t.rows), writable(t.bytes),
                 from.data(), to.data());
}

/// outs[.] += all columns x what the sources have from `front` on. The outputs are of one length.
void add_rest(const GfTables& t, std::span<const Bytes> sources, size_t front,
              std::span<const MutableBytes> outs) {
  for (uint32_t i = 0; i < sources.size() && !outs[0].empty(); ++i) {
    const Bytes rest = sources[i].subspan(front);
    multiply_add(t, i, rest.first(std::min(rest.size(), outs[0].size())), outs);
  }
}

void xor_one(uint8_t* __restrict to, const uint8_t* __restrict a, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] ^= a[i];
}

void xor_four(uint8_t* __restrict to, const uint8_t* __restrict a, const uint8_t* __restrict b,
              const uint8_t* __restrict c, const uint8_t* __restrict d, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    to[i] = static_cast<uint8_t>(to[i] ^ a[i] ^ b[i] ^ c[i] ^ d[i]);
  }
}

}  // namespace

void multiply(const GfTables& tables, std::span<const Bytes> sources, std::span<const MutableBytes> outs) {
  MRDMA_CHECK(sources.size() <= tables.columns && outs.size() == tables.rows);
  // Where all columns are there, one pass gives what all blocks have; the rest is added block by block.
  const size_t front = sources.size() == tables.columns ? shortest(sources, outs) : 0;
  if (front > 0) multiply_front(tables, sources, outs, front);
  std::array<MutableBytes, 256> rests;
  bool alike = true;
  for (size_t r = 0; r < outs.size(); ++r) {
    rests[r] = outs[r].subspan(front);
    alike = alike && rests[r].size() == rests[0].size();
    std::memset(rests[r].data(), 0, rests[r].size());
  }
  if (alike) return add_rest(tables, sources, front, std::span(rests).first(outs.size()));
  for (uint32_t r = 0; r < outs.size(); ++r) add_rest(tables.row(r), sources, front, {&rests[r], 1});
}

void multiply_add(const GfTables& tables, uint32_t column, Bytes source, std::span<const MutableBytes> outs) {
  MRDMA_CHECK(column < tables.columns && outs.size() == tables.rows);
  if (source.empty()) return;
  Pointers to;
  for (size_t r = 0; r < outs.size(); ++r) {
    MRDMA_CHECK(outs[r].size() >= source.size());
    to[r] = outs[r].data();
  }
  ec_encode_data_update(isal_length(source.size()), static_cast<int>(tables.columns),
                        static_cast<int>(tables.rows), static_cast<int>(column), writable(tables.bytes),
                        writable(source.data()), to.data());
}

void xor_blocks(std::span<const Bytes> sources, MutableBytes out) {
  // In strips, so that what is summed stays in the nearest cache.
  constexpr size_t kStrip = 4096;
  for (size_t at = 0; at < out.size(); at += kStrip) {
    const MutableBytes strip = out.subspan(at, std::min(kStrip, out.size() - at));
    std::memset(strip.data(), 0, strip.size());
    size_t i = 0;
    const auto full = [&](size_t j) { return sources[j].size() >= at + strip.size(); };
    for (; i + 4 <= sources.size() && full(i) && full(i + 1) && full(i + 2) && full(i + 3); i += 4) {
      xor_four(strip.data(), sources[i].data() + at, sources[i + 1].data() + at, sources[i + 2].data() + at,
               sources[i + 3].data() + at, strip.size());
    }
    for (; i < sources.size(); ++i) {
      if (sources[i].size() <= at) continue;
      xor_one(strip.data(), sources[i].data() + at, std::min(strip.size(), sources[i].size() - at));
    }
  }
}

void xor_add(Bytes source, MutableBytes out) {
  MRDMA_CHECK(out.size() >= source.size());
  xor_one(out.data(), source.data(), source.size());
}

}  // namespace matchrdma::host
