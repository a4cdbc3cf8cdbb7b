#!/usr/bin/env python3
"""Breaks the code on purpose, one rule at a time, and demands that a test notices.

A mutant is a patch tests/mutants/<TAG>-<slug>.patch with these lines before its first hunk:

    Target: wire_test                  the program to build
    Test: IcrcTest.*                   its gtest filter; or `ctest: REGEX`; or `args: ...` to run the program with
    Why: one line for people           (optional)

Patches are applied to a copy of the tree under build/mutants, never to the tree itself. First the unmutated copy must
pass every filter; then each mutant must make its filter fail. A patch that does not apply or does not compile is an
error of the mutant: the code has moved, the patch must follow.
"""
import argparse
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COPY = os.path.join(ROOT, "build", "mutants")  # the copied tree; its build folder stands inside, as in the tree itself,
BUILD = os.path.join(COPY, "build")            # so that ccache sees the same relative paths and reuses what it has
TEST_SECONDS = 300
sys.path.insert(0, os.path.join(ROOT, "tests", "law"))
sys.dont_write_bytecode = True
from tree import source_files  # noqa: E402


class Mutant:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)[:-len(".patch")]
        self.tag, _, self.slug = self.name.partition("-")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        preamble = re.split(r"^(?:diff --git|--- )", text, maxsplit=1, flags=re.M)[0]
        fields = dict(re.findall(r"^(Target|Test|Why):[ \t]*(.*\S)[ \t]*$", preamble, flags=re.M))
        self.target, self.test = fields.get("Target"), fields.get("Test")
        self.files = sorted(set(re.findall(r"^\+\+\+ b/(\S+)", text, flags=re.M)))
        self.malformed = None
        if not self.target or not self.test:
            self.malformed = "needs the lines `Target:` and `Test:` before its first hunk"
        elif not self.files:
            self.malformed = "changes no file (`+++ b/...` lines are missing)"


def write_if_changed(source, destination):
    """Copies the bytes and gives them a new time, so that ninja sees every change, also back to an older file."""
    with open(source, "rb") as f:
        data = f.read()
    try:
        with open(destination, "rb") as f:
            if f.read() == data:
                return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(destination), exist_ok=True)
    with open(destination, "wb") as f:
        f.write(data)
    shutil.copymode(source, destination)


def sync_tree():
    wanted = set(source_files(ROOT))
    for name in wanted:
        write_if_changed(os.path.join(ROOT, name), os.path.join(COPY, name))
    for folder, subfolders, files in os.walk(COPY):
        if folder == COPY and "build" in subfolders:
            subfolders.remove("build")
        for f in files:
            path = os.path.join(folder, f)
            if os.path.relpath(path, COPY) not in wanted:
                os.remove(path)


def quiet(command, log, **more):
    """Exit code; output goes to the log file."""
    with open(log, "w", encoding="utf-8") as f:
        return subprocess.run(command, stdout=f, stderr=subprocess.STDOUT, cwd=COPY, **more).returncode


def git_apply(*arguments):
    # The copy lies inside a checkout; without the ceiling git would take the patch for one of the outer repository
    # and skip every path.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment["GIT_CEILING_DIRECTORIES"] = os.path.dirname(COPY)
    return quiet(["git", "apply", "--whitespace=nowarn", *arguments], os.path.join(BUILD, "apply.log"), env=environment)


def build(targets, log):
    return quiet(["cmake", "--build", BUILD, "--target", *targets], log)


