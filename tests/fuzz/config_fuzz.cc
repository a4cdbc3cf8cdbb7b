// Any text into the configuration: it is read or every error has a place; what is read is printed, and read the
// same again.
#include <algorithm>
#include <string>

#include "config/load.h"
#include "config/match.h"
#include "config/print.h"
#include "config/reload.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace matchrdma;
  constexpr size_t kMost =
      16 << 10;  // the bound of the reader is tested elsewhere; time is better spent on short texts
  const std::string text(reinterpret_cast<const char*>(data), std::min(size, kMost));
  const ConfigResult r = parse_config(text, "fuzz");
  MRDMA_CHECK(r.ok() == r.errors.empty());
  for (const ConfigError& e : r.errors) MRDMA_CHECK(e.line >= 1 && e.column >= 1 && !to_text(e).empty());
  if (!r.ok()) return 0;
  const ConfigResult again = parse_config(print_config(*r.config), "printed");
  MRDMA_CHECK(again.ok() && show_config(*again.config) == show_config(*r.config));
  MRDMA_CHECK(restart_needed(*r.config, *again.config).empty());
  (void)completion_of(*r.config, FlowTraits{}, false);
  (void)budget_of(r.config->spans.front(), GroupKey{});
  return 0;
}
