#pragma once
// Which transfers the schemes that were asked for come to, with the NICs that there are.
#include <string>
#include <vector>

#include "host/xfer/transfer.h"

namespace matchrdma {

struct PlannedTransfer {
  host::XferSettings settings;
  std::vector<host::XferScheme>
      in_place_of;  ///< asked for, and not possible, or not wanted, over this transport
  std::string why;  ///< then
  /// One line for people; empty where the scheme is what was asked for.
  std::string note() const;
};

/// In order, each once. An error names the option that does not go with the NICs.
Result<std::vector<PlannedTransfer>> plan_transfers(const host::XferSettings& settings,
                                                    const std::vector<host::XferScheme>& schemes, bool uc_here,
                                                    bool uc_there);

}  // namespace matchrdma
