#include "pcap/capture_format.h"

namespace matchrdma {
namespace {

constexpr uint32_t kMagicMicroseconds = 0xa1b2c3d4;
constexpr uint32_t kMagicNanoseconds = 0xa1b23c4d;
constexpr size_t kFileHeader = 24;
constexpr size_t kRecordHeader = 16;

bool known(uint32_t magic) { return magic == kMagicMicroseconds || magic == kMagicNanoseconds; }

}  // namespace

bool ClassicPcap::recognises(const uint8_t* magic) {
  return known(load_le32(magic)) || known(load_be32(magic));
}

bool ClassicPcap::read_header(CaptureCursor& c) {
  const Bytes h = c.source.peek(kFileHeader);
  if (h.size() < kFileHeader) return c.cut(false, h.size(), kFileHeader);
  order_.big = known(load_be32(h.data()));
  nanoseconds_ = order_.u32(h.data()) == kMagicNanoseconds;
  const uint16_t major = order_.u16(h.data() + 4);
  if (major != 2) {
    return c.fail("pcap version " + std::to_string(major) + "." + std::to_string(order_.u16(h.data() + 6)) +
                      " in the file header, and only version 2 is read",
                  "convert it: editcap -F nsecpcap IN OUT");
  }
  // The upper half of the field holds the length of the frame check sequence: frames may carry it behind the IP
  // packet, where nobody looks.
  const auto link_type = static_cast<uint16_t>(order_.u32(h.data() + 20) & 0xffff);
  if (link_type != kLinkTypeEthernet) return fail_link_type(c, "the file", link_type);
  c.source.advance(kFileHeader);
  return true;
}

bool ClassicPcap::next(CaptureCursor& c, CapturedPacket& out) {
  const Bytes h = c.source.peek(kRecordHeader);
  if (h.empty()) return c.end();
  if (h.size() < kRecordHeader) return c.cut(true, h.size(), kRecordHeader);
  const uint32_t captured = order_.u32(h.data() + 8);
  const uint32_t original = order_.u32(h.data() + 12);
  if (captured > kMaxCapturedBytes) {
    return c.fail("the record claims " + std::to_string(captured) + " captured bytes, and at most " +
                  std::to_string(kMaxCapturedBytes) + " are possible");
  }
  // A fraction above one second is carried over, as tcpdump and Wireshark do.
  const int64_t fraction = int64_t{order_.u32(h.data() + 4)} * (nanoseconds_ ? 1 : 1000);
  const Instant time{int64_t{order_.u32(h.data())} * 1'000'000'000 + fraction};
  const size_t need = kRecordHeader + captured;
  const Bytes record = c.source.peek(need);
  if (record.size() < need) return c.cut(true, record.size(), need);
  c.source.advance(need);
  return c.yield(out, time, record.subspan(kRecordHeader), original);
}

}  // namespace matchrdma
