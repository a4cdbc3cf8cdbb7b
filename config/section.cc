#include "config/section.h"

#include <algorithm>
#include <numeric>

#include "config/words.h"

namespace matchrdma {
namespace {

constexpr size_t kLongestKey = 40;  // what is longer is no key spelled wrong

/// Levenshtein distance.
size_t edits(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

void note_unknown_key(const YamlNode::Key& key, const std::string& path, const std::vector<KeyInfo>& known,
                      Notes& notes) {
  const KeyInfo* nearest = nullptr;
  size_t least = key.name.size() / 3 + 2;  // further away it is another word
  if (key.name.size() <= kLongestKey)
    for (const KeyInfo& k : known)
      if (const size_t n = edits(key.name, k.name); n < least) nearest = &k, least = n;
  notes.error(key.at, path, "",
              nearest != nullptr ? "no such key; did you mean `" + nearest->name + "`?"
                                 : "no such key; this section has " + listed(known, &KeyInfo::name));
}

void note_no_section(const YamlNode& node, const std::string& path, const std::vector<KeyInfo>& known,
                     Notes& notes) {
  const bool nothing = node.kind == YamlNode::Kind::kNothing;
  notes.error(path, std::string(nothing ? "nothing stands here" : "no section stands here") +
                        "; write keys below it, indented, of " + listed(known, &KeyInfo::name) +
                        (nothing && !path.empty() ? ", or leave the key out" : ""));
}

}  // namespace matchrdma
