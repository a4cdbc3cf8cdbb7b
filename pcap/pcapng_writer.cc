#include "pcap/pcapng_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "pcap/capture_format.h"

namespace matchrdma {
namespace {

// Block types and options of draft-ietf-opsawg-pcapng.
constexpr uint32_t kSectionHeader = 0x0a0d0d0a, kInterfaceDescription = 1, kEnhancedPacket = 6;
constexpr uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr uint16_t kOptEnd = 0, kOptComment = 1, kIfName = 2, kIfTsresol = 9;
constexpr uint8_t kNanoseconds = 9;
constexpr size_t kLongestText = 1024;
constexpr size_t kWriteAtOnce = 64 << 10;

void put16(std::vector<uint8_t>& b, uint16_t v) {
  b.push_back(static_cast<uint8_t>(v));
  b.push_back(static_cast<uint8_t>(v >> 8));
}
void put32(std::vector<uint8_t>& b, uint32_t v) {
  put16(b, static_cast<uint16_t>(v));
  put16(b, static_cast<uint16_t>(v >> 16));
}
void put_padded(std::vector<uint8_t>& b, Bytes data) {
  b.insert(b.end(), data.begin(), data.end());
  b.resize((b.size() + 3) / 4 * 4);
}
void put_option(std::vector<uint8_t>& b, uint16_t code, std::string_view text) {
  text = text.substr(0, kLongestText);
  put16(b, code);
  put16(b, static_cast<uint16_t>(text.size()));
  std::vector<uint8_t> bytes(text.begin(), text.end());
  put_padded(b, bytes);
}
void end_options(std::vector<uint8_t>& b) {
  put16(b, kOptEnd);
  put16(b, 0);
}

}  // namespace

Result<PcapngWriter> PcapngWriter::open(const std::string& path, std::span<const std::string> interfaces) {
  std::FILE* f = std::fopen(path.c_str(), "wbxe");
  if (f == nullptr) {
    return Error{path + ": cannot be created: " + std::strerror(errno) +
                 "; choose a name that is not used yet, in a folder that may be written"};
  }
  std::setvbuf(f, nullptr, _IONBF, 0);  // blocks are gathered here, so that none is written in part
  PcapngWriter w(path, f, interfaces.size());
  put32(w.body_, kByteOrderMagic);
  put16(w.body_, 1);  // version 1.0
  put16(w.body_, 0);
  put32(w.body_, UINT32_MAX);  // section length: not known
  put32(w.body_, UINT32_MAX);
  if (auto r = w.put_block(kSectionHeader); !r) return Error{r.error()};
  for (const std::string& name : interfaces) {
    put16(w.body_, kLinkTypeEthernet);
    put16(w.body_, 0);
    put32(w.body_, kMaxCapturedBytes);
    put_option(w.body_, kIfName, name);
    put_option(w.body_, kIfTsresol, std::string_view(reinterpret_cast<const char*>(&kNanoseconds), 1));
    end_options(w.body_);
    if (auto r = w.put_block(kInterfaceDescription); !r) return Error{r.error()};
  }
  return w;
}

Result<void> PcapngWriter::failed(const std::string& what) {
  error_ = name_ + ": " + what;
  return Error{error_};
}

Result<void> PcapngWriter::put_block(uint32_t type) {
  const auto length = static_cast<uint32_t>(body_.size() + 12);
  put32(pending_, type);
  put32(pending_, length);
  pending_.insert(pending_.end(), body_.begin(), body_.end());
  put32(pending_, length);
  bytes_ += length;
  body_.clear();
  return pending_.size() >= kWriteAtOnce ? write_out() : Result<void>{};
}

Result<void> PcapngWriter::write_out() {
  if (std::fwrite(pending_.data(), 1, pending_.size(), file_.get()) == pending_.size()) {
    pending_.clear();
    packets_pending_ = 0;
    return {};
  }
  const int why = errno;
  // Whatever part of it was written would spoil the file for its readers.
  bytes_ -= pending_.size();
  packets_ -= packets_pending_;
  lost_ = packets_pending_;
  const bool cut = ::ftruncate(::fileno(file_.get()), static_cast<off_t>(bytes_)) == 0;
  file_.reset();
  return failed(std::string("write failed: ") + std::strerror(why) + "; check the free space of the disk. " +
                (cut ? "The packets before it are in the file" : "The file ends inside a packet"));
}

Result<void> PcapngWriter::write(uint32_t interface, Instant time, Bytes data, uint32_t original_length,
                                 std::string_view comment) {
  if (!error_.empty()) return Error{error_};
  if (file_ == nullptr) return failed("is closed already; nothing more can be written to it");
  if (interface >= interfaces_)
    return failed("interface " + std::to_string(interface) + " was not named at open");
  if (time.ns < 0) return failed("time " + std::to_string(time.ns) + " ns lies before 1970");
  const Bytes kept = data.first(std::min<size_t>(data.size(), kMaxCapturedBytes));
  put32(body_, interface);
  put32(body_, static_cast<uint32_t>(static_cast<uint64_t>(time.ns) >> 32));
  put32(body_, static_cast<uint32_t>(time.ns));
  put32(body_, static_cast<uint32_t>(kept.size()));
  put32(body_, original_length == 0 ? static_cast<uint32_t>(data.size()) : original_length);
  put_padded(body_, kept);
  if (!comment.empty()) {
    put_option(body_, kOptComment, comment);
    end_options(body_);
  }
  ++packets_;
  ++packets_pending_;
  return put_block(kEnhancedPacket);
}

Result<void> PcapngWriter::flush() {
  if (!error_.empty()) return Error{error_};
  return file_ == nullptr ? Result<void>{} : write_out();
}

Result<void> PcapngWriter::close() {
  if (!error_.empty()) return Error{error_};
  if (file_ == nullptr) return {};
  if (auto r = write_out(); !r) return r;
  std::FILE* f = file_.release();
  if (std::fclose(f) != 0) {
    return failed(std::string("close failed: ") + std::strerror(errno) + "; the file may be incomplete");
  }
  return {};
}

}  // namespace matchrdma
