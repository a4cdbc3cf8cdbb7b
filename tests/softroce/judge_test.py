#!/usr/bin/env python3
"""The lab's judges without the lab: shipped captures whose faults are known (pcap/traces/README.md), and made outputs.

    judge_test.py FOLDER_OF_TRACES
"""
import json
import os
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree as ElementTree

import gain
import report
from captures import judge
from measure import Outcome, crashed, tripped
from runs import RUNS, chosen, perftest_numbers

TRACES = ""
BANDWIDTH = """ #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      200              4.02               3.76   \t\t   0.000060
---------------------------------------------------------------------------------------
"""
LATENCY = """ #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]
 8       500          3.76           45.20        3.90   \t       4.10        \t0.50
"""


def verdict(tap_a, tap_b=None, path_mtu=1024, readable=False, earlier=frozenset()):
    paths = {"A": os.path.join(TRACES, f"{tap_a}.pcap"), "B": os.path.join(TRACES, f"{tap_b or tap_a}.pcap")}
    return judge(types.SimpleNamespace(paths=paths), path_mtu, readable, earlier)


class Captures(unittest.TestCase):
    def test_lost_writes_are_sent_again_after_naks(self):
        v = verdict("f_loss_write_tapA", "f_loss_write_tapB")
        self.assertEqual((v.packets, v.naks, v.rnrs), (368 + 356, 10, 0))
        self.assertEqual(v.missing, 0)  # in the end everything came
        self.assertEqual(v.complaints, [])
        self.assertGreater(v.resent, v.repeated)  # the loss was between the taps

    def test_lost_responses_are_asked_for_again_without_naks(self):
        v = verdict("f_loss_read_tapA", "f_loss_read_tapB")
        self.assertEqual((v.naks, v.resent, v.repeated), (0, 34 - 5, 33 - 5))  # 5 READs, one request lost

    def test_rnr_naks_are_told_from_sequence_naks(self):
        v = verdict("k2_send_rnr_nak")
        self.assertEqual((v.naks, v.rnrs), (13, 13))

    def test_wrong_icrcs_are_complained_of(self):
        self.assertEqual(verdict("f2_corrupt_payload_tapB").complaints,
                         [f"tap{side}: 9 packets with a wrong ICRC" for side in "AB"])

    def test_what_was_never_sent_is_complained_of(self):
        v = verdict("b_write_bw_64k_pmtu1024", "c_send_bw_pmtu1024")
        self.assertTrue(any("never sent" in c for c in v.complaints), v.complaints)
        self.assertEqual(v.missing, 5 * 64)

    def test_a_probe_of_an_earlier_run_is_not_this_runs(self):
        earlier = verdict("c_send_bw_pmtu1024").flows
        v = verdict("b_write_bw_64k_pmtu1024", "c_send_bw_pmtu1024", earlier=earlier)
        self.assertEqual(v.complaints, [])
        self.assertEqual(v.missing, 5 * 64)  # its own are looked for all the same
        own = verdict("f_loss_write_tapA", "f_loss_write_tapB").flows
        self.assertEqual(len(own), 1)

    def test_clean_traffic_of_every_kind_is_clean(self):
        for name in ("a_rping_rc_cm", "h2_ipv6_rping", "d_read_bw_pmtu1024", "e_atomic_fetchadd", "i2_4qps",
                     "g_uc_write", "l_cnp_injected"):
            v = verdict(name, readable=name == "a_rping_rc_cm")
            self.assertEqual((v.naks, v.rnrs, v.resent, v.repeated, v.missing, v.complaints), (0, 0, 0, 0, 0, []), name)


