"""Every chosen run in every mode at every distance."""
import collections

import report
from daemons import Daemons
from measure import measure
from span import Direct

KINDS = (Direct, Daemons)


def plan(arguments):
    """(kind, mtu, mode, km, run) in an order that changes what is expensive to change last."""
    out = []
    for kind in KINDS:
        modes = [m for m in kind.modes if m in arguments.modes]
        for mtu in arguments.mtus if modes else []:
            out += [(kind, mtu, mode, km, run) for km in arguments.distances for mode in modes
                    for run in arguments.runs if km <= run.max_km]
    return out


def run_plan(lab, arguments):
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


def matrix(lab, arguments):
    """Complaints, what goes to the JSON file, and (name, seconds, failure) of each run."""
    outcomes = run_plan(lab, arguments)
    lab.say("")
    for line in report.table(outcomes):
        lab.say(line)
    cases, complaints = [], []
    for (run, mtu, km), by_mode in outcomes.items():
        for mode, outcome in by_mode.items():
            found = report.failures({(run, mtu, km): {mode: outcome}}, arguments.loss)
            complaints += found
            cases.append((f"{run.name} MTU {mtu} {km} km {mode}", outcome.wall, "; ".join(found)))
    return complaints, {"outcomes": list(report.records(outcomes))}, cases
