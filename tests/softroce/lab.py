"""The lab itself: a namespace, two guests, and whatever stands between them."""
import os
import shutil
import signal
import sys
import time

from guests import GuestDied, Pair
from measure import drive
from network import Network
from processes import LabError, Processes, call

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
IMAGE = os.path.join(TREE, "build", "softroce", "image")
LARGEST_MTU = 4200


class Lab:
    """Namespace, guests and whatever stands between them. What it has started is gone when the `with` is left."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = os.path.join(TREE, "build", "softroce", f"lab-{os.getpid()}")
        self.network, self.processes = Network(LARGEST_MTU), None
        self.pair = self.middle = None
        self.kept, self.mtu, self.notes = 0, 1500, []
        self.flows = set()  # that captures have seen leave a guest

    def __enter__(self):
        os.makedirs(self.folder, exist_ok=True)
        self.network.__enter__()
        self.processes = Processes(self.folder)
        self.pair = Pair(self._image(), self.network, self.processes)
        return self

    def __exit__(self, kind, *_):
        # However impatient the user, the namespace must go; a second Ctrl-C waits.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            self.pair.down()
            self.leave()
        finally:
            self.processes.__exit__()
            self.network.__exit__()
        if kind is None and not self.kept:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print(f"logs and captures: {os.path.relpath(self.folder)}", file=sys.stderr)

    def _image(self):
        carried = {"host": "verbs_pair", "host_rate": "matchrdma-xfer", "host_paths": "matchrdma-xfer"}
        program = next((p for name, p in carried.items() if getattr(self.arguments, name)), None)
        if program is None:
            return IMAGE
        folder = os.path.join(self.folder, "image")
        call(os.path.join(HERE, "overlay.sh"), IMAGE, folder, self.program(program))
        return folder

    def program(self, name):
        path = os.path.join(self.arguments.programs, name)
        if not os.access(path, os.X_OK):
            raise LabError(f"{path} is not there; ./run build makes it")
        return path

    def note(self, sentence):
        self.notes.append(sentence)
        self.say(sentence)

    def say(self, sentence):
        clear = "\r\x1b[K" if sys.stdout.isatty() else ""
        print(f"{clear}{sentence}", flush=True)

    def show(self, sentence):
        """Progress, where somebody watches."""
        if sys.stdout.isatty():
            print(f"\r\x1b[K{sentence}", end="", flush=True)

    def boot(self):
        started = time.monotonic()
        self.reboot()
        self.say(f"two guests are up after {time.monotonic() - started:.1f} s")

    def reboot(self):
        """Boots both guests and leaves them as they were: MTU set, path open."""
        for _ in range(3):
            self.pair.boot()
            try:
                self.pair.set_mtu(self.mtu)
                self.warm_up()
                return
            except GuestDied as e:
                self.note(f"{e}: booting the guests again")
        raise LabError("the guests do not stay up")

    def set_mtu(self, mtu):
        self.mtu = mtu
        try:
            self.pair.set_mtu(mtu)
        except GuestDied as e:
            self.note(f"{e}: booting the guests again")
            self.reboot()

    def join(self, kind):
        """Puts a Direct or Daemons between the guests, in place of what is there."""
        if isinstance(self.middle, kind):
            return
        self.leave()
        self.middle = kind(self)
        try:
            self.warm_up()
        except GuestDied as e:
            self.note(f"{e}: booting the guests again")
            self.reboot()

    def leave(self):
        if self.middle is not None:
            self.middle.stop()
        self.middle = None

    def warm_up(self):
        """Addresses are resolved and the path is open; perftest's first rate after a boot is nonsense now and then."""
        if self.middle is None:
            return
        for peer in ("10.9.0.2", "fd09::2"):
            status, said = self.pair.a.run(f"ping -c 3 -W 2 {peer}", 15)
            if status:
                self.middle.check()
                raise LabError(f"guest A cannot ping {peer} through {type(self.middle).__name__}: {said.strip()}")
        word = "ib_write_bw -d rxe0 -x 1 -F -u 17 -n 20"
        status, said, _, _ = drive(self.pair, word, f"{word} 10.8.0.2", 60)
        if status:
            raise LabError(f"the first ib_write_bw failed: {said.strip()}")

    def keep(self, run, km, mtu, outcome, captures):
        """Output and captures of a run with errors stay, those of a good one go."""
        if not outcome.errors and outcome.clean and not self.arguments.keep:
            if captures:
                captures.remove()
            return
        self.kept += 1
        name = f"{self.kept:02}-{run.name.replace(' ', '-')}-{mtu}-{km}km"
        with open(os.path.join(self.folder, f"{name}.txt"), "w", encoding="utf-8") as f:
            f.write(outcome.output)
        for side, path in (captures.paths if captures else {}).items():
            os.replace(path, os.path.join(self.folder, f"{name}-tap{side}.pcap"))
