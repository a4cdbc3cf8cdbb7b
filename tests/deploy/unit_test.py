#!/usr/bin/env python3
"""deploy/matchrdmad.service: systemd takes it, and it gives the daemon what it needs and no more.

    unit_test.py ROOT
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = sys.argv[1]
UNIT = os.path.join(ROOT, "deploy", "matchrdmad.service")
PROGRAMS = re.compile(r"(?<==)/usr/local/bin/\S+")


def service():
    """Section [Service]: key -> its values; a key may stand several times."""
    with open(UNIT, encoding="utf-8") as f:
        section = re.search(r"^\[Service\]$(.*?)^\[", f.read(), re.M | re.S).group(1)
    keys = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", section, re.M):
        keys.setdefault(key, []).append(value)
    return keys


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Unit(unittest.TestCase):
    def setUp(self):
        self.service = service()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def copy(self, change=lambda text: text):
        """The unit with programs that are here."""
        path = os.path.join(self.folder.name, "matchrdmad.service")
        with open(UNIT, encoding="utf-8") as f, open(path, "w", encoding="utf-8") as out:
            out.write(change(PROGRAMS.sub("/bin/true", f.read())))
        return path

    def test_systemd_takes_it(self):
        done = run("systemd-analyze", "verify", "--man=no", self.copy())
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_the_check_sees_mistakes(self):
        done = run("systemd-analyze", "verify", "--man=no", self.copy(lambda t: t.replace("ProtectHome=", "ProtectHom=")))
        self.assertIn("ProtectHom", done.stdout)

    def test_little_is_exposed(self):
        done = run("systemd-analyze", "security", "--offline=yes", "--threshold=25", self.copy())
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_two_capabilities(self):
        wanted = {"CAP_NET_RAW", "CAP_NET_ADMIN"}
        for key in ("AmbientCapabilities", "CapabilityBoundingSet"):
            self.assertEqual({c for line in self.service[key] for c in line.split()}, wanted)
        self.assertEqual(self.service["LimitMEMLOCK"], ["infinity"])  # in place of CAP_IPC_LOCK
        self.assertEqual(self.service["NoNewPrivileges"], ["yes"])
        self.assertEqual(self.service["User"], ["matchrdma"])

    def test_it_says_when_it_is_ready_and_is_watched(self):
        self.assertEqual(self.service["Type"], ["notify"])
        self.assertRegex(self.service["WatchdogSec"][0], r"^\d+s$")

    def test_reload_tells_what_the_daemon_says(self):
        """A signal has no answer: what the daemon refuses must fail the reload. The socket is the usual one."""
        self.assertEqual(self.service["ExecReload"],
                         ["/usr/local/bin/matchrdma ctl --socket /run/matchrdma/admin.sock reload"])
        with open(os.path.join(ROOT, "controlplane", "service", "admin_version.h"), encoding="utf-8") as f:
            self.assertIn('"/run/matchrdma/admin.sock"', f.read())

    def test_a_stop_may_take_as_long_as_the_configuration_allows(self):
        with open(os.path.join(ROOT, "docs", "configuration.md"), encoding="utf-8") as f:
            most = int(re.search(r"\| `stop_patience` \| time, 0ns to (\d+)s \|", f.read()).group(1))
        self.assertGreater(int(self.service["TimeoutStopSec"][0].removesuffix("s")), most)

    def test_examples_keep_their_journal_where_it_never_waits_for_a_disk(self):
        for name in ("one-span", "four-spans"):
            with open(os.path.join(ROOT, "config", "examples", f"{name}.yaml"), encoding="utf-8") as f:
                self.assertRegex(f.read(), r"(?m)^journal:\n  path: /run/matchrdma/journal")

    def test_the_folders_of_the_configuration_are_those_of_the_unit(self):
        with open(os.path.join(ROOT, "docs", "configuration.md"), encoding="utf-8") as f:
            self.assertIn("`/run/matchrdma/admin.sock`", f.read())
        self.assertEqual(self.service["RuntimeDirectory"], ["matchrdma"])
        self.assertEqual(self.service["RuntimeDirectoryPreserve"], ["yes"])
        self.assertEqual(self.service["StateDirectory"], ["matchrdma"])

    def test_the_user_is_made_by_the_same_name(self):
        with open(os.path.join(ROOT, "deploy", "matchrdma.sysusers"), encoding="utf-8") as f:
            self.assertRegex(f.read(), rf"(?m)^u {self.service['User'][0]} - ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
