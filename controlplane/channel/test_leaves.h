#pragma once
// The values inside a plain struct, found without being named, so that a test notices a field the code forgot.
#include <tuple>
#include <type_traits>
#include <vector>

#include "dataplane/flow/message.h"

namespace matchrdma::test {

struct Anything {
  template <class T>
  operator T() const;  // NOLINT: implicit on purpose, never defined
};

/// How many members an aggregate has: as many as it can be initialised from.
template <class T, class... Given>
constexpr size_t member_count() {
  if constexpr (requires { T{Given{}..., Anything{}}; }) {
    return member_count<T, Given..., Anything>();
  } else {
    return sizeof...(Given);
  }
}

template <class T>
auto members_of(const T& x) {
  constexpr size_t n = member_count<T>();
  static_assert(n >= 1 && n <= 13, "add a line below");
#define MATCHRDMA_CASE(count, ...) \
  if constexpr (n == count) {      \
    const auto& [__VA_ARGS__] = x; \
    return std::tie(__VA_ARGS__);  \
  }
  MATCHRDMA_CASE(1, a)
  MATCHRDMA_CASE(2, a, b)
  MATCHRDMA_CASE(3, a, b, c)
  MATCHRDMA_CASE(4, a, b, c, d)
  MATCHRDMA_CASE(5, a, b, c, d, e)
  MATCHRDMA_CASE(6, a, b, c, d, e, f)
  MATCHRDMA_CASE(7, a, b, c, d, e, f, g)
  MATCHRDMA_CASE(8, a, b, c, d, e, f, g, h)
  MATCHRDMA_CASE(9, a, b, c, d, e, f, g, h, i)
  MATCHRDMA_CASE(10, a, b, c, d, e, f, g, h, i, j)
  MATCHRDMA_CASE(11, a, b, c, d, e, f, g, h, i, j, k)
  MATCHRDMA_CASE(12, a, b, c, d, e, f, g, h, i, j, k, l)
  MATCHRDMA_CASE(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
#undef MATCHRDMA_CASE
}

template <class T>
void append_leaves(const T& x, std::vector<uint64_t>& out) {
  if constexpr (requires { x.size(); }) {
    for (const auto& element : x) append_leaves(element, out);
  } else if constexpr (requires { x.has_value(); }) {
    out.push_back(x.has_value() ? 1 : 0);
    if (x) append_leaves(*x, out);
  } else if constexpr (std::is_class_v<T>) {
    std::apply([&](const auto&... member) { (append_leaves(member, out), ...); }, members_of(x));
  } else {
    out.push_back(static_cast<uint64_t>(x));
  }
}

/// Equal messages have equal leaves. The first one is the type.
inline std::vector<uint64_t> leaves_of(const Message& m) {
  std::vector<uint64_t> out{m.index()};
  std::visit([&](const auto& body) { append_leaves(body, out); }, m);
  return out;
}

}  // namespace matchrdma::test
