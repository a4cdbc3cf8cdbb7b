// learning --count N --seed S: made traffic of every kind past the learners; a wrong pair fails. One seed again
// with
// --one SEED.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>

#include "tests/learning/recipe.h"
#include "tests/learning/watch.h"

using namespace matchrdma;
using namespace matchrdma::learning;

namespace {

struct Row {
  uint64_t seeds = 0, visible = 0, found = 0, wrong = 0;
  std::vector<Duration> after;
};

// Pairs that the rules allow and that said enough are found; the few that are not begin too late in a capture.
constexpr double kFoundOfAll = 0.97;

bool keeps_promise(const Kind& k, const Row& r) {
  if (r.wrong != 0) return false;
  if (k.allowed == Allowed::kNone) return r.found == 0;
  return k.allowed != Allowed::kAll ||
         static_cast<double>(r.found) >= kFoundOfAll * static_cast<double>(r.visible);
}

std::string milliseconds(std::vector<Duration>& v, size_t percent) {
  if (v.empty()) return "-";
  const size_t i = (v.size() - 1) * percent / 100;
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(i), v.end());
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(v[i].ns) / 1e6);
  return text;
}

bool print(std::array<Row, kKindCount>& rows) {
  bool good = true;
  std::printf("%-38s %7s %9s %9s %6s %9s %9s\n", "traffic", "seeds", "visible", "found", "wrong", "p50 ms",
              "p99 ms");
  for (size_t k = 0; k < kKindCount; ++k) {
    Row& r = rows[k];
    if (r.seeds == 0) continue;
    const bool kept = keeps_promise(kKinds[k], r);
    std::printf("%-38s %7llu %9llu %9llu %6llu %9s %9s%s\n", kKinds[k].name,
                static_cast<unsigned long long>(r.seeds), static_cast<unsigned long long>(r.visible),
                static_cast<unsigned long long>(r.found), static_cast<unsigned long long>(r.wrong),
                milliseconds(r.after, 50).c_str(), milliseconds(r.after, 99).c_str(),
                kept ? "" : "  NOT AS THE RULES ALLOW");
    good = good && kept;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"made traffic of every kind past the learners"};
  uint64_t count = 1300, seed = 1, one = 0;
  bool canary = false, expect_failure = false;
  app.add_option("--count", count, "seeds to run");
  app.add_option("--seed", seed, "first seed");
  const auto* single = app.add_option("--one", one, "run this seed alone");
  app.add_flag("--canary", canary, "lie to the learner: a wrong pair must be noticed");
  app.add_flag("--expect-failure", expect_failure, "succeed only if a wrong pair is noticed");
  CLI11_PARSE(app, argc, argv);
  if (single->count() > 0) {
    seed = one;
    count = 1;
  }
  const bool tty = isatty(STDERR_FILENO) != 0;
  std::array<Row, kKindCount> rows;
  uint64_t packets = 0, wrong = 0;
  for (uint64_t s = seed; s < seed + count; ++s) {
    const TraceRecipe recipe = random_recipe(s);
    const Outcome o = run_recipe(recipe, canary);
    Row& r = rows[kind_of(s)];
    ++r.seeds;
    r.visible += o.visible;
    r.found += o.found;
    r.wrong += o.wrong;
    r.after.insert(r.after.end(), o.after.begin(), o.after.end());
    packets += o.packets;
    wrong += o.wrong;
    if (o.wrong != 0 && !expect_failure) {
      std::printf("WRONG PAIR, %s: %s\n", describe(recipe).c_str(), o.first_wrong.c_str());
    }
    if (tty)
      std::fprintf(stderr, "\r%llu of %llu", static_cast<unsigned long long>(s - seed + 1),
                   static_cast<unsigned long long>(count));
  }
  if (tty) std::fprintf(stderr, "\r");
  const bool good = print(rows);
  std::printf("%llu seeds from %llu, %llu packets, %llu wrong pairs\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(packets),
              static_cast<unsigned long long>(wrong));
  if (expect_failure) return wrong > 0 ? 0 : 1;
  return good || single->count() > 0 ? (wrong == 0 ? 0 : 1) : 1;
}
