#include "tests/host/applications.h"

#include <algorithm>
#include <utility>

namespace matchrdma::host::test {
namespace {

constexpr uint8_t kReleased = 0xee;  // what the sending application writes into a buffer that it has back

}  // namespace

Applications::Applications(uint64_t seed, const TrafficSettings& settings, Prng& prng,
                           std::function<void(MutableBytes)> shape)
    : seed_(seed), settings_(settings), prng_(prng), shape_(std::move(shape)) {
  for (uint32_t m = 0; m < settings_.messages; ++m) {
    lengths_.push_back(static_cast<uint64_t>(prng_.between(static_cast<int64_t>(settings_.least_bytes),
                                                           static_cast<int64_t>(settings_.most_bytes))));
    sent_.push_back(content(m));
  }
  buffers_.resize(settings_.buffers);
  for (Buffer& b : buffers_) {
    b.bytes.resize(settings_.most_bytes);
    fill(b);
  }
}

std::vector<uint8_t> Applications::content(uint32_t message) const {
  Prng p(seed_ * 1'000'003 + message);
  std::vector<uint8_t> bytes(lengths_[message]);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(p.next());
  shape_(bytes);
  return bytes;
}

void Applications::fill(Buffer& b) {
  b.mark = static_cast<uint8_t>(prng_.below(256));
  std::fill(b.bytes.begin(), b.bytes.end(), b.mark);
}

void Applications::new_life() {
  posted_.clear();
  for (Buffer& b : buffers_) {
    if (b.owned) continue;
    b.owned = true;
    fill(b);
  }
  pending_.clear();
  for (uint32_t m = 0; m < settings_.messages; ++m)
    if (!done_.contains(m)) pending_.push_back(m);
}

MutableBytes Applications::offer() {
  if (posted_.size() >= pending_.size()) return {};
  const auto b = std::find_if(buffers_.begin(), buffers_.end(), [](const Buffer& each) { return each.owned; });
  if (b == buffers_.end()) return {};
  offered_ = static_cast<size_t>(b - buffers_.begin());
  return b->bytes;
}

void Applications::posted() {
  const Buffer& b = buffers_[offered_];
  if (std::any_of(b.bytes.begin(), b.bytes.end(), [&b](uint8_t v) { return v != b.mark; }))
    complain("a buffer that the application had was written to");
  buffers_[offered_].owned = false;
  posted_.push_back(offered_);
}

void Applications::received(uint64_t message, uint64_t length, const std::vector<uint8_t>& expected,
                            bool missing) {
  const uint32_t m = pending_[message];
  Buffer& b = buffers_[posted_[message]];
  incomplete_ += missing;
  if (length != expected.size() || !std::equal(expected.begin(), expected.end(), b.bytes.begin()))
    return complain("message " + std::to_string(m) + " has wrong bytes");
  if (!done_.insert(m).second) complain("message " + std::to_string(m) + " came twice");
  b.owned = true;
  fill(b);
}

void Applications::released(uint64_t message) {
  const uint32_t m = pending_[message];
  if (!done_.contains(m)) complain("message " + std::to_string(m) + " was released before the receiver had it");
  std::fill(sent_[m].begin(), sent_[m].end(), kReleased);
}

}  // namespace matchrdma::host::test
