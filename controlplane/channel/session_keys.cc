#include "controlplane/channel/session_keys.h"

#include "controlplane/channel/crypto.h"
#include "controlplane/channel/datagram.h"

namespace matchrdma {
namespace {

constexpr uint8_t kLabelKey = 1, kLabelTag = 2;

Secret extract(const Psk& psk, const RandomPair& pair) {
  MRDMA_CHECK(pair.own != pair.peer);
  const bool own_first = pair.own < pair.peer;
  const Nonce32& low = own_first ? pair.own : pair.peer;
  const Nonce32& high = own_first ? pair.peer : pair.own;
  std::array<uint8_t, 64> salt;
  std::memcpy(salt.data(), low.b.data(), 32);
  std::memcpy(salt.data() + 32, high.b.data(), 32);
  return hkdf_extract(salt, psk.secret.bytes());
}

/// What the key is for, so that no two purposes share one (RFC 5869 3.2).
std::array<uint8_t, 9> info(uint8_t label, KeyId id, uint16_t worker, bool from_lower) {
  std::array<uint8_t, 9> i;
  i[0] = kChannelVersion;
  i[1] = label;
  store_be32(i.data() + 2, id.v);
  store_be16(i.data() + 6, worker);
  i[8] = from_lower ? 1 : 0;
  return i;
}

}  // namespace

SessionKeys::SessionKeys(const Psk& psk, const RandomPair& pair)
    : key_id_(psk.id), own_is_lower_(pair.own < pair.peer), prk_(extract(psk, pair)) {
  std::array<uint8_t, 8> tag;
  hkdf_expand(prk_, info(kLabelTag, key_id_, 0, false), tag);
  tag_ = load_be64(tag.data());
}

Secret SessionKeys::key(uint16_t worker, bool from_lower) const {
  return hkdf_expand(prk_, info(kLabelKey, key_id_, worker, from_lower));
}

}  // namespace matchrdma
