#!/usr/bin/env python3
"""Adds up what the test lanes of ./run test really reported.

    summary.py FOLDER LANE...      FOLDER/LANE.xml is the JUnit file that ctest or tests/mutants/run.py wrote

A lane without a file or without a test counts as a failure, and so does a test that could not be started. A test that
skipped itself (its data is not on this machine) has proved nothing: it is named and counted apart. Prints a table, the
names of what failed, and `N passed, N failed, N skipped` as the last line.
"""
import os
import sys
import xml.etree.ElementTree as ElementTree


def read_lane(path):
    """(passed, [what failed], [what skipped itself], seconds)"""
    if not os.path.exists(path):
        return 0, ["has no results: its build failed, or it did not run to its end"], [], 0.0
    cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    bad, skipped = [], []
    for case in cases:
        status = case.get("status", "run")
        if case.find("skipped") is not None and "SKIP" in (case.find("skipped").get("message") or ""):
            skipped.append(case.get("name"))
            continue
        if status != "run" or case.find("failure") is not None or case.find("error") is not None:
            bad.append(f"{case.get('name')} ({'failed' if status in ('run', 'fail') else 'did not run: ' + status})")
    seconds = sum(float(case.get("time") or 0) for case in cases)
    return len(cases) - len(bad) - len(skipped), bad if cases else ["has no tests"], skipped, seconds


def main():
    folder, lanes = sys.argv[1], sys.argv[2:]
    passed, failed, skips = 0, [], []
    print(f"{'lane':<12}{'passed':>8}{'failed':>8}{'cpu time':>10}")
    for lane in lanes:
        good, bad, skipped, seconds = read_lane(os.path.join(folder, lane + ".xml"))
        print(f"{lane:<12}{good:>8}{len(bad):>8}{seconds:>8.0f} s")
        passed += good
        failed += [f"{lane}: {name}" for name in bad]
        skips += [f"{lane}: {name}" for name in skipped]
    for name in failed:
        print(f"FAILED {name}")
    for name in skips:
        print(f"skipped {name}")
    print(f"{passed} passed, {len(failed)} failed, {len(skips)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
