#include "pcap/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace matchrdma {

Result<ByteSource> ByteSource::open(const std::string& path) {
  ByteSource s;
  if (path == "-") {
    s.fd_ = STDIN_FILENO;
  } else {
    s.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (s.fd_ < 0) {
      return Error{path + ": cannot be opened: " + std::strerror(errno) +
                   "; check the path and its permissions"};
    }
    s.owns_fd_ = true;
    struct stat st {};
    if (::fstat(s.fd_, &st) == 0 && S_ISDIR(st.st_mode)) {
      return Error{path + ": is a folder; name a capture file inside it"};
    }
  }
  s.buffer_.resize(kMaxPeek);
  return s;
}

ByteSource ByteSource::from_bytes(Bytes bytes) {
  ByteSource s;
  s.view_ = bytes;
  return s;
}

ByteSource::ByteSource(ByteSource&& o) noexcept { *this = std::move(o); }

ByteSource& ByteSource::operator=(ByteSource&& o) noexcept {
  if (this != &o) {
    close_file();
    fd_ = std::exchange(o.fd_, -1);
    owns_fd_ = std::exchange(o.owns_fd_, false);
    buffer_ = std::move(o.buffer_);  // moves the heap block: view_ stays valid
    view_ = std::exchange(o.view_, Bytes{});
    offset_ = o.offset_;
    read_error_ = std::move(o.read_error_);
  }
  return *this;
}

ByteSource::~ByteSource() { close_file(); }

void ByteSource::close_file() {
  if (owns_fd_ && fd_ >= 0) ::close(fd_);
  fd_ = -1;
  owns_fd_ = false;
}

void ByteSource::refill() {
  if (!view_.empty()) std::memmove(buffer_.data(), view_.data(), view_.size());
  size_t filled = view_.size();
  ssize_t got = 0;
  do {
    got = ::read(fd_, buffer_.data() + filled, std::min(kRead, buffer_.size() - filled));
  } while (got < 0 && errno == EINTR);
  if (got < 0) read_error_ = std::strerror(errno);
  if (got <= 0) {
    close_file();
  } else {
    filled += static_cast<size_t>(got);
  }
  view_ = Bytes{buffer_.data(), filled};
}

Bytes ByteSource::peek(size_t n) {
  MRDMA_CHECK(n <= kMaxPeek);
  while (view_.size() < n && fd_ >= 0) refill();
  return view_.first(std::min(n, view_.size()));
}

void ByteSource::advance(size_t n) {
  MRDMA_CHECK(n <= view_.size());
  view_ = view_.subspan(n);
  offset_ += n;
}

uint64_t ByteSource::skip(uint64_t n) {
  uint64_t done = 0;
  while (done < n) {
    const size_t step = peek(static_cast<size_t>(std::min<uint64_t>(n - done, kMaxPeek))).size();
    if (step == 0) break;
    advance(step);
    done += step;
  }
  return done;
}

}  // namespace matchrdma
