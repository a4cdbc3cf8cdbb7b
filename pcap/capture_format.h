#pragma once
// The two capture formats behind CaptureReader, and what they share.
// pcap: draft-ietf-opsawg-pcap. pcapng: draft-ietf-opsawg-pcapng.
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/base/bytes.h"
#include "dataplane/base/time.h"
#include "pcap/byte_source.h"

namespace matchrdma {

/// Longest packet that is read or written: the largest snap length libpcap knows. A record that claims more is
/// damage, not data.
inline constexpr uint32_t kMaxCapturedBytes = 256 * 1024;
inline constexpr uint16_t kLinkTypeEthernet = 1;

/// One packet of a capture. `data` views the reader's buffer.
struct CapturedPacket {
  Instant time;                  ///< nanoseconds since 1970-01-01
  Bytes data;                    ///< what was captured
  uint32_t original_length = 0;  ///< length on the wire; larger than data.size() when a snap length cut it
  uint64_t index = 0;            ///< 0, 1, 2 ... in file order
};

enum class ReadStatus : uint8_t {
  kPacket,
  kEnd,
  kCutOff,  ///< the file ends inside a packet or block: all that was yielded before is good
  kError,   ///< the file is damaged or cannot be read
};

/// Where the reader stands, and how it complains. The members that return bool say "go on".
struct CaptureCursor {
  ByteSource source;
  std::string name;
  uint64_t packets = 0;  ///< yielded so far; people count from 1, so the one being read is packets + 1
  ReadStatus status = ReadStatus::kPacket;
  std::string message = {};

  /// kError: "NAME: packet N at byte OFFSET: found; remedy" (or "NAME: file header: ..."). Returns false.
  bool fail(const std::string& found,
            const std::string& remedy = "the file is damaged: capture or copy it again");
  /// kCutOff: `left` of `needed` bytes stand where a packet (or another block) begins; kError when it was the
  /// read that failed. Returns false.
  bool cut(bool in_packet, size_t left, uint64_t needed);
  /// kEnd at the end of the file; kError when it was the read that failed. Returns false.
  bool end();
  /// Yields `data` as the next packet. Returns true.
  bool yield(CapturedPacket& out, Instant time, Bytes data, uint32_t original_length);

 private:
  bool read_failed();
};

/// Integers in the byte order of the file.
struct FileOrder {
  bool big = false;
  uint16_t u16(const uint8_t* p) const;
  uint32_t u32(const uint8_t* p) const;
  uint64_t u64(const uint8_t* p) const;
};

/// "0x0a0d0d0a" for messages.
std::string hex32(uint32_t v);
/// Complains of a link type that is not Ethernet; `whose` is "the file" or "interface 2". Returns false.
bool fail_link_type(CaptureCursor& c, const std::string& whose, uint16_t link_type);

/// Classic pcap: a file header, then records of one link type and one clock resolution.
class ClassicPcap {
 public:
  /// True when `magic`, the first 4 bytes of a file, belongs to this format.
  static bool recognises(const uint8_t* magic);
  bool read_header(CaptureCursor& c);
  /// True: a packet. False: see c.status.
  bool next(CaptureCursor& c, CapturedPacket& out);

 private:
  FileOrder order_;
  bool nanoseconds_ = false;
};

/// pcapng: sections of blocks; every section has its own byte order and interfaces.
class Pcapng {
 public:
  static bool recognises(const uint8_t* magic);
  /// Reads the first section header.
  bool read_header(CaptureCursor& c) { return section_header(c); }
  bool next(CaptureCursor& c, CapturedPacket& out);

 private:
  struct Interface {
    uint16_t link_type = 0;
    uint32_t snap_length = 0;
    uint8_t resolution = 6;  // if_tsresol: 10^-n, or 2^-n with the top bit set
    int64_t offset_seconds = 0;
  };

  bool section_header(CaptureCursor& c);
  bool skip_block(CaptureCursor& c, uint32_t length);
  bool take_block(CaptureCursor& c, bool packet, uint32_t length, Bytes& block);
  bool interface_block(CaptureCursor& c, Bytes block);
  bool interface_options(CaptureCursor& c, Bytes options, Interface& i);
  bool timed_packet(CaptureCursor& c, Bytes block, bool obsolete, CapturedPacket& out);
  bool simple_packet(CaptureCursor& c, Bytes block, CapturedPacket& out);
  bool check_interface(CaptureCursor& c, uint32_t id) const;
  static bool to_instant(const Interface& i, uint64_t ticks, Instant& out);

  FileOrder order_;
  std::vector<Interface> interfaces_;
  Instant last_time_;  // a simple packet block has no time: it gets that of the packet before it
};

}  // namespace matchrdma
