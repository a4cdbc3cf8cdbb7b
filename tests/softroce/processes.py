"""Everything the lab starts: every process is known by its pid, has a log, and is ended when the lab ends, however it
ends. A lab that is killed takes its processes with it (setpriv --pdeathsig)."""
import os
import signal
import subprocess
import time


class LabError(Exception):
    """What the user must know and can act on; printed without a traceback."""


class Process:
    """A started program. Its output goes to a log, which error messages quote."""

    def __init__(self, name, command, log, nice, stop_signal):
        self.name, self.command, self.log = name, command, log
        self.stop_signal = stop_signal
        # A session of its own: Ctrl-C reaches the lab alone, which then ends its processes in order.
        words = ["setpriv", "--pdeathsig", "KILL", "nice", "-n", str(nice), *command]
        with open(log, "wb") as output:
            self.popen = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                          start_new_session=True)

    @property
    def pid(self):
        """setpriv, nice and `ip netns exec` become the program, so this is its own pid."""
        return self.popen.pid

    def alive(self):
        return self.popen.poll() is None

    def said(self):
        with open(self.log, "r", encoding="utf-8", errors="replace") as f:
            return f.read()

    def wait_for(self, ready, seconds, what):
        """Until ready() is true; a process that ended before, or too long a wait, is a LabError with its last words."""
        end = time.monotonic() + seconds
        while not ready():
            over = not self.alive() or time.monotonic() > end
            if over and not ready():  # it may have come just before the end
                how = "is still not ready" if self.alive() else f"ended with status {self.popen.returncode}"
                raise LabError(f"{self.name} {how} ({what}); it said:\n{self.said()[-1500:].rstrip()}")
            time.sleep(0.02)

    def stop(self, seconds=5.0):
        """Asks it to end, and kills it when it does not. True if it ended by itself."""
        if self.alive():
            self.popen.send_signal(self.stop_signal)
            try:
                self.popen.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
                return False
        return True

    def kill(self):
        """kill -9, and waits until it is gone."""
        if self.alive():
            self.popen.kill()
        self.popen.wait()


class Processes:
    """Starts and ends; a context manager. Logs lie in a folder that belongs to this lab."""

    def __init__(self, folder):
        self.folder = folder
        self.all = []
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.all):
            process.stop()

    def start(self, name, command, nice=0, stop_signal=signal.SIGTERM):
        self.number += 1
        self.all = [p for p in self.all if p.alive()]
        process = Process(name, command, os.path.join(self.folder, f"{self.number:03}-{name}.log"), nice, stop_signal)
        self.all.append(process)
        return process


def call(*command):
    """A short command that must succeed."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode:
        raise LabError(f"{' '.join(command)}: {done.stdout.strip() or f'status {done.returncode}'}")
    return done.stdout
