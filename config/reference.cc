#include "config/reference.h"

#include "config/schema.h"

namespace matchrdma {
namespace {

std::string default_of(const KeyInfo& k) {
  if (k.required) return "required";
  return k.fallback.empty() ? "" : "`" + k.fallback + "`";
}

/// The keys of one section, then those of the sections below it.
void write(const KeyInfo& s, const std::string& path, std::string& out) {
  const std::string heading = path + (s.list ? "[]" : "");
  if (!path.empty()) out += "\n### " + heading + "\n\n" + s.doc + "\n";
  out += "\n| key | value | default | change | meaning |\n|---|---|---|---|---|\n";
  for (const KeyInfo& k : s.children)
    out += "| `" + k.name + "` | " + k.form + " | " + default_of(k) + " | " +
           (k.restart ? "restart" : "reload") + " | " + k.doc + " |\n";
  for (const KeyInfo& k : s.children)
    if (!k.children.empty()) write(k, joined(heading, k.name), out);
}

}  // namespace

std::string config_reference() {
  KeyInfo whole_file;
  whole_file.children = schema().children;
  std::string out;
  write(whole_file, "", out);
  return out;
}

}  // namespace matchrdma