def run_test(target, test, log):
    """(verdict, number of tests or None): verdict is 'pass', 'fail', 'crash' or 'hang'."""
    program = os.path.join(BUILD, "bin", target)
    if test.startswith("ctest:"):
        command = ["ctest", "--test-dir", BUILD, "--no-tests=error", "--output-on-failure", "-R", test[6:].strip()]
    elif test.startswith("args:"):
        command = [program, *shlex.split(test[5:])]
    else:
        command = [program, "--gtest_filter=" + test, "--gtest_brief=1"]
    with open(log, "w", encoding="utf-8") as f:
        process = subprocess.Popen(command, stdout=f, stderr=subprocess.STDOUT, cwd=COPY, start_new_session=True)
        try:
            code = process.wait(timeout=TEST_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "hang", None
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    with open(log, encoding="utf-8", errors="replace") as f:
        ran = re.search(r"^\[==========\] (\d+) tests? from ", f.read(), flags=re.M)
    verdict = "pass" if code == 0 else "crash" if code < 0 else "fail"
    return verdict, int(ran.group(1)) if ran else None


def tail(log, lines=15):
    with open(log, encoding="utf-8", errors="replace") as f:
        return "".join("      " + line for line in f.readlines()[-lines:])


def choose(mutants, arguments):
    if arguments.names:
        chosen = []
        for name in arguments.names:
            found = [m for m in mutants if m.name == name or m.tag == name]
            if not found:
                sys.exit(f"mutants: no mutant is called {name}; ./run mutants --list shows all")
            chosen += [m for m in found if m not in chosen]
        return chosen
    if arguments.sample is None:
        return mutants
    def draw(m):
        return hashlib.sha256(f"{arguments.seed}/{m.name}".encode()).hexdigest()
    return sorted(sorted(mutants, key=draw)[:arguments.sample], key=lambda m: m.name)


def baseline(mutants):
    """Builds the unmutated targets and runs every filter on them: {(target, test): complaint or None}."""
    log = os.path.join(BUILD, "baseline.log")
    configured = quiet(["cmake", "-S", COPY, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST"], log)
    if configured != 0:
        sys.exit(f"mutants: the unmutated tree does not configure\n{tail(log)}")
    targets = sorted({m.target for m in mutants})
    print(f"building the unmutated {', '.join(targets)}", flush=True)
    if build(targets, log) != 0:
        sys.exit(f"mutants: the unmutated tree does not build\n{tail(log)}")
    complaints = {}
    for key in sorted({(m.target, m.test) for m in mutants}):
        verdict, ran = run_test(*key, log)
        if verdict != "pass":
            complaints[key] = f"the unmutated tree does not pass: {verdict}\n{tail(log)}"
        elif ran == 0:
            complaints[key] = "the filter selects no test"
        else:
            complaints[key] = None
    return complaints


def try_mutant(mutant, complaint):
    """(caught, verdict, detail)"""
    log = os.path.join(BUILD, "mutant.log")
    if complaint:
        return False, "invalid", complaint
    if git_apply(mutant.path) != 0:
        return False, "stale", "the patch does not apply, the code it breaks has moved:\n" + tail(os.path.join(BUILD, "apply.log"))
    try:
        if build([mutant.target], log) != 0:
            return False, "no build", "the mutant does not compile, so no test was tried:\n" + tail(log)
        verdict, _ = run_test(mutant.target, mutant.test, log)
        if verdict == "pass":
            return False, "SURVIVED", f"no test of {mutant.target} `{mutant.test}` noticed"
        return True, verdict, ""
    finally:
        for name in mutant.files:
            original = os.path.join(ROOT, name)
            if os.path.exists(original):
                write_if_changed(original, os.path.join(COPY, name))
            elif os.path.exists(os.path.join(COPY, name)):
                os.remove(os.path.join(COPY, name))


def write_junit(path, rows):
    suite = ElementTree.Element("testsuite", name="mutants", tests=str(len(rows)))
    for mutant, caught, verdict, seconds in rows:
        case = ElementTree.SubElement(suite, "testcase", name=mutant.name, time=f"{seconds:.1f}",
                                      status="run" if caught else "fail")
        if not caught:
            ElementTree.SubElement(case, "failure", message=verdict)
    ElementTree.ElementTree(suite).write(path)


def main():
    parser = argparse.ArgumentParser(prog="./run mutants", description="Break one rule at a time; a test must notice.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutants, or tags, to run (default: all)")
    parser.add_argument("--sample", type=int, metavar="N", help="only N of them, drawn by the seed")
    parser.add_argument("--seed", default="0", help="any text; the same seed draws the same sample")
    parser.add_argument("--list", action="store_true", help="list them and stop")
    parser.add_argument("--junit", metavar="FILE", help="also write the results as JUnit XML")
    arguments = parser.parse_args()

    patches = sorted(f for f in os.listdir(HERE) if f.endswith(".patch"))
    mutants = [Mutant(os.path.join(HERE, f)) for f in patches]
    width = max([len(m.slug) for m in mutants] + [4])
    if arguments.list:
        for m in mutants:
            print(f"{m.tag:<5} {m.slug:<{width}}  {m.target}  {m.test}")
        return 0
    chosen = choose(mutants, arguments)
    if not chosen:
        sys.exit("mutants: there are none")
    os.makedirs(BUILD, exist_ok=True)
    sync_tree()
    complaints = baseline([m for m in chosen if not m.malformed])

    rows = []
    print(f"{'tag':<5} {'what is broken':<{width}}  {'caught':<9} {'by':<10} {'time':>6}")
    for m in chosen:
        start = time.monotonic()
        caught, verdict, detail = try_mutant(m, m.malformed or complaints[(m.target, m.test)])
        seconds = time.monotonic() - start
        rows.append((m, caught, verdict, seconds))
        print(f"{m.tag:<5} {m.slug:<{width}}  {'yes' if caught else 'NO':<9} {verdict:<10} {seconds:>4.0f} s", flush=True)
        if detail:
            print(f"      {detail.rstrip()}", flush=True)
    if arguments.junit:
        write_junit(arguments.junit, rows)
    caught = sum(1 for row in rows if row[1])
    print(f"{caught} of {len(rows)} mutants caught, {len(rows) - caught} not"
          + (f" (a sample of {len(mutants)}, seed {arguments.seed})" if len(rows) < len(mutants) else ""))
    return 0 if caught == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
