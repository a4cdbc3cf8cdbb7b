#include "pcap/capture_writer.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "pcap/capture_format.h"

namespace matchrdma {
namespace {

constexpr uint32_t kMagicNanoseconds = 0xa1b23c4d;
constexpr int64_t kNsPerSecond = 1'000'000'000;

}  // namespace

Result<CaptureWriter> CaptureWriter::open(const std::string& path) {
  std::FILE* f = path == "-" ? stdout : std::fopen(path.c_str(), "wbe");
  if (f == nullptr) {
    return Error{path + ": cannot be created: " + std::strerror(errno) +
                 "; check that its folder exists and may be written"};
  }
  CaptureWriter w(path == "-" ? "(stdout)" : path, f);
  uint8_t header[24] = {};
  store_le32(header, kMagicNanoseconds);
  header[4] = 2;  // version 2.4
  header[6] = 4;
  store_le32(header + 16, kMaxCapturedBytes);
  store_le32(header + 20, kLinkTypeEthernet);
  if (auto r = w.put(Bytes{header}); !r) return Error{r.error()};
  return w;
}

Result<void> CaptureWriter::failed(const std::string& what) {
  error_ = name_ + ": " + what;
  return Error{error_};
}

Result<void> CaptureWriter::put(Bytes bytes) {
  if (!error_.empty()) return Error{error_};
  if (file_ == nullptr) return failed("is closed already; nothing more can be written to it");
  if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    return failed("write failed after " + std::to_string(packets_) + " packets: " + std::strerror(errno) +
                  "; check the free space of the disk");
  }
  return {};
}

Result<void> CaptureWriter::write(Instant time, Bytes data, uint32_t original_length) {
  if (!error_.empty()) return Error{error_};
  const std::string packet = "packet " + std::to_string(packets_ + 1) + ": ";
  if (data.size() > kMaxCapturedBytes) {
    return failed(packet + std::to_string(data.size()) + " bytes; a capture record holds at most " +
                  std::to_string(kMaxCapturedBytes));
  }
  const int64_t seconds = time.ns / kNsPerSecond;
  if (time.ns < 0 || seconds > int64_t{0xffffffff}) {
    return failed(packet + "time " + std::to_string(time.ns) + " ns; pcap can write 1970 to 2106 only");
  }
  const auto captured = static_cast<uint32_t>(data.size());
  uint8_t record[16];
  store_le32(record, static_cast<uint32_t>(seconds));
  store_le32(record + 4, static_cast<uint32_t>(time.ns % kNsPerSecond));
  store_le32(record + 8, captured);
  store_le32(record + 12, original_length == 0 ? captured : original_length);
  if (auto r = put(Bytes{record}); !r) return r;
  if (auto r = put(data); !r) return r;
  ++packets_;
  return {};
}

Result<void> CaptureWriter::flush() {
  if (!error_.empty()) return Error{error_};
  if (file_ != nullptr && std::fflush(file_.get()) != 0) {
    return failed("flush failed after " + std::to_string(packets_) + " packets: " + std::strerror(errno) +
                  "; check the free space of the disk");
  }
  return {};
}

Result<void> CaptureWriter::close() {
  Result<void> flushed = flush();
  std::FILE* f = file_.release();
  const bool bad = f != nullptr && f != stdout && std::fclose(f) != 0;
  if (!flushed) return flushed;
  if (bad) return failed(std::string("close failed: ") + std::strerror(errno) + "; the file may be incomplete");
  return {};
}

}  // namespace matchrdma
