#!/usr/bin/env python3
"""What operators do to daemons that carry traffic: reload, keys, modes, drain, stop. The hosts must not notice.

    unshare --net operate_test.py FOLDER-OF-PROGRAMS
"""
import itertools
import os
import signal

from case import Case, main
from hosts import Pair
from testbed import await_, counts, fresh

KM = 1000
NUMBERS = itertools.count(1)
ENDLESS = ("--early", "--work", "send,write", "--messages", "1000000")


def patient(text):
    """Receivers that are asked soon, and a stop that waits for machines that are slow."""
    return "stop_patience: 50s\n" + text.replace("receiver_timeout: 5s", "receiver_timeout: 1s")


class Operate(Case):
    """Two pairs transfer all the time, both ways, new ones for each test."""
    shared = True

    @classmethod
    def prepare(cls, bed):
        bed.start(KM)

    def setUp(self):
        super().setUp()
        self.a, self.b = self.both = self.bed.both
        number = 2 * next(NUMBERS)
        self.pairs = [Pair(number), Pair(number + 1)]
        for p in self.pairs:
            p.register(self.a)

    def transfer(self, *options):
        self.traffic = self.hosts(self.pairs, "--both", *ENDLESS, *options)
        self.await_custody()

    def tearDown(self):
        for daemon in self.both:
            daemon.write_config()
            daemon.ctl("reload")  # ends a drain and gives every class back, too
        super().tearDown()

    def await_custody(self):
        """Promises are given at both sides from now on."""
        for daemon, count in zip(self.both, counts("pseudo_acks", *self.both)):
            daemon.await_more("pseudo_acks", count + 20)

    def await_none(self):
        """Both sides are transparent: no promise from one report to another, and nothing is owned."""
        def rest():
            before = counts("pseudo_acks", *self.both)
            return all((m["matchrdma_pseudo_acks_total"], m["matchrdma_custody_bytes"]) == (count, 0)
                       for m, count in zip(fresh(*self.both), before))
        await_(rest, "no more pseudo-ACKs and no custody")

    def test_drain(self):
        self.transfer()
        self.assertIn("the process may stop", self.a.ctl("drain", "--wait", "60s"))
        self.await_none()
        self.assertEqual(self.a.show("status")["drain"], "drained")
        self.assertEqual(self.a.metrics()["matchrdma_drain_state"], 2)
        status, body = self.a.get("/readyz")
        self.assertEqual(status, 503)
        self.assertIn("`ctl reload` ends it", body)
        self.a.ctl("reload")
        self.await_custody()
        self.assert_right(self.traffic.end())

    def test_drain_then_stop(self):
        """After a drain the process may go, and its next life has nothing to fail."""
        self.transfer("--timeout", "500ms", "--retries", "-1")
        self.a.ctl("drain", "--wait", "60s")
        self.stop(self.a)
        self.a.start()
        self.assertNotIn("journal: QP", self.a.process.said())
        self.bed.await_sessions()
        self.assert_right(self.traffic.end())

    def test_stop_without_drain(self):
        """A stop delivers first what it has promised: nobody is failed by the next life, at either end."""
        for daemon in self.both:
            daemon.write_config(change=patient)
            daemon.ctl("reload")
        self.transfer("--timeout", "500ms", "--retries", "-1")
        for daemon in (self.b, self.a):
            if daemon is self.a:  # B has forgotten the pairs, A has not
                self.a.await_more("pseudo_acks", self.a.count("pseudo_acks") + 20)
            self.stop(daemon)
            self.assertNotIn("were owned", daemon.process.said())
            daemon.start()
            self.assertNotIn("journal: QP", daemon.process.said())
            self.bed.await_sessions()
        self.assert_right(self.traffic.end())

    def stop(self, daemon):
        daemon.process.popen.send_signal(signal.SIGTERM)
        daemon.process.popen.wait(60)
        self.assertEqual(daemon.process.popen.returncode, 0, daemon.process.said())
        self.assertIn("stopping", daemon.process.said())
        self.assertFalse(os.path.exists(daemon.admin), "the admin socket is still there")

    def test_key_rotation(self):
        """Two reloads at each end; promises are given all the time and there is one session until the end."""
        self.transfer()
        self.bed.make_key(2)
        before = [daemon.peer()["restarts"] for daemon in self.both]
        for keys, sees in (([1, 2], 1), ([2], 0)):
            for daemon in self.both:
                daemon.write_config(keys)
                daemon.ctl("reload")
                self.assertEqual(daemon.peer()["session"], "up")
            for daemon in self.both:
                await_(lambda d=daemon: d.metrics()["matchrdma_peer_key_rotation"] == sees, "both keys seen")
                await_(lambda d=daemon: d.peer()["key_id"] == 2, f"daemon {daemon.side} seals with key 2")
                self.assertEqual(daemon.peer()["session"], "up")
        self.await_custody()
        self.assertEqual([daemon.peer()["restarts"] for daemon in self.both], before)
        self.assert_unnoticed(self.traffic.end())

    def reloads(self):
        status = self.a.show("status")
        return status["reloads"], status["reloads_refused"]

    def test_reload(self):
        self.transfer()
        applied, refused = self.reloads()
        self.a.write_config(change=lambda text: text.replace("ack_every: 64", "ack_every: 8"))
        self.a.process.popen.send_signal(signal.SIGHUP)
        await_(lambda: self.reloads() == (applied + 1, refused), "the reload by SIGHUP")
        self.assertIn("ack_every: 8", self.a.show("config")["config"])
        self.a.write_config()
        self.a.ctl("reload")
        await_(lambda: self.reloads() == (applied + 2, refused), "the reload by ctl")
        self.assertIn("ack_every: 64", self.a.show("config")["config"])
        self.await_custody()
        self.assert_unnoticed(self.traffic.end())

    def test_broken_config_is_refused_whole(self):
        self.transfer()
        running, (applied, refused) = self.a.show("config")["config"], self.reloads()
        # A good change and a bad one: neither may come into effect.
        self.a.write_config(change=lambda text: text.replace("ack_every: 64", "ack_every: 8\n  ack_evry: 9"))
        line = self.a.text.splitlines().index("  ack_evry: 9") + 1
        said = self.a.refused("reload")
        self.assertIn(f"{self.a.config}:{line}:", said)
        self.assertIn("ack_evry", said)
        self.a.process.popen.send_signal(signal.SIGHUP)
        await_(lambda: f"{self.a.config}:{line}:" in self.a.process.said(), "the refusal in the log")
        # What needs a restart is refused whole, too, by its name.
        self.a.write_config(change=lambda text: text.replace("ack_every: 64", "ack_every: 8").replace(
            "max_flows: 256", "max_flows: 512"))
        self.assertIn("only a restart can change limits.max_flows", self.a.refused("reload"))
        await_(lambda: self.reloads() == (applied, refused + 3), "three refusals")
        self.assertEqual(self.a.show("config")["config"], running)
        self.await_custody()
        self.assert_unnoticed(self.traffic.end())

    def test_another_secret_under_the_same_number_is_refused(self):
        """It could not take effect: the session would go on under the old one, and end with the next start."""
        running, (applied, refused) = self.a.show("config")["config"], self.reloads()
        key = os.path.join(self.bed.folder, "key1")
        with open(key, encoding="ascii") as f:
            secret = f.read()
        self.bed.make_key(1)
        self.a.write_config(change=lambda text: text.replace("ack_every: 64", "ack_every: 8"))
        said = self.a.refused("reload")
        with open(key, "w", encoding="ascii") as f:
            f.write(secret)
        self.assertIn("key id 1 is loaded with another secret: give a new secret a new id; nothing was applied", said)
        await_(lambda: self.reloads() == (applied, refused + 1), "one refusal")
        self.assertEqual(self.a.show("config")["config"], running)
        self.assertIn("reload refused", self.a.process.said())

    def test_unregister(self):
        """Both proxies forget the pair. Asked for again, there is nothing to do, and that is said too."""
        pair = self.pairs[0]
        for _ in range(2):
            self.assertIn("both proxies have destroyed", pair.unregister(self.a))
        for daemon in self.both:
            await_(lambda d=daemon: not d.flows(src_qpn=pair.a[0]), "the flow is gone")
        # What was told once is no answer to the same question later.
        pair.register(self.a)
        await_(lambda: self.b.flows(src_qpn=pair.a[0]), "the pair is known at the peer again")

    def test_flow_that_nobody_knows(self):
        said = self.a.refused("mode", "drain", "--flow", "10.1.1.1,10.2.1.1,77")
        self.assertIn("no flow to QP 77 of 10.2.1.1 from 10.1.1.1 is known here", said)

    def test_modes_of_a_class(self):
        self.transfer()
        for daemon in self.both:
            daemon.ctl("mode", "transparent", "--class", "bulk")
        self.await_none()
        for daemon in self.both:
            daemon.ctl("mode", "configured", "--class", "bulk")
        self.await_custody()
        # drain: the flows of now alone; a pair that comes later is proxied.
        for daemon in self.both:
            daemon.ctl("mode", "drain", "--class", "bulk")
        self.await_none()
        later = Pair(2 * next(NUMBERS))
        later.register(self.a)
        newcomer = self.hosts([later], "--early", "--messages", "40")
        self.assert_right(newcomer.result())
        await_(lambda: self.a.flows(src_qpn=later.a[0], role="source", state="active"), "the new flow is active")
        self.assertIn("there are: strict, bulk", self.a.refused("mode", "drain", "--class", "nosuch"))
        self.assert_right(self.traffic.end())


if __name__ == "__main__":
    main()
