#include "pcap/capture_clock.h"

#include <string>

namespace matchrdma {
namespace {

std::string seconds(Instant t) {
  const std::string ns = std::to_string(t.ns % 1'000'000'000);
  return std::to_string(t.ns / 1'000'000'000) + "." + std::string(9 - ns.size(), '0') + ns;
}

}  // namespace

Result<Instant> CaptureClock::steady(const CapturedPacket& p) {
  if (last_.is_never()) last_ = p.time;
  const Duration step = p.time - last_;
  if (step > kAbsurd || step < Duration{} - kAbsurd)
    return Error{
        "packet " + std::to_string(p.index + 1) + " is stamped " + seconds(p.time) + " s, the one before it " +
        seconds(last_) +
        " s: more than a year lies between them, so the times cannot be trusted; mend them (editcap -t "
        "shifts, editcap -r cuts packets out) and replay again"};
  if (step < Duration{}) ++backwards_;
  if (step > kLongestPause) {
    skipped_ = skipped_ + (step - kLongestPause);
    ++shortened_;
  }
  const bool set_back = step < Duration{} - kDisorder;
  if (set_back) skipped_ = skipped_ + step;
  last_ = set_back ? p.time : later(last_, p.time);
  return p.time - skipped_;
}

}  // namespace matchrdma
