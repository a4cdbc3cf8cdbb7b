#!/usr/bin/env python3
"""`ctl capture` of a running daemon: what was asked for, in files that tshark reads.

    unshare --net capture_test.py FOLDER-OF-PROGRAMS
"""
import json
import os
import socket
import subprocess

from case import Case, main
from hosts import Pair
from testbed import await_


def packets(path):
    """Of a pcapng: (interface's name, comment, source address, destination QPN, malformed?) as tshark tells them."""
    fields = ("frame.interface_name", "frame.comment", "ip.src", "infiniband.bth.destqp", "_ws.malformed")
    words = [word for field in fields for word in ("-e", field)]
    text = subprocess.run(["tshark", "-r", path, "-T", "fields", *words], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return [line.split("\t") for line in text.splitlines()]


class CaptureCommand(Case):
    shared = True

    def setUp(self):
        super().setUp()
        self.a = self.bed.a

    def ended(self):
        """The status of a capture that has met its limit."""
        await_(lambda: not self.status()["running"], "the end of the capture")
        return self.status()

    def status(self):
        return json.loads(self.a.ctl("--json", "capture", "status"))

    def test_flow(self):
        wanted, other = Pair(1), Pair(2)
        for p in (wanted, other):
            p.register(self.a)
        self.a.ctl("capture", "start", "--file", "flow.pcapng", "--flow", wanted.flow(), "--packets", "200")
        again = self.a.refused("capture", "start", "--file", "other.pcapng", "--flow", other.flow())
        self.assertIn("a capture runs already", again)
        hosts = self.hosts([wanted, other], "--early", "--work", "send,write", "--messages", "60")
        self.assert_unnoticed(hosts.result())
        status = self.ended()
        self.assertEqual((status["packets"], status["missed"]), (200, 0), status)
        got = packets(os.path.join(self.bed.folder, "flow.pcapng"))
        self.assertEqual(len(got), 200)
        self.assertEqual([p for p in got if p[4]], [], "malformed")
        self.assertEqual({p[0] for p in got}, {"test-lan", "test-wan"})
        # Requests to b's QP and answers to a's, and the comment says what the daemon made of each.
        self.assertEqual({(p[2], int(p[3], 0)) for p in got}, {(wanted.address("A"), wanted.b[0]),
                                                              (wanted.address("B"), wanted.a[0])})
        comments = {p[1] for p in got}
        self.assertIn("in", comments)
        self.assertTrue(any(c.startswith("out: ") for c in comments), comments)

    def test_reason(self):
        self.a.ctl("capture", "start", "--file", "reason.pcapng", "--reason", "not_udp", "--reason", "not_ip",
                   "--packets", "2")
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as host:
            host.bind(("tapA", 0))
            ethernet = bytes.fromhex("020000000002020000000001")
            host.send(ethernet + b"\x88\xb5" + bytes(60))  # a local experimental EtherType
            host.send(ethernet + b"\x08\x00" + bytes.fromhex("4500002e000140004006000a0a0101010a020101") + bytes(26))
        status = self.ended()
        self.assertEqual(status["packets"], 2, status)
        got = packets(os.path.join(self.bed.folder, "reason.pcapng"))
        self.assertEqual([(p[0], p[1]) for p in got], [("test-lan", "in: not_ip"), ("test-lan", "in: not_udp")])

    def test_what_is_refused(self):
        for file, reason, complaint in (("../x", "pause", "not a plain file name"), ("x", "nosuch", "is no reason")):
            self.assertIn(complaint, self.a.refused("capture", "start", "--file", file, "--reason", reason))
        self.assertIn("no capture runs", self.a.refused("capture", "stop"))


if __name__ == "__main__":
    main()
