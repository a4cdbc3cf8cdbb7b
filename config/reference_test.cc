// docs/configuration.md against the schema, and the schema against the structs.
#include "config/reference.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "config/schema.h"

namespace matchrdma {
namespace {

const std::string kPage = std::string(MATCHRDMA_SOURCE_DIR) + "/docs/configuration.md";

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Reference, PageHasEveryKeyOfTheSchema) {
  const std::string page = content(kPage);
  const size_t head = page.find("-->\n");
  ASSERT_NE(head, std::string::npos) << kPage << " lost the comment above its generated part";
  const std::string expected = page.substr(0, head + 4) + config_reference();
  if (const char* mode = std::getenv("MATCHRDMA_GOLDEN"); mode != nullptr && std::string(mode) == "write") {
    std::ofstream(kPage) << expected;
    return;
  }
  EXPECT_TRUE(page == expected) << kPage
                                << " differs; if the schema is right: MATCHRDMA_GOLDEN=write, then commit";
}

/// Converts to whatever a field wants.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT: implicit on purpose
};

/// How many fields an aggregate has: the most values it can be made from.
template <class T, class... Values>
constexpr size_t fields_of() {
  if constexpr (requires { T{Values{}..., Anything{}}; })
    return fields_of<T, Values..., Anything>();
  else
    return sizeof...(Values);
}

// A limit that somebody adds to limits.h must get a key here.
TEST(Reference, EveryFieldOfTheDataplaneHasAKey) {
  EXPECT_EQ(limits_section().children.size(), fields_of<Limits>());
  constexpr size_t kUnderCnp = 2;
  EXPECT_EQ(timing_section().children.size() + kUnderCnp, fields_of<Timing>());
  // Of the span: budget, egress and slots, two each. check_icrc is at the top, `learned` is what a class says,
  // the DSCP of CNPs stands under `cnp`.
  constexpr size_t kElsewhere = 6 + 3;
  EXPECT_EQ(tuning_section().children.size() + kElsewhere, fields_of<Tuning>());
}

void every_key_has_words(const KeyInfo& k) {
  EXPECT_FALSE(k.doc.empty()) << k.name;
  EXPECT_FALSE(k.form.empty()) << k.name;
  EXPECT_EQ(k.doc.find('|'), std::string::npos) << k.name << ": would end the cell of the table";
  for (const KeyInfo& child : k.children) every_key_has_words(child);
}

TEST(Reference, EveryKeyIsExplained) {
  for (const KeyInfo& k : schema().children) every_key_has_words(k);
}

}  // namespace
}  // namespace matchrdma
