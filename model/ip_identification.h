#pragma once
#include <cstdint>

#include "dataplane/base/bytes.h"

namespace matchrdma::model {

/// Numbers a sound RoCE frame as the IP stack of its sender would: header checksum and ICRC become right for
/// it. IPv6 has no such field and stays as it is.
void stamp_identification(MutableBytes frame, uint16_t identification);

}  // namespace matchrdma::model