class Results(unittest.TestCase):
    def test_perftest_is_read(self):
        self.assertEqual(perftest_numbers(BANDWIDTH), [65536, 200, 4.02, 3.76, 6e-05])
        self.assertIsNone(perftest_numbers("Couldn't connect to 10.8.0.2:18515"))
        by_unit = {r.unit: r for r in RUNS}
        self.assertEqual(by_unit["MiB/s"].value(BANDWIDTH, 1), 3.76)
        self.assertAlmostEqual(by_unit["op/s"].value(BANDWIDTH, 1), 60)
        self.assertEqual(by_unit["us"].value(LATENCY, 1), 3.9)

    def test_selections_hold_one_another(self):
        quick, default = set(chosen("quick")), set(chosen("default"))
        self.assertTrue(quick < default < set(RUNS))

    def test_a_crash_at_either_end_is_tried_again(self):
        self.assertTrue(crashed("some words\nserver: status 139\n"))
        for said in ("server: status 0", "server: status 1390", "the server: status 139", ""):
            self.assertFalse(crashed(said), said)
        for end in ("client", "server"):
            self.assertTrue(tripped(Outcome(errors=["client: status 124 (timed out)", f"{end}: status 139"])))
        self.assertFalse(tripped(Outcome(errors=["client: status 1"])))
        own_end = "client DISCONNECT EVENT...\nrdma_get_cm_event: Bad file descriptor\n"
        self.assertTrue(tripped(Outcome(errors=["client: status 255"], output=own_end)))
        self.assertFalse(tripped(Outcome(errors=["client: status 255"])))
        self.assertFalse(tripped(Outcome(errors=["client: status 255", "the tool found wrong data"], output=own_end)))

    def test_commands_are_whole(self):
        for run in RUNS:
            for km in (0, 100, 1000, 10000):
                for line in run.commands(km, 1024):
                    self.assertNotRegex(line, "[{}]", run.name)

    def test_what_was_sent_again_is_a_failure_only_on_a_clean_span(self):
        outcomes = {(RUNS[0], 1500, 1000): {"proxied": Outcome(value=1.0, retries=2), "direct": Outcome(value=2.0)}}
        self.assertEqual(len(report.failures(outcomes, loss=0)), 1)
        self.assertEqual(report.failures(outcomes, loss=0.01), [])
        self.assertEqual(report.table(outcomes)[1].split()[-6:], ["0/2", *["0/0"] * 5])

    def test_smaller_times_are_gains(self):
        self.assertEqual(report.ratio(2, 4, "us"), 2)
        self.assertEqual(report.ratio(2, 4, "MiB/s"), 0.5)
        self.assertIsNone(report.ratio(None, 4, "s"))

    def test_a_missed_ratio_is_missed(self):
        row = gain.ROWS[0]
        self.assertEqual(gain.judge({row: {"near": [100], "far": [10, 11, 12], "proxied": [90]}})[1], [])
        self.assertEqual(len(gain.judge({row: {"near": [100], "far": [10], "proxied": [79]}})[1]), 1)
        self.assertEqual(len(gain.judge({row: {"near": [100], "far": [20], "proxied": [90]}})[1]), 1)
        self.assertEqual(len(gain.judge({row: {"near": [100], "far": [], "proxied": [90]}})[1]), 1)

    def test_rate_that_the_tool_could_not_time(self):
        run = gain.ROWS[0].run()
        self.assertAlmostEqual(run.value(BANDWIDTH, 10), 60)
        untimed = BANDWIDTH.replace("0.000060", "0.000000").replace("3.76", "0.00").replace("200 ", "1200")
        self.assertAlmostEqual(run.value(untimed, 10), 200)
        self.assertEqual(run.value(untimed.replace("1200", "0   "), 10), 0)  # nothing was transferred
        self.assertIsNone(run.value("no result", 10))

    def test_outcomes_are_written_as_json(self):
        outcomes = {(RUNS[0], 1500, 1000): {"direct": Outcome(value=1.0, verdict=verdict("a_rping_rc_cm"))}}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            report.write_json(path, {"outcomes": list(report.records(outcomes))})
            with open(path, encoding="utf-8") as f:
                self.assertGreater(len(json.load(f)["outcomes"][0]["verdict"]["flows"]), 0)

    def test_junit_says_why_it_skipped(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.xml")
            report.write_junit(path, [("lab", 1, None, "not root"), ("run", 2, "bad", None), ("run", 3, "", None)])
            cases = list(ElementTree.parse(path).getroot().iter("testcase"))
        self.assertEqual(cases[0].get("name"), "lab (not root)")
        self.assertIn("SKIP", cases[0].find("skipped").get("message"))
        self.assertEqual([c.find("failure") is not None for c in cases], [False, True, False])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    TRACES = sys.argv.pop()
    unittest.main()
