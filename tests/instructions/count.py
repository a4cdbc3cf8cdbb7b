#!/usr/bin/env python3
"""Instructions that our own code spends on a packet, against what is written down in expected.json.

    count.py PROGRAM             PROGRAM is instruction_loops of the release build; exit code 1 where a count differs
    count.py PROGRAM --accept    writes down what is measured now

Callgrind counts what runs inside the functions counted_*. What lies in shared libraries does not count: ISA-L and libc
choose their code by the CPU, ours is the same everywhere. A count depends on the compiler, so its version is kept.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

LOOPS = ("source", "pseudo-ack", "destination", "transparent", "parse", "lookup")
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
EXPECTED = os.path.join(HERE, "expected.json")
MORE, LEAST = 0.02, 2.0  # what a count may rise by: a share of it, and instructions at least
FEWER = 0.10  # a fall above this has to be written down, or later losses would hide in it


def own_instructions(path, program):
    """Sum of the self costs in objects that are PROGRAM, of a callgrind file with names written out."""
    total, counts, inclusive = 0, False, False
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("ob="):
                counts = os.path.realpath(line[3:].strip()) == program
            elif line.startswith("calls="):
                inclusive = True  # the next line is what the call cost, which stands at the called as well
            elif re.match(r"[+*\-0-9]", line):
                if counts and not inclusive:
                    total += int(line.split()[1])
                inclusive = False
    return total


def measure(program, loop):
    """Instructions per packet."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind")
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no", "--dump-line=no",
             "--toggle-collect=*counted_*", f"--callgrind-out-file={out}", program, loop],
            capture_output=True, text=True, env={**os.environ, "LD_BIND_NOW": "1"}, check=False)
        if done.returncode != 0:
            sys.exit(f"{program} {loop} failed:\n{done.stderr}")
        instructions = own_instructions(out, program)
    if instructions == 0:
        sys.exit(f"{loop}: callgrind counted nothing in {program}; is counted_* still called there?")
    return instructions / int(done.stdout)


def verdict(measured, expected):
    """What is wrong with a count, or nothing."""
    if expected is None:
        return "not written down"
    if measured - expected > max(expected * MORE, LEAST):
        return "MORE"
    if expected - measured > max(expected * FEWER, LEAST):
        return "fewer, not written down"
    return ""


def compiler():
    return subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--accept", action="store_true", help="write down what is measured now")
    args = parser.parse_args()
    program = os.path.realpath(args.program)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        measured = dict(zip(LOOPS, pool.map(lambda loop: measure(program, loop), LOOPS)))
    known = {"compiler": None, "instructions_per_packet": {}}
    if os.path.exists(EXPECTED):
        with open(EXPECTED, encoding="utf-8") as f:
            known = json.load(f)
    expected = known["instructions_per_packet"]
    print(f"{'instructions per packet':<24}{'measured':>10}{'expected':>10}{'difference':>12}")
    failed = False
    for loop, count in measured.items():
        want = expected.get(loop)
        wrong = verdict(count, want)
        failed |= bool(wrong)
        past = (f"{'-':>10}{'-':>12}" if want is None else f"{want:>10.1f}{(count - want) / want:>+12.1%}")
        print(f"{loop:<24}{count:>10.1f}{past}  {wrong}".rstrip())
    if args.accept:
        with open(EXPECTED, "w", encoding="utf-8") as f:
            rounded = {loop: round(count, 1) for loop, count in measured.items()}
            json.dump({"compiler": compiler(), "instructions_per_packet": rounded}, f, indent=2)
            f.write("\n")
        print(f"written down in {EXPECTED}")
        return 0
    if failed:
        print("If the change is worth what it costs, or is a gain, write it down, at the top of the tree: "
              f"python3 -B {os.path.relpath(__file__, TOP)} {os.path.relpath(program, TOP)} --accept")
        if known["compiler"] != compiler():
            print(f"The expected counts are of {known['compiler']}; this is {compiler()}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
