"""The two daemons and the span between them: guest A - tapA - matchrdmad A - wanA = span = wanB - matchrdmad B - tapB -
guest B. Both live as long as the lab does; mode and distance change under them."""
import json
import os
import secrets
import shutil
import subprocess
import tempfile
import time

from network import WAN_EXTRA
from processes import LabError
from span import Span

CLASS = "guests"
START_SECONDS = 30
NICE = 0
ADDRESS = {"A": "192.168.77.1", "B": "192.168.77.2"}  # of the control subchannel, known on the span only
OTHER = {"A": "B", "B": "A"}
SPANS = """\
spans:
  - name: {name}
    lan:
      port: net_af_packet0,iface={lan}
      mtu: {mtu}
      link_loss_forwarding: off
    wan:
      port: net_af_packet1,iface=wan{side}
      mtu: {wan_mtu}
      address: {own}/24
    peer:
      address: {peer}
      keys:
{keys}
    budgets:
      rate: {rate}
    egress:
      rate: 1Gbps
"""
CONFIG = """\
name: lab-{side}
workers:
  cores: {core}
  main_core: {core}
  idle: adaptive
  coalesce: 200us # each wake-up takes from the guests
memory:
  no-huge: 512MiB
  file_prefix: {prefix}-{side}
{spans}classes:
  - name: {name}
    completion: early
timing:
  receiver_timeout: 1s # the guests are interpreted, and wait for a core now and then
limits:
  max_flows: 1024
  max_owning_flows: 256
  custody_soft: 128MiB
  custody_hard: 192MiB
  reorder_memory: 64MiB
  custody_packets: 131072
  held_packets: 131072
  confirmed_entries: 65536
journal:
  path: {folder}/journal{side}
admin:
  socket: {folder}/admin{side}
metrics:
  listen: off
"""


def core_of(side):
    """Which core a daemon works on."""
    return "AB".index(side) % (os.cpu_count() or 1)


def make_key(folder, number):
    """A fresh secret as `folder`/keyN; its path."""
    path = os.path.join(folder, f"key{number}")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as f:
        f.write(secrets.token_hex(32) + "\n")
    return path


def spans_of(side, name, lan, mtu, folder, key_ids, rate="1Gbps"):
    """The section `spans` of a daemon between the LAN port `lan` and its end of the emulated span. Keys are files
    `folder`/keyN; `rate` is the budget of each receiver."""
    keys = "\n".join(f"        - id: {k}\n          file: {folder}/key{k}" for k in key_ids)
    return SPANS.format(side=side, name=name, lan=lan, mtu=mtu, wan_mtu=mtu + WAN_EXTRA, own=ADDRESS[side],
                        peer=ADDRESS[OTHER[side]], keys=keys, rate=rate)


class Daemon:
    """One matchrdmad, its config, its keys and its admin socket. `text` is its config as it was written last."""

    rate = "1Gbps"  # budget of each receiver

    def __init__(self, lab, side, folder):
        self.lab, self.side, self.folder = lab, side, folder
        self.config = os.path.join(folder, f"{side}.yaml")
        self.admin = os.path.join(folder, f"admin{side}")
        self.process = None
        self.text, self.key_ids = "", []

    def config_text(self):
        """What its config says but for changes; tests of other beds have another."""
        # qdisc_bypass=0: else tcpdump does not see what is sent.
        spans = spans_of(self.side, "lab", f"tap{self.side},qdisc_bypass=0", self.lab.network.mtu, self.folder,
                         self.key_ids, self.rate)
        return CONFIG.format(side=self.side, core=core_of(self.side), spans=spans, name=CLASS, folder=self.folder,
                             prefix=self.lab.network.name)

    def write_config(self, key_ids=(), change=lambda text: text):
        """The config with one change. Keys are the files that make_key() left; those of the last time unless others are
        named."""
        self.key_ids = key_ids or self.key_ids
        self.text = change(self.config_text())
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(self.text)

    def start(self):
        if os.path.exists(self.admin):
            os.unlink(self.admin)
        command = [self.lab.program("matchrdmad"), "--config", self.config]
        self.process = self.lab.processes.start(f"matchrdmad{self.side}", self.lab.network.inside(*command), nice=NICE)
        self.process.wait_for(lambda: os.path.exists(self.admin), START_SECONDS, "it should open its admin socket")

    def ctl(self, *words):
        """What `matchrdma ctl` prints; an error is a LabError."""
        command = [self.lab.program("matchrdma"), "ctl", "--socket", self.admin, *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              timeout=30)
        if done.returncode:
            raise LabError(f"ctl {' '.join(words)} at daemon {self.side}: {done.stdout.strip()}")
        return done.stdout

    def show(self, what):
        return json.loads(self.ctl("--json", "show", what))

    def wait_session(self):
        """Until it and its peer know each other; without a session nothing is proxied."""
        end = time.monotonic() + START_SECONDS
        while True:
            peer = self.show("peers")["peers"][0]
            if peer["session"] == "up":
                return
            self.check()
            if time.monotonic() > end:
                raise LabError(f"daemon {self.side} has no session with its peer: {peer['session']}, {peer['trouble']}")
            time.sleep(0.1)

    def check(self):
        if not self.process.alive():
            raise LabError(f"daemon {self.side} ended with status {self.process.popen.returncode}; it said:\n"
                           f"{self.process.said()[-1500:]}")


class Daemons:
    """Both daemons and their span. The class of the guests is `early`; transparent is a mode of the same processes."""
    modes = ("transparent", "proxied")
    under_test = True
    daemon = Daemon

    def __init__(self, lab):
        self.folder = tempfile.mkdtemp(prefix=f"mrdma-lab-{os.getpid()}-")
        self.span = Span(lab, "spanA", "spanB")
        self.daemons = {side: self.daemon(lab, side, self.folder) for side in "AB"}
        self.mode = "proxied"
        try:
            self.make_key(1)
            for daemon in self.daemons.values():
                daemon.write_config([1])
                daemon.start()
            for daemon in self.daemons.values():
                daemon.wait_session()
        except LabError:
            self.stop()
            raise

    def make_key(self, number):
        make_key(self.folder, number)

    def set(self, mode, km, loss=0.0):
        self.span.set(km, loss)
        if mode != self.mode:
            for daemon in self.daemons.values():
                daemon.ctl("mode", "transparent" if mode == "transparent" else "configured", "--class", CLASS)
            self.mode = mode

    def set_budget(self, rate):
        """The budget of every receiver, in bits per second of frames."""
        for daemon in self.daemons.values():
            daemon.rate = f"{rate / 1e6:.0f}Mbps"
            daemon.write_config()
            daemon.ctl("reload")
        self.mode = "proxied"  # a reload takes modes back

    def check(self):
        for daemon in self.daemons.values():
            daemon.check()
        if not self.span.process.alive():
            raise LabError(f"the span ended; it said:\n{self.span.process.said()[-1500:]}")

    def stop(self):
        for daemon in self.daemons.values():
            if daemon.process is not None:
                daemon.process.stop()
        self.span.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
