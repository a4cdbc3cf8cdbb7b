#include "proxy/code_option.h"

#include "config/units.h"
#include "host/code/erasure.h"
#include "host/planner/line.h"

namespace matchrdma {

Result<CodeOption> parse_code(const std::string& text) {
  constexpr uint32_t kMost = host::ErasureCode::kMaxBlocks;
  static_assert(kMost == planner::kMostSymbols);
  const std::string remedy =
      "write data and parity of a codeword like 32,8, " + std::to_string(kMost) + " together at most";
  const auto wrong = [&](const std::string& why) { return Error{"--code " + text + ": " + why + remedy}; };
  const size_t comma = text.find(',');
  if (comma == std::string::npos) return wrong("");
  const auto k = parse_whole(text.substr(0, comma), 1, kMost - 1, remedy);
  const auto m = parse_whole(text.substr(comma + 1), 1, kMost - 1, remedy);
  if (!k || !m) return wrong("");
  if (*k + *m > kMost) return wrong(std::to_string(*k + *m) + " together; ");
  return CodeOption{static_cast<uint32_t>(*k), static_cast<uint32_t>(*m)};
}

}  // namespace matchrdma
