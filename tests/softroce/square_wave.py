"""Budgets that follow a receiver: the far daemon may give its guest 120 and 40 Mb/s in turn, 100 ms each, over 1000 km.
Without an estimator the source sends what the sender gives, or a fixed rate; with it the destination says what it will
be able to forward, and the source injects no more. One table: what was delivered of what could have been, and the most
that waited at the destination."""
import json
import os
import re
import socket
import statistics
import threading
import time

import report
from daemons import Daemon, Daemons
from measure import measure
from runs import Run, perftest_numbers

MTU, KM = 4200, 1000
LINE, HIGH, LOW = 200e6, 120e6, 40e6
HALF_WAVE, SLOT, ONE_WAY = 0.1, 0.002, 0.005
QUEUE_TARGET = 192 << 10  # 46 packets
SECONDS = 16
SHOWN_SLOTS = 256  # a longer gap is one between two looks at the daemon
LEARNED = 7.0  # seconds of traffic: six periods, and the search for them
COMMAND = f"ib_write_bw -d rxe0 -x {{gid}} -m {{pmtu}} -F -u 17 -s 65536 -D {SECONDS}"
ESTIMATOR = """\
    estimator:
      scheme: {scheme}
      slot: {slot}us
      line_rate: {line}Mbps
      queue_target: {target}KiB
"""
BOUND = (HIGH - LOW) / 8 * (2 * ONE_WAY + 2 * SLOT) + 2 * QUEUE_TARGET
DELIVERED = 0.95


class WaveRun(Run):
    def value(self, output, wall):
        return perftest_numbers(output) and wall

    def seconds(self, km):
        return SECONDS + 20


class WaveDaemon(Daemon):
    """`scheme` of the budgets it makes, `egress` of what it may give its guest."""
    scheme, egress = "fixed", HIGH

    def config_text(self):
        text = super().config_text()
        estimator = ESTIMATOR.format(scheme=self.scheme, slot=int(SLOT * 1e6), line=int(LINE / 1e6),
                                     target=QUEUE_TARGET >> 10)
        return re.sub(r"( {4}egress:\n {6}rate: )\S+\n",
                      rf"\g<1>{self.egress / 1e6:.0f}Mbps\n      burst: 64KiB\n{estimator}", text)


class WaveDaemons(Daemons):
    daemon = WaveDaemon


class Admin:
    """An admin connection that stays: starting a program ten times a second would take from the guests."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rw")

    def ask(self, **request):
        self.file.write(json.dumps({"v": 1, **request}) + "\n")
        self.file.flush()
        answer = json.loads(self.file.readline())
        if not answer["ok"]:
            raise RuntimeError(answer["error"])
        return answer["result"]


class Wave:
    """Turns the far daemon's egress up and down, and watches, until the transfer is over."""

    def __init__(self, daemon):
        self.daemon, self.admin = daemon, Admin(daemon.admin)
        self.forget()
        self.held = 0
        self.configs = {}
        for rate in (HIGH, LOW):
            daemon.egress = rate
            daemon.write_config()
            self.configs[rate] = daemon.text

    def forget(self):
        self.changes = []  # (time, rate from then on)
        self.late = []     # seconds that a change came after its time
        self.given = []    # (time, bytes that left for the guest)
        self.slots = {}    # number -> row

    def turn(self, rate):
        """A file of the same folder takes the config's place, so that no half of one is read."""
        with open(self.daemon.config + ".next", "w", encoding="utf-8") as f:
            f.write(self.configs[rate])
        os.replace(self.daemon.config + ".next", self.daemon.config)
        self.admin.ask(cmd="reload")
        self.changes.append((time.monotonic(), rate))

    def look(self):
        port = next(p for p in self.admin.ask(cmd="show", what="ports")["ports"] if p["side"] == "lan")
        self.given.append((time.monotonic(), port["tx_bytes"]))
        for row in self.admin.ask(cmd="show", what="slots")["slots"]:
            self.slots[row["slot"]] = row
        for worker in self.admin.ask(cmd="show", what="workers")["workers"]:
            self.held = max(self.held, worker["counters"]["held_peak_bytes"])

    def run(self):
        self.forget()  # of a try whose guest died
        begin, step = time.monotonic(), 0
        while time.monotonic() < begin + SECONDS + 1:
            due = begin + step * HALF_WAVE
            time.sleep(max(0.0, due - time.monotonic()))
            self.turn(HIGH if step % 2 else LOW)
            self.late.append(self.changes[-1][0] - due)
            if step % 4 == 3:
                self.look()
            step += 1

    def capacity(self, begin, end):
        """Bytes that could have left between two times."""
        total, at, rate = 0.0, begin, LOW
        for when, new in self.changes:
            if when >= end:
                break
            if when > at:
                total += (when - at) * rate / 8
                at = when
            rate = new
        return total + (end - at) * rate / 8


