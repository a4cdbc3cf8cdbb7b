#include "controlplane/service/psk_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>
#include <utility>

#include "controlplane/service/file_descriptor.h"

namespace matchrdma::service {
namespace {

constexpr size_t kMaxFile = 64 << 10;
constexpr size_t kLeastKey = 16, kMostKey = 64, kMaxIdentity = 128;

Error in_file(const std::string& file, const std::string& sentence) {
  return Error{"PSK file " + file + ": " + sentence};
}

// Mode and contents of one and the same open file.
Result<std::string> read_private(const std::string& file) {
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat s {};
  if (!fd.valid() || ::fstat(fd.get(), &s) != 0) return in_file(file, std::strerror(errno));
  if ((s.st_mode & 077) != 0) return in_file(file, "others may read it; chmod 0600 it and take new keys");
  std::string text(kMaxFile + 1, '\0');
  size_t size = 0;
  for (;;) {
    const ssize_t n = ::read(fd.get(), text.data() + size, text.size() - size);
    if (n < 0) return in_file(file, std::strerror(errno));
    if (n == 0) break;
    size += static_cast<size_t>(n);
    if (size > kMaxFile) return in_file(file, "is longer than 64 KiB: is it the right file?");
  }
  text.resize(size);
  return text;
}

std::optional<std::vector<uint8_t>> bytes_of_hex(const std::string& hex) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::vector<uint8_t> out;
  if (hex.size() % 2 != 0) return std::nullopt;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]), low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return out;
}

}  // namespace

Result<PskByIdentity> read_psk_file(const std::string& file) {
  const auto text = read_private(file);
  if (!text) return Error{text.error()};
  PskByIdentity keys;
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string where = "line " + std::to_string(number) + ": ";
    std::istringstream words(line);
    std::string identity, hex, more;
    if (!(words >> identity) || identity[0] == '#') continue;
    words >> hex >> more;
    const auto key = bytes_of_hex(hex);
    // What stands in the line is a secret: it is not repeated.
    if (!key || !more.empty()) return in_file(file, where + "write IDENTITY HEXKEY");
    if (key->size() < kLeastKey || key->size() > kMostKey) {
      return in_file(file, where + "a key has 16 to 64 bytes; make one with openssl rand -hex 32");
    }
    if (identity.size() > kMaxIdentity) return in_file(file, where + "the identity is longer than 128 bytes");
    if (!keys.emplace(identity, *key).second) return in_file(file, where + "this identity stands there twice");
  }
  if (keys.empty()) return in_file(file, "holds no key; write a line IDENTITY HEXKEY");
  return keys;
}

}  // namespace matchrdma::service
