#!/usr/bin/env python3
"""What a running daemon warns of without being asked: each in its log, what stops it from being ready also in /readyz.

    unshare --net warn_test.py FOLDER-OF-PROGRAMS
"""
import contextlib
import os
import re
import socket

from case import Case, main
from testbed import await_, fresh


class Warnings(Case):
    @classmethod
    def prepare(cls, bed):
        """Each test makes its own config."""

    def said(self):
        return self.bed.a.process.said()

    def test_limits_beyond_the_memory(self):
        """They are lowered to what the memory holds, and the log tells from what to what."""
        self.bed.a.write_config(change=lambda text: re.sub("(custody|held)_packets: .*", r"\1_packets: 1000000", text))
        self.bed.a.start()
        lowered = re.search(r" warning: limits of each worker and span are lowered: custody_packets 1000000 -> (\d+), "
                            r"held_packets 1000000 -> (\d+); packets to what 256 MiB of memory hold", self.said())
        self.assertTrue(lowered, self.said())
        self.assertTrue(all(1000 < int(n) < 1000000 for n in lowered.groups()), lowered)

    def test_limits_that_fit(self):
        self.bed.a.start()
        self.assertNotIn("are lowered", self.said())

    def strangers(self):
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", 9470), timeout=10) as client:
                client.sendall(b"GET / HTTP/1.1\r\n\r\n")
                with contextlib.suppress(ConnectionResetError):
                    while client.recv(4096):
                        pass

    def test_strangers_at_the_registration_listener(self):
        """Who leaves without a key is counted in the log, and not a line each."""
        path = os.path.join(self.bed.folder, "psk")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as f:
            f.write("host-a " + 32 * "5a" + "\n")
        listen = f"register:\n  listen: 127.0.0.1:9470\n  psk_file: {path}\n"
        self.bed.a.write_config(change=lambda text: text + listen)
        self.bed.a.start()
        self.strangers()
        await_(lambda: "clients left without showing a key" in self.said(), "the clients in the log")
        self.strangers()
        for _ in range(2):
            fresh(self.bed.a)
        lines = [line for line in self.said().splitlines() if "without showing a key" in line]
        self.assertEqual(len(lines), 1, self.said())
        self.assertRegex(lines[0], r" warning: register: [1-3] clients left without showing a key of register.psk_file, 0 ")

    def test_journal_that_is_deleted(self):
        self.bed.start()
        await_(lambda: self.bed.a.get("/readyz")[0] == 200, "A is ready")
        os.unlink(os.path.join(self.bed.folder, "journalA"))
        await_(lambda: self.bed.a.get("/readyz")[0] == 503, "A is not ready")
        self.assertIn("journalA was deleted or replaced", self.bed.a.get("/readyz")[1])
        self.assertEqual(self.said().count("journalA was deleted or replaced"), 1)
        self.assertEqual(self.bed.b.get("/readyz")[0], 200)


if __name__ == "__main__":
    main()
