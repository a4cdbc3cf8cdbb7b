#include "controlplane/channel/codec.h"

#include "controlplane/channel/message_fields.h"

namespace matchrdma {
namespace {

template <class T>
inline constexpr uint8_t kTypeNumber = 0;
#define MATCHRDMA_X(number, type) \
  template <>                     \
  inline constexpr uint8_t kTypeNumber<type> = number;
MATCHRDMA_MESSAGES(MATCHRDMA_X)
#undef MATCHRDMA_X

template <class... T>
constexpr bool all_have_numbers(const std::variant<T...>*) {
  return ((kTypeNumber<T> != 0) && ...);
}
static_assert(all_have_numbers(static_cast<const Message*>(nullptr)),
              "a message of flow/message.h has no line in MATCHRDMA_MESSAGES");

template <class T>
bool decode_body(Bytes body, std::vector<Message>& out) {
  Message& message = out.emplace_back(std::in_place_type<T>);
  Decoder d(body);
  layout::fields(d, std::get<T>(message));
  if (!d.complete()) out.pop_back();
  return d.complete();
}

void decode_message(uint8_t type, Bytes body, std::vector<Message>& out, DecodeCounts& n) {
  bool sound = true;
  switch (type) {
#define MATCHRDMA_X(number, type)         \
  case number:                            \
    sound = decode_body<type>(body, out); \
    break;
    MATCHRDMA_MESSAGES(MATCHRDMA_X)
#undef MATCHRDMA_X
    default:
      ++n.unknown_type;
  }
  if (!sound) ++n.malformed;
}

/// Calls use(type, body) for each message; false where a header or body does not fit.
template <class Use>
bool walk(Bytes payload, Use use) {
  while (!payload.empty()) {
    if (payload.size() < kMessageHeaderBytes) return false;
    const size_t length = load_be16(payload.data() + 1);
    if (length > payload.size() - kMessageHeaderBytes) return false;
    use(payload[0], payload.subspan(kMessageHeaderBytes, length));
    payload = payload.subspan(kMessageHeaderBytes + length);
  }
  return true;
}

}  // namespace

size_t encode(const Message& m, MutableBytes out) {
  if (out.size() < kMessageHeaderBytes) return 0;
  return std::visit(
      [&]<class T>(const T& body) -> size_t {
        Encoder e(out.subspan(kMessageHeaderBytes));
        layout::fields(e, body);
        if (!e.ok()) return 0;
        out[0] = kTypeNumber<T>;
        store_be16(out.data() + 1, static_cast<uint16_t>(e.size()));
        return kMessageHeaderBytes + e.size();
      },
      m);
}

bool decode(Bytes payload, std::vector<Message>& out, DecodeCounts& n) {
  if (!walk(payload, [](uint8_t, Bytes) {})) return false;
  walk(payload, [&](uint8_t type, Bytes body) { decode_message(type, body, out, n); });
  return true;
}

}  // namespace matchrdma
