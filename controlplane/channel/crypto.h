#pragma once
// The two primitives of the channel, by libcrypto: HKDF-SHA256 (RFC 5869) and AES-256-GCM (NIST SP 800-38D).
#include <memory>
#include <span>

#include "controlplane/channel/secret.h"

struct evp_cipher_ctx_st;

namespace matchrdma {

/// RFC 5869 2.2.
Secret hkdf_extract(Bytes salt, Bytes input);
/// RFC 5869 2.3.
void hkdf_expand(const Secret& prk, Bytes info, MutableBytes out);
Secret hkdf_expand(const Secret& prk, Bytes info);

/// AES-256-GCM under one key. Knows nothing of nonces: that none is used twice is the caller's duty.
class Aead {
 public:
  static constexpr size_t kTagBytes = 16;
  using Nonce = std::array<uint8_t, 12>;

  explicit Aead(const Secret& key);

  /// `out` is kTagBytes longer than `plain`, and may begin where `plain` does.
  void seal(const Nonce& nonce, Bytes associated, Bytes plain, MutableBytes out);
  /// `out` is kTagBytes shorter than `sealed`. False: not sealed by this key, and `out` is wiped.
  bool open(const Nonce& nonce, Bytes associated, Bytes sealed, MutableBytes out);

 private:
  struct Free {
    void operator()(evp_cipher_ctx_st* c) const;
  };
  std::unique_ptr<evp_cipher_ctx_st, Free> seal_, open_;
};

}  // namespace matchrdma
