#!/usr/bin/env python3
"""What matchrdmad says, and exits with, where it does not run: for people and for deploy/matchrdmad.service.

    daemon_test.py MATCHRDMAD MATCHRDMA
"""
import os
import subprocess
import sys
import tempfile
import unittest

DAEMON, TOOL = sys.argv[1:3]
EX_CONFIG = 78
CONFIG = """\
workers: {cores: 0}
memory: {no-huge: 64MiB}
spans:
  - name: s
    lan: {port: net_null0, mtu: 1500}
    wan: {port: net_null1, mtu: 1500, address: 192.0.2.1/30}
    peer: {address: 192.0.2.2, keys: [{id: 1, file: key}]}
metrics: {listen: off}
"""


class Daemon(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.config = self.write("c.yaml", CONFIG)
        self.write("key", "0123456789abcdef" * 4)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(os.open(self.path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as f:
            f.write(text)
        return self.path(name)

    def run_it(self, code, *command):
        """What it says on stdout and stderr."""
        r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        return r.stdout, r.stderr

    def assert_refused(self, *sentences):
        """By the daemon when it runs and when it checks, and by the tool."""
        for code, command in [(EX_CONFIG, [DAEMON, "--config", self.config]),
                              (EX_CONFIG, [DAEMON, "--config", self.config, "--check"]),
                              (1, [TOOL, "config", "--check", self.config])]:
            _, said = self.run_it(code, *command)
            for sentence in sentences:
                self.assertIn(sentence, said)

    def test_good(self):
        self.assertIn("good", self.run_it(0, DAEMON, "--config", self.config, "--check")[0])
        self.assertIn("good", self.run_it(0, TOOL, "config", "--check", self.config)[0])

    def test_wrong_configuration(self):
        self.write("c.yaml", CONFIG.replace("cores: 0", "cores: [0, 0]"))
        self.assert_refused("c.yaml:1:", "workers.cores[1]", "stands at workers.cores[0] too; choose another one")

    def test_no_configuration(self):
        os.remove(self.config)
        self.assert_refused(f"{self.config}", "no such file; name the configuration")

    def test_psk_file(self):
        self.write("c.yaml", CONFIG + "register: {listen: '127.0.0.1:1', psk_file: psk}\n")
        self.assert_refused("c.yaml:9:", "register.psk_file", "cannot be opened: No such file or directory")
        self.write("psk", "host-a spam\n")
        self.assert_refused("register.psk_file", "line 1: write IDENTITY HEXKEY")
        self.write("psk", "host-a " + "ab" * 16 + "\n")
        os.chmod(self.path("psk"), 0o644)
        self.assert_refused("register.psk_file", "has mode 0644: others may read or change it; chmod 600 it")
        os.chmod(self.path("psk"), 0o600)
        self.run_it(0, DAEMON, "--config", self.config, "--check")

    def test_failure_is_told_on_the_terminal(self):
        """Also where there is a log file; and once where there is none."""
        log, wrong = self.path("log"), CONFIG.replace("cores: 0", "cores: 1023")
        self.write("c.yaml", wrong + f"log: {{file: {log}}}\n")
        _, said = self.run_it(1, DAEMON, "--config", self.config)
        sentence = "core 1023: this process may not run there"
        self.assertIn(f"matchrdmad: {sentence}", said)
        with open(log, encoding="utf-8") as f:
            self.assertIn(sentence, f.read())
        self.write("c.yaml", wrong)
        _, said = self.run_it(1, DAEMON, "--config", self.config)
        self.assertEqual(said.count(sentence), 1, said)

    def test_typed_wrong(self):
        self.run_it(2, DAEMON, "--no-such-option")
        self.run_it(2, DAEMON, "--config")

    def test_version(self):
        versions = {self.run_it(0, program, "--version")[0] for program in (DAEMON, TOOL)}
        self.assertEqual(len(versions), 1, "programs of one build differ")
        self.assertRegex(versions.pop(), r"^\d+\.\d+")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
