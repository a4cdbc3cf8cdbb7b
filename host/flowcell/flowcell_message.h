#pragma once
// One message that is being sent in cells. For the .cc files of FlowcellSender alone.
#include <algorithm>
#include <optional>
#include <vector>

#include "host/flowcell/flowcell_sender.h"

namespace matchrdma::host {

struct FlowcellSender::Message {
  struct Cell {
    bool confirmed = false, queued = false;
    uint32_t copies = 0;  ///< that paths carry, or that a NIC still reads
  };
  uint64_t number = 0;
  Bytes data;
  uint32_t lkey = 0;
  std::optional<CellGrant> grant;
  uint32_t cell_bytes = 0;
  std::vector<Cell> cells;
  uint32_t next_new = 0, confirmed = 0;
  uint64_t copies = 0;  ///< of all cells
  Bytes cell(uint32_t i) const {
    const uint64_t at = uint64_t{i} * cell_bytes;
    return data.subspan(at, std::min<uint64_t>(cell_bytes, data.size() - at));
  }
};

}  // namespace matchrdma::host
