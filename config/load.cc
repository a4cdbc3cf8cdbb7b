#include "config/load.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "config/checks.h"
#include "config/key_file.h"
#include "config/notes.h"
#include "config/schema.h"
#include "config/yaml_tree.h"
#include "controlplane/tls/psk_file.h"

namespace matchrdma {
namespace {

namespace fs = std::filesystem;

/// What is written nowhere and yet decided, so that who reads a Config need not decide it again.
void complete(Config& c) {
  if (!c.memory.hugepages && !c.memory.no_huge) c.memory.hugepages = MemoryConfig::kDefaultBytes;
}

/// Text to Config, without a look at any other file.
Config read(const std::string& text, Notes& notes) {
  Config c;
  YamlNode tree;
  if (!read_yaml(text, YamlBounds{}, notes, tree)) return c;
  if (tree.kind == YamlNode::Kind::kNothing) {
    notes.error(Mark{}, "", "",
                "the file is empty; begin with one of the examples, config/examples/one-span.yaml");
    return c;
  }
  notes.place("", Mark{}, "");
  schema().read(tree, "", notes, c);
  check_spans(c, notes);
  check_classes(c, notes);
  check_limits(c, notes);
  check_daemon(c, notes);
  complete(c);
  return c;
}

ConfigResult result(Config&& c, Notes& notes) {
  ConfigResult r;
  r.errors = notes.errors();
  r.warnings = notes.warnings();
  const auto by_place = [](const ConfigError& a, const ConfigError& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  };
  std::stable_sort(r.errors.begin(), r.errors.end(), by_place);
  std::stable_sort(r.warnings.begin(), r.warnings.end(), by_place);
  if (r.errors.empty()) r.config = std::make_shared<const Config>(std::move(c));
  return r;
}

/// One name for one file, though links lead to it or it is not there yet.
std::string real_name(const fs::path& folder, const std::string& path) {
  std::error_code e;
  const fs::path there = fs::weakly_canonical(fs::absolute(folder / path, e), e);
  return e ? (folder / path).lexically_normal().string() : there.string();
}

void read_key(const std::string& folder, const std::string& file, const std::string& path, KeyBytes& secret,
              Notes& notes) {
  if (!notes.written(path) || !notes.good(path)) return;
  auto key = read_key_file((fs::path(folder) / file).string());
  if (key)
    secret = *key;
  else
    notes.error(path, key.error());
}

void read_keys(Config& c, const std::string& folder, Notes& notes) {
  for (size_t i = 0; i < c.spans.size(); ++i) {
    auto& keys = c.spans[i].peer.keys;
    for (size_t k = 0; k < keys.size(); ++k) {
      const std::string path = nth(nth("spans", i) + ".peer.keys", k) + ".file";
      read_key(folder, keys[k].file, path, keys[k].secret, notes);
      if (k == 1 && keys[0].secret == keys[1].secret && keys[0].secret != KeyBytes{})
        notes.error(path, "holds the same key as the other one; make a new one for the new id");
    }
  }
  if (!c.registration) return;
  std::string& psk = c.registration->psk_file;
  psk = (fs::path(folder) / psk).string();
  // Who listens reads it anew; here it is only seen that this will go well.
  if (const std::string path = "register.psk_file"; notes.written(path) && notes.good(path))
    if (const auto keys_of_hosts = read_psk_file(psk); !keys_of_hosts) notes.error(path, keys_of_hosts.error());
}

/// The whole file, or false and a note.
bool read_file(const std::string& path, Notes& notes, std::string& text) {
  std::error_code e;
  const fs::file_status status = fs::status(path, e);
  if (status.type() == fs::file_type::not_found) {
    notes.file_error("no such file; name the configuration, or begin with config/examples/one-span.yaml");
    return false;
  }
  if (fs::is_directory(status)) {
    notes.file_error("is a folder; name the file in it");
    return false;
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    notes.file_error("cannot be opened: " + std::string(std::strerror(errno)) + "; look at its owner and mode");
    return false;
  }
  // One byte more than may be, so that read_yaml sees that it is too much.
  text.resize(YamlBounds{}.bytes + 1);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (in.bad()) notes.file_error("cannot be read: " + std::string(std::strerror(errno)) + "; look at the disk");
  return !in.bad();
}

}  // namespace

ConfigResult parse_config(const std::string& text, const std::string& name) {
  Notes notes(name);
  Config c = read(text, notes);
  check_paths(
      c, "", [](const std::string& p) { return fs::path(p).lexically_normal().string(); }, notes);
  return result(std::move(c), notes);
}

ConfigResult load_config(const std::string& path, Keys keys) {
  Notes notes(path);
  std::string text;
  if (!read_file(path, notes, text)) return result({}, notes);
  Config c = read(text, notes);
  const fs::path folder = fs::path(path).parent_path();
  check_paths(
      c, fs::path(path).filename().string(), [&](const std::string& p) { return real_name(folder, p); }, notes);
  if (keys == Keys::kRead) read_keys(c, folder.string(), notes);
  return result(std::move(c), notes);
}

std::string to_text(const ConfigError& e) {
  std::string text = e.file;
  if (e.line != 0) text += ":" + std::to_string(e.line) + ":" + std::to_string(e.column);
  for (const std::string* part : {&e.key, &e.value})
    if (!part->empty()) text += ": " + *part;
  return text + ": " + e.text;
}

std::string complaints(const ConfigResult& r) {
  std::string text;
  for (const ConfigError& e : r.errors) text += to_text(e) + "\n";
  for (const ConfigError& w : r.warnings) text += "warning: " + to_text(w) + "\n";
  return text;
}

}  // namespace matchrdma
