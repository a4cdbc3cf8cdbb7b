#include "dataplane/wire/pause_frame.h"

#include "dataplane/wire/writer.h"

namespace matchrdma {
namespace {

constexpr uint32_t kFrameBytes = 60;
constexpr std::array<uint8_t, 6> kPauseAddress{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};  // bridges end it
constexpr uint16_t kPfcOpcode = 0x0101;
constexpr int kPriorities = 8;

}  // namespace

PacketRef build_pause_frame(const std::array<uint8_t, 6>& source, uint8_t priorities, uint16_t quanta,
                            PacketPool& pool) {
  PacketRef p = pool.alloc(kFrameBytes);
  if (!p) return p;
  Writer w({p->data, p->size});
  w.bytes(kPauseAddress.data(), kPauseAddress.size());
  w.bytes(source.data(), source.size());
  w.u16(kEtherTypePause);
  w.u16(kPfcOpcode);
  w.u16(priorities);
  for (int i = 0; i < kPriorities; ++i) w.u16((priorities >> i & 1) != 0 ? quanta : 0);
  w.zeros(w.left());
  return p;
}

}  // namespace matchrdma
