"""The hosts at both ends of the testbed: queue pairs, and the program model_host that works with them."""
import json
import signal

from testbed import PATH_MTU, SECONDS, LabError

# Groups of hosts: their network, and what registrations ask for. `strict` and `bulk` are classes of the config.
NETWORK = {"bulk": 1, "strict": 2, "readers": 3}
COMPLETION = {"bulk": "early", "strict": "end-to-end", "readers": "early"}


class Pair:
    """Numbers of one queue pair: QPN and first PSN of both ends, as model_host and `ctl register` want them."""

    def __init__(self, number, kind="bulk"):
        self.kind = kind
        self.a, self.b = (0x100 + 2 * number, 70000 * number), (0x4101 + 2 * number, 0xFFFF00 + 3 * number)

    def address(self, side):
        return f"10.{'AB'.index(side) + 1}.{NETWORK[self.kind]}.1"

    def numbers(self):
        return ",".join(str(n) for n in self.a + self.b)

    def flow(self):
        """Of the requests from a to b, as `ctl` writes it."""
        return f"{self.address('A')},{self.address('B')},{self.b[0]}"

    def ends(self):
        return ("--local", f"{self.address('A')},{self.a[0]},{self.a[1]}", "--remote",
                f"{self.address('B')},{self.b[0]},{self.b[1]}")

    def register(self, daemon):
        daemon.ctl("register", *self.ends(), "--mtu", str(PATH_MTU), "--completion", COMPLETION[self.kind], "--wait",
                   "20s")

    def unregister(self, daemon):
        return daemon.ctl("unregister", *self.ends(), "--wait", "20s")


class Hosts:
    """A running model_host. Its results come as lines; `options` as it has them."""

    def __init__(self, bed, pairs, *options, ends=("tapA", "tapB")):
        words = [bed.program("model_host"), "--a", ends[0], "--b", ends[1], "--ip-a", pairs[0].address("A"),
                 "--ip-b", pairs[0].address("B"), "--mtu", str(PATH_MTU), *options]
        for p in pairs:
            words += ["--pair", p.numbers()]
        self.process = bed.processes.start("model_host", words)

    def results(self):
        return [json.loads(line) for line in self.process.said().splitlines() if line.startswith("{")]

    def round(self, number, seconds=2 * SECONDS):
        """The result of a round."""
        self.process.wait_for(lambda: len(self.results()) >= number or not self.process.alive(), seconds,
                              f"round {number} should end")
        if len(self.results()) < number:
            raise LabError(f"model_host ended without a result; it said:\n{self.process.said()}")
        return self.results()[number - 1]

    def result(self):
        """The last result, when it has ended by itself."""
        self.process.wait_for(lambda: not self.process.alive(), 2 * SECONDS, "its rounds should end")
        return self.round(1) and self.results()[-1]

    def end(self):
        """Posts no more; the result when everything has come."""
        self.process.popen.terminate()
        return self.result()

    def next_round(self):
        self.process.popen.send_signal(signal.SIGUSR1)
