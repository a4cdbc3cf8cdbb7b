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

/// A number without a unit may mean anything.
bool has_unit(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c != 'e' && c != 'E'; });
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
  return word<Rate>(
      "rate",
      [](const std::string& text) -> Result<Rate> {
        auto r = parse_rate(text);
        if (r && !has_unit(text)) return Error{"has no unit; write it like " + to_text(*r)};
        return r;
      },
      [](const Rate& r) { return to_text(r); });
}

Kind<Duration> time_between(Duration least, Duration most) {
  const std::string range = to_text(least) + " to " + to_text(most);
  return word<Duration>(
      "time, " + range,
      [=](const std::string& text) -> Result<Duration> {
        auto d = parse_duration(text);
        if (d && !has_unit(text)) return Error{"has no unit; write a time like 500us, 2ms or 60s"};
        if (d && (*d < least || *d > most)) return Error{"out of range; choose " + range};
        return d;
      },
      [](const Duration& d) { return to_text(d); });
}

Kind<uint64_t> bytes_between(uint64_t least, uint64_t most) {
  const std::string range = bytes_text(least) + " to " + bytes_text(most);
  return word<uint64_t>(
      "bytes, " + range,
      [=](const std::string& text) -> Result<uint64_t> {
        auto n = parse_bytes(text);
        if (!n) return Error{"not a number of bytes; write it like 64KiB, 64MiB or 2GiB"};
        if (*n < least || *n > most) return Error{"out of range; choose " + range};
        return n;
      },
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
