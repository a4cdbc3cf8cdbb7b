#include "config/key_file.h"

#include <algorithm>
#include <cstring>

#include "controlplane/tls/private_file.h"
#include "dataplane/base/hex.h"

namespace matchrdma {
namespace {

constexpr size_t kRaw = sizeof(KeyBytes), kHex = 2 * kRaw;
const char* const kMakeOne = "make one with: (umask 077; openssl rand -hex 32 > FILE)";

Result<KeyBytes> decode(std::string content) {
  KeyBytes key;
  if (content.size() == kRaw) {
    std::memcpy(key.b.data(), content.data(), kRaw);
  } else {
    if (content.ends_with('\n')) content.pop_back();
    if (content.ends_with('\r')) content.pop_back();
    if (content.size() != kHex)
      return Error{std::string("holds no key: 64 hex digits or 32 raw bytes are needed; ") + kMakeOne};
    if (!decode_hex(content, key.b))
      return Error{std::string("holds characters that are no hex digits; ") + kMakeOne};
  }
  if (key == KeyBytes{}) return Error{std::string("holds zeros alone, which is no secret; ") + kMakeOne};
  return key;
}

}  // namespace

Result<KeyBytes> read_key_file(const std::string& path) {
  auto content = read_private_file(path, kHex + 3, kMakeOne);
  if (!content) return Error{content.error()};
  auto key = decode(*content);
  std::fill(content->begin(), content->end(), '\0');
  return key;
}

}  // namespace matchrdma
