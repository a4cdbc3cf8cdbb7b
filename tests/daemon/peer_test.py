#!/usr/bin/env python3
"""Peers that cannot be talked to: said in a clear sentence, and traffic passes as if there were no proxy.

    unshare --net peer_test.py FOLDER-OF-PROGRAMS
"""
import time

from case import Case, main
from hosts import Pair
from testbed import await_, daemons


class Peer(Case):
    @classmethod
    def prepare(cls, bed):
        """Each test makes its own peer."""

    def assert_transparent(self, trouble, ends=("tapA", "tapB")):
        a = self.bed.a
        await_(lambda: trouble in a.peer()["trouble"], f"in `show peers`: {trouble}; not {a.peer()}")
        self.assertNotEqual(a.peer()["session"], "up")
        self.assertIn(trouble, a.ctl("show", "peers"))  # the table for people, too
        status, body = a.get("/readyz")
        self.assertEqual(status, 503)
        self.assertIn(trouble, body)
        # Not early: no completion before the execution.
        self.assert_unnoticed(self.hosts([Pair(1), Pair(2)], "--both", "--messages", "40", ends=ends).result())
        self.assertEqual(a.count("pseudo_acks"), 0)

    def assert_told_once(self, trouble, daemon):
        """In the log, however many HELLOs come."""
        def seen():
            return daemon.peer()["hello_refused"]
        for more in range(1, 4):
            await_(lambda s=seen(): seen() > s, f"{more} more HELLOs")
        warnings = [line for line in daemon.process.said().splitlines() if trouble in line]
        self.assertEqual(len(warnings), 1, daemon.process.said())
        self.assertIn(" warning: span test: ", warnings[0])

    def test_another_key(self):
        """The same number and another secret."""
        self.bed.start_span()
        self.bed.a.start()
        self.bed.make_key(1)
        self.bed.b.start()
        await_(lambda: self.bed.a.peer()["hello_refused"] > 0, "a HELLO that is not believed")
        self.assert_transparent("HELLOs come that are sealed under another secret than the one in our key file")
        self.assertEqual(self.bed.b.count("pseudo_acks"), 0)
        for daemon in self.bed.both:
            self.assert_told_once("sealed under another secret", daemon)

    def test_a_peer_that_comes_back_with_another_key(self):
        """It is not silent: the two do not hold one key any more."""
        self.bed.start()
        self.bed.b.process.kill()
        await_(lambda: "fallen silent" in self.bed.a.peer()["trouble"], "the silence")
        self.bed.make_key(1)
        self.bed.b.start()
        self.assert_transparent("HELLOs come that are sealed under another secret than the one in our key file")
        self.assert_told_once("sealed under another secret", self.bed.a)

    def test_another_key_number(self):
        self.bed.start_span()
        self.bed.make_key(7)
        self.bed.b.write_config([7])
        self.bed.a.start()
        self.bed.b.start()
        self.assert_transparent("HELLOs come that are sealed under a key number which is not in peer.keys here")
        self.assert_told_once("a key number which is not in peer.keys here", self.bed.a)

    def test_another_version(self):
        """A peer with the right key and a later version; for the data it is a wire."""
        self.bed.start_span()
        self.bed.a.start()
        self.bed.processes.start("other_version", [
            self.bed.program("other_version"), "wanB", f"{self.bed.folder}/key1", "1", daemons.ADDRESS["B"],
            daemons.ADDRESS["A"], "3"])
        self.assert_transparent("the peer speaks version 3 of the control subchannel, this proxy 2: install the same "
                                "release at both ends", ends=("tapA", "wanB"))
        self.assertEqual(self.bed.a.peer()["peer_version"], 3)
        self.assert_told_once("the peer speaks version 3", self.bed.a)

    def test_cut_that_no_traffic_shows(self):
        """How far the peer is, and that it is not there any more, is known without any flow."""
        self.bed.start(1000)
        for daemon in self.bed.both:
            await_(lambda d=daemon: (d.peer()["rtt_ns"] or 0) >= 10_000_000, "the round trip of 2 x 5 ms")
            self.assertEqual(daemon.flows(), [])
        self.bed.span.cut()
        for daemon in self.bed.both:
            await_(lambda d=daemon: d.peer()["session"] != "up", "the silence")
            await_(lambda d=daemon: "the peer has fallen silent" in d.process.said(), "the silence in the log")
        self.bed.span.restore()
        self.bed.await_sessions()
        for daemon in self.bed.both:
            await_(lambda d=daemon: d.process.said().count("the peer is there") == 2, "its return in the log")

    def test_silence_is_as_long_as_the_config_says(self):
        """A cut that is shorter than timing.peer_timeout is none for /readyz."""
        patient = lambda text: text.replace("timing:\n", "timing:\n  peer_timeout: 10s\n")  # noqa: E731
        for daemon in self.bed.both:
            daemon.write_config(change=patient)
        self.bed.start_span(100)
        for daemon in self.bed.both:
            daemon.start()
        self.bed.await_sessions()
        self.bed.span.cut()
        time.sleep(2)  # three times the keep-alives
        self.assertEqual(self.bed.a.peer()["session"], "up")
        await_(lambda: self.bed.a.peer()["session"] != "up", "the silence after all")
        self.assertIn("fallen silent", self.bed.a.peer()["trouble"])

    def test_nobody(self):
        """Not even a next hop."""
        self.bed.start_span()
        self.bed.a.start()
        self.assert_transparent("nobody answers at the next hop: is the span up, and are the addresses right?",
                                ends=("tapA", "wanB"))


if __name__ == "__main__":
    main()
