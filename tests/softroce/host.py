"""The host library on real verbs: verbs_pair in both guests, which compares every byte itself."""
import re

from daemons import Daemons
from measure import drive, measure
from processes import LabError
from runs import Run
from span import Direct

PROGRAM = "verbs_pair"
PASSED = "all steps passed"
COMMAND = f"{PROGRAM} --key /etc/matchrdma-key --device"
PAIR = Run(PROGRAM, f"{COMMAND} rxe0 --mtu {{pmtu}}", 1, 0, unit="s")
KM = {"direct": 0, "transparent": 1000, "proxied": 1000}


def play(lab, mode, mtu):
    """Complaints of one run."""
    lab.join(Direct if mode == "direct" else Daemons)
    lab.middle.set(mode, KM[mode])
    outcome = measure(lab, PAIR, KM[mode], mtu)
    errors = list(outcome.errors)
    errors += re.findall(r"^FAILED: (.*)", outcome.output, re.M)
    if outcome.output.count(PASSED) != 2:
        errors.append("not both ends passed")
    lab.middle.check()
    if lab.arguments.keep or errors:
        lab.say(outcome.output)
    lab.say(f"{PAIR.name}, MTU {mtu}, {mode}: {'; '.join(errors) or 'ok'} ({outcome.wall:.1f} s, "
            f"{outcome.verdict.packets} packets)")
    return [f"{PAIR.name}, MTU {mtu}, {mode}: {e}" for e in errors]


def refusals(lab):
    """Complaints about what must be refused with a sentence. The guests' data net is gone afterwards."""
    lab.set_mtu(1500)
    lab.join(Direct)
    large = f"{COMMAND} rxe0 --mtu 4096"
    said = {"path MTU 4096 does not fit port 1 of rxe0, which carries 1024":
            "".join(drive(lab.pair, large, f"{large} 10.8.0.2", 60)[1:3]),
            "there is no RDMA device rxe9; there is: rxe0": lab.pair.a.run(f"{COMMAND} rxe9", 30)[1],
            "port 1 of rxe0 is down: look at the cable": lab.pair.a.run(f"ip link set eth0 down; {COMMAND} rxe0", 30)[1]}
    wrong = [f"{sentence!r} was expected, but: {text.strip()}" for sentence, text in said.items()
             if f"FAILED: {sentence}" not in text]
    lab.say(f"{PROGRAM}, refusals: {'; '.join(wrong) or 'ok'}")
    return wrong


def host(lab, arguments):
    """Complaints of every mode at every MTU, and of what must be refused."""
    complaints, played = [], []
    for mtu in arguments.mtus:
        lab.set_mtu(mtu)
        for mode in arguments.modes:
            try:
                found = play(lab, mode, mtu)
            except LabError as e:
                found = [f"{PAIR.name}, MTU {mtu}, {mode}: {e}"]
                lab.leave()
            complaints += found
            played.append({"mode": mode, "mtu": mtu, "complaints": found})
    complaints += refusals(lab)
    return complaints, {"host": played}
