#!/usr/bin/env python3
"""`matchrdma ctl` against the admin socket, from outside.

    ctl_test.py SERVICE_HOST MATCHRDMA
"""
import json
import os
import socket
import subprocess
import sys
import unittest

from host import Host

HOST, TOOL = sys.argv[1:3]
PAIR = ["--local", "10.0.0.1,17,100", "--remote", "10.0.1.1,18,200"]


class Ctl(unittest.TestCase):
    def setUp(self):
        self.host = Host(HOST)

    def tearDown(self):
        self.assertTrue(self.host.alive(), "the host died")
        self.assertEqual(self.host.close(), 0)

    def ctl(self, *args, code=0, path=None):
        r = subprocess.run([TOOL, "ctl", "--socket", path or self.host.socket, *args], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        return r.stdout if code == 0 else r.stderr

    def test_tables(self):
        for what, expected in [("status", "peer north"), ("flows", "5001"), ("unpaired", "no answer seen"), ("peers", "10.000 ms"),
                               ("budgets", "100 Gbps"), ("custody", "768.0 MiB"), ("ports", "net_af_packet"),
                               ("workers", "75.0 %"), ("config", "spans: [north]")]:
            self.assertIn(expected, self.ctl("show", what), what)
        lines = self.ctl("show", "workers").splitlines()
        self.assertEqual(len(lines), 4)
        self.assertEqual({len(line) for line in lines}, {len(lines[0])}, "columns are not aligned")

    def test_json(self):
        self.assertEqual(json.loads(self.ctl("--json", "show", "peers"))["peers"][0]["session"], "up")
        self.assertEqual(json.loads(self.ctl("show", "custody", "--json"))["custody"][0]["owned_packets"], 17)

    def test_filters(self):
        self.host.say("flows 10")
        flows = lambda *a: json.loads(self.ctl("show", "flows", "--json", *a))["flows"]
        self.assertEqual(len(flows("--ip", "fd00::1")), 5)
        self.assertEqual(len(flows("--qpn", "5003")), 1)
        self.assertEqual(len(flows("--state", "opened")), 4)
        self.assertEqual([f["owned_packets"] for f in flows("--top", "2")], [9, 8])
        self.assertIn("... of 10", self.ctl("show", "flows", "--top", "2"))

    def test_long_lists_come_whole(self):
        self.host.say("flows 9000")
        self.assertEqual(len(json.loads(self.ctl("show", "flows", "--json"))["flows"]), 9000)

    def test_actions(self):
        self.assertIn("done", self.ctl("register", *PAIR, "--mtu", "1024", "--completion", "early"))
        self.assertIn("done", self.ctl("unregister", *PAIR, "--vlan", "7,8"))
        self.assertIn("mode is set", self.ctl("mode", "drain", "--class", "bulk"))
        self.assertIn("mode is set", self.ctl("mode", "transparent", "--flow", "10.0.0.1,10.0.1.1,18"))
        self.assertIn("done", self.ctl("drain", "--wait", "1s"))
        self.assertIn("capturing", self.ctl("capture", "start", "--file", "a.pcapng", "--reason", "icrc_wan"))
        self.assertIn("10 packets", self.ctl("capture", "stop"))
        self.assertIn("no capture", self.ctl("capture", "status"))

    def test_waiting(self):
        self.host.say("rounds 10")
        self.assertIn("done", self.ctl("drain", "--wait", "20s"))
        self.host.say("rounds 1000000")
        self.assertIn("not done yet", self.ctl("drain", "--wait", "50ms", code=3))

    def test_errors_say_what_to_do(self):
        self.assertIn("lab.yaml:7", self.ctl("reload", code=1))
        self.assertIn("there is: bulk", self.ctl("mode", "drain", "--class", "refused", code=1))
        self.assertIn("plain file name", self.ctl("capture", "start", "--file", "/etc/x", "--reason", "uc", code=1))
        self.assertIn("IP,QPN", self.ctl("register", "--local", "x", "--remote", "y", "--mtu", "1024", code=2))
        self.assertIn("mtu: choose", self.ctl("register", *PAIR, "--mtu", "1500", code=1))
        self.assertIn("--local 1: not a QPN; write a whole number from 2 to 16777215",
                      self.ctl("register", "--local", "10.0.0.1,1", *PAIR[2:], "--mtu", "1024", code=2))
        self.assertIn("--remote 16777216: not a PSN; write a whole number from 0 to 16777215",
                      self.ctl("unregister", *PAIR[:2], "--remote", "10.0.1.1,18,16777216", code=2))
        self.assertIn("remote.ip: 224.0.0.1 is no address of one host (multicast)",
                      self.ctl("unregister", *PAIR[:2], "--remote", "224.0.0.1,18", code=1))
        self.assertIn("10.0.0.1 is the address of local too",
                      self.ctl("unregister", *PAIR[:2], "--remote", "10.0.0.1,18", code=1))
        self.assertIn("--mtu big: not a path MTU; write", self.ctl("register", *PAIR, "--mtu", "big", code=2))
        for top in ("-1", "0", "many", "1.5"):
            self.assertIn(f"--top {top}: not a number of flows; write a whole number from 1 to 1000000",
                          self.ctl("show", "flows", "--top", top, code=2))
        self.assertIn("choose one of: paired, opening", self.ctl("show", "flows", "--state", "spam", code=1))
        self.assertIn("there is no span spam; there is: north", self.ctl("show", "flows", "--span", "spam", code=1))
        self.assertIn("is matchrdmad running", self.ctl("show", "status", code=1, path="/nowhere/admin.sock"))
        dead = os.path.join(self.host.folder.name, "dead.sock")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(dead)
        self.assertIn("nobody listens", self.ctl("show", "status", code=1, path=dead))
        self.host.say("starting")
        self.assertIn("try again", self.ctl("show", "status", code=1))

    def test_units_are_asked_for(self):
        capture = ["capture", "start", "--file", "a", "--reason", "uc"]
        for args, sentence in [
                (["drain", "--wait", "5"], "--wait 5: has no unit; write 5us, 5ms or 5s"),
                (["unregister", *PAIR, "--wait", "1500"], "--wait 1500: has no unit; write 1500us or 1500ms"),
                (["drain", "--wait", "20min"], "--wait 20min: not a time; write it like 10ms"),
                (["drain", "--wait", "1200s"], "--wait 1200s: out of range; choose 0ns to 600s"),
                ([*capture, "--bytes", "64"], "--bytes 64: has no unit; write 64B, 64KiB, 64MiB or 64GiB"),
                ([*capture, "--bytes", "much"], "--bytes much: not a number of bytes; write it like 64KiB"),
                ([*capture, "--time", "60"], "--time 60: has no unit; write 60s"),
                ([*capture, "--time", "10ms"], "--time 10ms: out of range; choose 1s to 86400s"),
                ([*capture, "--packets", "-1"], "--packets -1: not a number of packets; write a whole number from 1")]:
            self.assertIn(sentence, self.ctl(*args, code=2))

    @unittest.skipUnless(os.getuid() == 0, "needs root to become somebody else")
    def test_permission_names_the_group(self):
        os.chmod(self.host.folder.name, 0o755)
        r = subprocess.run([TOOL, "ctl", "--socket", self.host.socket, "show", "status"], stderr=subprocess.PIPE, text=True,
                           user=65534, group=65534, extra_groups=[])
        self.assertEqual(r.returncode, 1)
        self.assertIn("join the group root", r.stderr)

    def test_every_command_has_help_with_an_example(self):
        for command in [[], ["show"], ["register"], ["unregister"], ["mode"], ["drain"], ["reload"], ["capture", "start"],
                        ["capture", "stop"], ["capture", "status"]]:
            r = subprocess.run([TOOL, "ctl", *command, "--help"], stdout=subprocess.PIPE, text=True)
            self.assertEqual(r.returncode, 0)
            self.assertIn("Example: matchrdma ctl " + " ".join(command), r.stdout)

    def test_hostile_clients(self):
        def send(data):
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(5)
                s.connect(self.host.socket)
                try:
                    s.sendall(data)
                    return s.recv(65536)
                except (BrokenPipeError, ConnectionResetError):
                    return b""
        self.assertIn(b"not JSON", send(os.urandom(1000).replace(b"\n", b"") + b"\n"))
        self.assertIn(b"nested", send(b"[" * 60000 + b"\n"))
        send(b"x" * 10_000_000)
        self.assertIn(b"there is: show", send(b'{"v":1,"cmd":"dance"}\n'))
        half = socket.socket(socket.AF_UNIX)
        half.connect(self.host.socket)
        half.sendall(b'{"v":1,')
        self.assertIn("peer north", self.ctl("show", "status"))
        half.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
