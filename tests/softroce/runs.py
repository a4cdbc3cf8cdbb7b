"""The runs: which tool, which options, how much at which distance, and how its result is read."""
import dataclasses
import re

KM_SECONDS = 5e-6  # light in a fibre, one way
FAR_SECONDS = 6.0  # about what the waiting of a run may add up to at a distance
TIMEOUT = "-u 17"  # rxe waits 0.5 s for an ACK; perftest's own 67 ms are shorter than the round trip of 10000 km


@dataclasses.dataclass(frozen=True)
class Run:
    """`command` is what both ends run; the client adds the address. {n}, {gid}, {pmtu} and {peer} are filled in.
    `trips` is how many round trips a message costs at a distance, bare. `choice`: in which selections it is."""
    name: str
    command: str
    count: int
    trips: float
    unit: str = "MiB/s"
    address: str = "10.8.0.2"  # management: the QPNs are exchanged there; the data net's: by rdma_cm
    server: str = ""           # if the server's command is another
    client: str = ""           # what the client adds, in place of the address
    gid: int = 1               # 1: IPv4, 2: IPv6
    max_km: int = 10000
    impatient: bool = False    # its ACK timeout is so short that a busy machine alone runs into it
    choice: str = "all"        # all < default < quick

    def messages(self, km):
        rtt = 2 * km * KM_SECONDS
        far = FAR_SECONDS / (self.trips * rtt) if rtt and self.trips else self.count
        return max(16, min(self.count, int(far)))

    def commands(self, km, path_mtu):
        """(server, client)"""
        values = {"n": self.messages(km), "gid": self.gid, "pmtu": path_mtu}
        server = (self.server or self.command).format(**values)
        client = f"{self.command} {self.client or self.address}".format(**values)
        return server, client

    def seconds(self, km):
        """What it may take, on a machine that is busy with other things too."""
        return 60 + 4 * self.messages(km) * self.trips * 2 * km * KM_SECONDS

    def value(self, output, wall):
        """The result in `unit`, or None if the tool printed none."""
        if self.unit == "s":
            return wall
        numbers = perftest_numbers(output)
        if numbers is None:
            return None
        if self.unit == "us":
            return numbers[4]  # bytes, iterations, min, max, typical
        return numbers[4] * 1e6 if self.unit == "op/s" else numbers[3]


def perftest_numbers(output):
    """What stands below perftest's heading; of the bandwidth tools: bytes, iterations, peak, average MiB/s, Mpps."""
    line = re.search(r"^ *#bytes.*\n([\d.\s]+)$", output, re.M)
    numbers = [float(word) for word in line.group(1).split()] if line else []
    return numbers if len(numbers) >= 5 else None


def perftest(tool, options, cm=False):
    mtu = "-R" if cm else "-m {pmtu}"  # with rdma_cm the path MTU is the port's
    return f"{tool} -d rxe0 -x {{gid}} {mtu} -F {TIMEOUT} -n {{n}} {options}"


DATA4, DATA6 = "10.9.0.2", "fd09::2"

RUNS = [
    Run("write 64K", perftest("ib_write_bw", "-s 65536"), 200, 0.5, choice="quick"),
    Run("write 4K depth 1", perftest("ib_write_bw", "-s 4096 -t 1"), 300, 1, choice="default"),
    Run("write 1M", perftest("ib_write_bw", "-s 1048576"), 16, 8),
    Run("write 64K rdma_cm", perftest("ib_write_bw", "-s 65536", cm=True), 200, 0.5, address=DATA4, choice="default"),
    Run("write 64K both ways", perftest("ib_write_bw", "-s 65536 -b"), 100, 0.5, choice="default"),
    Run("write 64K 8 QPs", perftest("ib_write_bw", "-s 65536 -q 8"), 25, 0.5, choice="default"),
    Run("write 64K IPv6", perftest("ib_write_bw", "-s 65536"), 100, 0.5, gid=2, choice="default"),
    Run("write 8 B latency", perftest("ib_write_lat", "-s 8"), 200, 1, unit="us", choice="default"),
    Run("send 64K", perftest("ib_send_bw", "-s 65536"), 200, 0.5, choice="quick"),
    Run("send 64K rdma_cm", perftest("ib_send_bw", "-s 65536", cm=True), 200, 0.5, address=DATA4),
    Run("send 64K both ways", perftest("ib_send_bw", "-s 65536 -b"), 100, 0.5),
    Run("send 64K 8 QPs", perftest("ib_send_bw", "-s 65536 -q 8"), 25, 0.5),
    Run("send 64K IPv6", perftest("ib_send_bw", "-s 65536"), 100, 0.5, gid=2),
    Run("read 64K", perftest("ib_read_bw", "-s 65536"), 100, 0.35, choice="quick"),
    Run("read 64K both ways", perftest("ib_read_bw", "-s 65536 -b"), 50, 0.35),
    Run("read 64K 8 QPs", perftest("ib_read_bw", "-s 65536 -q 8"), 16, 0.35),
    Run("read 64K IPv6", perftest("ib_read_bw", "-s 65536"), 50, 0.35, gid=2),
    Run("fetch and add", perftest("ib_atomic_bw", "-A FETCH_AND_ADD"), 300, 0.5, unit="op/s", choice="quick"),
    Run("compare and swap", perftest("ib_atomic_bw", "-A CMP_AND_SWAP"), 300, 0.5, unit="op/s"),
    Run("UC write 64K", perftest("ib_write_bw", "-c UC -s 65536"), 100, 0, choice="default"),
    Run("UC send 64K", perftest("ib_send_bw", "-c UC -s 65536"), 100, 0),
    Run("UD send", perftest("ib_send_bw", "-c UD -s {pmtu}"), 400, 0, choice="default"),
    Run("rping -V", "rping -c -V -S 64000 -C {n}", 40, 4.2, unit="s",
        server=f"rping -s -V -S 64000 -a {DATA4} -C {{n}}", client=f"-a {DATA4}", choice="quick"),
    Run("rping -V IPv6", "rping -c -V -S 64000 -C {n}", 40, 4.2, unit="s",
        server=f"rping -s -V -S 64000 -a {DATA6} -C {{n}}", client=f"-a {DATA6}", choice="default"),
    # Its ACK timeout is 67 ms and cannot be set.
    Run("pingpong -c", "ibv_rc_pingpong -d rxe0 -g {gid} -m {pmtu} -s 16384 -c -n {n}", 200, 1, unit="s", max_km=1000,
        impatient=True, choice="quick"),
    Run("ucmatose", "ucmatose -c 4 -C 50 -S 4096", 50, 0.1, unit="s", client=f"-s {DATA4}", choice="default"),
]

# How the tools say that data is not what was sent. They say nothing else if it is.
WRONG_DATA = re.compile(r"data mismatch|invalid data|Mismatch", re.I)


def chosen(selection):
    order = ["all", "default", "quick"]
    return [r for r in RUNS if order.index(r.choice) >= order.index(selection)]
