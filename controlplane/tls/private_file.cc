#include "controlplane/tls/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "controlplane/tls/file_descriptor.h"

namespace matchrdma {
namespace {

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

}  // namespace

Result<std::string> read_private_file(const std::string& path, size_t most, const std::string& make_one) {
  // The checks are made on what was opened, not on the name. A FIFO must not make us wait.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) {
    const bool missing = errno == ENOENT;
    return Error{"cannot be opened: " + std::string(std::strerror(errno)) + "; " +
                 (missing ? make_one : "let the user who runs this read it")};
  }
  struct stat s {};
  if (::fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode))
    return Error{"is no regular file; name the file with the key"};
  if ((s.st_mode & 077) != 0)
    return Error{"has mode " + octal(s.st_mode) +
                 ": others may read or change it; chmod 600 it, and take a new key"};
  if (s.st_uid != 0 && s.st_uid != ::geteuid())
    return Error{"belongs to user " + std::to_string(s.st_uid) +
                 "; chown it to root or to the user who runs this"};
  std::string content(most, '\0');
  size_t size = 0;
  while (size < most) {
    const ssize_t n = ::read(file.get(), content.data() + size, most - size);
    if (n < 0) return Error{"cannot be read: " + std::string(std::strerror(errno)) + "; look at the disk"};
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  content.resize(size);
  return content;
}

}  // namespace matchrdma
