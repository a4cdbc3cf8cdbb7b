"""Starts service_host (the service room around a daemon that is none) for the tests beside it."""
import json
import os
import subprocess
import tempfile

KEY = "9f" * 32


class Host:
    """A running service_host in a folder of its own; ends with the test, whatever happens."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.folder.name, "admin.sock")
        psk = os.path.join(self.folder.name, "psk")
        with open(os.open(psk, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as f:
            f.write(f"# identity and key\nhost-a {KEY}\n")
        self.process = subprocess.Popen([program, self.socket, psk], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        ports = json.loads(self.process.stdout.readline())
        self.http, self.tls = ports["http"], ports["tls"]

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "ok\n"

    def alive(self):
        return self.process.poll() is None

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(20)
        self.process.stdout.close()
        self.folder.cleanup()
        return code
