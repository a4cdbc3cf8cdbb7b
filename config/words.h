#pragma once
// Words in the sentences of errors and forms.
#include <functional>
#include <string>
#include <vector>

namespace matchrdma {

/// "a, b, c": of each element what `text` makes of it (std::invoke: a function or a member).
template <class Range, class Text = std::identity>
std::string listed(const Range& range, Text text = {}) {
  std::string all;
  for (const auto& element : range) {
    if (!all.empty()) all += ", ";
    all += std::invoke(text, element);
  }
  return all;
}

/// "a, b or c"
inline std::string either(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

}  // namespace matchrdma
