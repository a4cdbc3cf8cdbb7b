"""Two QEMU guests with Linux Soft-RoCE, and the conversation with the command agent in each (guest-init)."""
import os
import re
import socket
import time

from processes import LabError

# TCG: a stock kernel does not run under every KVM, and an emulated one is fast enough. q35, not microvm: without HPET
# and PM timer the TSC calibration hangs now and then. The plainest CPU, since what it cannot do need not be emulated.
MACHINE = "-M q35,sata=off,smbus=off -accel tcg,thread=multi,tb-size=128 -cpu qemu64 -smp 1 -m 512"
PLAIN = "-nodefaults -no-user-config -display none -no-reboot"
KERNEL = "console=ttyS0 quiet panic=-1 mitigations=off nokaslr audit=0 random.trust_cpu=on net.ifnames=0"
# Offloads are off so that each frame on a tap is whole. What is sent waits up to half a millisecond for more: waking QEMU
# for every frame costs more than the guest's own work.
NO_OFFLOADS = "csum=off,guest_csum=off,gso=off,guest_tso4=off,guest_tso6=off,guest_ufo=off,guest_ecn=off"
BOOT_SECONDS = 120  # three where nothing else runs; a panic is noticed at once
ANSWER_SECONDS = 10  # what an agent may take beyond the time that its command is allowed
PANIC = re.compile(rb"Kernel panic|BUG: |Oops|double fault|general protection|LAB-FAILED[^\n]*")
NICE = 5  # below the daemons and the span: their timing is under test, the guests are only their load


class GuestDied(Exception):
    """A guest ended, panicked or does not answer: boot the pair again."""


class Guest:
    """One guest: its QEMU process, its console log, its agent."""

    def __init__(self, name, image, network, processes):
        self.name, self.network = name, network
        self.index = "AB".index(name) + 1
        self.console = os.path.join(processes.folder, f"guest{name}.console")
        self.control = os.path.join(processes.folder, f"guest{name}.ctl")
        self.agent, self.heard, self.asked = None, b"", 0
        for path in (self.console, self.control):
            if os.path.exists(path):
                os.unlink(path)
        self.process = processes.start(f"guest{name}", network.inside(*self._command(image)), nice=NICE)

    def _command(self, image):
        k, mtu = self.index, self.network.mtu
        lab = (f"lab.name={self.name} lab.ip=10.9.0.{k}/24 lab.ip6=fd09::{k}/64 lab.mgmt=10.8.0.{k}/24 lab.mtu={mtu}")
        nic = f"{NO_OFFLOADS},tx=timer,x-txtimer=500000,romfile="
        return ["qemu-system-x86_64", *MACHINE.split(), *PLAIN.split(), "-kernel", os.path.join(image, "vmlinux"),
                "-initrd", os.path.join(image, "initramfs.cpio"), "-append", f"{KERNEL} {lab}",
                "-netdev", f"tap,id=n0,ifname=tap{self.name},script=no,downscript=no",
                "-device", f"virtio-net-pci,netdev=n0,mac=52:54:00:09:00:0{k},host_mtu={mtu},{nic}",
                "-netdev", f"tap,id=n1,ifname=mg{self.name},script=no,downscript=no",
                "-device", f"virtio-net-pci,netdev=n1,mac=52:54:00:08:00:0{k},{nic}",
                "-device", "virtio-rng-pci", "-serial", f"file:{self.console}",
                "-serial", f"unix:{self.control},server=on,wait=off"]

    def check(self):
        """Raises GuestDied if the process ended or the console tells of a panic."""
        if not self.process.alive():
            raise GuestDied(f"guest {self.name}: QEMU ended with status {self.process.popen.returncode}: "
                            f"{self.process.said()[-300:].strip()} {self._last_words()}")
        words = self._last_words()
        if words:
            raise GuestDied(f"guest {self.name}: {words}")

    def _last_words(self):
        try:
            with open(self.console, "rb") as f:
                found = PANIC.search(f.read())
        except FileNotFoundError:
            return ""
        return found.group().decode(errors="replace") if found else ""

    def _connect(self, end):
        while self.agent is None:
            self.check()
            link = socket.socket(socket.AF_UNIX)
            try:
                link.connect(self.control)
                link.settimeout(0.2)
                self.agent = link
            except OSError as e:
                link.close()
                if time.monotonic() > end:
                    raise GuestDied(f"guest {self.name}: no control socket: {e}") from e
                time.sleep(0.05)

    def _ask(self, line, end, again):
        """Sends the line, every `again` seconds if that is not None, until the answer is there."""
        assert "\n" not in line
        self._connect(end)
        self.asked += 1
        name = f"{os.getpid():x}.{self.asked}"
        answer = re.compile(f"@@BEG {re.escape(name)}@@\n(.*?)\n@@RC {re.escape(name)} (\\d+)@@\n".encode(), re.S)
        sent = None
        self.heard = b""
        while True:
            now = time.monotonic()
            try:
                if sent is None or (again and now - sent > again):
                    self.agent.sendall(f"{name} {line}\n".encode())
                    sent = now
                data = self.agent.recv(65536)
                if not data:
                    raise GuestDied(f"guest {self.name} closed its control socket {self._last_words()}")
                self.heard += data
            except TimeoutError:
                self.check()
            except OSError as e:
                raise GuestDied(f"guest {self.name}: control socket: {e}") from e
            found = answer.search(self.heard)
            if found:
                return int(found.group(2)), found.group(1).decode(errors="replace")
            if now > end:
                raise GuestDied(f"guest {self.name} does not answer: {line[:100]}")

    def wait_ready(self):
        # What is written before the agent has opened its tty is lost, so the question is repeated.
        self._ask("true", time.monotonic() + BOOT_SECONDS, again=0.4)

    def run(self, line, seconds=10):
        """(status, output) of a shell line that may take so long."""
        return self._ask(line, time.monotonic() + seconds + ANSWER_SECONDS, again=None)

    def must(self, line, seconds=10):
        status, output = self.run(line, seconds)
        if status:
            raise LabError(f"guest {self.name}: {line}: status {status}: {output.strip()}")
        return output

    def power_off(self):
        if self.agent is not None:
            try:
                self.agent.sendall(b"@@POWEROFF@@\n")
                self.process.popen.wait(2)
            except Exception:  # pylint: disable=broad-except  # it is killed then
                pass
            self.agent.close()
        self.process.stop(1)


class Pair:
    """Both guests. boot() may be called again at any time; the taps stay, so what joins them goes on."""

    def __init__(self, image, network, processes):
        self.image, self.network, self.processes = image, network, processes
        self.a = self.b = None
        self.boots = 0

    def boot(self):
        """Boots both; a boot that fails is tried again, the third failure is an error."""
        for attempt in range(3):
            self.down()
            self.boots += 1
            self.a, self.b = (Guest(name, self.image, self.network, self.processes) for name in "AB")
            try:
                self.a.wait_ready()
                self.b.wait_ready()
                return
            except GuestDied as e:
                if attempt == 2:
                    raise LabError(f"the guests do not boot: {e}") from e

    def check(self):
        self.a.check()
        self.b.check()

    def set_mtu(self, mtu):
        """Of the guests' data net; rxe follows with its path MTU. The taps and QEMU carry the largest at any time."""
        for guest in (self.a, self.b):
            guest.must(f"ip link set eth0 mtu {mtu}")

    def down(self):
        for guest in (self.a, self.b):
            if guest is not None:
                guest.power_off()
        self.a = self.b = None
