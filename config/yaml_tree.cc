#include "config/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace matchrdma {
namespace {

/// Ends the reading: what follows could not be understood or is too much.
struct Stop {
  Mark at;
  std::string text;
};

Mark mark_of(const YAML::Mark& m) {
  return {static_cast<uint32_t>(std::max(m.line, 0)) + 1, static_cast<uint32_t>(std::max(m.column, 0)) + 1};
}

/// Duty: builds the tree from the parser's events, within the bounds. Does not know what keys there are.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& source, const YamlBounds& bounds, Notes& notes)
      : source_(source), bounds_(bounds), notes_(notes) {}

  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& m) override {
    if (documents_++ > 0) throw Stop{mark_of(m), "a second document begins here; write one file for each"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& m, YAML::anchor_t anchor) override {
    add(plain(m, YamlNode::Kind::kNothing, "", anchor));
  }
  void OnAlias(const YAML::Mark& m, YAML::anchor_t) override {
    refuse(m, "an alias (*name) is not understood here; write its content out");
    add(plain(m, YamlNode::Kind::kNothing, "", 0));
  }
  void OnScalar(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode n = plain(m, YamlNode::Kind::kScalar, tag, anchor);
    if (tag == "!" && !ends_on_its_line(static_cast<size_t>(std::max(m.pos, 0))))
      throw Stop{n.at, "a quoted text does not end on its line; close the quote"};
    n.text = value;
    add(std::move(n));
  }
  void OnSequenceStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(plain(m, YamlNode::Kind::kList, tag, anchor));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(plain(m, YamlNode::Kind::kMap, tag, anchor));
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YamlNode::Key key;
    bool has_key;
  };

  YamlNode plain(const YAML::Mark& m, YamlNode::Kind kind, const std::string& tag, YAML::anchor_t anchor) {
    if (++nodes_ > bounds_.nodes)
      throw Stop{mark_of(m), "more than " + std::to_string(bounds_.nodes) +
                                 " values; this is no configuration, or it should be made shorter by prefixes"};
    if (anchor != 0) refuse(m, "an anchor (&name) is not understood here; leave it out");
    // "?" and "!" are the parser's own, for plain and for quoted text.
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(m, "a tag (!type) is not understood here; leave it out");
    YamlNode n;
    n.kind = kind;
    n.at = mark_of(m);
    return n;
  }

  void open(YamlNode n) {
    if (open_.size() >= bounds_.depth)
      throw Stop{n.at,
                 "deeper than " + std::to_string(bounds_.depth) + " levels; no key stands as deep as this"};
    if (expects_key()) throw Stop{n.at, "a list or section stands where a key should be; write `key: value`"};
    open_.push_back({std::move(n), {}, false});
  }

  void close() {
    YamlNode done = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(done));
  }

  void add(YamlNode n) {
    if (open_.empty()) {
      root_ = std::move(n);
      return;
    }
    Open& top = open_.back();
    if (expects_key()) {
      top.key = {std::move(n.text), n.at};
      top.has_key = true;
      return;
    }
    top.has_key = false;
    if (top.node.kind == YamlNode::Kind::kMap && !keep_key(top)) return;
    top.node.items.push_back(std::move(n));
  }

  /// Of the key that was read last: spans[0].wan.mtu
  std::string path() const {
    std::string p;
    for (const Open& o : open_) {
      if (o.node.kind == YamlNode::Kind::kList) p += "[" + std::to_string(o.node.items.size()) + "]";
      if (o.node.kind == YamlNode::Kind::kMap) p += (p.empty() ? "" : ".") + o.key.name;
    }
    return p;
  }

  /// False for a key that was there before: the first one counts.
  bool keep_key(Open& top) {
    const auto first = std::find_if(top.node.keys.begin(), top.node.keys.end(),
                                    [&](const YamlNode::Key& k) { return k.name == top.key.name; });
    if (first != top.node.keys.end()) {
      notes_.error(top.key.at, path(), "",
                   "stands twice in this section, first in line " + std::to_string(first->at.line) +
                       "; leave one of them out");
      return false;
    }
    if (top.node.keys.size() >= bounds_.keys)
      throw Stop{top.key.at,
                 "more than " + std::to_string(bounds_.keys) + " keys in one section; no section has as many"};
    top.node.keys.push_back(std::move(top.key));
    return true;
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::kMap && !open_.back().has_key;
  }
  /// The parser takes a quote that is never closed for one that ends where the indentation does.
  bool ends_on_its_line(size_t begin) const {
    if (begin >= source_.size()) return true;
    const char quote = source_[begin];
    if (quote != '"' && quote != '\'') return true;
    for (size_t i = begin + 1; i < source_.size() && source_[i] != '\n'; ++i) {
      if (source_[i] == '\\' && quote == '"')
        ++i;
      else if (source_[i] == quote)
        return true;  // a doubled '' ends and begins again, which comes to the same
    }
    return false;
  }

  void refuse(const YAML::Mark& m, const std::string& text) { notes_.error(mark_of(m), "", "", text); }

  const std::string& source_;
  YamlBounds bounds_;
  Notes& notes_;
  YamlNode root_;
  std::vector<Open> open_;
  size_t nodes_ = 0, documents_ = 0;
};

/// Length of the UTF-8 character at the start of `s`, 0 where there is none.
size_t utf8_length(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (length == 0 || byte(0) > 0xf4 || s.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return length;
}

/// What the parser would swallow or call by another name: bytes that are no text, and tabs before the first
/// word.
bool is_plain_text(const std::string& text, Notes& notes) {
  if (text.starts_with("\xef\xbb\xbf")) {
    notes.error(Mark{}, "", "", "a byte order mark; save the file as UTF-8 without one");
    return false;
  }
  Mark at;
  bool before_word = true, tabs_told = false, good = true;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(std::string_view(text).substr(i, 4));
    const char c = text[i];
    if (length == 0 || (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') ||
        c == 0x7f) {
      notes.error(at, "", "", "a byte that is no UTF-8 text; save the file as UTF-8, and name the right file");
      return false;
    }
    if (c == '\t' && before_word && !tabs_told) {
      notes.error(at, "", "", "a tab; YAML is indented by spaces alone");
      tabs_told = true;
      good = false;
    }
    if (c == '\n') {
      ++at.line;
      at.column = 0;
      before_word = true;
      tabs_told = false;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      before_word = false;
    }
    ++at.column;
    i += length;
  }
  return good;
}

void parse(const std::string& text, TreeBuilder& builder) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  while (parser.HandleNextDocument(builder)) {
  }
}

}  // namespace

bool read_yaml(const std::string& text, const YamlBounds& bounds, Notes& notes, YamlNode& tree) {
  if (text.size() > bounds.bytes) {
    notes.error(
        Mark{}, "", "",
        "larger than " + std::to_string(bounds.bytes) + " bytes; this is no configuration of matchrdma");
    return false;
  }
  if (!is_plain_text(text, notes)) return false;
  TreeBuilder builder(text, bounds, notes);
  try {
    parse(text, builder);
  } catch (const Stop& s) {
    notes.error(s.at, "", "", s.text);
    return false;
  } catch (const YAML::ParserException& e) {
    notes.error(mark_of(e.mark), "", "",
                "no YAML: " + e.msg + "; look at the indentation, colons and quotes here");
    return false;
  }
  tree = builder.take();
  return true;
}

}  // namespace matchrdma
