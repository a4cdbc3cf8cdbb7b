#!/usr/bin/env python3
"""Daemons that are killed while they hold data for others, and come back (PROTOCOL 8).

    unshare --net restart_test.py FOLDER-OF-PROGRAMS
"""
import re
import time

from case import Case, main
from hosts import Pair
from testbed import PATH_MTU, await_

KM = 5000  # 25 ms there: whatever moment it is, something is promised and not confirmed
# A sender that is answered late goes on; whether it would have given up by then is not measured here.
PATIENT = ("--messages", "1000000", "--timeout", "300ms", "--retries", "-1")


class Restart(Case):
    @classmethod
    def prepare(cls, bed):
        """Each test starts it with the config that it needs."""

    def owns(self):
        """Daemon A holds data that B's receivers have not."""
        return self.bed.a.metrics()["matchrdma_custody_bytes"] > 0

    def lose_source(self):
        """Daemon A dies, and with it what it had promised: what is on its way is lost, too."""
        self.bed.a.await_more("pseudo_acks", self.bed.a.count("pseudo_acks") + 50)
        await_(self.owns, "custody in use")
        self.bed.span.cut()
        self.bed.a.process.kill()
        self.bed.span.restore()
        self.bed.a.start()

    def test_destination_killed(self):
        """Nothing is lost: the source sends its custody again to the peer that has forgotten everything."""
        self.bed.start(KM)
        pairs = [Pair(1), Pair(2)]
        for p in pairs:
            p.register(self.bed.a)
        hosts = self.hosts(pairs, "--early", *PATIENT)
        self.bed.a.await_more("pseudo_acks", 50)
        await_(self.owns, "custody in use")
        self.bed.b.process.kill()
        time.sleep(0.5)  # long enough for A to notice the silence
        self.bed.b.start()
        await_(lambda: self.bed.a.peer()["restarts"] == 1, "the new session")
        self.bed.a.await_more("custody_resends")
        self.bed.a.await_more("pseudo_acks", self.bed.a.count("pseudo_acks") + 50)
        self.assert_right(hosts.end())

    def test_proxy_killed_that_is_source_and_destination(self):
        """What B had promised is gone, so those queue pairs fail, and A learns it: their other end fails too, instead
        of being promised what nobody will take."""
        self.bed.start(KM)
        pairs = [Pair(1), Pair(2)]
        for p in pairs:
            p.register(self.bed.a)
        hosts = self.hosts(pairs, "--early", "--both", "--work", "send,write", *PATIENT, "--depth", "8")
        self.bed.b.await_more("pseudo_acks", 50)
        await_(lambda: self.bed.b.metrics()["matchrdma_custody_bytes"] > 0 and self.owns(), "custody at both")
        self.bed.span.cut()
        self.bed.b.process.kill()
        self.bed.span.restore()
        self.bed.b.start()
        self.assert_right(hosts.result(), failed=sorted([p.a[0] for p in pairs] + [p.b[0] for p in pairs]))
        await_(lambda: "is failed: its requests are answered with a fatal NAK" in self.bed.a.process.said(),
               "the failed queue pairs in A's log")

    def test_source_killed(self):
        """Its custody is gone. Who was promised more than the receiver has is told so at once, nobody else."""
        self.bed.start(KM)
        busy, idle, strict = [Pair(1), Pair(2)], Pair(3), Pair(4, "strict")
        for p in [*busy, idle, strict]:
            p.register(self.bed.a)
        work = ("--work", "send,write")
        # `end-to-end` acknowledges the middle of a long message early; a message of one packet only when it is there.
        single = ("--max-length", str(PATH_MTU))
        rests = self.hosts([idle], "--early", *work, "--messages", "20", "--rounds", "2")
        self.assert_unnoticed(rests.round(1))
        await_(lambda: not self.owns(), "everything of the first round confirmed")
        waits = self.hosts([strict], *work, *single, *PATIENT)
        breaks = self.hosts(busy, "--early", *work, *PATIENT, "--depth", "8")
        self.lose_source()
        # It ends by itself: every queue pair has failed, by a fatal NAK and not by its own patience.
        result = breaks.result()
        self.assert_right(result, failed=[p.a[0] for p in busy])
        self.assertEqual({f["why"] for f in result["failed"]}, {"remote operation"})
        self.assertGreater(self.bed.a.count("fault_naks"), 0)
        named = {int(q) for q in re.findall(r"journal: QP (\d+) of 10\.1\.1\.1", self.bed.a.process.said())}
        self.assertEqual(named, {p.a[0] for p in busy}, self.bed.a.process.said())
        rests.next_round()
        self.assert_right(rests.result())
        self.assert_right(waits.end())
        # What was told once is not told again: the next life begins with an empty journal.
        await_(lambda: not self.owns(), "everything of the second round confirmed")
        self.bed.a.process.kill()
        self.bed.a.start()
        self.assertNotIn("journal: QP", self.bed.a.process.said())

    def test_source_killed_without_journal(self):
        """Nobody knows whom to tell. The queue pair ends by its own patience, and never with wrong data."""
        self.bed.a.write_config(change=lambda text: re.sub(r"journal:\n.*\n", "", text))
        self.bed.start(KM)
        self.assertIn("no journal: if this process dies", self.bed.a.process.said())
        pair = Pair(1)
        pair.register(self.bed.a)
        hosts = self.hosts([pair], "--early", "--work", "send,write", "--messages", "1000000", "--timeout", "300ms")
        self.lose_source()
        self.assert_right(hosts.result(), failed=[pair.a[0]])


if __name__ == "__main__":
    main()
