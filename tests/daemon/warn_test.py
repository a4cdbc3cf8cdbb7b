#!/usr/bin/env python3
"""What a running daemon warns of without being asked: each in its log, what stops it from being ready also in /readyz.

    unshare --net warn_test.py FOLDER-OF-PROGRAMS
"""
import os
import re

from case import Case, main
from testbed import await_


class Warnings(Case):
    @classmethod
    def prepare(cls, bed):
        """Each test makes its own config."""

    def said(self):
        return self.bed.a.process.said()

    def test_limits_beyond_the_memory(self):
        """They are lowered to what the memory holds, and the log tells from what to what."""
        self.bed.a.write_config(change=lambda text: re.sub("(custody|held)_packets: .*", r"\1_packets: 1000000", text))
        self.bed.a.start()
        lowered = re.search(r" warning: limits of each worker and span are lowered: custody_packets 1000000 -> (\d+), "
                            r"held_packets 1000000 -> (\d+); packets to what 256 MiB of memory hold", self.said())
        self.assertTrue(lowered, self.said())
        self.assertTrue(all(1000 < int(n) < 1000000 for n in lowered.groups()), lowered)

    def test_limits_that_fit(self):
        self.bed.a.start()
        self.assertNotIn("are lowered", self.said())

    def test_journal_that_is_deleted(self):
        self.bed.start()
        await_(lambda: self.bed.a.get("/readyz")[0] == 200, "A is ready")
        os.unlink(os.path.join(self.bed.folder, "journalA"))
        await_(lambda: self.bed.a.get("/readyz")[0] == 503, "A is not ready")
        self.assertIn("journalA was deleted or replaced", self.bed.a.get("/readyz")[1])
        self.assertEqual(self.said().count("journalA was deleted or replaced"), 1)
        self.assertEqual(self.bed.b.get("/readyz")[0], 200)


if __name__ == "__main__":
    main()
