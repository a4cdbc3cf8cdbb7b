#include "host/channel/channel_frame.h"

namespace matchrdma::host {
namespace {

void store_pair(uint8_t* p, uint64_t v) {
  store_be32(p, static_cast<uint32_t>(v >> 32));
  store_be32(p + 4, static_cast<uint32_t>(v));
}

}  // namespace

void encode_frame(const ChannelFrame& f, MutableBytes out) {
  MRDMA_CHECK(out.size() >= kChannelFrameBytes);
  uint8_t* const p = out.data();
  store_be32(p, static_cast<uint32_t>(f.kind) << 24);
  store_be32(p + 4, f.epoch);
  store_be32(p + 8, f.stream);
  store_pair(p + 12, f.message);
  store_pair(p + 20, f.length);
  store_pair(p + 28, f.remote);
  store_be32(p + 36, f.rkey);
}

std::optional<ChannelFrame> decode_frame(Bytes bytes) {
  if (bytes.size() < kChannelFrameBytes) return {};
  const uint8_t* const p = bytes.data();
  if (p[0] < static_cast<uint8_t>(ChannelFrame::Kind::kOpen) ||
      p[0] > static_cast<uint8_t>(ChannelFrame::Kind::kPipeTaken) || load_be24(p + 1) != 0)
    return {};
  return ChannelFrame{static_cast<ChannelFrame::Kind>(p[0]),
                      load_be32(p + 4),
                      load_be32(p + 8),
                      load_be64(p + 12),
                      load_be64(p + 20),
                      load_be64(p + 28),
                      load_be32(p + 36)};
}

}  // namespace matchrdma::host
