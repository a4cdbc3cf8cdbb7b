#include "config/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace matchrdma {
namespace {

constexpr size_t kRaw = sizeof(KeyBytes), kHex = 2 * kRaw;
const char* const kMakeOne = "make one with: (umask 077; openssl rand -hex 32 > FILE)";

/// Duty: closes a file descriptor.
struct Descriptor {
  int fd;
  explicit Descriptor(int f) : fd(f) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

Result<KeyBytes> decode(std::string content) {
  KeyBytes key;
  if (content.size() == kRaw) {
    std::memcpy(key.b.data(), content.data(), kRaw);
  } else {
    if (content.ends_with('\n')) content.pop_back();
    if (content.ends_with('\r')) content.pop_back();
    if (content.size() != kHex)
      return Error{std::string("holds no key: 64 hex digits or 32 raw bytes are needed; ") + kMakeOne};
    for (size_t i = 0; i < kRaw; ++i) {
      const char* at = content.data() + 2 * i;
      const auto [end, ec] = std::from_chars(at, at + 2, key.b[i], 16);
      if (ec != std::errc{} || end != at + 2)
        return Error{std::string("holds characters that are no hex digits; ") + kMakeOne};
    }
  }
  if (key == KeyBytes{}) return Error{std::string("holds zeros alone, which is no secret; ") + kMakeOne};
  return key;
}

}  // namespace

Result<KeyBytes> read_key_file(const std::string& path) {
  // The checks are made on what was opened, not on the name. A FIFO must not make us wait.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.fd < 0) {
    const bool missing = errno == ENOENT;
    return Error{"cannot be opened: " + std::string(std::strerror(errno)) + "; " +
                 (missing ? kMakeOne : "let the user who starts the daemon read it")};
  }
  struct stat s {};
  if (::fstat(file.fd, &s) != 0 || !S_ISREG(s.st_mode))
    return Error{"is no regular file; name the file with the key"};
  if ((s.st_mode & 077) != 0)
    return Error{"has mode " + octal(s.st_mode) +
                 ": others may read or change it; chmod 600 it, and take a new key"};
  if (s.st_uid != 0 && s.st_uid != ::geteuid())
    return Error{"belongs to user " + std::to_string(s.st_uid) + "; chown it to root or to the daemon's user"};
  std::string content(kHex + 3, '\0');
  const ssize_t n = ::read(file.fd, content.data(), content.size());
  if (n < 0) return Error{"cannot be read: " + std::string(std::strerror(errno)) + "; look at the disk"};
  content.resize(static_cast<size_t>(n));
  auto key = decode(content);
  std::fill(content.begin(), content.end(), '\0');
  return key;
}

}  // namespace matchrdma
