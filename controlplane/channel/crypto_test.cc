// libcrypto is called right: published vectors.
#include "controlplane/channel/crypto.h"

#include <gtest/gtest.h>

#include <vector>

#include "dataplane/wire/test_frames.h"

namespace matchrdma {
namespace {

using Buffer = std::vector<uint8_t>;
using test::from_hex;

Secret secret(const Buffer& b) {
  Secret s;
  EXPECT_EQ(b.size(), Secret::kBytes);
  std::copy(b.begin(), b.end(), s.writable().begin());
  return s;
}

// RFC 5869 A.1.
TEST(Hkdf, Rfc5869Vector) {
  const Secret prk = hkdf_extract(from_hex("000102030405060708090a0b0c"), Buffer(22, 0x0b));
  EXPECT_TRUE(prk == secret(from_hex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")));
  Buffer okm(42);
  hkdf_expand(prk, from_hex("f0f1f2f3f4f5f6f7f8f9"), okm);
  EXPECT_EQ(okm,
            from_hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"));
}

// Test case 16 of the GCM specification submitted to NIST (AES-256, 96-bit IV, 20 bytes of associated data).
struct GcmVector {
  Secret key = secret(from_hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"));
  Buffer plain = from_hex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5"
      "aa0de657"
      "ba637b39");
  Buffer associated = from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  Buffer sealed = from_hex(
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e63"
      "93ba7a0a"
      "bcc9f66276fc6ece0f4e1768cddf8853bb2d551b");
  Aead::Nonce nonce{0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
};

TEST(Aead, NistGcmVector) {
  const GcmVector v;
  Aead aead(v.key);
  for (int again = 0; again < 2; ++again) {
    Buffer sealed(v.plain.size() + Aead::kTagBytes), plain(v.plain.size());
    aead.seal(v.nonce, v.associated, v.plain, sealed);
    EXPECT_EQ(sealed, v.sealed);
    EXPECT_TRUE(aead.open(v.nonce, v.associated, v.sealed, plain));
    EXPECT_EQ(plain, v.plain);
  }
}

TEST(Aead, AnyBitThatDiffersIsRefusedAndTellsNothing) {
  GcmVector v;
  Aead aead(v.key);
  const auto refused = [&] {
    Buffer plain(v.plain.size(), 0xff);
    return !aead.open(v.nonce, v.associated, v.sealed, plain) && plain == Buffer(plain.size(), 0);
  };
  const auto flip_all = [&](MutableBytes b) {
    for (size_t bit = 0; bit < b.size() * 8; ++bit) {
      b[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
      EXPECT_TRUE(refused()) << bit;
      b[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    }
  };
  flip_all(v.sealed);
  flip_all(v.associated);
  flip_all(v.nonce);
}

TEST(Aead, SealsNothingToo) {
  Aead aead(GcmVector{}.key);
  Buffer sealed(Aead::kTagBytes), plain;
  const Buffer associated{1};
  aead.seal({}, associated, {}, sealed);
  EXPECT_TRUE(aead.open({}, associated, sealed, plain));
}

TEST(Secret, IsWipedWhenItGoes) {
  alignas(Secret) std::array<uint8_t, sizeof(Secret)> memory;
  auto* s = new (memory.data()) Secret;
  std::fill(s->writable().begin(), s->writable().end(), uint8_t{0xaa});
  s->~Secret();
  EXPECT_EQ(std::count(memory.begin(), memory.end(), 0xaa), 0);
}

}  // namespace
}  // namespace matchrdma
