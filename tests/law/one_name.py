#!/usr/bin/env python3
"""No two types of one namespace have the same name. The compiler sees one file at a time and the linker keeps one of two
inline functions of the same name, so a program with both would run the one's code on the other's data (ISO C++
[basic.def.odr])."""
import os
import re
import sys

from tree import cxx_files

NAMESPACE = re.compile(r"^namespace ([\w:]*) ?\{")
END = re.compile(r"^\}  // namespace( [\w:]+)?$")
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class| struct)?) (?:\[\[\w+\]\] |alignas\([^)]*\) )?"
                  r"(\w+)\b(?!::|<)(?:[^;]*$|[^;]*\{)")


def types_of(path):
    """(namespace, name, line) of each type that other files could see."""
    open_namespaces = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if found := NAMESPACE.match(line):
                open_namespaces.append(found.group(1))
            elif END.match(line.rstrip()):
                open_namespaces.pop()
            elif "" not in open_namespaces and (found := TYPE.match(line)):
                yield "::".join(open_namespaces), found.group(1), number


def check(root):
    """Violations, and how many types there are."""
    places = {}
    for path in cxx_files(root):
        for namespace, name, line in types_of(os.path.join(root, path)):
            places.setdefault((namespace, name), []).append(f"{path}:{line}")
    found = [f"{here[0]}: {name} of namespace {namespace or '(none)'} is another type in {', '.join(here[1:])}: "
             "rename one" for (namespace, name), here in sorted(places.items()) if len(here) > 1]
    return found, len(places)


def main():
    found, types = check(sys.argv[1])
    for violation in found:
        print(violation)
    print(f"{types} types, {len(found)} names with two meanings")
    return 1 if found or types == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
