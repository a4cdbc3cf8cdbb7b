#pragma once
// A YAML text as a tree in which everything has its place. The subset: maps with plain keys, lists, scalars.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/notes.h"

namespace matchrdma {

struct YamlNode {
  enum class Kind : uint8_t { kNothing, kScalar, kList, kMap };
  struct Key {
    std::string name;
    Mark at;
  };
  Kind kind = Kind::kNothing;
  Mark at;
  std::string text;             ///< of a scalar
  std::vector<YamlNode> items;  ///< of a list, or the values of a map
  std::vector<Key> keys;        ///< of a map, as many as items
};

/// Bounds of what is read, so that no file can cost more than its worth.
struct YamlBounds {
  size_t bytes = 1 << 20;
  size_t nodes = 20'000;
  size_t keys = 64;  ///< of one section
  size_t depth = 16;
};

/// False when the text is no YAML, or not the subset; `notes` says where and why. After a duplicate key or an
/// alias the tree is usable all the same, so that the rest can be checked too.
bool read_yaml(const std::string& text, const YamlBounds& bounds, Notes& notes, YamlNode& tree);

}  // namespace matchrdma
