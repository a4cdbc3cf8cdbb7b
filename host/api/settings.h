#pragma once
// Options of C programs, read and checked.
#include <algorithm>
#include <cstring>
#include <string>

#include "host/api/matchrdma_host.h"
#include "host/xfer/transfer.h"

namespace matchrdma::host {

/// Of a caller whose structure may be shorter or longer than ours: what it does not have is 0, and what we do
/// not have must be.
template <class T>
Result<T> options_of(const T* given) {
  T o{};
  if (given != nullptr) {
    if (given->size < sizeof given->size) return Error{"the options have no size: begin with MRDMA_OPTIONS()"};
    std::memcpy(&o, given, std::min(given->size, sizeof o));
    const auto* const bytes = reinterpret_cast<const uint8_t*>(given);
    if (given->size > sizeof o &&
        std::any_of(bytes + sizeof o, bytes + given->size, [](uint8_t b) { return b != 0; }))
      return Error{"an option is set that this release of the library does not have: install a newer one"};
  }
  o.size = sizeof o;
  return o;
}

/// An error names the option.
Result<XferSettings> read_settings(const mrdma_options& o);
Result<void> check_model(const mrdma_model_options& o);

/// The first option in which two ends of cells or channels differ, as a sentence; empty: none.
std::string difference(const TransferOffer& here, const TransferOffer& there);

}  // namespace matchrdma::host
