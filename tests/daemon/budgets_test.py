#!/usr/bin/env python3
"""Budgets that an estimator makes, between running daemons: they reach the source and hold there, can be looked at, and
cost nobody a byte, whatever happens to the one who makes them.

    unshare --net budgets_test.py FOLDER-OF-PROGRAMS
"""
from case import Case, main
from hosts import Pair
from testbed import await_

KM = 1000
SLOT = "2ms"  # two cores carry everything: 200us would find nobody awake
EGRESS = 40  # Mb/s, of the receiver
ESTIMATOR = f"""\
    egress:
      rate: {EGRESS}Mbps
      burst: 16KiB
    estimator:
      scheme: earned
      slot: {SLOT}
      line_rate: 200Mbps
      queue_target: 64KiB
"""


def estimated(text):
    return text.replace("    egress:\n      rate: 1Gbps\n", ESTIMATOR)


class Budgets(Case):
    @classmethod
    def prepare(cls, bed):
        for daemon in bed.both:
            daemon.write_config(change=estimated)
        bed.start(KM)

    def transfer(self, pair):
        """Hosts that send until they are told to end."""
        pair.register(self.bed.a)
        return self.hosts([pair], "--early", "--work", "write", "--messages", "1000000", "--max-length", "65536",
                          "--rate", "200Mbps", "--timeout", "1s", "--retries", "-1")

    def rows(self):
        return self.bed.b.show("slots")["slots"]

    def budget(self):
        """What the source gives the receiver, bit/s, if its peer has said it."""
        rows = [b for b in self.bed.a.show("budgets")["budgets"] if b["from_peer"]]
        return rows[0]["rate_bps"] if rows else None

    def test_the_source_follows_the_receiver(self):
        pair = Pair(1)
        hosts = self.transfer(pair)
        await_(lambda: any(r["saturated"] for r in self.rows()), "a slot in which the receiver was the bottleneck")
        # Of one receiver, and near what it takes: this machine is no measure, so not nearer than a factor of two.
        near = (EGRESS * 1e6 / 2, EGRESS * 1e6 * 2)
        await_(lambda: near[0] <= (self.budget() or 0) <= near[1], lambda: f"a budget of {near}: {self.budget()}")
        rows = self.rows()
        self.assertEqual({r["receiver"] for r in rows}, {pair.address("B")})
        numbers = [r["slot"] for r in rows]
        self.assertEqual(numbers, sorted(set(numbers)), "slots come once, in order")
        metrics = self.bed.b.metrics()
        self.assertEqual(metrics["matchrdma_receivers_active"], 1)
        self.assertGreater(metrics["matchrdma_receivers_capacity_bytes_per_second"], 0)
        self.assertEqual(self.bed.a.metrics()["matchrdma_budget_groups_driven_by_peer"], 1)
        self.assertIn(pair.address("B"), self.bed.b.ctl("show", "slots"))
        self.assertEqual(self.bed.a.show("slots")["slots"], [], "nothing is sent to a's receivers")
        self.assert_right(hosts.end())
        await_(lambda: self.bed.b.metrics()["matchrdma_receivers_active"] == 0, "the receiver is idle after a second")

    # Without its destination the source decays, and goes on with what the new one says.
    def test_the_destination_is_killed(self):
        hosts = self.transfer(Pair(2))
        await_(self.budget, "a budget of the peer")
        self.bed.b.process.kill()
        self.bed.b.start()
        await_(lambda: self.rows() and self.budget(), "budgets of its next life")
        self.assert_right(hosts.end())

    def test_a_reload_changes_what_the_receiver_takes(self):
        hosts = self.transfer(Pair(3))
        await_(lambda: any(r["saturated"] for r in self.rows()), "a slot in which the receiver was the bottleneck")
        self.bed.b.write_config(change=lambda text: estimated(text).replace(f"rate: {EGRESS}Mbps", "rate: 10Mbps"))
        self.bed.b.ctl("reload")
        await_(lambda: 0 < (self.budget() or 0) <= 20e6, lambda: f"a budget below 20 Mb/s: {self.budget()}")
        self.bed.b.write_config(change=lambda text: estimated(text).replace("slot: 2ms", "slot: 1ms"))
        self.assertIn("only a restart can change", self.bed.b.refused("reload"))
        self.bed.b.write_config(change=estimated)
        self.bed.b.ctl("reload")
        self.assert_right(hosts.end())


if __name__ == "__main__":
    main()
