#!/usr/bin/env python3
"""The registration listener against an independent TLS stack: openssl s_client with an external PSK.

    psk_test.py SERVICE_HOST
"""
import json
import os
import socket
import subprocess
import sys
import time
import unittest

from host import KEY, Host

PAIR = {"local": {"ip": "10.0.0.1", "qpn": 17, "psn": 1}, "remote": {"ip": "10.0.1.1", "qpn": 18, "psn": 2}}


class Psk(unittest.TestCase):
    def setUp(self):
        self.host = Host(HOST)

    def tearDown(self):
        self.assertTrue(self.host.alive(), "the host died")
        self.assertEqual(self.host.close(), 0)

    def s_client(self, requests, key=KEY, identity="host-a", extra=("-tls1_3",)):
        lines = "".join(json.dumps({"v": 1, **r}) + "\n" for r in requests)
        p = subprocess.Popen(["timeout", "20", "openssl", "s_client", "-connect", f"127.0.0.1:{self.host.tls}", "-psk", key,
                              "-psk_identity", identity, "-quiet", "-no_ign_eof", *extra],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            p.stdin.write(lines)
            p.stdin.flush()
            replies = []
            for _ in requests:
                line = p.stdout.readline()
                if not line:
                    break
                replies.append(json.loads(line))
            p.stdin.close()
            p.wait(20)
            return replies, p.stderr.read()
        finally:
            p.stdout.close()
            p.stderr.close()
            if not p.stdin.closed:
                p.stdin.close()

    def test_register_and_unregister(self):
        replies, errors = self.s_client([{"cmd": "register", **PAIR, "mtu": 1024}, {"cmd": "unregister", **PAIR}])
        self.assertEqual([r["ok"] for r in replies], [True, True], errors)
        self.assertTrue(replies[0]["result"]["done"])

    def test_nothing_else_is_allowed(self):
        for cmd in ["show", "drain", "reload", "mode", "capture"]:
            (reply,), _ = self.s_client([{"cmd": cmd}])
            self.assertEqual(reply["error"], "there is no such command here; there is: register, unregister")

    def test_wrong_key_and_unknown_identity_look_the_same(self):
        alerts = []
        for key, identity in [("00" * 32, "host-a"), (KEY, "host-b")]:
            replies, errors = self.s_client([{"cmd": "register", **PAIR, "mtu": 1024}], key, identity)
            self.assertEqual(replies, [])
            alerts.append([line.split(":")[-2:] for line in errors.splitlines() if "alert" in line])
        self.assertTrue(alerts[0], "no alert at all")
        self.assertEqual(alerts[0], alerts[1])

    def test_older_tls_and_certificates_are_refused(self):
        self.assertEqual(self.s_client([{"cmd": "register", **PAIR, "mtu": 1024}], extra=("-tls1_2",))[0], [])
        r = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{self.host.tls}", "-tls1_3"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=20)
        self.assertIn("no peer certificate available", r.stdout)
        self.assertNotEqual(r.returncode, 0)

    def test_strangers_keep_nobody_out(self):
        """Whatever number of clients without a key come from elsewhere, or from here."""
        for source in ("127.0.0.2", "127.0.0.1"):
            silent = [socket.create_connection(("127.0.0.1", self.host.tls), source_address=(source, 0))
                      for _ in range(200)]
            replies, errors = self.s_client([{"cmd": "register", **PAIR, "mtu": 1024}])
            self.assertEqual([r["ok"] for r in replies], [True], errors)
            for s in silent:
                s.close()

    def test_silent_and_garbled_clients_go(self):
        silent = [socket.create_connection(("127.0.0.1", self.host.tls)) for _ in range(8)]
        silent[0].sendall(os.urandom(500))
        silent[1].sendall(b"GET / HTTP/1.0\r\n\r\n")
        replies, errors = self.s_client([{"cmd": "register", **PAIR, "mtu": 1024}])
        self.assertEqual([r["ok"] for r in replies], [True], errors)
        end = time.monotonic() + 10
        for s in silent:
            s.settimeout(max(0.1, end - time.monotonic()))
            try:
                while s.recv(4096):
                    pass
            except ConnectionResetError:
                pass
            s.close()


HOST = sys.argv[1]
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
