"""One run between the two guests: server in B, client in A, with the captures and the counters of both ends."""
import concurrent.futures
import dataclasses
import re
import time

from captures import Captures, Verdict, judge
from guests import GuestDied
from runs import WRONG_DATA

# perftest and ibv_rc_pingpong listen on TCP 18515, the tools of rdma_cm on a cm_id.
LISTENING = ("i=0; while [ $i -lt 200 ]; do netstat -ltn | grep -q ':18515 ' && exit 0; "
             "rdma resource show cm_id | grep -q 'state LISTEN' && exit 0; "
             "kill -0 $(cat /tmp/server.pid) || exit 2; sleep 0.05; i=$((i+1)); done; exit 1")
# The status goes into the log: a tool that crashed cannot say so itself.
SERVE = "({{ {server}; }}; echo \"server: status $?\") > /tmp/server.log 2>&1 & echo $! > /tmp/server.pid"
# The server ends by itself when its client is done; what is still there after two seconds never will.
END_SERVER = ("i=0; p=$(cat /tmp/server.pid); "
              "while kill -0 $p 2>/dev/null && [ $i -lt 40 ]; do sleep 0.05; i=$((i+1)); done; cat /tmp/server.log; "
              "kill -0 $p 2>/dev/null && {{ echo 'the server did not end'; killall -9 {tool}; }}; true")
COUNTERS = "cd /sys/class/infiniband/rxe0/ports/1/hw_counters && grep . *"
# What rxe counts when something had to be sent again or could not be. duplicate_request counts at the responder.
RETRY_COUNTERS = ("completer_retry_err", "duplicate_request", "out_of_seq_request", "rcvd_seq_err",
                  "retry_exceeded_err", "retry_rnr_exceeded_err", "send_err", "rcvd_rnr_err")
PATH_MTU = {1500: 1024, 4200: 4096}
TRIES = 3
CRASHED = 139  # as the shell says it: a segmentation fault


@dataclasses.dataclass
class Outcome:
    """What one run gave. `errors` are sentences; an empty list is a run without fault."""
    value: float = None
    wall: float = 0.0
    retries: int = 0
    counters: dict = dataclasses.field(default_factory=dict)
    verdict: Verdict = dataclasses.field(default_factory=Verdict)
    errors: list = dataclasses.field(default_factory=list)
    tries: int = 1
    output: str = ""

    @property
    def clean(self):
        """Nothing was sent twice, refused, repeated or lost."""
        v = self.verdict
        return not (self.retries or v.naks or v.resent or v.repeated or v.missing)


def counters(guest):
    """The hardware counters of rxe0."""
    found = re.findall(r"^(\w+):(\d+)$", guest.must(COUNTERS), re.M)
    return {name: int(number) for name, number in found}


def retried(before, after):
    """Counters that tell of trouble and moved, over both ends."""
    moved = {}
    for side in "AB":
        for name in RETRY_COUNTERS:
            step = after[side].get(name, 0) - before[side].get(name, 0)
            if step:
                moved[f"{side}.{name}"] = step
    return moved


def drive(pair, server, client, seconds):
    """(status, client's output, server's output, wall seconds). The server is gone afterwards."""
    pair.b.must(SERVE.format(server=server))
    status, said = pair.b.run(LISTENING, 15)
    if status:
        return 1, f"the server does not listen: {said}", pair.b.run("cat /tmp/server.log")[1], 0.0
    started = time.monotonic()
    status, output = pair.a.run(f"timeout {seconds:.0f} {client}", seconds + 5)
    wall = time.monotonic() - started
    return status, output, pair.b.must(END_SERVER.format(tool=server.split()[0]), 10), wall


def drive_while(pair, commands, seconds, during):
    """drive(), and during() here meanwhile. It is the transfer that moves to a thread: a process that a thread started
    would be ended with it."""
    if during is None:
        return drive(pair, *commands, seconds)
    with concurrent.futures.ThreadPoolExecutor(1) as one:
        transfer = one.submit(drive, pair, *commands, seconds)
        during()
        return transfer.result()


