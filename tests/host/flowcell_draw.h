#pragma once
// Random settings of a flowcell rig.
#include "tests/host/flowcell_rig.h"

namespace matchrdma::host::test {

FlowcellRigSettings draw_flowcell(uint64_t seed);

}  // namespace matchrdma::host::test
