"""The span emulator `matchrdma span` between two interfaces, and the two ways of joining the guests' LANs: by the span
alone, and by a daemon at each of its ends."""
import os
import shutil
import socket
import tempfile

from processes import LabError
from runs import KM_SECONDS

NICE = -5  # it sleeps when idle; when a frame is due it shall not wait for a guest


class Span:
    """One running span. Distances are kilometres of fibre."""

    def __init__(self, lab, end_a, end_b):
        self.lab = lab
        # A Unix socket has a short path; the lab's folder may lie deep.
        self.folder = tempfile.mkdtemp(prefix=f"mrdma-lab-{os.getpid()}-")
        self.socket = os.path.join(self.folder, "span")
        command = [lab.program("matchrdma"), "span", "--a", f"net_af_packet0,iface={end_a}",
                   "--b", f"net_af_packet1,iface={end_b}", "--delay", "0ms", "--loss-filter", "roce-data",
                   "--seed", "1", "--control", self.socket, "--cores", "0,1", "--memory", "no-huge",
                   "--coalesce", "200us"]
        self.process = lab.processes.start("span", lab.network.inside(*command), nice=NICE)
        try:
            self.process.wait_for(lambda: os.path.exists(self.socket), 30, "it should open its control socket")
        except LabError:
            self.stop()
            raise

    def ask(self, line):
        """One line to the control socket; its answer."""
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.settimeout(5)
        try:
            link.connect(self.socket)
            link.sendall(line.encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                data = link.recv(65536)
                if not data:
                    break
                answer += data
        except OSError as e:
            raise LabError(f"span: {line}: {e}; it said:\n{self.process.said()[-1000:]}") from e
        finally:
            link.close()
        answer = answer.decode().strip()
        if answer.startswith("error"):
            raise LabError(f"span: {line}: {answer}")
        return answer

    def set(self, km, loss=0.0):
        self.ask(f"set delay={km * KM_SECONDS * 1e3:g}ms loss={loss * 100:g}%")

    def lose(self, what):
        """What the loss may hit, as `matchrdma span --help` names it."""
        self.ask(f"set loss-filter={what}")

    def cut(self):
        self.ask("cut")

    def restore(self):
        self.ask("restore")

    def stats(self):
        return self.ask("stats")

    def stop(self):
        self.process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Direct:
    """No daemons: the span joins the LANs. What the guests do bare over a distance."""
    modes = ("direct",)
    under_test = False

    def __init__(self, lab):
        # Else tcpdump does not see what the span sends.
        self.span = Span(lab, "tapA,qdisc_bypass=0", "tapB,qdisc_bypass=0")

    def set(self, _mode, km, loss=0.0):
        self.span.set(km, loss)

    def check(self):
        if not self.span.process.alive():
            raise LabError(f"the span ended; it said:\n{self.span.process.said()[-1500:]}")

    def stop(self):
        self.span.stop()
