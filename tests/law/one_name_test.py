#!/usr/bin/env python3
"""Proves that the law of one name catches what it forbids."""
import os
import tempfile
import unittest

import one_name


def violations(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                f.write(text)
        return one_name.check(root)[0]


def inside(namespace, text):
    return f"namespace {namespace} {{\n\n{text}\n\n}}  // namespace {namespace}\n"


class OneName(unittest.TestCase):
    def test_every_kind_of_type(self):
        for kind in ["struct Arrival {", "class Arrival final : public Base {", "enum class Arrival : uint8_t {",
                     "class Arrival\n    : public Base {", "struct alignas(64) Arrival {", "union Arrival {",
                     "struct Arrival { int bytes; };"]:
            found = violations({"sim/a.h": inside("house::sim", "struct Arrival {\n};"),
                                "sim/b.cc": inside("house::sim", kind + "\n};")})
            self.assertEqual(found, ["sim/a.h:3: Arrival of namespace house::sim is another type in sim/b.cc:3: "
                                     "rename one"], kind)

    def test_what_is_one_type_or_another_namespace(self):
        type_here = inside("house::sim", "struct Arrival {\n};")
        for other in [inside("house", "struct Arrival {\n};"), inside("house::sim", "struct Arrival;"),
                      inside("house::sim", "struct Arrival::Part {\n};"),
                      inside("house::sim", "template <>\nclass Arrival<void> {\n};"),
                      inside("house::sim", "class Outer {\n  struct Arrival {\n  };\n};"),
                      inside("house::sim", "namespace {\nstruct Arrival {\n};\n}  // namespace")]:
            self.assertEqual(violations({"sim/a.h": type_here, "sim/b.cc": other}), [], other)


if __name__ == "__main__":
    unittest.main()
