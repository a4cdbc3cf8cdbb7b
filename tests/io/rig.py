"""Two veth pairs with `matchrdma span` between them: host a - (a0 a1) - span - (b1 b0) - host b. Runs in a network
namespace of its own (unshare --net), which takes everything with it when the test ends."""
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 8, 23
ETH_P_ALL = 3
SIOCETHTOOL, ETHTOOL_GGRO, ETHTOOL_SGRO = 0x8946, 0x2b, 0x2c
VLAN_VALID, TPID_VALID = 1 << 4, 1 << 6
MAC_A, MAC_B = bytes.fromhex("0200000000a0"), bytes.fromhex("0200000000b0")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def make_wires(mtu):
    with open("/proc/net/dev", encoding="ascii") as f:
        if any(line.split(":")[0].strip() not in ("lo",) for line in f.readlines()[2:]):
            sys.exit("this is not an empty network namespace: run the test under `unshare --net`")
    for which in ("default", "all"):
        path = f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6"
        if os.path.exists(path):  # neighbour discovery would mix with the frames of the test
            with open(path, "w", encoding="ascii") as f:
                f.write("1")
    for side in "ab":
        ip("link", "add", f"{side}0", "mtu", str(mtu), "type", "veth", "peer", "name", f"{side}1", "mtu", str(mtu))
        ip("link", "set", f"{side}0", "up", "promisc", "on")
        ip("link", "set", f"{side}1", "up")
    for side in "ab":
        wait_for(lambda s=side: carrier(f"{s}0"), f"carrier of {side}0")


def carrier(interface):
    # /sys may belong to another namespace, ip asks the kernel.
    out = subprocess.run(["ip", "-json", "link", "show", interface], check=True, stdout=subprocess.PIPE).stdout
    return "LOWER_UP" in json.loads(out)[0]["flags"]


def gro(interface, on=None):
    """Whether the kernel merges what it receives here, after switching it (ethtool's ioctl, linux/ethtool.h)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for command, value in ([] if on is None else [(ETHTOOL_SGRO, on)]) + [(ETHTOOL_GGRO, 0)]:
            number = ctypes.create_string_buffer(struct.pack("=II", command, value), 8)
            request = struct.pack("16sP", interface.encode(), ctypes.addressof(number)).ljust(40, b"\0")
            fcntl.ioctl(s, SIOCETHTOOL, request)
    return struct.unpack("=II", number.raw)[1] != 0


def wait_for(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"waited {seconds} s for: {what}")
        time.sleep(0.01)


class Host:
    """A raw socket that sends and receives whole frames, VLAN tags as they are on the wire."""

    def __init__(self, interface):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        self.socket.bind((interface, 0))

    def send(self, frame):
        self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)  # that the interface was down is no news
        self.socket.send(frame)

    def receive(self, seconds):
        """One frame, or None."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return None
        frame, extra, _, _ = self.socket.recvmsg(65536, 256)
        for level, kind, data in extra:
            if level == SOL_PACKET and kind == PACKET_AUXDATA:
                status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", data[:20])
                if status & VLAN_VALID:
                    tpid = tpid if status & TPID_VALID else 0x8100
                    frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
        return frame

    def receive_all(self, count, seconds=20):
        """`count` frames, or what came until nothing came for `seconds`."""
        frames = []
        while len(frames) < count:
            frame = self.receive(seconds)
            if frame is None:
                break
            frames.append(frame)
        return frames


def frame(number, size, tags=(), source=MAC_A, destination=MAC_B):
    head = destination + source + b"".join(struct.pack("!HH", tpid, tci) for tpid, tci in tags)
    head += struct.pack("!HI", 0x88b5, number)  # a local experimental EtherType
    return head + bytes((number + i * 7) & 0xff for i in range(size - len(head)))


def number_of(received):
    return struct.unpack("!I", received[14:18])[0]


class Span:
    """A running `matchrdma span`."""

    def __init__(self, tool, *options, memory="no-huge:96MiB", **how):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "control")
        self.json = os.path.join(self.folder.name, "span.json")
        self.process = subprocess.Popen(
            [tool, "span", "--a", "net_af_packet0,iface=a1", "--b", "net_af_packet1,iface=b1", "--memory", memory,
             "--control", self.path, "--json", self.json, *options], stdout=subprocess.PIPE, text=True, **how)
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if line.startswith("the span is up"):
                break
        else:
            sys.exit(f"span ended with {self.process.wait()}: {self.said}")
        self.connect()

    def connect(self):
        self.control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.control.connect(self.path)
        self.answers = self.control.makefile()

    def disconnect(self):
        self.answers.close()
        self.control.close()

    def ask(self, line):
        self.control.sendall(line.encode() + b"\n")
        return self.answers.readline().strip()

    def do(self, line):
        answer = self.ask(line)
        if answer != "ok":
            sys.exit(f"{line}: {answer}")

    def stats(self):
        return json.loads(self.ask("stats"))

    def end(self, how=signal.SIGTERM):
        """Ends it; returns the final figures."""
        if how is None:
            self.do("quit")
        else:
            self.process.send_signal(how)
        out, _ = self.process.communicate(timeout=30)
        if self.process.returncode != 0:
            sys.exit(f"span ended with {self.process.returncode}: {out}")
        self.said += out
        with open(self.json, encoding="utf-8") as f:
            return json.load(f)


failures = []


def check(condition, what):
    print(f"{'ok  ' if condition else 'FAIL'} {what}", flush=True)
    if not condition:
        failures.append(what)


def finish():
    sys.exit(f"{len(failures)} failed" if failures else 0)
