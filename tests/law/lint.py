#!/usr/bin/env python3
"""Format and shell lint of everything the project tracks: clang-format on C++, shellcheck on bash."""
import os
import subprocess
import sys

from tree import cxx_files, source_files


def first_line(path):
    with open(path, "rb") as f:
        return f.readline(80)


def main():
    root = sys.argv[1]
    os.chdir(root)
    shell = [n for n in source_files(".") if b"bash" in first_line(n) and first_line(n).startswith(b"#!")]
    cxx = cxx_files(".")
    failed = 0
    for title, command in [("shellcheck", ["shellcheck"] + shell),
                           ("clang-format (mend with ./run format)", ["clang-format", "--dry-run", "-Werror"] + cxx)]:
        code = subprocess.run(command).returncode
        print(f"{title}: {'clean' if code == 0 else 'FAILED'}")
        failed |= code != 0
    print(f"{len(shell)} scripts, {len(cxx)} C++ files")
    return 1 if failed or not shell or not cxx else 0


if __name__ == "__main__":
    sys.exit(main())
