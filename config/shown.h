#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace matchrdma {

/// A configured value as it would be written: what `--print`, the reference and the comparison of two
/// configurations are made from.
struct Shown {
  enum class Kind : uint8_t { kNothing, kScalar, kList, kMap };
  struct Entry;

  Kind kind = Kind::kNothing;
  std::string text;
  std::vector<Entry> entries;  ///< of a list (without keys) or a map

  static Shown scalar(std::string text);
  bool operator==(const Shown& o) const;
};

struct Shown::Entry {
  std::string key;
  Shown value;
  bool restart = false;  ///< a running daemon cannot change this key
  bool operator==(const Entry&) const = default;
};

inline Shown Shown::scalar(std::string text) {
  Shown s;
  s.kind = Kind::kScalar;
  s.text = std::move(text);
  return s;
}

inline bool Shown::operator==(const Shown& o) const {
  return kind == o.kind && text == o.text && entries == o.entries;
}

}  // namespace matchrdma
