#include "controlplane/tls/psk_file.h"

#include <sstream>
#include <utility>

#include "controlplane/tls/private_file.h"
#include "dataplane/base/hex.h"

namespace matchrdma {
namespace {

constexpr size_t kMaxFile = 64 << 10;
constexpr size_t kLeastKey = 16, kMostKey = 64, kMaxIdentity = 128;
const char* const kMakeOne = "write lines IDENTITY HEXKEY there, with keys made by: openssl rand -hex 32";

}  // namespace

Result<PskByIdentity> read_psk_file(const std::string& file) {
  const auto text = read_private_file(file, kMaxFile + 1, kMakeOne);
  if (!text) return Error{text.error()};
  if (text->size() > kMaxFile) return Error{"is longer than 64 KiB; name the file with the keys"};
  PskByIdentity keys;
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string where = "line " + std::to_string(number) + ": ";
    std::istringstream words(line);
    std::string identity, hex, more;
    if (!(words >> identity) || identity[0] == '#') continue;
    words >> hex >> more;
    std::vector<uint8_t> key(hex.size() / 2);
    // What stands in the line is a secret: it is not repeated.
    if (!decode_hex(hex, key) || !more.empty()) return Error{where + "write IDENTITY HEXKEY"};
    if (key.size() < kLeastKey || key.size() > kMostKey) {
      return Error{where + "a key has 16 to 64 bytes; make one with openssl rand -hex 32"};
    }
    if (identity.size() > kMaxIdentity) return Error{where + "the identity is longer than 128 bytes"};
    if (!keys.emplace(identity, std::move(key)).second)
      return Error{where + "this identity stands there twice"};
  }
  if (keys.empty()) return Error{"holds no key; write a line IDENTITY HEXKEY"};
  return keys;
}

}  // namespace matchrdma
