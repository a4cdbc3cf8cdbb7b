#include "proxy/xfer_bytes.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "dataplane/base/check.h"
#include "dataplane/base/prng.h"

namespace matchrdma {
namespace {

constexpr size_t kSlice = 4 << 20;

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

Result<std::vector<uint8_t>> bytes_to_move(const std::string& file, uint64_t made, uint64_t seed) {
  if (file.empty()) {
    Prng p(seed);
    std::vector<uint8_t> bytes(made);
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

}  // namespace matchrdma
