#include <algorithm>
#include <limits>

#include "pcap/capture_format.h"

namespace matchrdma {
namespace {

constexpr uint32_t kSectionHeader = 0x0a0d0d0a;  // reads the same in both byte orders
constexpr uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr uint32_t kInterfaceDescription = 1, kObsoletePacket = 2, kSimplePacket = 3, kEnhancedPacket = 6;
constexpr uint16_t kEndOfOptions = 0, kTsResolution = 9, kTsOffset = 14;

constexpr uint32_t kBlockOverhead = 12;                // type, length in front, length behind
constexpr uint32_t kMaxBlock = 2 * kMaxCapturedBytes;  // a packet and as much again for its options
constexpr size_t kMaxInterfaces = 4096;                // 16 bytes each: 64 KiB for a hostile file
static_assert(kMaxBlock <= ByteSource::kMaxPeek);

constexpr uint32_t padded(uint32_t n) { return (n + 3) & ~uint32_t{3}; }

}  // namespace

bool Pcapng::recognises(const uint8_t* magic) { return load_be32(magic) == kSectionHeader; }

bool Pcapng::section_header(CaptureCursor& c) {
  constexpr size_t kFixed = 24;
  const Bytes h = c.source.peek(kFixed);
  if (h.size() < kFixed) return c.cut(false, h.size(), kFixed);
  const uint8_t* p = h.data();
  if (load_be32(p + 8) == kByteOrderMagic) {
    order_.big = true;
  } else if (load_le32(p + 8) == kByteOrderMagic) {
    order_.big = false;
  } else {
    return c.fail("a section header has byte-order magic " + hex32(load_be32(p + 8)) + ", not 0x1a2b3c4d");
  }
  const uint16_t major = order_.u16(p + 12);
  if (major != 1) {
    return c.fail("pcapng version " + std::to_string(major) + "." + std::to_string(order_.u16(p + 14)) +
                      ", and only version 1 is read",
                  "convert it: editcap -F nsecpcap IN OUT");
  }
  const uint32_t length = order_.u32(p + 4);
  if (length < kFixed + 4 || length % 4 != 0) {
    return c.fail("a section header claims a length of " + std::to_string(length) + " bytes");
  }
  interfaces_.clear();
  return skip_block(c, length);
}

bool Pcapng::skip_block(CaptureCursor& c, uint32_t length) {
  const uint64_t skipped = c.source.skip(length - 4);
  const Bytes tail = c.source.peek(4);
  if (tail.size() < 4) return c.cut(false, skipped + tail.size(), length);
  const uint32_t again = order_.u32(tail.data());
  if (again != length) {
    return c.fail("a block of " + std::to_string(length) + " bytes ends with the length " +
                  std::to_string(again));
  }
  c.source.advance(4);
  return true;
}

bool Pcapng::take_block(CaptureCursor& c, bool packet, uint32_t length, Bytes& block) {
  if (length > kMaxBlock) {
    return c.fail("a block claims " + std::to_string(length) + " bytes, and at most " +
                  std::to_string(kMaxBlock) + " are possible");
  }
  block = c.source.peek(length);
  if (block.size() < length) return c.cut(packet, block.size(), length);
  const uint32_t again = order_.u32(block.data() + length - 4);
  if (again != length) {
    return c.fail("a block of " + std::to_string(length) + " bytes ends with the length " +
                  std::to_string(again));
  }
  return true;
}

bool Pcapng::next(CaptureCursor& c, CapturedPacket& out) {
  for (;;) {
    const Bytes head = c.source.peek(8);
    if (head.empty()) return c.end();
    if (head.size() < 8) return c.cut(false, head.size(), 8);
    const uint32_t type = order_.u32(head.data());
    if (type == kSectionHeader) {
      if (!section_header(c)) return false;
      continue;
    }
    const uint32_t length = order_.u32(head.data() + 4);
    if (length < kBlockOverhead || length % 4 != 0) {
      return c.fail("a block of type " + hex32(type) + " claims a length of " + std::to_string(length) +
                    " bytes (12 or more and a multiple of 4 are possible)");
    }
    const bool packet = type == kEnhancedPacket || type == kSimplePacket || type == kObsoletePacket;
    if (!packet && type != kInterfaceDescription) {
      if (!skip_block(c, length)) return false;
      continue;
    }
    Bytes block;
    if (!take_block(c, packet, length, block)) return false;
    const bool good = type == kInterfaceDescription ? interface_block(c, block)
                      : type == kSimplePacket       ? simple_packet(c, block, out)
                                                    : timed_packet(c, block, type == kObsoletePacket, out);
    if (!good) return false;
    c.source.advance(length);
    if (packet) return true;
  }
}

bool Pcapng::interface_block(CaptureCursor& c, Bytes block) {
  constexpr size_t kFixed = 16;
  if (block.size() < kFixed + 4) {
    return c.fail("an interface block has " + std::to_string(block.size()) +
                  " bytes, and at least 20 are needed");
  }
  if (interfaces_.size() == kMaxInterfaces) {
    return c.fail("more than " + std::to_string(kMaxInterfaces) + " interfaces in one section");
  }
  Interface i;
  i.link_type = order_.u16(block.data() + 8);
  i.snap_length = order_.u32(block.data() + 12);
  if (!interface_options(c, block.subspan(kFixed, block.size() - kFixed - 4), i)) return false;
  interfaces_.push_back(i);
  return true;
}

bool Pcapng::interface_options(CaptureCursor& c, Bytes options, Interface& i) {
  while (options.size() >= 4) {
    const uint16_t code = order_.u16(options.data());
    const uint16_t length = order_.u16(options.data() + 2);
    if (code == kEndOfOptions) return true;
    options = options.subspan(4);
    if (padded(length) > options.size()) {
      return c.fail("option " + std::to_string(code) + " of interface " + std::to_string(interfaces_.size()) +
                    " claims " + std::to_string(length) + " bytes where " + std::to_string(options.size()) +
                    " are left");
    }
    const bool resolution = code == kTsResolution, offset = code == kTsOffset;
    if ((resolution && length != 1) || (offset && length != 8)) {
      return c.fail(std::string(resolution ? "if_tsresol" : "if_tsoffset") + " of interface " +
                    std::to_string(interfaces_.size()) + " has " + std::to_string(length) + " bytes, not " +
                    (resolution ? "1" : "8"));
    }
    if (resolution) i.resolution = options[0];
    if (offset) i.offset_seconds = static_cast<int64_t>(order_.u64(options.data()));
    options = options.subspan(padded(length));
  }
  return true;
}

bool Pcapng::check_interface(CaptureCursor& c, uint32_t id) const {
  if (id >= interfaces_.size()) {
    return c.fail("the packet names interface " + std::to_string(id) + ", and its section describes " +
                  std::to_string(interfaces_.size()));
  }
  const uint16_t link_type = interfaces_[id].link_type;
  return link_type == kLinkTypeEthernet || fail_link_type(c, "interface " + std::to_string(id), link_type);
}

bool Pcapng::to_instant(const Interface& i, uint64_t ticks, Instant& out) {
  constexpr __int128 kNs = 1'000'000'000;
  const int exponent = i.resolution & 0x7f;
  __int128 ns = ticks;
  if ((i.resolution & 0x80) != 0) {
    ns = (ns * kNs) >> exponent;  // at most 2^94
  } else {
    for (int e = exponent; e < 9; ++e) ns *= 10;  // at most 2^94
    for (int e = 9; e < exponent; ++e) ns /= 10;
  }
  ns += __int128{i.offset_seconds} * kNs;
  if (ns < std::numeric_limits<int64_t>::min() || ns > std::numeric_limits<int64_t>::max()) return false;
  out = Instant{static_cast<int64_t>(ns)};
  return true;
}

bool Pcapng::timed_packet(CaptureCursor& c, Bytes block, bool obsolete, CapturedPacket& out) {
  constexpr uint32_t kFixed = 28;
  if (block.size() < kFixed + 4) {
    return c.fail("a packet block has " + std::to_string(block.size()) + " bytes, and at least 32 are needed");
  }
  const uint8_t* p = block.data();
  const uint32_t id = obsolete ? order_.u16(p + 8) : order_.u32(p + 8);
  if (!check_interface(c, id)) return false;
  const uint32_t captured = order_.u32(p + 20);
  const size_t room = block.size() - kFixed - 4;
  if (captured > kMaxCapturedBytes || padded(captured) > room) {
    return c.fail("the packet claims " + std::to_string(captured) +
                  " captured bytes where its block has room for " +
                  std::to_string(std::min<size_t>(room, kMaxCapturedBytes)));
  }
  const uint64_t ticks = (uint64_t{order_.u32(p + 12)} << 32) | order_.u32(p + 16);
  Instant time;
  if (!to_instant(interfaces_[id], ticks, time)) {
    return c.fail("the time of " + std::to_string(ticks) + " ticks on interface " + std::to_string(id) +
                  " lies outside the years 1677 to 2262");
  }
  last_time_ = time;
  return c.yield(out, time, block.subspan(kFixed, captured), order_.u32(p + 24));
}

bool Pcapng::simple_packet(CaptureCursor& c, Bytes block, CapturedPacket& out) {
  constexpr uint32_t kFixed = 12;
  if (block.size() < kFixed + 4) {
    return c.fail("a simple packet block has " + std::to_string(block.size()) +
                  " bytes, and at least 16 are needed");
  }
  if (!check_interface(c, 0)) return false;
  const uint32_t original = order_.u32(block.data() + 8);
  const uint32_t snap = interfaces_[0].snap_length;
  const uint32_t captured = snap == 0 ? original : std::min(original, snap);
  const size_t room = block.size() - kFixed - 4;
  if (captured > kMaxCapturedBytes || padded(captured) > room) {
    return c.fail("the packet claims " + std::to_string(captured) +
                  " captured bytes where its block has room for " +
                  std::to_string(std::min<size_t>(room, kMaxCapturedBytes)));
  }
  return c.yield(out, last_time_, block.subspan(kFixed, captured), original);
}

}  // namespace matchrdma
