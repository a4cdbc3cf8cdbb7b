"""matchrdma-xfer over several paths between the guests, 1000 km apart: one path beside plain RC, then four through the
proxies, registered so that they are answered for from the first packet on, one of which is blackholed in the middle; then a
channel that loses its RDMA for some seconds and goes on over TCP.

The proxies confirm what the blackhole swallows, so no completion tells of it: the library's T_soft alone does."""
import json
import os
import re
import time

from daemons import Daemon, Daemons
from host_rate import CLIENT, SERVER, both_said
from measure import counters, drive_while

KM, MTU, PATH_MTU = 1000, 4200, 4096
ALONE = 0.85           # of plain RC, required
PATHS, DEAD = 4, 2
BEFORE_SECONDS = 1.0   # with all flows active
START_SECONDS = 40     # an interpreted guest makes up its bytes and their digest first
LISTENER = "10.8.0.9"  # of daemon A, on the management net
PORT = 4790
WALL = 120
DARK_SECONDS = 6.0  # without RoCE; the channel gives its path up after 2
REGISTER = """\
register:
  listen: {address}:{port}
  psk_file: {file}
"""


def udp_port(path):
    """Of a flow label: rdma_flow_label_to_udp_sport of rdma-core."""
    return 0xC000 | (path & 0x3FFF) ^ ((path & 0xFC000) >> 14)


class RegisteringDaemon(Daemon):
    """Daemon A takes registrations of guest A's library."""

    def config_text(self):
        if self.side != "A":
            return super().config_text()
        key = os.path.join(self.folder, "psk")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as f:
            f.write(self.lab.pair.a.must("cat /etc/matchrdma-key").strip() + "\n")
        return super().config_text() + REGISTER.format(address=LISTENER, port=PORT, file=key)


class RegisteringDaemons(Daemons):
    daemon = RegisteringDaemon


def move(lab, options, size, during=None):
    """(what both ends said, complaints, what the client printed)."""
    client = f"{CLIENT} {options} --size {size >> 20}MiB --message 1MiB --mtu {PATH_MTU} --distance {KM}km"
    status, output, server, _ = drive_while(lab.pair, (SERVER, client), WALL, during)
    if status or "server: status 0" not in server:
        return {}, [f"status {status}: {output.strip()} / {server.strip()}"], output
    said, errors = both_said(lab.pair)
    if not said["same"]:
        errors.append("WRONG bytes")
    return said, errors, output


