#pragma once
// Reading of requests: bounded, every member named, whatever is wrong told in one sentence.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "dataplane/base/result.h"

namespace matchrdma::service {

using Json = nlohmann::ordered_json;

/// One JSON object, nested `kMaxDepth` deep at most.
inline constexpr int kMaxDepth = 16;
Result<Json> parse_object(std::string_view text);

/// Takes the members of one object. The first thing that is wrong is kept, and what is taken after it has its
/// default; done() tells. Knows nothing of what the members mean.
class Fields {
 public:
  /// `where`: "" for the request itself, "local." for its member of that name.
  Fields(const Json& object, std::string where);

  std::string text(const char* key, bool required = false);
  uint64_t whole(const char* key, uint64_t least, uint64_t most, uint64_t otherwise);
  uint64_t whole(const char* key, uint64_t least, uint64_t most);  ///< must be there
  bool flag(const char* key);
  bool has(const char* key) const { return object_->contains(key); }
  /// nullptr where it is missing or of another type.
  const Json* object(const char* key, bool required = false);
  const Json* list(const char* key);
  void wrong(const char* key, const std::string& sentence);
  /// The same for an object inside this one.
  void wrong(const Result<void>& inner);

  /// Fails with the first error, or when there is a member that nobody took.
  Result<void> done();

 private:
  const Json* take(const char* key, bool required);

  const Json* object_;
  std::string where_;
  std::string error_;
  std::set<std::string> taken_;
};

}  // namespace matchrdma::service
