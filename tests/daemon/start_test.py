#!/usr/bin/env python3
"""Daemons that cannot start say why and what to do, and harm nobody who runs; those that are asked to end do so.

    unshare --net start_test.py FOLDER-OF-PROGRAMS
"""
import os
import shutil
import signal
import socket
import subprocess

from case import Case, main
from hosts import Pair
from testbed import MTU, SECONDS, await_, call

NOBODY = 65534
EX_CONFIG = 78


class Start(Case):
    """Both daemons run; a third one is tried beside them."""
    shared = True

    def third(self, change, code=1, **how):
        """What a daemon says that has A's config but for a change. It must not start. `how`: as whom."""
        # Where the programs lie, not everybody may look.
        program = shutil.copy(self.bed.program("matchrdmad"), self.bed.folder)
        config = os.path.join(self.bed.folder, "third.yaml")
        with open(config, "w", encoding="utf-8") as f:
            f.write(change(self.bed.a.text))
        os.chmod(config, 0o644)
        done = subprocess.run([program, "--config", config], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60, check=False, **how)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def own(self, text):
        """Nothing of A's: the files and links of a daemon C."""
        for old, new in (("/journalA", "/journalC"), ("/adminA", "/adminC"), ("127.0.0.1:9464", "127.0.0.1:9466"),
                         ("iface=lanA", "iface=lanC"), ("iface=wanA", "iface=wanC"),
                         (f"{self.bed.network.name}-A", f"{self.bed.network.name}-C")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text

    @classmethod
    def prepare(cls, bed):
        for one, mtu in (("lanC", MTU), ("wanC", MTU + 200)):
            call(*f"ip link add {one} mtu {mtu} type veth peer name {one}x mtu {mtu}".split())
            for end in (one, f"{one}x"):
                call("ip", "link", "set", end, "up")
        bed.start()

    def test_the_same_again(self):
        """A second daemon on one config: whatever it meets first, it names it, and the first one goes on."""
        pair = Pair(1)
        pair.register(self.bed.a)
        hosts = self.hosts([pair], "--early", "--work", "send,write", "--messages", "1000000")
        self.bed.a.await_more("pseudo_acks")
        said = self.third(lambda text: text)
        self.assertIn(f"lanA is used already (process {self.bed.a.process.pid})", said)
        before = self.bed.a.count("pseudo_acks")
        self.bed.a.await_more("pseudo_acks", before + 20)
        self.assert_unnoticed(hosts.end())

    def test_the_same_socket(self):
        said = self.third(lambda text: self.own(text).replace("adminC", "adminA"))
        self.assertIn(f"admin socket {self.bed.a.admin}: another daemon listens on it; stop it or give this one "
                      "another path", said)
        self.assertEqual(self.bed.a.show("status")["version"], self.bed.b.show("status")["version"])

    def test_the_same_journal(self):
        said = self.third(lambda text: self.own(text).replace("journalC", "journalA"))
        self.assertIn(f"{self.bed.folder}/journalA", said)
        self.assertIn("another matchrdmad uses it; stop that one, or name another journal.path", said)

    def test_the_same_interface(self):
        for port in ("lan", "wan"):
            said = self.third(lambda text, p=port: self.own(text).replace(f"iface={p}C", f"iface={p}A"))
            self.assertIn(f"{port}A is used already (process {self.bed.a.process.pid}): two that forward on it would "
                          "double every packet; stop that one, or name another device", said)

    def test_the_same_metrics_address(self):
        said = self.third(lambda text: self.own(text).replace("127.0.0.1:9466", "127.0.0.1:9464"))
        self.assertIn("metrics.listen: web server on 127.0.0.1:9464: ", said)

    def test_no_such_interface(self):
        said = self.third(lambda text: self.own(text).replace("iface=lanC", "iface=nosuch"))
        self.assertIn("span test, LAN port: port net_af_packet0: interface nosuch: its MTU cannot be read: No such "
                      "device; `ip link` lists", said)

    def test_mtu_of_the_wan_below_the_lan(self):
        said = self.third(lambda text: self.own(text).replace(f"mtu: {MTU + 200}", "mtu: 1400"), code=EX_CONFIG)
        self.assertRegex(said, "wan.*mtu.*1400|1400.*1500")

    def test_no_such_core(self):
        said = self.third(lambda text: self.own(text).replace("cores: 0", "cores: 1000"))
        self.assertIn("core 1000: this process may not run there", said)

    def test_memory_that_does_not_suffice(self):
        with open("/proc/meminfo", encoding="ascii") as f:
            free = next((int(line.split()[1]) for line in f if line.startswith("HugePages_Free:")), 0)
        mib = 2 * free + 512
        said = self.third(lambda text: self.own(text).replace("no-huge: 256MiB", f"hugepages: {mib}MiB"))
        self.assertIn(f"there are not enough free hugepages for {mib} MiB: reserve {mib // 2} pages of 2 MiB", said)

    def test_memory_that_the_machine_has_not(self):
        for memory, limits in (("no-huge: 1024GiB", "max_flows: 256"), ("no-huge: 256MiB", "max_flows: 100000000")):
            said = self.third(lambda text, m=memory, l=limits: self.own(text).replace(
                "no-huge: 256MiB", m).replace("max_flows: 256", l))
            self.assertRegex(said, r"memory: this machine has \d+ MiB to give, and the config wants|limits.max_flows")

    def test_key_of_somebody_else(self):
        os.chmod(self.bed.folder, 0o755)
        said = self.third(self.own, code=EX_CONFIG, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertIn(f"{self.bed.folder}/key1", said)
        self.assertRegex(said, "[Pp]ermission denied")

    def test_rights_that_are_missing(self):
        """Everything is this user's own but the right to open a raw socket."""
        home = os.path.join(self.bed.folder, "nobody")
        os.chmod(self.bed.folder, 0o755)
        os.makedirs(home)
        shutil.copy(os.path.join(self.bed.folder, "key1"), os.path.join(home, "key1"))
        for path in (home, os.path.join(home, "key1")):
            os.chown(path, NOBODY, NOBODY)

        def change(text):
            return self.own(text).replace(self.bed.folder, home)
        said = self.third(change, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertRegex(said, "NET_RAW")

    def owning(self, pair):
        """Hosts whose source daemon owns what it cannot deliver: the span is cut."""
        pair.register(self.bed.a)
        self.bed.span.set(10000)
        hosts = self.hosts([pair], "--early", "--work", "send,write", "--messages", "1000000", "--timeout", "500ms",
                           "--retries", "-1")
        self.bed.a.await_more("pseudo_acks", self.bed.a.count("pseudo_acks") + 50)
        self.bed.span.cut()
        return hosts

    def assert_stopped(self, process):
        self.assertEqual(process.popen.wait(60), 0, process.said())
        self.assertRegex(process.said(), r" warning: stopped while \d+ packets \(\d+ bytes\) of 1 queue pairs were owned: "
                                         r"those that were promised them are failed by the next start")
        self.assertFalse(os.path.exists(self.bed.a.admin), "the admin socket is still there")
        self.assertIn("is matchrdmad running", self.bed.a.refused("show", "status"))

    def start_again(self, pair, hosts):
        """The next life tells whom the last one could not keep its word to."""
        self.bed.span.restore()
        self.bed.a.write_config()
        self.bed.a.start()
        self.assertIn(f"journal: QP {pair.a[0]} of {pair.address('A')}", self.bed.a.process.said())
        self.assert_right(hosts.result(), failed=[pair.a[0]])
        self.bed.span.set(0)
        self.bed.await_sessions()

    def test_terminated_twice_under_load(self):
        """A daemon that owns data waits for its peer; a second signal ends it at once."""
        pair = Pair(2)
        hosts = self.owning(pair)
        self.bed.a.write_config(change=lambda text: "stop_patience: 50s\n" + text)
        self.bed.a.ctl("reload")
        process = self.bed.a.process
        process.popen.send_signal(signal.SIGTERM)
        await_(lambda: "for at most 50s (stop_patience)" in process.said(), "the drain in the log")
        await_(lambda: "the daemon is stopping" in self.bed.a.get("/readyz")[1], "the drain in /readyz")
        self.assertIn("the daemon is stopping; its next life reads the file", self.bed.a.refused("reload"))
        self.assertGreater(self.bed.a.show("custody")["custody"][0]["owned_packets"], 0)
        self.assertTrue(process.alive(), process.said())
        process.popen.send_signal(signal.SIGINT)
        self.assert_stopped(process)
        self.assertIn("stopping at once: a second signal has come", process.said())
        self.start_again(pair, hosts)

    def test_terminated_while_the_peer_stays_away(self):
        """It waits no longer than it may."""
        pair = Pair(3)
        hosts = self.owning(pair)
        self.bed.a.write_config(change=lambda text: "stop_patience: 300ms\n" + text)
        self.bed.a.ctl("reload")
        process = self.bed.a.process
        process.popen.send_signal(signal.SIGTERM)
        self.assert_stopped(process)
        self.start_again(pair, hosts)

    def test_service_manager_is_told(self):
        """STOPPING=1 with the first signal, and why it takes its time."""
        path = os.path.join(self.bed.folder, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(SECONDS)
            self.bed.a.process.stop()
            os.environ["NOTIFY_SOCKET"] = path
            try:
                self.bed.a.start()
            finally:
                del os.environ["NOTIFY_SOCKET"]
            self.bed.await_sessions()
            self.bed.a.process.popen.send_signal(signal.SIGTERM)
            told = ""
            while "STATUS=stopping" not in told:
                told += manager.recv(4096).decode()
        self.assertLess(told.index("READY=1\n"), told.index("STOPPING=1\nSTATUS=draining\n"), told)
        self.assertEqual(self.bed.a.process.popen.wait(60), 0)
        self.assertNotIn("were owned", self.bed.a.process.said())
        self.bed.a.start()
        self.bed.await_sessions()


if __name__ == "__main__":
    main()
