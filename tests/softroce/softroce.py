#!/usr/bin/env python3
"""Two Linux Soft-RoCE guests, and what matchrdma does between them.

Without an option it makes the chosen runs at 0 and 1000 km, direct, transparent and proxied. The exit code is 1 if
anything was wrong.
"""
import argparse
import os
import signal
import subprocess
import sys
import time

import report
from faults import faults
from gain import gain
from host import host
from host_paths import host_paths
from host_rate import host_rate
from lab import IMAGE, TREE, Lab
from matrix import matrix
from network import why_not
from processes import LabError
from runs import chosen
from square_wave import wave

SPECIAL = {"gain": gain, "faults": faults, "wave": wave, "host": host, "host_rate": host_rate,
           "host_paths": host_paths}
HERE = os.path.dirname(os.path.abspath(__file__))


def numbers(text):
    return [int(word) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(prog="./run softroce", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--quick", action="store_true", help="2 minutes: a few runs, transparent and proxied, 1000 km")
    what.add_argument("--all", action="store_true", help="every run at 0, 100, 1000 and 10000 km, MTU 1500 and 4200")
    what.add_argument("--gain", action="store_true", help="what the proxies gain, against what is required; 20 minutes")
    what.add_argument("--wave", action="store_true", help="budgets that follow a receiver of 120 and 40 Mb/s; 10 minutes")
    what.add_argument("--faults", action="store_true", help="daemons killed, span cut, keys rotated, ...")
    what.add_argument("--host", action="store_true", help="the host library's own programs in the guests; 2 minutes")
    what.add_argument("--host-rate", action="store_true",
                      help="matchrdma-xfer between the guests, with and without loss; 10 minutes")
    what.add_argument("--host-paths", action="store_true",
                      help="several paths between the guests, one of which dies behind the proxies; 5 minutes")
    parser.add_argument("--modes", help="of direct,transparent,proxied")
    parser.add_argument("--distances", type=numbers, metavar="KM,...")
    parser.add_argument("--mtus", type=numbers, metavar="1500,4200")
    parser.add_argument("--runs", metavar="TEXT", help="only runs (or scenarios of --faults) whose name holds this")
    parser.add_argument("--repeat", type=int, metavar="N",
                        help="of --gain and --wave: the median of so many (5); of --host-rate (1)")
    parser.add_argument("--rate", type=float, default=60, metavar="MBPS", help="of --host-rate: of the sender's pacer (60)")
    parser.add_argument("--loss", type=float, default=0.0, metavar="P", help="of RoCE data on the span, 0 to 1")
    parser.add_argument("--json", metavar="FILE", help="every outcome with its counters")
    parser.add_argument("--junit", metavar="FILE", help="for tests/summary.py; skips itself with a reason")
    parser.add_argument("--programs", metavar="FOLDER", default=os.path.join(TREE, "build", "bin"))
    parser.add_argument("--keep", action="store_true", help="keep the output and captures of good runs too")
    a = parser.parse_args()
    selection = "quick" if a.quick else "all" if a.all else "default"
    modes = {"quick": "transparent,proxied"}.get(selection, "direct,transparent,proxied")
    a.repeat = a.repeat or (1 if a.host_rate else 5)
    a.modes = (a.modes or ("direct" if a.host_rate else modes)).split(",")
    if set(a.modes) - set(report.MODES):
        parser.error(f"--modes: choose of {','.join(report.MODES)}")
    a.distances = a.distances or {"quick": [1000], "default": [0, 1000, 10000] if a.host_rate else [0, 1000],
                                    "all": [0, 100, 1000, 10000]}[selection]
    a.mtus = a.mtus or ([1500, 4200] if a.all else [1500])
    if set(a.mtus) - {1500, 4200}:
        parser.error("--mtus: choose of 1500,4200")
    a.name = a.runs
    a.runs = [r for r in chosen("all" if a.runs else selection) if not a.runs or a.runs in r.name]
    if not a.runs and not (a.faults or a.host_rate or a.host_paths):
        parser.error("--runs: no run is called so")
    return a


def work(arguments):
    """(complaints, document, cases) of what was asked for."""
    subprocess.run([os.path.join(HERE, "image.sh"), IMAGE], check=True)
    with Lab(arguments) as lab:
        lab.boot()
        special = next((name for name in SPECIAL if getattr(arguments, name)), None)
        if special:
            started = time.monotonic()
            complaints, document = SPECIAL[special](lab, arguments)
            cases = [(special, time.monotonic() - started, "; ".join(complaints))]
        else:
            complaints, document, cases = matrix(lab, arguments)
        return complaints, {**document, "notes": lab.notes, "boots": lab.pair.boots}, cases


def main():
    arguments = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    reason = why_not()
    if reason:
        print(f"./run softroce: {reason}", file=sys.stderr)
        if arguments.junit:  # a test that cannot run here skips itself; who asked by hand wanted it
            report.write_junit(arguments.junit, [("softroce", 0, None, reason)])
        return 0 if arguments.junit else 1
    started = time.monotonic()
    try:
        complaints, document, cases = work(arguments)
    except (LabError, subprocess.CalledProcessError) as e:
        print(f"./run softroce: {e}", file=sys.stderr)
        if arguments.junit:
            report.write_junit(arguments.junit, [("lab", time.monotonic() - started, str(e), None)])
        return 1
    for sentence in complaints:
        print(f"FAILED {sentence}")
    if arguments.json:
        report.write_json(arguments.json, {**document, "complaints": complaints})
    if arguments.junit:
        report.write_junit(arguments.junit, [(*case, None) for case in cases])
    took = time.monotonic() - started
    print(f"{len(cases)} runs, {len(complaints)} complaints, {document['boots']} boots, {took:.0f} s")
    return 1 if complaints else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