def crashed(server_output):
    return re.search(rf"^server: status {CRASHED}$", server_output, re.M) is not None


def once(lab, run, km, path_mtu, capture, during):
    pair, outcome = lab.pair, Outcome()
    server, client = run.commands(km, path_mtu)
    captures = Captures(lab.network, lab.processes, lab.folder, "run") if capture else None
    before = {"A": counters(pair.a), "B": counters(pair.b)}
    if captures:
        captures.start()
    try:
        status, output, server_output, outcome.wall = drive_while(pair, (server, client), run.seconds(km), during)
    finally:
        complaints = captures.stop() if captures else []
    outcome.output = f"$ {client}\n{output}\n$ {server} (server)\n{server_output}\n"
    outcome.counters = retried(before, {"A": counters(pair.a), "B": counters(pair.b)})
    outcome.retries = sum(outcome.counters.values())
    outcome.value = run.value(output, outcome.wall)
    if status:
        outcome.errors.append(f"client: status {status}" + (" (timed out)" if status in (124, 143) else ""))
    elif outcome.value is None:
        outcome.errors.append("the tool printed no result")
    if WRONG_DATA.search(output + server_output):
        outcome.errors.append("the tool found wrong data")
    if "did not end" in server_output:
        outcome.errors.append("the server did not end")
    if crashed(server_output):
        outcome.errors.append(f"server: status {CRASHED}")
    if captures:
        outcome.verdict = judge(captures, path_mtu, earlier=lab.flows)
        lab.flows |= outcome.verdict.flows
        outcome.errors += complaints + outcome.verdict.complaints
    return outcome, captures


def tripped(outcome):
    """A tool fell over itself. perftest with -R connects twice, and its server does not always listen again in time; and it
    has crashed at the end of a run for no reason that was found. rping closes its event channel at its end while a thread
    of its own still waits there, and exits as if it had failed. What fails every time is not excused."""
    rejected = "-R " in outcome.output and "RDMA_CM_EVENT_REJECTED" in outcome.output
    closed = outcome.errors == ["client: status 255"] and "rdma_get_cm_event: Bad file descriptor" in outcome.output
    return rejected or closed or any(f"{end}: status {CRASHED}" in outcome.errors for end in ("client", "server"))


def timer_ran_out(lab, run, outcome):
    """Sent again without a NAK and without loss, bare or by a tool that waits for 67 ms only: a guest did not get the
    processor in time. What is sent again may end at the near daemon, which has it. Where the daemons are under test and
    the tool has patience this is no excuse."""
    v = outcome.verdict
    excused = run.impatient or not lab.middle.under_test
    only_again = not (outcome.errors or v.naks or v.missing) and v.repeated <= v.resent
    return excused and only_again and not outcome.clean


def measure(lab, run, km, mtu, capture=True, during=None):
    """One run, and during() meanwhile; again if a guest died or the tool tripped over itself. What a run with errors
    left is kept."""
    for attempt in range(1, TRIES + 1):
        try:
            outcome, captures = once(lab, run, km, PATH_MTU[mtu], capture, during)
        except GuestDied as e:
            lab.note(f"{e}: booting the guests again")
            lab.reboot()
            if attempt == TRIES:
                return Outcome(errors=[f"a guest died {TRIES} times: {e}"], tries=attempt)
            continue
        outcome.tries = attempt
        if tripped(outcome) and attempt < TRIES:
            lab.note(f"{run.name}: the tool crashed or its server was not listening again yet; once more")
            continue
        if timer_ran_out(lab, run, outcome) and attempt < TRIES:
            lab.note(f"{run.name}: its timer ran out, {outcome.verdict.resent} packets sent again; once more")
            continue
        lab.keep(run, km, mtu, outcome, captures)
        return outcome
    raise AssertionError
