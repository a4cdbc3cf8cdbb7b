#!/usr/bin/env python3
"""C14: a program linked with the heap defines none of jemalloc's names, only those with the prefix, and its malloc comes
from outside.

    private_symbols_test.py NM PROGRAM ARCHIVE     (ARCHIVE: jemalloc's own, unchanged)
"""
import subprocess
import sys

PREFIX = "mrdma_je_"


def defined(nm, path, *options):
    """Names that the file defines, local ones too: a static function is no name, but a leaked one would stand here."""
    out = subprocess.run([nm, "--defined-only", *options, path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if len(line.split()) == 3}


def main():
    nm, program, archive = sys.argv[1:]
    # operator new and delete are weak in any program with sanitizers; jemalloc's are checked by their prefix.
    theirs = {n for n in defined(nm, archive, "--extern-only") if not n.startswith(("_Z", "DW.ref."))}
    here = defined(nm, program, "--extern-only") | defined(nm, program, "--dynamic")
    renamed = {n for n in here if n.startswith(PREFIX)}
    leaked = sorted(theirs & here)
    if len(theirs) < 500 or not {"malloc", "mallocx", "je_arena_new"} <= theirs:
        sys.exit(f"{archive} defines {len(theirs)} names: that is no jemalloc")
    if f"{PREFIX}mallocx" not in renamed:
        sys.exit(f"{program} has no {PREFIX}mallocx: it was not linked with the heap")
    if leaked:
        sys.exit(f"{program} defines {len(leaked)} names of jemalloc: {' '.join(leaked[:20])}")
    print(f"{len(renamed)} names with the prefix, none of the {len(theirs)} without it")


if __name__ == "__main__":
    main()
