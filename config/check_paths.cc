#include <algorithm>
#include <vector>

#include "config/checks.h"

namespace matchrdma {
namespace {

struct Use {
  std::string key;
  std::string file;   ///< by its one name
  std::string what;   ///< "the file"
  bool alone = true;  ///< false: it is only read, and another reader harms nobody
};

}  // namespace

void check_paths(const Config& c, const std::string& own, const OneName& one_name, Notes& notes) {
  constexpr size_t kLongestSocket = 107;  // sun_path with its final zero, unix(7)
  if (c.admin.socket.size() > kLongestSocket && notes.good("admin.socket"))
    notes.error("admin.socket", "has " + std::to_string(c.admin.socket.size()) +
                                    " characters; the path of a Unix socket has 107 at most");
  std::vector<Use> uses;
  const auto add = [&](const std::string& key, const std::string& path, const std::string& what, bool alone) {
    if (!path.empty() && notes.good(key)) uses.push_back({key, one_name(path), what, alone});
  };
  add("log.file", c.log.file, "the file", true);
  add("admin.socket", c.admin.socket, "the socket", true);
  add("capture_folder", c.capture_folder, "the folder", true);
  add("journal.path", c.journal_path, "the file", true);
  // It has a lock beside it.
  if (!c.journal_path.empty()) add("journal.path", c.journal_path + ".lock", "the lock", true);
  if (c.registration) add("register.psk_file", c.registration->psk_file, "the file", false);
  for (size_t i = 0; i < c.spans.size(); ++i)
    for (size_t k = 0; k < c.spans[i].peer.keys.size(); ++k)
      add(nth(nth("spans", i) + ".peer.keys", k) + ".file", c.spans[i].peer.keys[k].file, "the file", false);
  // Told at the key that stands further down; a default stands nowhere.
  std::stable_sort(uses.begin(), uses.end(),
                   [&](const Use& a, const Use& b) { return notes.line(a.key) < notes.line(b.key); });
  for (auto u = uses.begin(); u != uses.end(); ++u) {
    if (u->alone && !own.empty() && u->file == one_name(own)) {
      notes.error(u->key, "is this configuration itself; choose another one");
      continue;
    }
    const auto first = std::find_if(uses.begin(), u, [&](const Use& earlier) {
      return earlier.file == u->file && (earlier.alone || u->alone);
    });
    if (first == u || first->key == u->key) continue;
    const uint32_t line = notes.line(first->key);
    notes.error(u->key, "is " + first->what + " of " + first->key +
                            (line == 0 ? " by default" : " in line " + std::to_string(line)) +
                            " too; choose another one");
  }
}

}  // namespace matchrdma
