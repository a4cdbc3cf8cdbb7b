#include "host/register/proxy_line.h"

#include <poll.h>

#include <array>
#include <utility>

namespace matchrdma::host {
namespace {

constexpr size_t kLongestAnswer = 64 << 10;

}  // namespace

ProxyLine::ProxyLine(SocketAddress address, std::shared_ptr<const TlsPskClient> key, Instant gives_up)
    : key_(std::move(key)), deadline_(gives_up) {
  auto fd = begin_connect(address);
  if (fd) {
    connecting_ = std::move(*fd);
  } else {
    finish(fd.error());
  }
}

short ProxyLine::events() const {
  if (!broken_.empty()) return 0;
  if (!stream_) return POLLOUT;
  if (!trusted_) return stream_->also_wants();
  return static_cast<short>(stream_->also_wants() | POLLIN | (out_.empty() ? 0 : POLLOUT));
}

void ProxyLine::run(Instant now) {
  if (!broken_.empty()) return;
  if (!stream_) connected();
  if (stream_) read_some();
  if (stream_ && trusted_) write_some();
  if (broken_.empty() && now >= deadline()) {
    finish(!stream_    ? no_answer_in_time()
           : !trusted_ ? "it took the connection, but has not shown a key in time"
                       : "it has not answered in time");
  }
}

void ProxyLine::connected() {
  const auto result = connect_result(connecting_.get());
  if (!result) return;
  if (!*result) return finish(result->error());
  stream_ = key_->stream(std::move(connecting_));
  if (!stream_) finish("memory is short");
}

void ProxyLine::ask(std::string line, Instant deadline) {
  out_ = std::move(line);
  waits_ = true;
  deadline_ = deadline;
  write_some();
}

std::optional<std::string> ProxyLine::take_answer() {
  const size_t end = in_.find('\n');
  if (end == std::string::npos) return {};
  std::string line = in_.substr(0, end);
  in_.erase(0, end + 1);
  waits_ = false;
  return line;
}

void ProxyLine::read_some() {
  std::array<char, 4096> buffer;
  for (;;) {
    const Moved m = stream_->read(buffer);
    trusted_ = trusted_ || stream_->trusted();
    if (m.kind == Moved::Kind::kClosed) return closed();
    if (m.kind == Moved::Kind::kWait) return;
    in_.append(buffer.data(), m.bytes);
    if (in_.size() > kLongestAnswer) return finish("its answer has no end; is this a registration listener?");
  }
}

void ProxyLine::write_some() {
  while (!out_.empty()) {
    const Moved m = stream_->write(out_);
    if (m.kind == Moved::Kind::kClosed) return closed();
    if (m.kind == Moved::Kind::kWait) return;
    out_.erase(0, m.bytes);
  }
}

void ProxyLine::closed() {
  finish(trusted_ ? "it closed the connection without a word: it is stopping, or has too many clients"
                  : closed_untrusted(*stream_, key_.get()));
}

// An answer that has come whole is still taken.
void ProxyLine::finish(const std::string& why) {
  broken_ = why;
  stream_.reset();
  connecting_ = FileDescriptor();
}

}  // namespace matchrdma::host
