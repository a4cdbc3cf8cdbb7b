#pragma once
// What the estimator's host hands to the shard that saw the receiver.
#include "dataplane/flow/message.h"

namespace matchrdma {

struct ToldBudget {
  Budget budget;         ///< for the peer
  Duration least_delay;  ///< what the estimator holds for the receiver's least ACK delay; 0: not known
};

}  // namespace matchrdma
