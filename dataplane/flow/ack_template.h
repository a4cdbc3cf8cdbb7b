#pragma once
// How the ACKs of one flow look: learned from the last real ACK, before that mirrored from the request
// (PROTOCOL 4).
#include <cstdint>

#include "dataplane/wire/frame_builder.h"

namespace matchrdma {

struct AckTemplate {
  bool known = false;
  L2L3 net;
  uint16_t pkey = 0xffff;
  bool mig_req = true;
  bool operator==(const AckTemplate&) const = default;
  /// From a real ACK of the receiver.
  static AckTemplate from_ack(const Frame& ack) {
    return {true, L2L3::from(ack, false), ack.pkey(), ack.mig_req()};
  }
  /// From a request: addresses swapped, hop limit 64.
  static AckTemplate mirrored(const Frame& request) {
    AckTemplate t{true, L2L3::from(request, true), request.pkey(), request.mig_req()};
    t.net.hop_limit = 64;
    return t;
  }
};

}  // namespace matchrdma
