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

template <class Options>
Result<ImmediateLayout> layout_of(const Result<Options>& options) {
  if (!options) return Error{options.error()};
  return options->shape.layout;
}

}  // namespace

Result<std::unique_ptr<MessageEnd>> make_end(const XferSettings& s, uint32_t epoch, XferSide side, Nic& nic,
                                             Instant now) {
  if (s.scheme == XferScheme::kChannel) return made<ChannelMessages>(channel_options(s, side), nic, now);
  if (s.scheme == XferScheme::kCells) return made<CellMessages>(flowcell_options(s), nic, now);
  return made<SdrMessages>(sdr_options(s, epoch), nic, now);
}

Result<ImmediateLayout> transfer_layout(const XferSettings& s, uint32_t epoch) {
  if (s.scheme == XferScheme::kCells) return layout_of(flowcell_options(s));
  if (s.scheme != XferScheme::kChannel) return layout_of(sdr_options(s, epoch));
  const auto o = channel_options(s, XferSide::kSends);
  if (!o) return Error{o.error()};
  return ImmediateLayout{};  // it has no immediates
}

}  // namespace matchrdma::host
