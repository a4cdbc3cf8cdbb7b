"""The lab's own network: one namespace named by the lab's pid, without any way out of it.

    guest A - tapA ............ tapB - guest B       left apart; what is under test joins them
              mgA - bridge - mgB                     management: the TCP side channel of perftest
              wanA - spanA      spanB - wanB         veth pairs: a daemon at wan*, the span emulator between span*
"""
import contextlib
import os
import subprocess

from processes import LabError, call

HERE = os.path.dirname(os.path.abspath(__file__))
PREFIX = "mrdma-lab-"
# net_af_packet names its fanout group by process id XOR interface number, and the kernel refuses a second group of that
# name in the namespace (EINVAL). Processes started one after the other have ids close together; numbers far apart and
# without a pattern keep the names apart.
INDEX = {"tapA": 0x1A51, "tapB": 0x2B37, "wanA": 0x4C8D, "wanB": 0x7E13, "spanA": 0x5F29, "spanB": 0x33C6}
WAN_EXTRA = 200  # bytes a WAN link carries beyond the MTU of the LAN


def sweep():
    """Removes namespaces of labs that no longer run: killed ones could not do it themselves."""
    listed = subprocess.run(["ip", "netns", "list"], stdout=subprocess.PIPE, text=True, check=False).stdout
    for line in listed.splitlines():
        name = line.split()[0] if line.split() else ""
        pid = name.removeprefix(PREFIX)
        if name.startswith(PREFIX) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)


def why_not():
    """A sentence why there can be no lab here, or None."""
    if os.geteuid() != 0:
        return "not root: namespaces and taps need it"
    name = f"{PREFIX}{os.getpid()}-try"
    try:
        call("ip", "netns", "add", name)
        try:
            call("ip", "-n", name, "tuntap", "add", "dev", "try", "mode", "tap")
        finally:
            call("ip", "netns", "del", name)
    except (LabError, OSError) as e:
        return f"no network namespace or no tap can be made here: {e}"
    return None


class Network:
    """The namespace and its links; a context manager."""

    def __init__(self, mtu):
        self.name = f"{PREFIX}{os.getpid()}"
        self.mtu = mtu

    def ip(self, words):
        call("ip", "-n", self.name, *words.split())

    def __enter__(self):
        sweep()
        call("ip", "netns", "add", self.name)
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self):
        # No IPv6 of the namespace's own: every frame on a tap shall be a guest's.
        switch = "/proc/sys/net/ipv6/conf/$i/disable_ipv6"
        call(*self.inside("sh", "-c", f"for i in default all; do echo 1 > {switch}; done"))
        self.ip("link set lo up")
        self.ip("link add mgmt type bridge mcast_snooping 0")
        self.ip("link set mgmt up")
        for side in "AB":
            call(*self.inside("python3", "-B", os.path.join(HERE, "tap.py"), f"tap{side}", str(INDEX[f"tap{side}"])))
            # A tap drops what its guest does not read in time, and a guest may have to wait for the processor.
            self.ip(f"link set tap{side} mtu {self.mtu} txqueuelen 10000 up")
            self.ip(f"tuntap add dev mg{side} mode tap")
            self.ip(f"link set mg{side} master mgmt up")
            wan, span = INDEX[f"wan{side}"], INDEX[f"span{side}"]
            self.ip(f"link add wan{side} index {wan} type veth peer name span{side} index {span}")
            for end in ("wan", "span"):
                self.ip(f"link set {end}{side} mtu {self.mtu + WAN_EXTRA} up")

    def __exit__(self, *_):
        with contextlib.suppress(LabError):
            call("ip", "netns", "del", self.name)

    def inside(self, *command):
        """The command as one that runs in the namespace, under the same pid."""
        return ["ip", "netns", "exec", self.name, *command]
