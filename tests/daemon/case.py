"""What the tests of running daemons have in common."""
import sys
import unittest

from hosts import Hosts
from testbed import Bed, Wires


class Case(unittest.TestCase):
    """A test with a testbed of its own for each method; with `shared`, one for all methods of the class."""
    shared = False
    wires = bed = None

    @classmethod
    def open(cls):
        Case.wires = Case.wires or Wires()
        cls.bed = Bed(PROGRAMS, Case.wires)
        try:
            cls.prepare(cls.bed)
        except BaseException:
            print(cls.bed.logs(), file=sys.stderr)
            cls.bed.stop()
            raise

    @classmethod
    def prepare(cls, bed):
        """What a test here finds running."""
        bed.start()

    @classmethod
    def setUpClass(cls):
        if cls.shared:
            cls.open()

    @classmethod
    def tearDownClass(cls):
        if cls.shared:
            cls.bed.stop()

    def setUp(self):
        if not self.shared:
            self.open()

    def tearDown(self):
        for daemon in self.bed.daemons.values():
            if daemon.process is not None:  # a test that ends a daemon for good says so
                daemon.check()

    def run(self, result=None):
        before = len(result.errors) + len(result.failures)
        super().run(result)
        if self.bed is not None and len(result.errors) + len(result.failures) > before:
            print(self.bed.logs(), file=sys.stderr)
        if self.bed is not None and not self.shared:
            self.bed.stop()

    def hosts(self, pairs, *options, **more):
        return Hosts(self.bed, pairs, *options, **more)

    def assert_right(self, result, failed=()):
        """Every byte right, every work request done; only the queue pairs with these QPNs have failed."""
        self.assertEqual(result["wrong"], [], result)
        self.assertTrue(result["finished"], result)
        self.assertEqual(sorted(f["qpn"] for f in result["failed"]), sorted(failed), result)
        self.assertGreater(result["completed"], 0, result)
        if not failed:
            self.assertEqual(result["completed"], result["posted"], result)

    def assert_unnoticed(self, result):
        """Right, and the hosts had no reason to send anything twice."""
        self.assert_right(result)
        for key in ("retransmitted", "timeouts", "naks", "implied_naks", "rnr_naks", "out_of_sequence", "bad_icrc"):
            self.assertEqual(result[key], 0, (key, result))

    def assert_clean(self, verdict, proxied):
        """Of the captures of both LANs: no malformed packet, no wrong ICRC, nothing strange, nothing missing."""
        self.assertEqual(verdict.complaints, [])
        self.assertGreater(verdict.packets, 0)
        self.assertEqual((verdict.naks, verdict.rnrs, verdict.resent, verdict.missing), (0, 0, 0, 0), verdict)
        # A source that does not get the processor in time sends its custody again; a receiver tells it from new data.
        if not proxied:
            self.assertEqual(verdict.repeated, 0, verdict)


PROGRAMS = sys.argv[1] if len(sys.argv) > 1 else ""


def main():
    if len(sys.argv) < 2:
        sys.exit(f"usage: unshare --net {sys.argv[0]} FOLDER-OF-PROGRAMS [TEST...]")
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
