#include "host/xfer/transfer.h"

namespace matchrdma::host {

bool over_rc(XferScheme s) {
  return s == XferScheme::kReliable || s == XferScheme::kCells || s == XferScheme::kChannel;
}

Result<SettledTransfer> settle(const XferSettings& s, bool uc_here, bool uc_there) {
  const bool both = uc_here && uc_there;
  const std::string lacks =
      std::string("the NIC of ") + (uc_here ? "the other end" : "this end") + " has no UC";
  SettledTransfer t{s, {}};
  if (s.transport == XferTransport::kUc) {
    if (over_rc(s.scheme))
      return Error{
          "transport uc with scheme rc, cells or channel: those are RC's own; choose transport auto, or "
          "another scheme"};
    if (!both) return Error{"transport uc: " + lacks + "; choose transport auto or rc"};
  }
  if (over_rc(s.scheme) || (s.transport != XferTransport::kRc && both)) return t;
  t.settings.scheme = XferScheme::kReliable;
  t.settings.hadamard.reset();
  t.instead = (s.transport == XferTransport::kRc ? "over RC, as was asked for" : lacks) +
              ": the NICs repair, and what they have repaired needs no code";
  return t;
}

}  // namespace matchrdma::host
