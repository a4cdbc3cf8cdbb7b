#!/usr/bin/env python3
"""A span that loses, reorders and goes dark below running daemons, and hosts that lose packets (PROTOCOL 8).

    unshare --net span_test.py FOLDER-OF-PROGRAMS
"""
from case import Case, main
from hosts import Pair
from testbed import await_, counts

KM = 1000
PATIENT = ("--timeout", "500ms", "--retries", "-1")


class SpanFaults(Case):
    shared = True

    @classmethod
    def prepare(cls, bed):
        bed.start(KM)

    def tearDown(self):
        self.bed.span.ask("set loss=0 reorder=0 duplicate=0")
        self.bed.span.restore()
        self.bed.await_sessions()
        super().tearDown()

    def reload(self, change=lambda text: text):
        for daemon in self.bed.both:
            daemon.write_config(change=change)
            daemon.ctl("reload")

    def test_loss_is_not_seen_by_senders(self):
        """One frame in a hundred of everything, the proxies' own datagrams too."""
        pairs = [Pair(1), Pair(2)]
        for p in pairs:
            p.register(self.bed.a)
        before = counts("custody_resends", *self.bed.both)
        self.bed.span.ask("set loss-filter=all loss=1%")
        result = self.hosts(pairs, "--both", "--early", "--work", "send,write", "--messages", "100").result()
        self.assert_unnoticed(result)
        for daemon, count in zip(self.bed.both, before):
            daemon.await_more("custody_resends", count)

    def test_loss_with_reads(self):
        """Responses are in nobody's custody: the requester asks again, and what it gets is right."""
        pair = Pair(3)
        pair.register(self.bed.a)
        self.bed.span.ask("set loss-filter=all loss=1%")
        self.assert_right(self.hosts([pair], "--both", "--early", "--messages", "100", *PATIENT).result())

    def test_loss_between_proxies_and_hosts(self):
        """A request lost here is asked for here, what the far host does not get is brought to it again."""
        pairs = [Pair(7), Pair(8)]
        for p in pairs:
            p.register(self.bed.a)
        # A NAK that is lost is never repeated: the proxy has to ask, and soon.
        self.reload(lambda text: text.replace("receiver_timeout: 5s", "receiver_timeout: 100ms"))
        self.addCleanup(self.reload)
        hosts = self.hosts(pairs, "--both", "--early", "--messages", "100", "--lose", "1%", *PATIENT)
        self.assert_right(hosts.result())

    def test_disorder(self):
        pair = Pair(4)
        pair.register(self.bed.a)
        self.bed.span.ask("set reorder=5% reorder-extra=2ms duplicate=5%")
        result = self.hosts([pair], "--both", "--early", "--work", "send,write", "--messages", "100").result()
        self.assert_unnoticed(result)

    def test_cut_and_restored(self):
        """Custody stays, no promise is given meanwhile, and it goes on by itself."""
        pairs = [Pair(5), Pair(6)]
        for p in pairs:
            p.register(self.bed.a)
        before = self.bed.a.count("pseudo_acks")
        hosts = self.hosts(pairs, "--both", "--early", "--messages", "1000000", *PATIENT)
        self.bed.a.await_more("pseudo_acks", before + 50)
        self.bed.span.cut()
        await_(lambda: "fallen silent" in self.bed.a.peer()["trouble"], "the daemon says that the peer is silent")
        given = self.bed.a.count("pseudo_acks")
        self.assertEqual(self.bed.a.count("pseudo_acks"), given, "an ACK was given while the peer was silent")
        self.assertEqual(self.bed.a.get("/readyz")[0], 503)
        self.bed.span.restore()
        self.bed.a.await_more("pseudo_acks", given + 50)
        self.assert_right(hosts.end())


if __name__ == "__main__":
    main()
