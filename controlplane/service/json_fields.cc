#include "controlplane/service/json_fields.h"

#include <utility>

#include "config/words.h"

namespace matchrdma::service {
namespace {

// Depth of brackets outside of strings. Looked at before parsing: what is deep costs nobody a stack.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

std::string shown(const Json& j) {
  std::string s = j.dump(-1, ' ', true, Json::error_handler_t::replace);
  constexpr size_t kShown = 60;
  return s.size() <= kShown ? s : s.substr(0, kShown) + "...";
}

}  // namespace

Result<Json> parse_object(std::string_view text) {
  if (text.find_first_not_of(" \t\r") == std::string_view::npos)
    return Error{"the request is an empty line, not JSON; send one object per line"};
  if (too_deep(text)) return Error{"the request is nested more than " + std::to_string(kMaxDepth) + " deep"};
  Json j = Json::parse(text, nullptr, false);
  if (j.is_discarded()) return Error{"the request is not JSON; send one object per line"};
  if (!j.is_object()) return Error{"the request is not a JSON object; send one object per line"};
  return j;
}

Fields::Fields(const Json& object, std::string where) : object_(&object), where_(std::move(where)) {}

void Fields::wrong(const char* key, const std::string& sentence) {
  if (error_.empty()) error_ = where_ + key + ": " + sentence;
}

void Fields::wrong(const Result<void>& inner) {
  if (!inner && error_.empty()) error_ = inner.error();
}

const Json* Fields::take(const char* key, bool required) {
  taken_.insert(key);
  const auto it = object_->find(key);
  if (it != object_->end()) return &*it;
  if (required) wrong(key, "is missing");
  return nullptr;
}

std::string Fields::text(const char* key, bool required) {
  const Json* j = take(key, required);
  if (j == nullptr) return "";
  if (!j->is_string()) {
    wrong(key, shown(*j) + " is not a text");
    return "";
  }
  auto s = j->get<std::string>();
  if (required && s.empty()) wrong(key, "is empty");
  return s;
}

uint64_t Fields::whole(const char* key, uint64_t least, uint64_t most, uint64_t otherwise) {
  const Json* j = take(key, false);
  if (j == nullptr) return otherwise;
  if (!j->is_number_unsigned() || j->get<uint64_t>() < least || j->get<uint64_t>() > most) {
    wrong(key,
          shown(*j) + " is not a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return otherwise;
  }
  return j->get<uint64_t>();
}

uint64_t Fields::whole(const char* key, uint64_t least, uint64_t most) {
  if (!has(key)) wrong(key, "is missing");
  return whole(key, least, most, least);
}

bool Fields::flag(const char* key) {
  const Json* j = take(key, false);
  if (j == nullptr) return false;
  if (!j->is_boolean()) wrong(key, shown(*j) + " is neither true nor false");
  return j->is_boolean() && j->get<bool>();
}

const Json* Fields::object(const char* key, bool required) {
  const Json* j = take(key, required);
  if (j == nullptr || j->is_object()) return j;
  wrong(key, shown(*j) + " is not an object");
  return nullptr;
}

const Json* Fields::list(const char* key) {
  const Json* j = take(key, false);
  if (j == nullptr || j->is_array()) return j;
  wrong(key, shown(*j) + " is not a list");
  return nullptr;
}

Result<void> Fields::done() {
  for (const auto& [key, value] : object_->items()) {
    if (taken_.contains(key)) continue;
    if (error_.empty()) error_ = where_ + shown(Json(key)) + " is not known here; there is: " + listed(taken_);
  }
  if (!error_.empty()) return Error{error_};
  return {};
}

}  // namespace matchrdma::service
