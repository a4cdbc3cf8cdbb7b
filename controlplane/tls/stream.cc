#include "controlplane/tls/stream.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace matchrdma {
namespace {

Moved moved(ssize_t n) {
  if (n > 0) return {Moved::Kind::kMoved, static_cast<size_t>(n)};
  const bool later = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  return {later ? Moved::Kind::kWait : Moved::Kind::kClosed, 0};
}

class PlainStream : public Stream {
 public:
  explicit PlainStream(FileDescriptor fd) : fd_(std::move(fd)) {}
  int fd() const override { return fd_.get(); }
  Moved read(std::span<char> into) override {
    return moved(::recv(fd_.get(), into.data(), into.size(), MSG_DONTWAIT));
  }
  Moved write(std::string_view from) override {
    return moved(::send(fd_.get(), from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  }

 private:
  FileDescriptor fd_;
};

}  // namespace

std::unique_ptr<Stream> plain_stream(FileDescriptor fd) { return std::make_unique<PlainStream>(std::move(fd)); }

}  // namespace matchrdma
