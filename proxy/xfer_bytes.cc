#include "proxy/xfer_bytes.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "dataplane/base/check.h"
#include "dataplane/base/prng.h"
#include "host/code/small_float.h"

namespace matchrdma {
namespace {

constexpr size_t kSlice = 4 << 20;

float number_at(host::ElementType type, const uint8_t* at) {
  if (type == host::ElementType::kF32) {
    float f;
    std::memcpy(&f, at, sizeof f);
    return f;
  }
  uint16_t h;
  std::memcpy(&h, at, sizeof h);
  return type == host::ElementType::kBf16 ? host::from_bf16(h) : host::from_f16(h);
}

void put_number(host::ElementType type, float f, uint8_t* at) {
  if (type == host::ElementType::kF32) {
    std::memcpy(at, &f, sizeof f);
    return;
  }
  const uint16_t h = type == host::ElementType::kBf16 ? host::to_bf16(f) : host::to_f16(f);
  std::memcpy(at, &h, sizeof h);
}

std::vector<uint8_t> made_numbers(const MadeUp& made) {
  Prng p(made.seed);
  std::vector<uint8_t> bytes(made.bytes);
  const size_t size = host::element_bytes(*made.numbers);
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    const double u = 2 * p.unit() - 1;
    put_number(*made.numbers, static_cast<float>(u * u * u * u * u), &bytes[at]);
  }
  return bytes;
}

}  // namespace

Digest sha256(Bytes bytes, const std::function<void()>& between) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> c(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  MRDMA_CHECK(c && EVP_DigestInit_ex(c.get(), EVP_sha256(), nullptr) == 1);
  for (; !bytes.empty(); between()) {
    const Bytes slice = bytes.first(std::min(kSlice, bytes.size()));
    MRDMA_CHECK(EVP_DigestUpdate(c.get(), slice.data(), slice.size()) == 1);
    bytes = bytes.subspan(slice.size());
  }
  Digest d{};
  unsigned size = 0;
  MRDMA_CHECK(EVP_DigestFinal_ex(c.get(), d.data(), &size) == 1 && size == d.size());
  return d;
}

std::string digest_text(const Digest& d) {
  std::string text;
  for (const uint8_t b : d) {
    text += "0123456789abcdef"[b >> 4];
    text += "0123456789abcdef"[b & 15];
  }
  return text;
}

Result<std::vector<uint8_t>> bytes_to_move(const std::string& file, const MadeUp& made) {
  if (file.empty()) {
    if (made.numbers) return made_numbers(made);
    Prng p(made.seed);
    std::vector<uint8_t> bytes(made.bytes);
    for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
      const uint64_t word = p.next();
      std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
    }
    return bytes;
  }
  if (std::filesystem::is_directory(file)) return Error{file + ": is a folder; name a file"};
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (size < 0) return Error{file + ": cannot be read; is it a file, and may you read it?"};
  if (size == 0) return Error{file + ": is empty: there is nothing to move"};
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(bytes.data()), size)) return Error{file + ": cannot be read to its end"};
  return bytes;
}

double relative_error(host::ElementType type, Bytes sent, Bytes came) {
  const size_t size = host::element_bytes(type);
  double all = 0, off = 0;
  for (size_t at = 0; at + size <= sent.size(); at += size) {
    const double a = number_at(type, &sent[at]), b = number_at(type, &came[at]);
    all += a * a;
    off += (a - b) * (a - b);
  }
  return all == 0 ? std::sqrt(off) : std::sqrt(off / all);
}

}  // namespace matchrdma