def outcome_of(wave):
    """(share delivered, peak, peak once learned, seconds that somebody was late), of the time in which the transfer was
    steady."""
    started = next(t for t, b in wave.given if b - wave.given[0][1] > 1 << 20)
    steady = [(t, b) for t, b in wave.given if started + LEARNED <= t <= started + SECONDS - 3]
    (begin, first), (end, last) = steady[0], steady[-1]
    share = (last - first) / wave.capacity(begin, end)
    rows = sorted(wave.slots.values(), key=lambda r: r["slot"])
    busy = [r for r in rows if r["arrived_bps"] > 0]
    if not busy:
        return share, wave.held, wave.held, max(wave.late)
    # A worker that does not get the processor closes no slots. What came meanwhile waits all at once.
    numbers = [r["slot"] for r in rows if busy[0]["slot"] <= r["slot"] <= busy[-1]["slot"]]
    gaps = [(b - a - 1) * SLOT for a, b in zip(numbers, numbers[1:]) if b - a < SHOWN_SLOTS]
    learned = busy[0]["slot"] + LEARNED / SLOT
    return (share, max(r["backlog_bytes"] for r in busy),
            max(r["backlog_bytes"] for r in busy if r["slot"] >= learned), max(gaps + wave.late))


CELLS = [("none", "fixed", "1Gbps"), ("fixed, the mean", "fixed", f"{(HIGH + LOW) / 2e6:.0f}Mbps"),
         ("estimated", "earned", "200Mbps"), ("estimated, the paper's", "paper", "200Mbps")]


def measure_cell(lab, scheme, rate):
    WaveDaemon.scheme, WaveDaemon.rate = scheme, rate
    lab.leave()  # a scheme is chosen at the start
    lab.join(WaveDaemons)
    lab.middle.set("proxied", KM)
    wave = Wave(lab.middle.daemons["B"])
    errors = []

    def during():
        try:
            wave.run()
        except (OSError, RuntimeError, ValueError) as e:
            errors.append(f"daemon B: {e}")

    outcome = measure(lab, WaveRun("wave", COMMAND, 0, 0, unit="s"), KM, MTU, capture=False, during=during)
    lab.middle.check()
    return wave, outcome.errors + errors


def wave(lab, arguments):
    """Complaints and what goes to the JSON file."""
    lab.set_mtu(MTU)
    seen, complaints = {name: [] for name, *_ in CELLS}, []
    for repeat in range(arguments.repeat):
        for name, scheme, rate in CELLS:
            watched, errors = measure_cell(lab, scheme, rate)
            if errors:
                complaints.append(f"{name}: {'; '.join(errors)}")
                continue
            seen[name].append(outcome_of(watched))
            share, peak, learned, late = seen[name][-1]
            lab.say(f"{repeat + 1}/{arguments.repeat} budget {name}: {100 * share:.1f} % delivered, peak {peak >> 10} KiB, "
                    f"{learned >> 10} KiB once learned, {1e3 * late:.0f} ms late")
    return report_wave(lab, seen, complaints)


def report_wave(lab, seen, complaints):
    lines = [["budget", "delivered", "peak at the destination", "once learned", "late"]]
    medians = {}
    for name, runs in seen.items():
        if runs:
            medians[name] = [statistics.median(column) for column in zip(*runs)]
            share, peak, learned, late = medians[name]
            lines.append([name, f"{100 * share:.1f} %", f"{peak / 1024:.0f} KiB", f"{learned / 1024:.0f} KiB",
                          f"{1e3 * late:.0f} ms"])
    lab.say("")
    for line in report.aligned(lines):
        lab.say(line)
    if "estimated" in medians:
        share, peak, learned, late = medians["estimated"]
        waits = late * LINE / 8
        bound, half = BOUND + waits, BOUND / 2 + waits
        lab.say(f"wanted of the estimated: 95 %, {bound / 1024:.0f} KiB, {half / 1024:.0f} KiB once learned; of both "
                f"{waits / 1024:.0f} KiB because this machine was late")
        if share < DELIVERED:
            complaints.append(f"{100 * share:.1f} % was delivered, 95 % wanted")
        if peak > bound:
            complaints.append(f"{peak / 1024:.0f} KiB waited at the destination, {bound / 1024:.0f} wanted")
        if learned > half:
            complaints.append(f"{learned / 1024:.0f} KiB waited once learned, {half / 1024:.0f} wanted")
    return complaints, {"seen": seen, "medians": medians, "bound_bytes": BOUND}
