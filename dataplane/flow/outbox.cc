#include "dataplane/flow/outbox.h"

namespace matchrdma {

const char* cause_key(Cause c) {
  static constexpr const char* kKeys[] = {
#define MATCHRDMA_X(id, key) key,
      MATCHRDMA_CAUSES(MATCHRDMA_X)
#undef MATCHRDMA_X
  };
  return kKeys[static_cast<size_t>(c)];
}

}  // namespace matchrdma
