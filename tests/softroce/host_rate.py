"""matchrdma-xfer between the guests over the span: every scheme at every distance without loss and with 1 % of all frames
lost. Its control connection goes over the management net, so that what is measured are the queue pairs alone.

The proxies let UC and UD pass; the span alone joins the LANs unless --modes says otherwise, and then daemons carry the
RC row without its loss being theirs to repair (transparent).

The pacer's rate (--rate) is one that two interpreted guests keep up with also while the machine does other things. Where
it is free they take 160 Mb/s without loss; what they drop themselves above that would be counted as lost on the span."""
import dataclasses
import json
import statistics

import report
from daemons import Daemons
from guests import GuestDied
from measure import counters, drive
from processes import LabError
from runs import KM_SECONDS
from span import Direct

MTU, PATH_MTU = 4200, 4096
LOSS = 0.01
KEPT, OVER_RC, RC_KM = 0.7, 2.0, 10000  # required
SECONDS = 4
MESSAGE = 1 << 20
RC_WINDOW = 128 * PATH_MTU  # bytes that rxe has unacknowledged at the most
KEY = "/etc/matchrdma-key"
ADDRESS = "10.8.0.2"
SERVER = f"matchrdma-xfer --device rxe0 --listen {ADDRESS} --key {KEY} --json /tmp/received.json"
CLIENT = f"matchrdma-xfer --device rxe0 --connect {ADDRESS} --key {KEY} --json /tmp/sent.json"
WALL = 120


@dataclasses.dataclass(frozen=True)
class Scheme:
    name: str
    options: str
    reliable: bool = False

    def size(self, km, loss, bits):
        """Bytes that take about SECONDS at so many bits a second."""
        rate = bits / 8
        rtt = 2 * km * KM_SECONDS
        if self.reliable and rtt:
            rate = min(rate, RC_WINDOW / rtt)
            if loss:  # about a round trip for each loss, of which there is one in a hundred packets
                rate = min(rate, PATH_MTU / loss / rtt)
        return max(int(rate * SECONDS) >> 20, 4) << 20


SCHEMES = [
    Scheme("SR", "--scheme sr"),
    Scheme("SR, tier C", "--scheme sr --tier c"),
    Scheme("XOR(8)", "--scheme xor --code 8,1"),
    Scheme("EC(8,2)", "--scheme ec --code 8,2"),
    Scheme("RC", "--scheme rc", reliable=True),
]


@dataclasses.dataclass
class Outcome:
    """What both ends have said of one transfer; `errors` are sentences."""
    rate: float = 0.0  # payload bits a second
    resent: int = 0
    decoded: int = 0
    same: bool = False
    errors: list = dataclasses.field(default_factory=list)
    said: dict = dataclasses.field(default_factory=dict)


def command(scheme, km, loss, bits):
    return (f"{CLIENT} {scheme.options} --size {scheme.size(km, loss, bits) >> 20}MiB "
            f"--message {MESSAGE >> 20}MiB --mtu {PATH_MTU} --rate {bits / 1e6:g}Mbps --distance {km}km --loss {LOSS}")


def both_said(pair):
    """The transfer as each end wrote it down; they must agree, but for what each has seen of its paths."""
    sent, received = (json.loads(guest.must(f"cat /tmp/{name}.json"))["transfers"][0]
                      for guest, name in ((pair.a, "sent"), (pair.b, "received")))
    same = {**sent, "news": None} == {**received, "news": None}
    return sent, [] if same else [f"the ends disagree: {sent} and {received}"]


def requests(guest):
    """Packets that carry a transfer's bytes: rxe counts those of signals, which are SENDs, apart too."""
    found = counters(guest)
    return found["sent_pkts"] - found["rdma_sends"]


