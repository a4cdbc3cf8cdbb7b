#!/usr/bin/env python3
"""Two Linux Soft-RoCE guests, and what matchrdma does between them.

Without an option it makes the chosen runs; the exit code is 1 if one of them failed.
"""
import argparse
import collections
import os
import shutil
import signal
import subprocess
import sys
import time

import report
from daemons import Daemons
from guests import Pair
from measure import drive, measure
from network import Network, why_not
from processes import LabError, Processes
from runs import chosen
from span import Direct

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
LARGEST_MTU = 4200
KINDS = (Direct, Daemons)


class Lab:
    """Namespace, guests and whatever stands between them. What it has started is gone when the `with` is left."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = os.path.join(TREE, "build", "softroce", f"lab-{os.getpid()}")
        self.network, self.processes = Network(LARGEST_MTU), None
        self.pair = self.middle = None
        self.kept, self.mtu, self.notes = 0, 1500, []
        self.progress = ""

    def __enter__(self):
        os.makedirs(self.folder, exist_ok=True)
        self.network.__enter__()
        self.processes = Processes(self.folder)
        self.pair = Pair(os.path.join(TREE, "build", "softroce", "image"), self.network, self.processes)
        return self

    def __exit__(self, kind, *_):
        # However impatient the user, the namespace must go; a second Ctrl-C waits.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.pair.down()
            self.leave()
        finally:
            self.processes.__exit__()
            self.network.__exit__()
        if kind is None and not self.kept:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print(f"logs and captures: {os.path.relpath(self.folder)}", file=sys.stderr)

    def program(self, name):
        path = os.path.join(self.arguments.programs, name)
        if not os.access(path, os.X_OK):
            raise LabError(f"{path} is not there; ./run build makes it")
        return path

    def note(self, sentence):
        self.notes.append(sentence)
        self.say(sentence)

    def say(self, sentence):
        clear = "\r\x1b[K" if sys.stdout.isatty() else ""
        print(f"{clear}{sentence}", flush=True)

    def show(self, sentence):
        """Progress, where somebody watches."""
        if sys.stdout.isatty():
            print(f"\r\x1b[K{sentence}", end="", flush=True)

    def boot(self):
        started = time.monotonic()
        self.pair.boot()
        self.pair.set_mtu(self.mtu)
        self.say(f"two guests are up after {time.monotonic() - started:.1f} s")

    def reboot(self):
        self.pair.boot()
        self.pair.set_mtu(self.mtu)
        self.warm_up()

    def set_mtu(self, mtu):
        self.mtu = mtu
        self.pair.set_mtu(mtu)

    def join(self, kind):
        """Puts a Direct or Daemons between the guests, in place of what is there."""
        if not isinstance(self.middle, kind):
            self.leave()
            self.middle = kind(self)
            self.warm_up()

    def leave(self):
        if self.middle is not None:
            self.middle.stop()
        self.middle = None

    def warm_up(self):
        """Addresses are resolved and the path is open; perftest's first rate after a boot is nonsense now and then."""
        for peer in ("10.9.0.2", "fd09::2"):
            status, said = self.pair.a.run(f"ping -c 3 -W 2 {peer}", 15)
            if status:
                self.middle.check()
                raise LabError(f"guest A cannot ping {peer} through {type(self.middle).__name__}: {said.strip()}")
        word = "ib_write_bw -d rxe0 -x 1 -F -u 17 -n 20"
        status, said, _, _ = drive(self.pair, word, f"{word} 10.8.0.2", 60)
        if status:
            raise LabError(f"the first ib_write_bw failed: {said.strip()}")

    def keep(self, run, km, mtu, outcome, captures):
        """Output and captures of a run with errors stay, those of a good one go."""
        if not outcome.errors and outcome.clean and not self.arguments.keep:
            if captures:
                captures.remove()
            return
        self.kept += 1
        name = f"{self.kept:02}-{run.name.replace(' ', '-')}-{mtu}-{km}km"
        with open(os.path.join(self.folder, f"{name}.txt"), "w", encoding="utf-8") as f:
            f.write(outcome.output)
        for side, path in (captures.paths if captures else {}).items():
            os.replace(path, os.path.join(self.folder, f"{name}-tap{side}.pcap"))


def plan(arguments):
    """(kind, mtu, mode, km, run) in an order that changes what is expensive to change last."""
    out = []
    for kind in KINDS:
        modes = [m for m in kind.modes if m in arguments.modes]
        for mtu in arguments.mtus if modes else []:
            out += [(kind, mtu, mode, km, run) for km in arguments.distances for mode in modes
                    for run in arguments.runs if km <= run.max_km]
    return out


