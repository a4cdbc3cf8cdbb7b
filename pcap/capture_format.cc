#include "pcap/capture_format.h"

#include <array>
#include <utility>

namespace matchrdma {

bool CaptureCursor::fail(const std::string& found, const std::string& remedy) {
  status = ReadStatus::kError;
  const uint64_t at = source.offset();
  const std::string where =
      at == 0 ? "file header" : "packet " + std::to_string(packets + 1) + " at byte " + std::to_string(at);
  message = name + ": " + where + ": " + found + "; " + remedy;
  return false;
}

bool CaptureCursor::read_failed() {
  if (source.read_error().empty()) return false;
  fail("read failed: " + source.read_error(), "check the disk or the pipe");
  return true;
}

bool CaptureCursor::cut(bool in_packet, size_t left, uint64_t needed) {
  if (read_failed()) return false;
  status = ReadStatus::kCutOff;
  const std::string before = std::to_string(packets);
  message = name + ": file ends inside " +
            (in_packet ? "packet " + std::to_string(packets + 1) : "a block behind packet " + before) +
            " (byte " + std::to_string(source.offset()) + ": " + std::to_string(left) + " of " +
            std::to_string(needed) + " bytes are there); the " + before + " packets before it were read";
  return false;
}

bool CaptureCursor::end() {
  if (!read_failed()) status = ReadStatus::kEnd;
  return false;
}

bool CaptureCursor::yield(CapturedPacket& out, Instant time, Bytes data, uint32_t original_length) {
  out = CapturedPacket{time, data, original_length, packets};
  ++packets;
  return true;
}

uint16_t FileOrder::u16(const uint8_t* p) const {
  return big ? load_be16(p) : static_cast<uint16_t>((p[1] << 8) | p[0]);
}

uint32_t FileOrder::u32(const uint8_t* p) const { return big ? load_be32(p) : load_le32(p); }

uint64_t FileOrder::u64(const uint8_t* p) const {
  return big ? load_be64(p) : (uint64_t{load_le32(p + 4)} << 32) | load_le32(p);
}

std::string hex32(uint32_t v) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string s = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) s += kDigits[(v >> shift) & 15];
  return s;
}

bool fail_link_type(CaptureCursor& c, const std::string& whose, uint16_t link_type) {
  constexpr std::array<std::pair<uint16_t, const char*>, 8> kNames{{{0, "BSD loopback"},
                                                                    {101, "raw IP"},
                                                                    {105, "Wi-Fi"},
                                                                    {113, "Linux cooked, device 'any'"},
                                                                    {127, "Wi-Fi radiotap"},
                                                                    {189, "USB"},
                                                                    {247, "InfiniBand"},
                                                                    {276, "Linux cooked v2, device 'any'"}}};
  std::string text = std::to_string(link_type);
  for (const auto& [type, name] : kNames) {
    if (type == link_type) text += std::string(" (") + name + ")";
  }
  return c.fail(whose + " has link type " + text + ", and only Ethernet (1) is read",
                "capture on one Ethernet device (tcpdump -i eth0), not on 'any'");
}

}  // namespace matchrdma
