#include "dataplane/io/eal_log.h"

#include <rte_log.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <mutex>

namespace matchrdma::io {
namespace {

constexpr size_t kKeptLines = 200;

/// Duty: the last lines of the log, numbered. Does not know who writes them.
class LogBuffer {
 public:
  void append(const char* text, size_t size) {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < size; ++i) {
      if (text[i] != '\n') {
        partial_ += text[i];
        continue;
      }
      lines_.push_back(std::move(partial_));
      partial_.clear();
      ++written_;
      if (lines_.size() > kKeptLines) lines_.pop_front();
    }
  }
  size_t written() {
    const std::lock_guard lock(mutex_);
    return written_;
  }
  std::string tail(size_t mark, size_t lines) {
    const std::lock_guard lock(mutex_);
    const size_t fresh = std::min({written_ - std::min(mark, written_), lines, lines_.size()});
    std::string text;
    for (size_t i = lines_.size() - fresh; i < lines_.size(); ++i)
      text += (text.empty() ? "" : " | ") + lines_[i];
    return text;
  }

 private:
  std::mutex mutex_;
  std::deque<std::string> lines_;
  std::string partial_;
  size_t written_ = 0;
};

LogBuffer& buffer() {
  // Never destroyed: threads of DPDK may log while the process ends.
  static LogBuffer* const b = new LogBuffer;
  return *b;
}

ssize_t write_log(void*, const char* text, size_t size) {
  buffer().append(text, size);
  return static_cast<ssize_t>(size);
}

}  // namespace

void capture_dpdk_log() {
  static const bool done = [] {
    cookie_io_functions_t functions{};
    functions.write = write_log;
    if (FILE* stream = fopencookie(nullptr, "w", functions)) {
      std::setvbuf(stream, nullptr, _IOLBF, BUFSIZ);
      rte_openlog_stream(stream);
    }
    return true;
  }();
  static_cast<void>(done);
}

size_t log_mark() { return buffer().written(); }

std::string log_since(size_t mark, size_t lines) {
  std::string text = buffer().tail(mark, lines);
  return text.empty() ? "(DPDK logged nothing)" : text;
}

}  // namespace matchrdma::io
