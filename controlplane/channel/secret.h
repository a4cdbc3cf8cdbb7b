#pragma once
// Key material and what it is drawn from.
#include <array>
#include <compare>
#include <cstdint>

#include "dataplane/base/bytes.h"

namespace matchrdma {

/// 32 secret bytes: a pre-shared key, a derived one. Wiped when it goes; copies are wiped one by one.
class Secret {
 public:
  static constexpr size_t kBytes = 32;
  Secret() = default;
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret();

  Bytes bytes() const { return b_; }
  MutableBytes writable() { return b_; }
  /// In a time that does not depend on the contents.
  bool operator==(const Secret& o) const;

 private:
  std::array<uint8_t, kBytes> b_{};
};

/// Which pre-shared key. 0 is no key.
struct KeyId {
  uint32_t v = 0;
  constexpr auto operator<=>(const KeyId&) const = default;
};

/// 32 bytes drawn once; all zero means none.
struct Nonce32 {
  std::array<uint8_t, 32> b{};
  constexpr auto operator<=>(const Nonce32&) const = default;
  bool none() const { return *this == Nonce32{}; }
};

/// Where random bytes come from. The host gives the system's; tests give seeded ones.
class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual void fill(MutableBytes out) = 0;

  Nonce32 nonce32() {
    Nonce32 r;
    fill(r.b);
    return r;
  }
};

}  // namespace matchrdma
