#include "dataplane/source/credits.h"

namespace matchrdma {
namespace {

constexpr int32_t kCredits[31] = {0,    1,    2,    3,    4,    6,     8,     12,    16,   24,   32,
                                  48,   64,   96,   128,  192,  256,   384,   512,   768,  1024, 1536,
                                  2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

}  // namespace

int32_t credits_of(uint8_t code) { return code >= 31 ? -1 : kCredits[code]; }

uint8_t code_of(int64_t count) {
  uint8_t code = 0;
  while (code < 30 && kCredits[code + 1] <= count) ++code;
  return code;
}

uint8_t ack_credits(const SourceFlow& f, int64_t msn) {
  // A flow that uses no credits never starts to, and one that uses them never stops: either would mislead the
  // sender's limit. What the receiver granted counts from its own MSN, so messages we acknowledged ahead use it
  // up.
  if (!f.credits_used) return 31;
  const int64_t real = f.msn_real < 0 ? f.msn_at_base : f.msn_real;
  const int32_t granted = f.msn_real < 0 ? 0 : credits_of(f.credit_code);
  return code_of(granted - (msn - real));
}

}  // namespace matchrdma
