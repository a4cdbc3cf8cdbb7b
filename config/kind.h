#pragma once
// How values stand in the file. A Kind<V> reads one, shows one, and says what it looks like; kinds are
// combined, and the schema binds them to the fields of Config.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/net.h"
#include "config/notes.h"
#include "config/shown.h"
#include "config/units.h"
#include "config/words.h"
#include "config/yaml_tree.h"

namespace matchrdma {

/// What is told about a key in the reference and in suggestions.
struct KeyInfo {
  std::string name;
  std::string form;      ///< "rate", "early, end-to-end or transparent", "list of prefixes"
  std::string fallback;  ///< the default as written, empty: none
  std::string doc;
  bool required = false;
  bool restart = false;
  bool list = false;              ///< the children stand in each element of a list
  std::vector<KeyInfo> children;  ///< of a section
};

/// Duty: one way of writing values of type V. `read` leaves the value alone and notes an error when what stands
/// there is none. Does not know the key.
template <class V>
struct Kind {
  std::string form;
  std::function<void(const YamlNode&, const std::string& path, Notes&, V&)> read;
  std::function<Shown(const V&)> show;
  bool list = false;
  std::vector<KeyInfo> children = {};
};

/// The text of a node, or an error that asks for `form`.
const std::string* scalar_of(const YamlNode& n, const std::string& path, Notes& notes, const std::string& form);
/// False, and an error, for what is no list.
bool is_list(const YamlNode& n, const std::string& path, Notes& notes, const std::string& form);

/// A kind of one word: `parse` returns Result<V>, `print` the text; an empty text is shown as nothing.
template <class V, class Parse, class Print>
Kind<V> word(std::string form, Parse parse, Print print) {
  auto read = [form, parse](const YamlNode& n, const std::string& path, Notes& notes, V& out) {
    const std::string* text = scalar_of(n, path, notes, form);
    if (text == nullptr) return;
    auto value = parse(*text);
    if (value)
      out = std::move(*value);
    else
      notes.error(path, value.error());
  };
  auto show = [print](const V& v) {
    std::string text = print(v);
    return text.empty() ? Shown{} : Shown::scalar(std::move(text));
  };
  return {std::move(form), read, show};
}

template <class V>
Kind<V> whole(uint64_t least, uint64_t most) {
  const std::string form = "whole number " + std::to_string(least) + " to " + std::to_string(most);
  return word<V>(
      form,
      [=](const std::string& text) -> Result<V> {
        auto n = parse_whole(
            text, least, most,
            "not a whole number from " + std::to_string(least) + " to " + std::to_string(most) + "; write one");
        if (!n) return Error{n.error()};
        return static_cast<V>(*n);
      },
      [](const V& v) { return std::to_string(v); });
}

/// An enum by its names.
template <class E>
Kind<E> choice(std::vector<std::pair<std::string, E>> names) {
  std::vector<std::string> words;
  for (const auto& n : names) words.push_back(n.first);
  const std::string form = either(words);
  return word<E>(
      form,
      [names, form](const std::string& text) -> Result<E> {
        for (const auto& [name, value] : names)
          if (text == name) return value;
        return Error{"no such choice; write " + form};
      },
      [names](const E& v) {
        return std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.second == v; })->first;
      });
}

Kind<bool> on_off();
Kind<Rate> rate();
Kind<Duration> time_between(Duration least, Duration most);
Kind<uint64_t> bytes_between(uint64_t least, uint64_t most);
/// The same for a narrower field.
template <class V>
Kind<V> whole_bytes(uint64_t least, uint64_t most) {
  const Kind<uint64_t> wide = bytes_between(least, most);
  auto read = [wide](const YamlNode& n, const std::string& path, Notes& notes, V& out) {
    uint64_t value = out;
    wide.read(n, path, notes, value);
    out = static_cast<V>(value);
  };
  return {wide.form, read, [wide](const V& v) { return wide.show(uint64_t{v}); }};
}
/// Not empty, at most `most` characters, none of them a control character.
Kind<std::string> words(std::string form, size_t most = 255);
/// Starts with '/'.
Kind<std::string> absolute_path();
Kind<Prefix> prefix();
Kind<IpAddress> address();

/// Every element has its place: path[0], path[1]. One element may stand there without a list.
template <class V>
Kind<std::vector<V>> one_or_more(const Kind<V>& of, std::string form) {
  const auto one = std::make_shared<const Kind<V>>(of);
  auto read = [one](const YamlNode& n, const std::string& path, Notes& notes, std::vector<V>& out) {
    if (n.kind == YamlNode::Kind::kScalar) return one->read(n, path, notes, out.emplace_back());
    if (!is_list(n, path, notes, one->form + ", or a list of them")) return;
    for (size_t i = 0; i < n.items.size(); ++i) {
      const std::string at = path + "[" + std::to_string(i) + "]";
      notes.place(at, n.items[i].at, n.items[i].text);
      one->read(n.items[i], at, notes, out.emplace_back());
    }
  };
  auto show = [one](const std::vector<V>& v) {
    Shown s;
    if (v.empty()) return s;
    s.kind = Shown::Kind::kList;
    for (const V& e : v) s.entries.push_back({"", one->show(e)});
    return s;
  };
  return {std::move(form), read, show};
}

/// A list of sections.
template <class V>
Kind<std::vector<V>> list_of(const Kind<V>& of, std::string form) {
  const Kind<std::vector<V>> any = one_or_more(of, "");
  auto read = [elements = any.read](const YamlNode& n, const std::string& path, Notes& notes,
                                    std::vector<V>& out) {
    if (is_list(n, path, notes, "a list, each element behind a dash (- )")) elements(n, path, notes, out);
  };
  return {std::move(form), read, any.show, true, of.children};
}

template <class V>
Kind<std::optional<V>> maybe(const Kind<V>& of) {
  const auto one = std::make_shared<const Kind<V>>(of);
  auto read = [one](const YamlNode& n, const std::string& path, Notes& notes, std::optional<V>& out) {
    V value{};
    one->read(n, path, notes, value);
    out = std::move(value);
  };
  auto show = [one](const std::optional<V>& v) { return v ? one->show(*v) : Shown{}; };
  return {of.form, read, show, of.list, of.children};
}

}  // namespace matchrdma