def play(lab, scheme, km, loss):
    """Outcome of one transfer."""
    out = Outcome()
    client = command(scheme, km, loss, lab.arguments.rate * 1e6)
    before = requests(lab.pair.a)
    status, output, server, _ = drive(lab.pair, SERVER, client, WALL)
    if status or "server: status 0" not in server:
        out.errors.append(f"status {status}: {output.strip()} / {server.strip()}")
        return out
    said, out.errors = both_said(lab.pair)
    sent = requests(lab.pair.a) - before
    out.said = {**said, "data_packets": sent, "command": client}
    out.rate, out.resent, out.decoded, out.same = (said[k] for k in ("bits_per_second", "resent", "decoded", "same"))
    if scheme.reliable:  # what the NIC has repaired, the library does not see
        out.resent = max(sent - said["bytes"] // PATH_MTU, 0)
    if not said["same"]:
        out.errors.append("WRONG bytes")
    return out


def tried(lab, scheme, km, loss):
    """play(), once more with guests that are booted again when one died."""
    try:
        return play(lab, scheme, km, loss)
    except GuestDied as e:
        lab.note(f"{e}: booting the guests again")
        mode = lab.arguments.modes[0]
        lab.middle.set(mode, 0, 0.0)
        lab.reboot()
        lab.middle.set(mode, km, loss)
        return play(lab, scheme, km, loss)


def measure_all(lab, arguments, schemes):
    """(scheme, km) -> loss -> [Outcome], in rounds so that what else the machine does meets all of them."""
    found = {(s, km): {0.0: [], LOSS: []} for s in schemes for km in arguments.distances}
    mode = arguments.modes[0]
    for repeat in range(arguments.repeat):
        for (scheme, km), outcomes in found.items():
            for loss in outcomes:
                where = f"{repeat + 1}/{arguments.repeat} {scheme.name}, {km} km, loss {loss:g}"
                lab.show(where)
                lab.middle.set(mode, km, loss)
                try:
                    outcome = tried(lab, scheme, km, loss)
                    lab.middle.check()
                except LabError as e:
                    outcome = Outcome(errors=[str(e)])
                outcomes[loss].append(outcome)
                said = "; ".join(outcome.errors) or f"{outcome.rate / 1e6:.1f} Mb/s, {outcome.resent} resent, right"
                lab.say(f"{where}: {said}")
    return found


def median(outcomes):
    rates = [o.rate for o in outcomes if not o.errors]
    return statistics.median(rates) if rates else 0.0


def judge(found):
    """Lines of the table and what is missed."""
    lines = [["scheme", "km", "Mb/s, no loss", f"Mb/s, {LOSS:.0%} loss", "kept", "times RC", "resent", "decoded",
              "checksum", "verdict"]]
    missed = []
    rc = {km: median(outcomes[LOSS]) for (s, km), outcomes in found.items() if s.reliable}
    for (scheme, km), outcomes in found.items():
        clean, lossy = median(outcomes[0.0]), median(outcomes[LOSS])
        kept = lossy / clean if clean else 0.0
        times = lossy / rc[km] if rc.get(km) else None
        every = outcomes[0.0] + outcomes[LOSS]
        errors = [e for o in every for e in o.errors]
        good = not errors and (scheme.reliable or kept >= KEPT and (km != RC_KM or times is None or times >= OVER_RC))
        last = outcomes[LOSS][-1]
        lines.append([scheme.name, str(km), report.number(clean / 1e6), report.number(lossy / 1e6), f"{kept:.2f}",
                      "-" if times is None else f"{times:.1f}", str(last.resent), str(last.decoded),
                      "right" if all(o.same for o in every) else "WRONG",
                      "MISSED" if not good else "-" if scheme.reliable else "ok"])
        missed += [f"{scheme.name}, {km} km: {e}" for e in errors]
        if not good and not errors:
            missed.append(f"{scheme.name}, {km} km: {kept:.2f} of its lossless rate kept ({KEPT} wanted), "
                          f"{times or 0:.1f} times RC ({OVER_RC} wanted at {RC_KM} km)")
    return report.aligned(lines), missed


def host_rate(lab, arguments):
    """Complaints and what goes to the JSON file."""
    lab.set_mtu(MTU)
    mode = arguments.modes[0]
    lab.join(Direct if mode == "direct" else Daemons)
    lab.middle.span.lose("all")
    schemes = [s for s in SCHEMES if not arguments.name or arguments.name in s.name]
    found = measure_all(lab, arguments, schemes)
    lines, missed = judge(found)
    lab.say(f"\nmatchrdma-xfer, path MTU {PATH_MTU}, paced at {arguments.rate:g} Mb/s, "
            f"messages of {MESSAGE >> 20} MiB, {mode}; loss of all frames both ways; of {arguments.repeat} run(s) the median")
    for line in lines:
        lab.say(line)
    rows = [{"scheme": s.name, "km": km, "loss": loss, **dataclasses.asdict(o)}
            for (s, km), by_loss in found.items() for loss, all_of in by_loss.items() for o in all_of]
    return missed, {"mode": mode, "rate": arguments.rate * 1e6, "rows": rows}
