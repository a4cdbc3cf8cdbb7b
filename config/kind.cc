#include "config/kind.h"

namespace matchrdma {
namespace {

std::string what(const YamlNode& n) {
  switch (n.kind) {
    case YamlNode::Kind::kNothing:
      return "nothing stands here";
    case YamlNode::Kind::kScalar:
      return "a value stands here";
    case YamlNode::Kind::kList:
      return "a list stands here";
    case YamlNode::Kind::kMap:
      return "a section stands here";
  }
  return "";
}

bool on_one_line(const std::string& text, size_t most) {
  return !text.empty() && text.size() <= most && std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

}  // namespace

const std::string* scalar_of(const YamlNode& n, const std::string& path, Notes& notes,
                             const std::string& form) {
  if (n.kind == YamlNode::Kind::kScalar) return &n.text;
  notes.error(
      path, what(n) + "; write " + form + (n.kind == YamlNode::Kind::kNothing ? ", or leave the key out" : ""));
  return nullptr;
}

bool is_list(const YamlNode& n, const std::string& path, Notes& notes, const std::string& form) {
  if (n.kind == YamlNode::Kind::kList) return true;
  notes.error(path, what(n) + "; write " + form);
  return false;
}

Kind<bool> on_off() {
  return word<bool>(
      "on or off",
      [](const std::string& text) -> Result<bool> {
        if (text == "on" || text == "true" || text == "yes") return true;
        if (text == "off" || text == "false" || text == "no") return false;
        return Error{"no such choice; write on or off"};
      },
      [](bool v) { return std::string(v ? "on" : "off"); });
}

Kind<Rate> rate() {
  return word<Rate>("rate", parse_rate_with_unit, [](const Rate& r) { return to_text(r); });
}

Kind<Duration> time_between(Duration least, Duration most) {
  return word<Duration>(
      "time, " + to_text(least) + " to " + to_text(most),
      [=](const std::string& text) { return parse_duration_between(text, least, most); },
      [](const Duration& d) { return to_text(d); });
}

Kind<uint64_t> bytes_between(uint64_t least, uint64_t most) {
  return word<uint64_t>(
      "bytes, " + bytes_text(least) + " to " + bytes_text(most),
      [=](const std::string& text) { return parse_bytes_between(text, least, most); },
      [](const uint64_t& n) { return bytes_text(n); });
}

Kind<std::string> words(std::string form, size_t most) {
  return word<std::string>(
      form,
      [form, most](const std::string& text) -> Result<std::string> {
        if (!on_one_line(text, most))
          return Error{"not " + form + "; write 1 to " + std::to_string(most) + " characters on one line"};
        return text;
      },
      [](const std::string& s) { return s; });
}

Kind<std::string> absolute_path() {
  return word<std::string>(
      "an absolute path",
      [](const std::string& text) -> Result<std::string> {
        if (!on_one_line(text, 4095) || text.front() != '/')
          return Error{"not an absolute path; the daemon runs in no folder of yours, write it from / on"};
        return text;
      },
      [](const std::string& s) { return s; });
}

Kind<Prefix> prefix() {
  return word<Prefix>("prefix", parse_prefix, [](const Prefix& p) { return to_text(p); });
}

Kind<IpAddress> address() {
  return word<IpAddress>("IPv4 or IPv6 address", parse_address, [](const IpAddress& a) { return to_text(a); });
}

}  // namespace matchrdma
