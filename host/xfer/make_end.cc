#include "host/xfer/cell_messages.h"
#include "host/xfer/channel_messages.h"
#include "host/xfer/sdr_messages.h"
#include "host/xfer/transfer.h"

namespace matchrdma::host {
namespace {

template <class End, class Options>
Result<std::unique_ptr<MessageEnd>> made(const Result<Options>& options, Nic& nic, Instant now) {
  if (!options) return Error{options.error()};
  auto end = End::make(*options, nic, now);
  if (!end) return Error{end.error()};
  return std::unique_ptr<MessageEnd>(std::move(*end));
}

}  // namespace

Result<std::unique_ptr<MessageEnd>> make_end(const XferSettings& s, uint32_t epoch, XferSide side, Nic& nic,
                                             Instant now) {
  if (s.scheme == XferScheme::kChannel) return made<ChannelMessages>(channel_options(s, side), nic, now);
  if (s.scheme == XferScheme::kCells) return made<CellMessages>(flowcell_options(s), nic, now);
  return made<SdrMessages>(sdr_options(s, epoch), nic, now);
}

Result<ImmediateLayout> transfer_layout(const XferSettings& s, uint32_t epoch) {
  if (s.scheme == XferScheme::kCells) {
    const auto o = flowcell_options(s);
    if (!o) return Error{o.error()};
    return o->shape.layout;
  }
  if (s.scheme == XferScheme::kChannel) {  // it has no immediates
    const auto o = channel_options(s, XferSide::kSends);
    if (!o) return Error{o.error()};
    return ImmediateLayout{};
  }
  const auto o = sdr_options(s, epoch);
  if (!o) return Error{o.error()};
  return o->shape.layout;
}

}  // namespace matchrdma::host