def alone(lab):
    """One path beside plain RC; both as fast as they will go, in turns."""
    rates, complaints = {"rc": [], "cells --paths 1": []}, []
    for _ in range(5):
        for scheme, found in rates.items():
            said, errors, _ = move(lab, f"--scheme {scheme} --rate 1Gbps", 48 << 20)
            complaints += [f"{scheme}: {e}" for e in errors]
            if not errors:
                found.append(said["bits_per_second"])
    rc, cells = (sorted(found)[len(found) // 2] if found else 0.0 for found in rates.values())
    share = cells / rc if rc else 0.0
    lab.say(f"    Mb/s in turns: {[[round(r / 1e6) for r in found] for found in rates.values()]}")
    lab.say(f"one path alone, {KM} km, transparent: cells {cells / 1e6:.1f} Mb/s, plain RC {rc / 1e6:.1f} Mb/s: "
            f"{share:.2f} ({ALONE} wanted)")
    if share < ALONE:
        complaints.append(f"one path alone has {share:.2f} of plain RC; {ALONE} wanted")
    return complaints, {"rc": rates["rc"], "cells": rates["cells --paths 1"], "share": share}


def flows_active(daemon):
    """What guest A sends and the daemon answers for: its queue pairs."""
    return {f["src_qpn"] for f in daemon.show("flows")["flows"] if f["state"] == "active" and f["role"] == "source"}


def wait_active(daemon, before):
    """Those of a transfer once it runs, or after a while; `before`: those of earlier ones."""
    end = time.monotonic() + START_SECONDS
    while len(flows_active(daemon) - before) < PATHS and time.monotonic() < end:
        time.sleep(0.1)
    return flows_active(daemon) - before


def blackholed(lab, dead):
    """Four paths through the proxies; in the middle of the transfer one of them is swallowed, if `dead`."""
    seen = {}

    def during():
        seen["active"] = len(wait_active(lab.middle.daemons["A"], earlier))
        time.sleep(BEFORE_SECONDS)
        if dead:
            lab.middle.span.ask(f"set loss-filter=port:{udp_port(DEAD)} loss=100%")

    before = counters(lab.pair.a)
    earlier = flows_active(lab.middle.daemons["A"])
    options = (f"--scheme cells --paths {PATHS} --rate 1Gbps --register {LISTENER}:{PORT} "
               "--register-key /etc/matchrdma-key")
    said, errors, output = move(lab, options, 256 << 20, during)
    lab.middle.span.ask("set loss=0%")
    after = counters(lab.pair.a)
    exceeded = after["retry_exceeded_err"] - before["retry_exceeded_err"]
    news = said.get("news", [])
    what = f"four paths, {'one blackholed' if dead else 'whole'}"
    if seen.get("active") != PATHS:
        errors.append(f"{seen.get('active')} of {PATHS} flows were answered for")
    silent = [float(m.group(1)) for n in news for m in [re.search(rf"path {DEAD} is suspected after ([\d.]+) ms", n)] if m]
    if dead and not silent:
        errors.append(f"path {DEAD} was not suspected: {news}")
    if exceeded:
        errors.append("a queue pair failed by itself")
    if not dead and news:
        errors.append(f"nothing was to be told: {news}")
    if errors:
        lab.say(output)
    lab.say(f"{what}: " + ("; ".join(errors) or f"{said['bits_per_second'] / 1e6:.1f} Mb/s, {said['resent']} cells sent "
            "again, right" + (f"; found after {silent[0]:.1f} ms of silence" if silent else "")))
    for n in news:
        lab.say(f"    {n}")
    return [f"{what}: {e}" for e in errors], {"what": what, "said": said}


def crossed(lab):
    """Frames that have entered the span from A."""
    return json.loads(lab.middle.span.stats())["a_to_b"]["frames_in"]


def fallback(lab, mode):
    """A channel whose RoCE packets are all swallowed for some seconds; its control connection lives."""
    def during():
        end = time.monotonic() + START_SECONDS
        before = crossed(lab)
        while crossed(lab) - before < 5000 and time.monotonic() < end:
            time.sleep(0.1)
        lab.middle.span.ask("set loss-filter=roce loss=100%")
        time.sleep(DARK_SECONDS)
        lab.middle.span.ask("set loss=0%")

    said, errors, output = move(lab, "--scheme channel --rate 1Gbps", 384 << 20, during)
    lab.middle.span.ask("set loss=0%")
    news = said.get("news", [])
    for wanted in ("messages go over TCP", "back on RDMA"):
        if not any(wanted in n for n in news):
            errors.append(f"nobody says: {wanted}")
    if errors:
        lab.say(output)
    lab.say(f"channel, {DARK_SECONDS:g} s without RoCE, {mode}: " + ("; ".join(errors) or "right"))
    for n in news:
        lab.say(f"    {n}")
    return [f"channel, {mode}: {e}" for e in errors], {"what": "fallback", "said": said}


def host_paths(lab, arguments):
    """Complaints and what goes to the JSON file."""
    lab.set_mtu(MTU)
    lab.network.ip(f"addr add {LISTENER}/24 dev mgmt")
    lab.join(RegisteringDaemons)
    lab.middle.set("transparent", KM)
    complaints, document = [], {}
    if not arguments.name or arguments.name in "alone":
        complaints, document["alone"] = alone(lab)
    lab.middle.set("proxied", KM)
    for dead in (False, True) if not arguments.name or arguments.name in "paths" else ():
        found, said = blackholed(lab, dead)
        complaints += found
        document["blackholed" if dead else "whole"] = said
    lab.middle.set("transparent", KM)
    found, document["fallback"] = fallback(lab, "transparent")
    complaints += found
    lab.middle.check()
    return complaints, json.loads(json.dumps(document))
