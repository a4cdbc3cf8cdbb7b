#include "controlplane/estimator/governed.h"

#include <algorithm>

namespace matchrdma {

double Governed::forecast(int64_t slot, double otherwise) const {
  return in(slot) && at(slot).forecast > 0 ? static_cast<double>(at(slot).forecast) : otherwise;
}

bool Governed::predictions(int64_t slot, Predictions& p) const {
  if (!in(slot) || at(slot).forecast <= 0) return false;
  std::copy(at(slot).predictions.begin(), at(slot).predictions.end(), p.begin());
  return true;
}

void Governed::say(int64_t now, int horizon, double budget, double forecast, const Predictions& p) {
  const int64_t target = now + horizon;
  const Said before = end_ > begin_ ? at(end_ - 1) : Said{};
  begin_ = std::max(begin_, now + 1);
  for (int64_t slot = std::max(begin_, end_); slot < target; ++slot) at(slot) = {.budget = before.budget};
  Said said{.budget = static_cast<float>(budget), .forecast = static_cast<float>(forecast)};
  for (size_t i = 0; i < kPredictors; ++i) said.predictions[i] = static_cast<float>(p[i]);
  at(target) = said;
  for (int64_t slot = target + 1; slot < end_; ++slot) at(slot) = {.budget = said.budget};
  end_ = std::max(end_, target + 1);
}

}  // namespace matchrdma