def matrix(lab, arguments):
    """Every run of the plan; (run, mtu, km) -> mode -> Outcome."""
    todo = plan(arguments)
    outcomes = collections.defaultdict(dict)
    for at, (kind, mtu, mode, km, run) in enumerate(todo, 1):
        if lab.mtu != mtu:
            lab.set_mtu(mtu)
        lab.join(kind)
        lab.show(f"{at}/{len(todo)} {run.name}, MTU {mtu}, {km} km, {mode}")
        lab.middle.set(mode, km, arguments.loss)
        outcome = measure(lab, run, km, mtu)
        lab.middle.check()
        outcomes[run, mtu, km][mode] = outcome
        verdict = "; ".join(outcome.errors) or ("ok" if outcome.clean else f"not clean {outcome.counters}")
        lab.say(f"{at}/{len(todo)} {run.name}, MTU {mtu}, {km} km, {mode}: {report.number(outcome.value)} {run.unit}, "
                f"{outcome.verdict.packets} packets, {outcome.wall:.1f} s, {verdict}")
    return outcomes


def numbers(text):
    return [int(word) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(prog="./run softroce", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--quick", action="store_true", help="2 minutes: a few runs, transparent and proxied, 1000 km")
    what.add_argument("--all", action="store_true", help="every run at 0, 100, 1000 and 10000 km, MTU 1500 and 4200")
    parser.add_argument("--modes", help="of direct,transparent,proxied")
    parser.add_argument("--distances", type=numbers, metavar="KM,...")
    parser.add_argument("--mtus", type=numbers, metavar="1500,4200")
    parser.add_argument("--runs", metavar="TEXT", help="only runs whose name holds this")
    parser.add_argument("--loss", type=float, default=0.0, metavar="P", help="of RoCE data on the span, 0 to 1")
    parser.add_argument("--json", metavar="FILE", help="every outcome with its counters")
    parser.add_argument("--junit", metavar="FILE", help="for tests/summary.py; skips itself with a reason")
    parser.add_argument("--programs", metavar="FOLDER", default=os.path.join(TREE, "build", "bin"))
    parser.add_argument("--keep", action="store_true", help="keep the output and captures of good runs too")
    a = parser.parse_args()
    selection = "quick" if a.quick else "all" if a.all else "default"
    modes = {"quick": "transparent,proxied"}.get(selection, "direct,transparent,proxied")
    a.modes = (a.modes or modes).split(",")
    if set(a.modes) - set(report.MODES):
        parser.error(f"--modes: choose of {','.join(report.MODES)}")
    a.distances = a.distances or {"quick": [1000], "default": [0, 1000], "all": [0, 100, 1000, 10000]}[selection]
    a.mtus = a.mtus or ([1500, 4200] if a.all else [1500])
    if set(a.mtus) - {1500, 4200}:
        parser.error("--mtus: choose of 1500,4200")
    a.runs = [r for r in chosen("all" if a.runs else selection) if not a.runs or a.runs in r.name]
    if not a.runs:
        parser.error("--runs: no run is called so")
    return a


def run_matrix(lab, arguments):
    outcomes = matrix(lab, arguments)
    lab.say("")
    for line in report.table(outcomes):
        lab.say(line)
    bad = report.failures(outcomes, arguments.loss)
    for sentence in bad:
        lab.say(f"FAILED {sentence}")
    if arguments.json:
        report.write_json(arguments.json, {"outcomes": list(report.records(outcomes)), "notes": lab.notes,
                                           "boots": lab.pair.boots})
    return bad, outcomes


def main():
    arguments = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        if arguments.junit:
            report.write_junit(arguments.junit, [("softroce", 0, None, reason)])
        return 0 if arguments.junit else 1
    started = time.monotonic()
    try:
        subprocess.run([os.path.join(HERE, "image.sh"), os.path.join(TREE, "build", "softroce", "image")], check=True)
        with Lab(arguments) as lab:
            lab.boot()
            bad, outcomes = run_matrix(lab, arguments)
    except (LabError, subprocess.CalledProcessError) as e:
        print(f"./run softroce: {e}", file=sys.stderr)
        if arguments.junit:
            report.write_junit(arguments.junit, [("lab", time.monotonic() - started, str(e), None)])
        return 1
    if arguments.junit:
        report.write_junit(arguments.junit, [
            (f"{run.name} MTU {mtu} {km} km {mode}", o.wall, "; ".join(report.failures({(run, mtu, km): {mode: o}}, 0)), None)
            for (run, mtu, km), by_mode in outcomes.items() for mode, o in by_mode.items()])
    print(f"{sum(len(m) for m in outcomes.values())} runs, {len(bad)} complaints, {lab.pair.boots} boots, "
          f"{time.monotonic() - started:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
