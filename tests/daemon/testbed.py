"""Two running daemons, the span between them and hosts at both ends, without any guest:

    model_host tapA - lanA matchrdmad A wanA - spanA span spanB - wanB matchrdmad B lanB - tapB model_host

All links are veth pairs in the network namespace that the test itself runs in (unshare --net). Processes, span and
captures are those of the Soft-RoCE lab (tests/softroce). One machine with two busy cores carries all of it: nothing is
measured, and what is awaited may take its time.
"""
import collections
import contextlib
import http.client
import os
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "softroce"))
import captures  # noqa: E402  pylint: disable=wrong-import-position
import daemons  # noqa: E402  pylint: disable=wrong-import-position
import network  # noqa: E402  pylint: disable=wrong-import-position
from processes import LabError, Processes, call  # noqa: E402  pylint: disable=wrong-import-position
from span import Span  # noqa: E402  pylint: disable=wrong-import-position

MTU, PATH_MTU = 1500, 1024
SECONDS = 60  # for whatever is awaited
# tshark tries these on any payload that no port names, and calls random bytes malformed Ethernet, SMB Direct, ...
GUESSES = ("eth_over_ib", "fc_infiniband", "iser_infiniband", "lnet_ib", "mellanox_eoib", "nvme_rdma",
           "rpcrdma_infiniband", "sdp_infiniband", "smb_direct_infiniband", "smcr_infiniband")
CONFIG = """\
name: test-{side}
workers:
  cores: {core}
  main_core: {core}
  idle: adaptive
memory:
  no-huge: 256MiB
  file_prefix: {prefix}-{side}
{spans}classes:
  - name: strict
    match:
      source: [10.1.2.0/24, 10.2.2.0/24]
    completion: end-to-end
  - name: bulk
    completion: early
timing:
  receiver_timeout: 5s # a host may have to wait for a core
tuning:
  ack_every: 64
limits:
  max_flows: 256
  max_owning_flows: 64
  custody_soft: 20MiB
  custody_hard: 32MiB
  reorder_memory: 16MiB
  custody_packets: 16384
  held_packets: 16384
  confirmed_entries: 16384
journal:
  path: {folder}/journal{side}
admin:
  socket: {folder}/admin{side}
metrics:
  listen: 127.0.0.1:{metrics}
capture_folder: {folder}
"""


