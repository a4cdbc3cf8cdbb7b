#pragma once
// A progress bar for runs that take long enough to wonder about.
#include <chrono>
#include <cstdint>
#include <string>

namespace matchrdma {

/// Duty: one line on stderr while work goes on, gone when it ends. Silent unless stderr is a terminal, so that
/// logs and pipes stay clean.
class Progress {
 public:
  /// `total` 0: unknown, only the count is shown. The clock is looked at once in `calls_per_look` updates: 1
  /// where each stands for a lot of work.
  Progress(std::string label, uint64_t total, uint32_t calls_per_look = 1024);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough to be called per packet.
  void update(uint64_t done);
  /// Wipes the line.
  void finish();

 private:
  void draw(uint64_t done);

  std::string label_;
  uint64_t total_;
  uint32_t calls_per_look_;
  bool terminal_;
  bool drawn_ = false;
  uint32_t calls_ = 0;
  std::chrono::steady_clock::time_point next_;
};

/// "reading  [#####.....]  50 %  1,024 of 2,048", for `total` 0 "reading  1,024".
std::string progress_line(const std::string& label, uint64_t done, uint64_t total);

}  // namespace matchrdma
