#pragma once
// What programs of random schedules have in common: how many seeds, from which on, and what a failure is.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>
#include <string>

namespace matchrdma::host::test {

/// Duty: the options of the command line, the loop over seeds, and the exit code.
class ScheduleLine {
 public:
  explicit ScheduleLine(CLI::App& app) {
    app.add_option("--count", count_, "how many")->capture_default_str();
    app.add_option("--seed", first_, "the first")->capture_default_str();
    app.add_option("--one", one_, "this seed alone");
    app.add_flag("--expect-failure", expect_failure_, "exit 0 when a seed fails, 1 when none does");
  }

  /// `play(seed)` is empty, or what went wrong and with which settings; `sum()`: what all came to.
  template <class Play, class Sum>
  int run(Play&& play, Sum&& sum) const {
    const uint64_t first = one_ != 0 ? one_ : first_, count = one_ != 0 ? 1 : count_;
    for (uint64_t seed = first; seed < first + count; ++seed) {
      const std::string wrong = play(seed);
      if (wrong.empty()) continue;
      std::cout << "seed " << seed << ": " << wrong << "\n";
      return expect_failure_ ? 0 : 1;
    }
    std::cout << count << " schedules, " << sum() << "\n";
    return expect_failure_ ? 1 : 0;
  }

 private:
  uint64_t count_ = 10'000, first_ = 1, one_ = 0;
  bool expect_failure_ = false;
};

}  // namespace matchrdma::host::test