def await_(condition, what, seconds=SECONDS):
    """What condition() gives as soon as that is true. `what`: a sentence, or what makes one in the end."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise LabError(f"waited {seconds} s for: {what() if callable(what) else what}")
        time.sleep(0.05)


class Wires:
    """The links, in the namespace of this process; what the lab's modules want of their Network."""
    name, mtu = f"mrdma-test-{os.getpid()}", MTU

    def __init__(self):
        with open("/proc/net/dev", encoding="ascii") as f:
            if any(line.split(":")[0].strip() != "lo" for line in f.readlines()[2:]):
                sys.exit("this is not an empty network namespace: run the test under `unshare --net`")
        for which in ("default", "all"):  # neighbour discovery would be none of the hosts' frames
            with open(f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6", "w", encoding="ascii") as f:
                f.write("1")
        call("ip", "link", "set", "lo", "up")
        # Nothing here comes from a socket of the kernel's IP, so there is no checksum and no segment to offload.
        numbers = {**network.INDEX, "lanA": 0x6A17, "lanB": 0x1C4F}
        for side in "AB":
            for one, other, mtu in ((f"tap{side}", f"lan{side}", MTU),
                                    (f"wan{side}", f"span{side}", MTU + network.WAN_EXTRA)):
                call(*f"ip link add {one} index {numbers[one]} mtu {mtu} type veth peer name {other} "
                      f"index {numbers[other]} mtu {mtu}".split())
                for end in (one, other):
                    call("ip", "link", "set", end, "up")

    def inside(self, *command):
        return list(command)


class Daemon(daemons.Daemon):
    """One matchrdmad, configured for these tests."""

    def __init__(self, bed, side, folder):
        super().__init__(bed, side, folder)
        self.metrics_port = 9464 + "AB".index(side)

    def config_text(self):
        spans = daemons.spans_of(self.side, "test", f"lan{self.side}", MTU, self.folder, self.key_ids)
        return CONFIG.format(side=self.side, core=daemons.core_of(self.side), spans=spans,
                             prefix=self.lab.network.name, folder=self.folder, metrics=self.metrics_port)

    def start(self):
        super().start()
        await_(self.shows, f"daemon {self.side} has something to show")

    def shows(self):
        try:
            return self.ctl("show", "status")
        except LabError as e:
            if "the daemon is starting" in str(e):
                return None
            raise

    def refused(self, *words):
        """What `ctl` says when the daemon refuses."""
        try:
            said = self.ctl(*words)
        except LabError as e:
            return str(e)
        raise AssertionError(f"ctl {' '.join(words)} was not refused: {said}")

    def peer(self):
        return self.show("peers")["peers"][0]

    def flows(self, **wanted):
        """Rows of `show flows` with these values. The list is renewed every two seconds."""
        return [f for f in self.show("flows")["flows"] if all(f[k] == v for k, v in wanted.items())]

    def get(self, path):
        """(status, body) of its web server."""
        c = http.client.HTTPConnection("127.0.0.1", self.metrics_port, timeout=10)
        with contextlib.closing(c):
            c.request("GET", path)
            r = c.getresponse()
            return r.status, r.read().decode()

    def metrics(self):
        """Values of /metrics: a metric's name to the sum over its labels, and each with its labels."""
        values = collections.Counter()
        for name, labels, value in re.findall(r"^(\w+)(\{.*\})? (\S+)$", self.get("/metrics")[1], re.M):
            values[name] += float(value)
            if labels:
                values[name + labels] += float(value)
        return values

    def count(self, name):
        """Of matchrdma_NAME_total, now."""
        return counts(name, self)[0]

    def await_more(self, name, than=0.0):
        """Until this counter is above `than`."""
        await_(lambda: self.metrics()[f"matchrdma_{name}_total"] > than,
               f"matchrdma_{name}_total of daemon {self.side} above {than}")


def fresh(*of):
    """Metrics of these daemons, of now: those of their workers' next reports. There are two a second."""
    loops = "matchrdma_worker_loops_total"
    old = [daemon.metrics()[loops] for daemon in of]
    for daemon, seen in zip(of, old):
        await_(lambda d=daemon, s=seen: d.metrics()[loops] != s, f"a report of daemon {daemon.side}'s worker")
    return [daemon.metrics() for daemon in of]


def counts(name, *of):
    """matchrdma_NAME_total of these daemons, now."""
    return [m[f"matchrdma_{name}_total"] for m in fresh(*of)]


class Bed:
    """What the lab's modules call a lab: programs, processes, wires; and on them the span and both daemons."""

    def __init__(self, programs, wires):
        self.programs, self.network = programs, wires
        self.folder = tempfile.mkdtemp(prefix=f"mrdma-test-{os.getpid()}-")  # short: sockets lie in it
        with open(os.path.join(self.folder, "heuristic_protos"), "w", encoding="ascii") as f:
            f.write("".join(f"{guess},0\n" for guess in GUESSES))
        os.environ["WIRESHARK_CONFIG_DIR"] = self.folder
        self.processes = Processes(self.folder)
        self.span, self.daemons = None, {side: Daemon(self, side, self.folder) for side in "AB"}
        self.a, self.b = self.both = self.daemons["A"], self.daemons["B"]
        self.make_key(1)
        for daemon in self.daemons.values():
            daemon.write_config([1])

    def program(self, name):
        return os.path.join(self.programs, name)

    def make_key(self, number):
        return daemons.make_key(self.folder, number)

    def start(self, km=0):
        """Everything, until both know each other."""
        self.start_span(km)
        for daemon in self.daemons.values():
            daemon.start()
        self.await_sessions()

    def start_span(self, km=0):
        self.span = Span(self, "spanA", "spanB")
        self.span.set(km)

    def await_sessions(self):
        for daemon in self.daemons.values():
            await_(lambda d=daemon: d.peer()["session"] == "up",
                   lambda d=daemon: f"session of daemon {d.side}: {d.peer()}")

    def capture(self, name):
        """Both LANs into files, as long as it is open; `verdict` afterwards (tests/softroce/captures.py)."""
        return Capture(self, name)

    def stop(self):
        # Nobody needs to say goodbye; that they could is start_test's business.
        for process in reversed(self.processes.all):
            process.kill()
        if self.span is not None:
            shutil.rmtree(self.span.folder, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def logs(self):
        """The end of what every process said, for who has to find out."""
        out = []
        for name in sorted(os.listdir(self.folder) if os.path.exists(self.folder) else []):
            if name.endswith(".log"):
                with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as f:
                    out.append(f"--- {name}\n{f.read()[-3000:]}")
        return "\n".join(out)


class Capture:
    """A capture of both LANs, as a context."""

    def __init__(self, bed, name):
        self.captures, self.verdict = captures.Captures(bed.network, bed.processes, bed.folder, name), None

    def __enter__(self):
        self.captures.start()
        return self

    def __exit__(self, kind, *_):
        complaints = self.captures.stop()
        if kind is None:
            self.verdict = captures.judge(self.captures, PATH_MTU)
            self.verdict.complaints += complaints
