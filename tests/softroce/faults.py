"""Faults on running daemons while real guests transfer data. Each scenario is an action some seconds into a transfer,
and what must come of it: the tool compares the data itself (rping -V) or keeps its connection (ib_write_bw -u 17)."""
import dataclasses
import time
from typing import Callable

from daemons import CLASS, Daemons
from measure import measure
from processes import LabError
from runs import DATA4, Run

KM, MTU = 1000, 1500
RESTART_SECONDS = 2.0
BEFORE_SECONDS = 4.0  # into the transfer: the pair is learned, custody is in use
# Data goes from A to B: daemon A is the source, daemon B the destination.
COMPARES = Run("rping -V", "rping -c -V -S 64000 -C {n}", 250, 0, unit="s",
               server=f"rping -s -V -S 64000 -a {DATA4} -C {{n}}", client=f"-a {DATA4}")
WRITES = Run("write 64K", "ib_write_bw -d rxe0 -x {gid} -m {pmtu} -F -u 17 -D 14 -s 65536", 0, 0)


# What can be done to the running daemons. Each takes the lab's Daemons.

def kill(middle, side):
    """kill -9 by pid."""
    middle.daemons[side].process.kill()


def restart(middle, side):
    """Starts a killed daemon again; it must be there in time."""
    started = time.monotonic()
    middle.daemons[side].start()
    took = time.monotonic() - started
    if took > RESTART_SECONDS:
        raise LabError(f"daemon {side} took {took:.1f} s to start; {RESTART_SECONDS} s are allowed")


def kill_and_restart(middle, side):
    kill(middle, side)
    restart(middle, side)


def cut(middle, seconds):
    """The span carries nothing for so long."""
    middle.span.cut()
    time.sleep(seconds)
    middle.span.restore()


def lose(middle, share):
    middle.span.set(KM, share)


def drain(middle, side):
    """Until nothing is owned any more."""
    middle.daemons[side].ctl("drain", "--wait", "20s")


def reload(middle, side):
    middle.daemons[side].ctl("reload")


def rotate_keys(middle):
    """Both ends learn the new key beside the old one, then forget the old: without a gap."""
    middle.make_key(2)
    for keys in ([1, 2], [2]):
        for daemon in middle.daemons.values():
            daemon.write_config(keys)
        for side in "AB":
            reload(middle, side)
        time.sleep(1)


def reload_broken(middle, side):
    """A config with a mistake must be refused whole; the daemon goes on with what it has."""
    daemon = middle.daemons[side]
    with open(daemon.config, "a", encoding="utf-8") as f:
        f.write("no_such_key: 1\n")
    try:
        daemon.ctl("reload")
    except LabError as e:
        if "no_such_key" not in str(e):
            raise LabError(f"the refusal does not name the mistake: {e}") from e
        return
    finally:
        daemon.write_config([1])
    raise LabError("a config with an unknown key was applied")


def to_transparent_and_back(middle):
    for mode in ("transparent", "configured"):
        for daemon in middle.daemons.values():
            daemon.ctl("mode", mode, "--class", CLASS)
        time.sleep(2)


@dataclasses.dataclass(frozen=True)
class Scenario:
    """`may_fail`: the transfer may end with an error of its own, but soon, and never with wrong data."""
    name: str
    action: Callable
    runs: tuple = (COMPARES, WRITES)
    may_fail: bool = False
    quiet: bool = False  # the guests must not notice: nothing is sent again


SCENARIOS = [
    Scenario("destination killed, back within 2 s", lambda m: kill_and_restart(m, "B")),
    Scenario("source killed, back within 2 s", lambda m: kill_and_restart(m, "A"), may_fail=True),
    Scenario("span cut for 1 s", lambda m: cut(m, 1.0)),
    Scenario("1e-3 loss on the span", lambda m: lose(m, 1e-3), runs=(WRITES,), quiet=True),
    Scenario("1e-3 loss on the span, READs", lambda m: lose(m, 1e-3), runs=(COMPARES,)),
    Scenario("drain of the source", lambda m: drain(m, "A")),
    Scenario("drain of the destination", lambda m: drain(m, "B")),
    Scenario("key rotation", rotate_keys, quiet=True),
    Scenario("reload", lambda m: (reload(m, "A"), reload(m, "B")), quiet=True),
    Scenario("reload of a broken config", lambda m: reload_broken(m, "A"), quiet=True),
    Scenario("transparent and back", to_transparent_and_back),
]


def play(lab, scenario, run):
    """Complaints of one scenario with one run, on daemons of its own."""
    lab.leave()
    lab.join(Daemons)
    lab.middle.set("proxied", KM)
    errors = []

    def action():
        time.sleep(BEFORE_SECONDS)
        try:
            scenario.action(lab.middle)
        except LabError as e:
            errors.append(str(e))

    outcome = measure(lab, run, KM, MTU, capture=run is COMPARES, during=action)
    ended = [e for e in outcome.errors if e.startswith("client: status") and "timed out" not in e]
    errors += [e for e in outcome.errors if not (scenario.may_fail and (e in ended or "printed no result" in e))]
    if scenario.quiet and not outcome.clean:
        errors.append(f"the guests noticed: {outcome.verdict.resent} resent, {outcome.verdict.naks} NAKs, "
                      f"{outcome.counters}")
    try:
        lab.middle.check()
    except LabError as e:
        errors.append(str(e))
    lab.say(f"{scenario.name}, {run.name}: {'; '.join(errors) or 'ok'} ({outcome.wall:.1f} s"
            f"{', the transfer ended with an error' if ended else ''})")
    return [f"{scenario.name}, {run.name}: {e}" for e in errors]


def faults(lab, arguments):
    """Complaints of all scenarios whose name holds --runs."""
    complaints, played = [], []
    for scenario in SCENARIOS:
        if arguments.name and arguments.name not in scenario.name:
            continue
        for run in scenario.runs:
            found = play(lab, scenario, run)
            complaints += found
            played.append({"scenario": scenario.name, "run": run.name, "complaints": found})
    if not played:
        raise LabError(f"no scenario is called {arguments.name}; there are: {', '.join(s.name for s in SCENARIOS)}")
    return complaints, {"scenarios": played}
