#include "proxy/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "proxy/table.h"

namespace matchrdma {
namespace {

constexpr uint64_t kBarWidth = 30;
constexpr auto kInterval = std::chrono::milliseconds(100);

}  // namespace

std::string progress_line(const std::string& label, uint64_t done, uint64_t total) {
  if (total == 0) return label + "  " + thousands(done);
  const double part = static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  const auto filled = static_cast<size_t>(part * kBarWidth);
  return label + "  [" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "]  " +
         std::to_string(static_cast<int>(part * 100)) + " %  " + thousands(done) + " of " + thousands(total);
}

Progress::Progress(std::string label, uint64_t total, uint32_t calls_per_look)
    : label_(std::move(label)),
      total_(total),
      calls_per_look_(calls_per_look),
      terminal_(::isatty(STDERR_FILENO) == 1),
      next_(std::chrono::steady_clock::now() + kInterval) {}

Progress::~Progress() { finish(); }

void Progress::update(uint64_t done) {
  if (!terminal_ || ++calls_ % calls_per_look_ != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  draw(done);
}

void Progress::draw(uint64_t done) {
  // \033[K: a shorter line leaves nothing of a longer one behind.
  std::fprintf(stderr, "\r%s\033[K", progress_line(label_, done, total_).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::finish() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace matchrdma
