#pragma once
// A section of the file: the keys it may have, each bound to a field of T.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/kind.h"

namespace matchrdma {

enum class Apply : uint8_t { kReload, kRestart };

template <class T>
struct Field {
  KeyInfo info;
  std::function<void(const YamlNode&, const std::string& path, Notes&, T&)> read;
  std::function<Shown(const T&)> show;
};

/// The key `name` for what `get` finds in a T: a pointer to a member, or a generic lambda that returns a
/// reference.
template <class T, class Get, class V>
Field<T> key(std::string name, Get get, const Kind<V>& kind, Apply apply, std::string doc) {
  Field<T> f;
  f.info = {std::move(name),          kind.form, "",           std::move(doc), false,
            apply == Apply::kRestart, kind.list, kind.children};
  // Shared by both: a copy for each would double the schema at every level.
  const auto shared = std::make_shared<const Kind<V>>(kind);
  f.read = [get, shared](const YamlNode& n, const std::string& path, Notes& notes, T& t) {
    shared->read(n, path, notes, std::invoke(get, t));
  };
  f.show = [get, shared](const T& t) { return shared->show(std::invoke(get, t)); };
  if (const Shown s = f.show(T{}); s.kind == Shown::Kind::kScalar) f.info.fallback = s.text;
  return f;
}

/// The same for a key that has no default.
template <class T, class Get, class V>
Field<T> required(std::string name, Get get, const Kind<V>& kind, Apply apply, std::string doc) {
  Field<T> f = key<T>(std::move(name), get, kind, apply, std::move(doc));
  f.info.required = true;
  f.info.fallback.clear();
  return f;
}

/// Notes an unknown key, with the nearest of the section's keys, if one is near.
void note_unknown_key(const YamlNode::Key& key, const std::string& path, const std::vector<KeyInfo>& known,
                      Notes& notes);
/// Notes that `node` is no section.
void note_no_section(const YamlNode& node, const std::string& path, const std::vector<KeyInfo>& known,
                     Notes& notes);
std::string joined(const std::string& path, const std::string& name);

/// A section with these keys. Where it stands in its parent, every key of it that is not written keeps its
/// default.
template <class T>
Kind<T> section(std::vector<Field<T>> keys) {
  const auto fields = std::make_shared<const std::vector<Field<T>>>(std::move(keys));
  Kind<T> kind;
  kind.form = "section";
  for (const Field<T>& f : *fields) kind.children.push_back(f.info);
  kind.read = [fields, known = kind.children](const YamlNode& n, const std::string& path, Notes& notes,
                                              T& out) {
    if (n.kind != YamlNode::Kind::kMap) return note_no_section(n, path, known, notes);
    for (size_t i = 0; i < n.keys.size(); ++i) {
      const std::string at = joined(path, n.keys[i].name);
      const auto f = std::find_if(fields->begin(), fields->end(),
                                  [&](const Field<T>& field) { return field.info.name == n.keys[i].name; });
      if (f == fields->end()) {
        note_unknown_key(n.keys[i], at, known, notes);
        continue;
      }
      const bool scalar = n.items[i].kind == YamlNode::Kind::kScalar;
      notes.place(at, scalar ? n.items[i].at : n.keys[i].at, n.items[i].text);
      f->read(n.items[i], at, notes, out);
    }
    for (const KeyInfo& k : known)
      if (k.required &&
          std::none_of(n.keys.begin(), n.keys.end(), [&](const auto& w) { return w.name == k.name; }))
        notes.error(joined(path, k.name), "is missing; write `" + k.name + ":` (" + k.form + "): " + k.doc);
  };
  kind.show = [fields](const T& t) {
    Shown s;
    s.kind = Shown::Kind::kMap;
    for (const Field<T>& f : *fields) s.entries.push_back({f.info.name, f.show(t), f.info.restart});
    return s;
  };
  return kind;
}

}  // namespace matchrdma
