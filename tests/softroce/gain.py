"""What the proxies gain over a distance: for each row the rate of transparent daemons at 0 km, of the same at the
distance, and of proxying ones at the distance. The three are measured one after the other through the same processes,
again and again, so that whatever else the machine does meets all of them; their medians are compared.

No estimator tells the sender's daemon yet what the receiver can take, and more would only pile up before it. So the
budget is what an operator would write who has seen the receiver work: 1.5 times the most that it took at 0 km in the
same round."""
import dataclasses
import statistics

import report
from daemons import Daemons
from measure import measure
from runs import Run, perftest_numbers

MTU = 1500
COUNTED_SECONDS = 10 - 2 * 2  # of -D 10
FRAME_SHARE = 1.07  # bytes of frames to bytes of messages at path MTU 1024
MARGIN = 1.5
# -D 10 leaves out its first and last two seconds, and with them the learning.
COMMAND = "ib_write_bw -d rxe0 -x {{gid}} -m {{pmtu}} -F -u 17 -D 10 {options}"


@dataclasses.dataclass(frozen=True)
class Row:
    options: str
    km: int
    far: float   # required: proxied / transparent at the distance
    near: float  # required: proxied / transparent at 0 km
    loss: float = 0.0

    def cells(self):
        """(name, mode, km, loss) in the order of measuring."""
        return [("near", "transparent", 0, 0.0), ("far", "transparent", self.km, self.loss),
                ("proxied", "proxied", self.km, self.loss)]

    def message(self):
        """Bytes of one message."""
        words = self.options.split()
        return int(words[words.index("-s") + 1])

    def run(self):
        return GainRun(f"write {self.options}", COMMAND.format(options=self.options), 0, 0, unit="messages/s")


class GainRun(Run):
    def value(self, output, wall):
        numbers = perftest_numbers(output)
        if not numbers:
            return None
        # It learns the clock of its CPU from loops of a millisecond at its end, and prints 0 for all rates where Soft-RoCE
        # interrupted too many of them. The messages between its margins are counted all the same.
        return numbers[4] * 1e6 or numbers[1] / COUNTED_SECONDS

    def seconds(self, km):
        return 60


ROWS = [
    Row("-s 65536", 5000, far=5, near=0.8),
    Row("-s 65536", 10000, far=10, near=0.8),
    Row("-s 65536 -t 1", 5000, far=12, near=0.6),
    Row("-s 4096 -t 1", 5000, far=20, near=0.3),
    Row("-s 65536", 1000, far=4, near=0.7, loss=0.01),
]


def median(values):
    return statistics.median(values) if values else None


def spread(values):
    if not values:
        return "-"
    return f"{report.number(median(values))} [{report.number(min(values))}-{report.number(max(values))}]"


def measure_rows(lab, repeats, rows):
    """row -> cell -> [rate], and complaints."""
    rates = {row: {name: [] for name, *_ in row.cells()} for row in rows}
    complaints = []
    lab.set_mtu(MTU)
    lab.join(Daemons)
    for repeat in range(repeats):
        taken = 0  # bytes of messages in a second that the receiver was seen to take
        for row in rows:
            for name, mode, km, loss in row.cells():
                if mode == "proxied" and taken:
                    lab.middle.set_budget(8 * taken * FRAME_SHARE * MARGIN)
                lab.show(f"{repeat + 1}/{repeats} {row.options}, {km} km, {mode}")
                lab.middle.set(mode, km, loss)
                outcome = measure(lab, row.run(), km, MTU, capture=False)
                lab.middle.check()
                where = f"{row.options}, {km} km, {mode}"
                if not outcome.value or outcome.errors:
                    complaints.append(f"{where}: {'; '.join(outcome.errors) or 'no rate'}\n{outcome.output}")
                else:
                    rates[row][name].append(outcome.value)
                    if name == "near":
                        taken = max(taken, outcome.value * row.message())
                # Without loss nothing is sent again, whatever the distance.
                if not loss and outcome.retries:
                    complaints.append(f"{where}: retransmissions on a clean span {outcome.counters}")
                lab.say(f"{repeat + 1}/{repeats} {row.options}, {km} km, loss {loss:g}, {mode}: "
                        f"{report.number(outcome.value)} messages/s, retries {outcome.retries}")
    return rates, complaints


def judge(rates):
    """Lines of the table and what is missed."""
    lines = [["ib_write_bw -u 17 -D 10, messages/s", "km", "loss", "transparent, 0 km", "transparent", "proxied",
              "/ transparent", "wanted", "/ 0 km", "wanted", "verdict"]]
    missed = []
    for row, cells in rates.items():
        near, far, proxied = (median(cells[name]) for name in ("near", "far", "proxied"))
        over_far = proxied / far if proxied and far else 0
        over_near = proxied / near if proxied and near else 0
        good = over_far >= row.far and over_near >= row.near
        rates_seen = [spread(cells[name]) for name in ("near", "far", "proxied")]
        lines.append([row.options, str(row.km), f"{row.loss:g}", *rates_seen, f"{over_far:.2f}", f">= {row.far:g}",
                      f"{over_near:.2f}", f">= {row.near:g}", "ok" if good else "MISSED"])
        if not good:
            missed.append(f"{row.options} at {row.km} km, loss {row.loss:g}: {over_far:.2f} of the distance's rate "
                          f"({row.far:g} wanted), {over_near:.2f} of the rate at 0 km ({row.near:g} wanted)")
    return report.aligned(lines), missed


def gain(lab, arguments):
    """Complaints and what goes to the JSON file."""
    rates, complaints = measure_rows(lab, arguments.repeat, ROWS)
    lines, missed = judge(rates)
    lab.say("")
    for line in lines:
        lab.say(line)
    document = {"repeats": arguments.repeat, "rows": [{**dataclasses.asdict(row), "rates": cells}
                                                      for row, cells in rates.items()]}
    return complaints + missed, document
