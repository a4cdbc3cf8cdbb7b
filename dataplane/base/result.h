#pragma once
// A value, or a sentence that says what went wrong and what to do. For files, configuration and start-up;
// errors of packets are counted values (reason.h), never Results.
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "dataplane/base/check.h"

namespace matchrdma {

/// What a failed Result carries. Complete for people: what, where, what was found, what to do.
struct Error {
  std::string text;
};

/// `return value;` or `return Error{"..."};`
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : v_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return v_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// Only where ok().
  T& value() & {
    MRDMA_CHECK(ok());
    return std::get<0>(v_);
  }
  const T& value() const& {
    MRDMA_CHECK(ok());
    return std::get<0>(v_);
  }
  T&& value() && {
    MRDMA_CHECK(ok());
    return std::get<0>(std::move(v_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Only where not ok().
  const std::string& error() const {
    MRDMA_CHECK(!ok());
    return std::get<1>(v_).text;
  }

 private:
  std::variant<T, Error> v_;
};

/// Success without a value: `return {};`
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error.text)) {}  // NOLINT: implicit on purpose

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  /// Only where not ok().
  const std::string& error() const {
    MRDMA_CHECK(!ok());
    return *error_;
  }

 private:
  std::optional<std::string> error_;
};

}  // namespace matchrdma
