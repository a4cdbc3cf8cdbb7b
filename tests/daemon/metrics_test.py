#!/usr/bin/env python3
"""/metrics of a daemon that carries traffic: promtool has nothing to say, and a real Prometheus scrapes it.

    unshare --net metrics_test.py FOLDER-OF-PROGRAMS
"""
import json
import os
import shutil
import subprocess
import unittest
import urllib.error
import urllib.parse
import urllib.request

from case import Case, main
from hosts import Hosts, Pair
from testbed import MTU, await_, fresh

NO_PROMETHEUS = "the Debian package prometheus is not installed"
PORT = 9090
CONFIG = """\
scrape_configs:
- job_name: matchrdma
  scrape_interval: 1s
  static_configs:
  - targets: ['127.0.0.1:{a}', '127.0.0.1:{b}']
"""


class Metrics(Case):
    shared = True

    @classmethod
    def prepare(cls, bed):
        bed.start(100)
        pair = Pair(1)
        pair.register(bed.a)
        cls.traffic = Hosts(bed, [pair], "--both", "--early", "--work", "send,write", "--messages", "1000000", "--rate",
                            "5Mbps")
        for daemon in bed.both:
            daemon.await_more("pseudo_acks", 20)

    @classmethod
    def tearDownClass(cls):
        cls.traffic.end()
        super().tearDownClass()

    def test_what_it_says(self):
        m, _ = fresh(*self.bed.both)
        self.assertEqual(m["matchrdma_ready"], 1)
        self.assertEqual(m['matchrdma_peer_session_up{span="test"}'], 1)
        self.assertEqual(m['matchrdma_flows{role="source",state="active"}'], 1)
        for name in ("admitted_bytes_total", "receiver_acks_absorbed_total", "lan_received_packets_total"):
            self.assertGreater(m[f"matchrdma_{name}"], 0, name)
        self.assertGreater(m["matchrdma_ack_latency_seconds_count"], 0)
        # The span is 500 us long; the processes on the way take their time.
        self.assertGreaterEqual(m["matchrdma_peer_round_trip_seconds"], 0.001)
        self.assertEqual(m["matchrdma_flow_faults_total"], 0)
        for path in ("/healthz", "/readyz"):
            self.assertEqual(self.bed.a.get(path)[0], 200, path)

    @unittest.skipUnless(shutil.which("promtool"), NO_PROMETHEUS)
    def test_promtool_finds_nothing(self):
        for daemon in self.bed.both:
            done = subprocess.run(["promtool", "check", "metrics"], input=daemon.get("/metrics")[1], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    def query(self, expression):
        """The values of an instant query, as soon as there are two."""
        url = f"http://127.0.0.1:{PORT}/api/v1/query?" + urllib.parse.urlencode({"query": expression})

        def ask():
            try:
                with urllib.request.urlopen(url, timeout=5) as r:
                    result = json.load(r)["data"]["result"]
            except OSError:
                return None
            return result if len(result) == 2 else None
        return [float(r["value"][1]) for r in await_(ask, f"Prometheus knows {expression}")]

    @unittest.skipUnless(shutil.which("prometheus"), NO_PROMETHEUS)
    def test_prometheus_scrapes(self):
        config = os.path.join(self.bed.folder, "prometheus.yml")
        with open(config, "w", encoding="ascii") as f:
            f.write(CONFIG.format(a=self.bed.a.metrics_port, b=self.bed.b.metrics_port))
        server = self.bed.processes.start("prometheus", [
            "prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.bed.folder}/data",
            f"--web.listen-address=127.0.0.1:{PORT}", "--log.level=error"])
        self.assertEqual(self.query("up"), [1, 1])
        for value in self.query("rate(matchrdma_pseudo_acks_total[20s]) > 0"):
            self.assertGreater(value, 0)
        for value in self.query("histogram_quantile(0.5, rate(matchrdma_custody_age_seconds_bucket[20s]))"):
            self.assertGreaterEqual(value, 0.0005)
        server.stop(30)


class Custody(Case):
    @classmethod
    def prepare(cls, bed):
        bed.start(60000)  # what is sent is owned for more than one report

    def test_it_is_of_one_moment(self):
        """Who owns packets owns bytes, in every report, and nothing that is not owned has an age."""
        pair, rounds = Pair(1), 4
        pair.register(self.bed.a)
        hosts = self.hosts([pair], "--early", "--messages", "20", "--rounds", str(rounds), "--timeout", "5s")
        for number in range(1, rounds + 1):
            for owns in (True, False):
                await_(lambda o=owns: self.owned() == o, f"round {number}: custody {'in use' if owns else 'released'}")
            hosts.round(number)
            if number < rounds:
                hosts.next_round()
        self.assert_unnoticed(hosts.result())

    def owned(self):
        m = self.bed.a.metrics()
        packets, owned = m["matchrdma_custody_packets"], m["matchrdma_custody_bytes"]
        self.assertLessEqual(60 * packets, owned)
        self.assertLessEqual(owned, (MTU + 18) * packets)
        if packets == 0:
            self.assertEqual(m["matchrdma_custody_oldest_age_seconds"], 0)
        return packets > 0


if __name__ == "__main__":
    main()
