#include "proxy/xfer_plan.h"

#include <algorithm>

#include "proxy/xfer_options.h"

namespace matchrdma {

std::string PlannedTransfer::note() const {
  if (in_place_of.empty()) return {};
  std::string names;
  for (const host::XferScheme s : in_place_of)
    names += (names.empty() ? "" : ", ") + std::string(scheme_name(s));
  return std::string(scheme_name(settings.scheme)) + " in place of " + names + ": " + why;
}

Result<std::vector<PlannedTransfer>> plan_transfers(const host::XferSettings& settings,
                                                    const std::vector<host::XferScheme>& schemes, bool uc_here,
                                                    bool uc_there) {
  std::vector<PlannedTransfer> all;
  for (const host::XferScheme scheme : schemes) {
    host::XferSettings s = settings;
    s.scheme = scheme;
    auto settled = host::settle(s, uc_here, uc_there);
    if (!settled) return Error{settled.error()};
    const auto same = [&](const PlannedTransfer& p) { return p.settings.scheme == settled->settings.scheme; };
    auto at = std::find_if(all.begin(), all.end(), same);
    if (at == all.end()) at = all.insert(all.end(), {settled->settings, {}, {}});
    if (settled->instead.empty()) continue;
    at->in_place_of.push_back(scheme);
    at->why = settled->instead;
  }
  return all;
}

}  // namespace matchrdma
