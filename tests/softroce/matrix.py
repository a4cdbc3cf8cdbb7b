"""Every chosen run in every mode at every distance."""
import collections

import report
from daemons import Daemons
from measure import Outcome, measure
from processes import LabError
from span import Direct

KINDS = (Direct, Daemons)
MOST_FAILURES = 3  # of span or daemons


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
    failed = 0
    for at, (kind, mtu, mode, km, run) in enumerate(todo, 1):
        where = f"{at}/{len(todo)} {run.name}, MTU {mtu}, {km} km, {mode}"
        lab.show(where)
        try:
            if lab.mtu != mtu:
                lab.set_mtu(mtu)
            lab.join(kind)
            lab.middle.set(mode, km, arguments.loss)
            outcome = measure(lab, run, km, mtu)
            lab.middle.check()
        except LabError as e:  # what stands between the guests has failed: the next run gets another
            failed += 1
            outcome = Outcome(errors=[str(e)])
            lab.leave()
        outcomes[run, mtu, km][mode] = outcome
        verdict = "; ".join(outcome.errors) or ("ok" if outcome.clean else f"not clean {outcome.counters}")
        lab.say(f"{where}: {report.number(outcome.value)} {run.unit}, {outcome.verdict.packets} packets, "
                f"{outcome.wall:.1f} s, {verdict}")
        if failed == MOST_FAILURES:
            lab.note("given up: it fails again and again")
            break
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
