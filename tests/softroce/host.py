"""The host library on real verbs: verbs_pair in both guests, which compares every byte itself."""
import re

from daemons import Daemons
from measure import measure
from processes import LabError
from runs import Run
from span import Direct

PROGRAM = "verbs_pair"
PAIR = Run("verbs_pair", f"{PROGRAM} --key /etc/matchrdma-key --device rxe0 --mtu {{pmtu}}", 1, 0, unit="s")
PASSED = "all steps passed"
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


def host(lab, arguments):
    """Complaints of every mode at every MTU."""
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
    return complaints, {"host": played}
