// Any bytes into what reads on the host library's control connection: as one frame, and as a stream in pieces
// of any size, with a HELLO in front or without. What decodes must encode to the same bytes; a session always
// ends or stays within its limits.
#include <algorithm>
#include <vector>

#include "host/control/control_session.h"

namespace {

using namespace matchrdma;
using namespace matchrdma::host;
using Buffer = std::vector<uint8_t>;

void check_codec(Bytes bytes) {
  const auto frame = frame_at(bytes);
  if (!frame || frame->body > bytes.size() - kControlHeaderBytes) return;
  const Bytes whole = bytes.first(kControlHeaderBytes + frame->body);
  const auto m = decode(frame->type, whole.subspan(kControlHeaderBytes));
  if (!m) return;
  const auto* hello = std::get_if<ControlHello>(&*m);
  if (hello != nullptr && hello->version != kControlVersion) return;
  Buffer again;
  MRDMA_CHECK(encode(*m, again));
  MRDMA_CHECK(again == Buffer(whole.begin(), whole.end()));
}

void check_session(Bytes bytes, bool greeted, size_t piece) {
  ControlHello hello;
  hello.library = "fuzz";
  ControlSession session(hello, {}, Instant{}), other(hello, {}, Instant{});
  Instant now{};
  if (greeted) session.receive(other.output(), now);
  for (; !bytes.empty() && session.wants_input(); now = now + Duration::millis(1)) {
    const Bytes next = bytes.first(std::min(piece, bytes.size()));
    session.receive(next, now);
    session.advance(now);
    bytes = bytes.subspan(next.size());
    MRDMA_CHECK(session.output().size() <= ControlSession::kOutputLimit + bytes.size() + piece * 4 + 1024);
  }
  using State = ControlSession::State;
  MRDMA_CHECK((session.state() == State::kEnding || session.state() == State::kOver) ==
              !session.reason().empty());
  while (session.next()) {
  }
  session.sent(session.output().size());
  session.advance(now + Duration::seconds(60));
  session.advance(now + Duration::seconds(120));
  MRDMA_CHECK(session.state() == State::kOver && session.output().empty() && session.next_wakeup().is_never());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes{data, size};
  check_codec(bytes);
  const size_t piece = size == 0 ? 1 : 1 + data[size - 1] % 64;
  check_session(bytes, false, piece);
  check_session(bytes, true, piece);
  check_session(bytes, true, size + 1);
  return 0;
}
