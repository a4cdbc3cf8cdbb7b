// Any bytes as a capture: the reader ends with a status, and what it yields lies inside what it was given.
#include "dataplane/base/check.h"
#include "pcap/trace_info.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace matchrdma;
  auto reader = CaptureReader::from_bytes(Bytes{data, size}, "fuzz");
  if (!reader) {
    MRDMA_CHECK(!reader.error().empty());
    return 0;
  }
  TraceInfo info;
  CapturedPacket p;
  while (reader->next(p) == ReadStatus::kPacket) {
    MRDMA_CHECK(p.data.size() <= kMaxCapturedBytes);
    MRDMA_CHECK(p.data.empty() || (p.data.data() >= data && p.data.data() + p.data.size() <= data + size));
    MRDMA_CHECK(p.index == info.packets);
    info.add(p);
  }
  MRDMA_CHECK(reader->packets_read() == info.packets);
  MRDMA_CHECK(info.packets == info.roce + info.malformed + info.truncated + info.not_roce);
  MRDMA_CHECK((reader->status() == ReadStatus::kEnd) == reader->message().empty());
  return 0;
}
