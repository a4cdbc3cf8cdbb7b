#include <gtest/gtest.h>

#include "tests/tags/pair_rig.h"

namespace matchrdma::tags {
}  // namespace matchrdma::tags
