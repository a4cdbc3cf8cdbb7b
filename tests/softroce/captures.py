"""What passed the taps during a run, and what independent eyes say of it (tests/independent/roce.py, tshark)."""
import collections
import dataclasses
import os
import re
import signal
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "independent"))
import roce  # noqa: E402  pylint: disable=wrong-import-position

ACK_OPCODES = (0x11, 0x12)  # ACKNOWLEDGE and ATOMIC ACKNOWLEDGE carry an AETH right behind the BTH; so do
READ_RESPONSES = (0x0D, 0x0F, 0x10)  # the FIRST, LAST and ONLY of a READ response
RC_OPCODES = range(0x00, 0x20)
READ_REQUEST = 0x0C
RNR, NAK = 1, 3  # bits 6:5 of the AETH syndrome (IBA 9.7.5.2.1)
HALF = 1 << 23
# tcpdump takes a block of packets from the kernel when it is full or a second old, and drops an open one when it ends.
BLOCK_SECONDS = 1.1


@dataclasses.dataclass
class Verdict:
    """Counts over both taps. `resent` left a guest for the second time, `repeated` came to a guest a second time,
    `missing` left a guest and never came to the other."""
    packets: int = 0
    naks: int = 0
    rnrs: int = 0
    resent: int = 0
    repeated: int = 0
    missing: int = 0
    complaints: list = dataclasses.field(default_factory=list)
    flows: set = dataclasses.field(default_factory=set)  # of the requests that left a guest


class Captures:
    """Both taps into files while it is open. `keep` leaves the files where they are."""

    def __init__(self, network, processes, folder, name):
        self.network, self.processes = network, processes
        self.paths = {side: os.path.join(folder, f"{name}-tap{side}.pcap") for side in "AB"}
        self.running = {}

    def start(self):
        for side, path in self.paths.items():
            # Not --immediate-mode: with whole frames it has few ring slots and loses packets.
            words = ["tcpdump", "-n", "-i", f"tap{side}", "-s", "9216", "-B", "16384", "-Z", "root", "-w", path]
            self.running[side] = self.processes.start(f"tcpdump{side}", self.network.inside(*words),
                                                      stop_signal=signal.SIGINT)
        for process in self.running.values():
            process.wait_for(lambda p=process: "listening on" in p.said(), 10, "it should listen on the tap")

    def stop(self):
        """Complaints about the captures themselves."""
        time.sleep(BLOCK_SECONDS)
        complaints = []
        for side, process in self.running.items():
            process.stop()
            lost = re.search(r"(\d+) packets? dropped by kernel", process.said())
            if not lost or int(lost.group(1)):
                complaints.append(f"capture of tap{side} is not whole: {process.said().strip()[-200:]}")
        self.running = {}
        return complaints

    def remove(self):
        for path in self.paths.values():
            if os.path.exists(path):
                os.unlink(path)


def psn_after(packet, path_mtu):
    """The PSN behind a request's last: a READ occupies those of its responses."""
    count = 1
    if packet.opcode == READ_REQUEST:
        length = struct.unpack_from(">I", packet.frame, packet.bth + 12 + 12)[0]
        count = max(1, -(-length // path_mtu))
    return (packet.psn + count) & 0xFFFFFF


class Repeats:
    """Counts requests whose PSN was there before, flow by flow."""

    def __init__(self, path_mtu):
        self.path_mtu, self.count, self.next = path_mtu, 0, {}

    def see(self, packet):
        expected = self.next.get(packet.flow())
        if expected is not None and (packet.psn - expected) & 0xFFFFFF >= HALF:
            self.count += 1
            return
        self.next[packet.flow()] = psn_after(packet, self.path_mtu)


def judge_delivery(entered, left, complaints, strangers=frozenset()):
    """Every request, of RC, UC and UD, that came to a guest has the bytes of one that left the other guest, but for
    flows of `strangers`. How many did not come."""
    sent = collections.defaultdict(set)
    for p in entered:
        sent[(p.flow(), p.psn)].add(hash(p.masked()))
    wrong = [p for p in left if hash(p.masked()) not in sent.get((p.flow(), p.psn), ()) and p.flow() not in strangers]
    for p in wrong[:3]:
        complaints.append(f"PSN {p.psn} of QP {p.qpn} (opcode {p.opcode:#x}) arrived with bytes that were never sent")
    if len(wrong) > 3:
        complaints.append(f"... {len(wrong)} such packets")
    return len(sent.keys() - {(p.flow(), p.psn) for p in left})


def judge(captures, path_mtu, readable=True, earlier=frozenset()):
    """Reads both captures. `readable` also asks tshark, which takes by far the most time. `earlier`: flows of runs
    before; a daemon probes a receiver that went away for a while, and that is not this run's."""
    verdict = Verdict()
    requests = {}  # (tap, side that sent them)
    for tap, path in captures.paths.items():
        packets = list(roce.roce(roce.read_pcap(path)))
        verdict.packets += len(packets)
        repeats = {side: Repeats(path_mtu) for side in "AB"}
        requests.update({(tap, side): [] for side in "AB"})
        wrong = 0
        for p in packets:
            side = "AB"[p.frame[11] - 1] if p.frame[11] in (1, 2) else "?"  # the guests' MAC addresses end so
            wrong += not p.icrc_right()
            if p.opcode == roce.CNP or side == "?":
                continue
            if p.opcode not in RC_OPCODES:
                requests[tap, side].append(p)  # UC and UD have no other packets
            elif p.request():
                repeats[side].see(p)
                requests[tap, side].append(p)
            elif p.opcode in ACK_OPCODES + READ_RESPONSES and side != tap:
                kind = p.frame[p.bth + 12] >> 5 & 3
                verdict.naks += kind == NAK
                verdict.rnrs += kind == RNR
        if wrong:
            verdict.complaints.append(f"tap{tap}: {wrong} packets with a wrong ICRC")
        verdict.resent += repeats[tap].count
        verdict.repeated += repeats["BA"["AB".index(tap)]].count
        if readable:
            found = []
            roce.check_readable(f"tap{tap}", path, found.append)
            verdict.complaints += found[:3]
            if len(found) > 3:
                verdict.complaints.append(f"... {len(found)} such complaints")
    for sender, receiver in ("AB", "BA"):
        own = {p.flow() for p in requests[sender, sender]}
        verdict.flows |= own
        verdict.missing += judge_delivery(requests[sender, sender], requests[receiver, sender], verdict.complaints,
                                          earlier - own)
    return verdict
