#include "controlplane/channel/crypto.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "dataplane/base/check.h"

namespace matchrdma {
namespace {

// A call of libcrypto that fails here has met a wrong argument of ours or an exhausted heap: nothing to go on
// with.
void must(int result) { MRDMA_CHECK(result == 1); }

// OSSL_PARAM has no const; what these describe is only read.
OSSL_PARAM octets(const char* name, Bytes b) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(b.data()), b.size());
}

void hkdf(int mode, const char* last_name, Bytes last, Bytes key, MutableBytes out) {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr),
                                                              EVP_KDF_free);
  MRDMA_CHECK(kdf != nullptr);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(EVP_KDF_CTX_new(kdf.get()),
                                                                          EVP_KDF_CTX_free);
  MRDMA_CHECK(context != nullptr);
  char digest[] = "SHA256";
  OSSL_PARAM params[] = {OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
                         OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
                         octets(OSSL_KDF_PARAM_KEY, key), octets(last_name, last), OSSL_PARAM_construct_end()};
  must(EVP_KDF_derive(context.get(), out.data(), out.size(), params));
}

int length(Bytes b) { return static_cast<int>(b.size()); }

}  // namespace

Secret::~Secret() { OPENSSL_cleanse(b_.data(), b_.size()); }

bool Secret::operator==(const Secret& o) const { return CRYPTO_memcmp(b_.data(), o.b_.data(), b_.size()) == 0; }

Secret hkdf_extract(Bytes salt, Bytes input) {
  Secret prk;
  hkdf(EVP_KDF_HKDF_MODE_EXTRACT_ONLY, OSSL_KDF_PARAM_SALT, salt, input, prk.writable());
  return prk;
}

void hkdf_expand(const Secret& prk, Bytes info, MutableBytes out) {
  hkdf(EVP_KDF_HKDF_MODE_EXPAND_ONLY, OSSL_KDF_PARAM_INFO, info, prk.bytes(), out);
}

Secret hkdf_expand(const Secret& prk, Bytes info) {
  Secret key;
  hkdf_expand(prk, info, key.writable());
  return key;
}

void Aead::Free::operator()(evp_cipher_ctx_st* c) const { EVP_CIPHER_CTX_free(c); }

// The key schedule is made once; later calls set the nonce alone.
Aead::Aead(const Secret& key) : seal_(EVP_CIPHER_CTX_new()), open_(EVP_CIPHER_CTX_new()) {
  MRDMA_CHECK(seal_ && open_);
  must(EVP_EncryptInit_ex(seal_.get(), EVP_aes_256_gcm(), nullptr, key.bytes().data(), nullptr));
  must(EVP_DecryptInit_ex(open_.get(), EVP_aes_256_gcm(), nullptr, key.bytes().data(), nullptr));
}

void Aead::seal(const Nonce& nonce, Bytes associated, Bytes plain, MutableBytes out) {
  MRDMA_CHECK(out.size() == plain.size() + kTagBytes);
  EVP_CIPHER_CTX* c = seal_.get();
  int n = 0;
  must(EVP_EncryptInit_ex(c, nullptr, nullptr, nullptr, nonce.data()));
  must(EVP_EncryptUpdate(c, nullptr, &n, associated.data(), length(associated)));
  if (!plain.empty()) must(EVP_EncryptUpdate(c, out.data(), &n, plain.data(), length(plain)));
  must(EVP_EncryptFinal_ex(c, out.data() + plain.size(), &n));
  must(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, kTagBytes, out.data() + plain.size()));
}

bool Aead::open(const Nonce& nonce, Bytes associated, Bytes sealed, MutableBytes out) {
  MRDMA_CHECK(sealed.size() == out.size() + kTagBytes);
  EVP_CIPHER_CTX* c = open_.get();
  int n = 0;
  std::array<uint8_t, kTagBytes> tag;
  std::memcpy(tag.data(), sealed.data() + out.size(), kTagBytes);
  must(EVP_DecryptInit_ex(c, nullptr, nullptr, nullptr, nonce.data()));
  must(EVP_DecryptUpdate(c, nullptr, &n, associated.data(), length(associated)));
  if (!out.empty()) must(EVP_DecryptUpdate(c, out.data(), &n, sealed.data(), length(sealed.first(out.size()))));
  must(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()));
  uint8_t none = 0;
  if (EVP_DecryptFinal_ex(c, &none, &n) == 1) return true;
  OPENSSL_cleanse(out.data(), out.size());
  return false;
}

}  // namespace matchrdma
