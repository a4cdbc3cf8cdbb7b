#include "pcap/capture_reader.h"

namespace matchrdma {
namespace {

// What else people hand to a capture reader, and what helps.
std::string not_a_capture(uint32_t magic) {
  const std::string found = "starts with " + hex32(magic) + ", ";
  if (magic >> 16 == 0x1f8b) return found + "which is gzip; unpack it first: gunzip";
  if (magic == 0x28b52ffd) return found + "which is zstd; unpack it first: zstd -d";
  if (magic == 0xfd377a58) return found + "which is xz; unpack it first: xz -d";
  if (magic == 0x34cdb2a1 || magic == 0xa1b2cd34) {
    return found + "which is an old private pcap variant; convert it: editcap -F nsecpcap IN OUT";
  }
  return found + "which is neither pcap nor pcapng; name a capture as tcpdump, dumpcap or Wireshark write it";
}

}  // namespace

bool begins_as_capture(Bytes file) {
  return file.size() >= kCaptureMagicBytes &&
         (ClassicPcap::recognises(file.data()) || Pcapng::recognises(file.data()));
}

Result<CaptureReader> CaptureReader::open(const std::string& path) {
  auto source = ByteSource::open(path);
  if (!source) return Error{source.error()};
  return start(CaptureCursor{.source = std::move(*source), .name = path == "-" ? "(stdin)" : path});
}

Result<CaptureReader> CaptureReader::from_bytes(Bytes bytes, const std::string& name) {
  return start(CaptureCursor{.source = ByteSource::from_bytes(bytes), .name = name});
}

Result<CaptureReader> CaptureReader::start(CaptureCursor cursor) {
  CaptureReader r(std::move(cursor));
  CaptureCursor& c = r.cursor_;
  const Bytes magic = c.source.peek(kCaptureMagicBytes);
  if (!c.source.read_error().empty()) {
    return Error{c.name + ": read failed: " + c.source.read_error() + "; check the disk or the pipe"};
  }
  if (magic.empty()) return Error{c.name + ": is empty; a capture has a header of 24 bytes at least"};
  if (magic.size() < kCaptureMagicBytes) {
    return Error{c.name + ": has " + std::to_string(magic.size()) +
                 " bytes; a capture has a header of 24 bytes at least"};
  }
  if (!begins_as_capture(magic)) {
    return Error{c.name + ": " + not_a_capture(load_be32(magic.data()))};
  }
  if (Pcapng::recognises(magic.data())) r.format_.emplace<Pcapng>();
  const bool good = std::visit([&c](auto& format) { return format.read_header(c); }, r.format_);
  if (!good && c.status == ReadStatus::kCutOff) {
    return Error{c.name + ": file ends inside its header; capture or copy it again"};
  }
  if (!good) return Error{c.message};
  return r;
}

ReadStatus CaptureReader::next(CapturedPacket& out) {
  if (cursor_.status == ReadStatus::kPacket) {
    std::visit([&](auto& format) { return format.next(cursor_, out); }, format_);
  }
  return cursor_.status;
}

}  // namespace matchrdma
