#!/usr/bin/env python3
"""The web server from outside: pages, methods, hostile clients; then promtool and a real Prometheus.

    http_test.py SERVICE_HOST
"""
import http.client
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from host import Host

HOST = sys.argv[1]
NO_PROMETHEUS = "the Debian package prometheus is not installed"


class Http(unittest.TestCase):
    def setUp(self):
        self.host = Host(HOST)

    def tearDown(self):
        self.assertTrue(self.host.alive(), "the host died")
        self.assertEqual(self.host.close(), 0)

    def ask(self, path, method="GET"):
        c = http.client.HTTPConnection("127.0.0.1", self.host.http, timeout=10)
        c.request(method, path)
        r = c.getresponse()
        body = r.read().decode()
        c.close()
        return r, body

    def test_metrics(self):
        r, body = self.ask("/metrics")
        self.assertEqual(r.status, 200)
        self.assertTrue(r.headers["Content-Type"].startswith("text/plain; version=0.0.4"))
        self.assertIn('matchrdma_pseudo_acks_total{worker="1"} 42\n', body)

    def test_health_and_readiness(self):
        self.assertEqual(self.ask("/healthz")[0].status, 200)
        self.assertEqual(self.ask("/readyz")[0].status, 200)
        self.host.say("not-ready")
        r, body = self.ask("/readyz")
        self.assertEqual(r.status, 503)
        self.assertIn("WAIT peer north: no answer from 192.0.2.2; is its daemon running?", body)
        self.assertEqual(self.ask("/healthz")[0].status, 200)
        self.host.say("starting")
        self.assertEqual(self.ask("/readyz")[0].status, 503)
        self.assertEqual(self.ask("/metrics")[0].status, 200)
        self.host.say("ready")
        self.assertEqual(self.ask("/readyz")[0].status, 200)

    def test_methods(self):
        full, body = self.ask("/metrics")
        r, nothing = self.ask("/metrics", "HEAD")
        self.assertEqual((r.status, nothing), (200, ""))
        self.assertEqual(r.headers["Content-Length"], str(len(body)))
        self.assertEqual(full.headers["Content-Length"], str(len(body)))
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND"]:
            r, _ = self.ask("/metrics", method)
            self.assertEqual(r.status, 405, method)
            self.assertEqual(r.headers["Allow"], "GET, HEAD", method)

    def test_no_files(self):
        for path in ["/", "/etc/passwd", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/metrics/", "/index.html"]:
            r, body = self.ask(path)
            self.assertIn(r.status, (400, 404), path)
            self.assertNotIn("root:", body)
            self.assertNotIn("<a href", body)

    def test_slow_clients_do_not_keep_a_health_check_out(self):
        """More of them than a small server has threads. Who is answered before most of them are thrown out did not
        wait for them; a machine that stands still for a second may throw them out first, so it is tried again."""
        for _ in range(5):
            slow = [socket.create_connection(("127.0.0.1", self.host.http)) for _ in range(40)]
            for s in slow:
                s.sendall(b"GET /healthz HTTP/1.1\r\n")
            self.assertEqual(self.ask("/healthz")[0].status, 200)
            gone = len(select.select(slow, [], [], 0)[0])  # readable: an answer, or the end
            for s in slow:
                s.close()
            if gone < 20:
                return
        self.fail(f"{gone} of 40 slow clients were served before a health check that came after them")

    def test_hostile_clients(self):
        idle = [socket.create_connection(("127.0.0.1", self.host.http)) for _ in range(2)]
        for data in [os.urandom(2000), b"GET " + b"x" * 100000 + b" HTTP/1.1\r\n\r\n",
                     b"GET /metrics HTTP/1.1\r\n" + b"a: b\r\n" * 10000 + b"\r\n",
                     b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"]:
            with socket.create_connection(("127.0.0.1", self.host.http)) as s:
                s.settimeout(20)
                try:
                    s.sendall(data)
                    s.recv(4096)
                except (BrokenPipeError, ConnectionResetError, socket.timeout):
                    pass
        for s in idle:
            s.close()
        self.assertEqual(self.ask("/healthz")[0].status, 200)

    @unittest.skipUnless(shutil.which("promtool"), NO_PROMETHEUS)
    def test_promtool_finds_nothing(self):
        _, body = self.ask("/metrics")
        r = subprocess.run(["promtool", "check", "metrics"], input=body, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True)
        self.assertEqual((r.returncode, r.stdout), (0, ""))

    @unittest.skipUnless(shutil.which("prometheus"), NO_PROMETHEUS)
    def test_prometheus_scrapes(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "prometheus.yml")
            with open(config, "w", encoding="ascii") as f:
                f.write("scrape_configs:\n- job_name: matchrdma\n  scrape_interval: 1s\n  static_configs:\n"
                        f"  - targets: ['127.0.0.1:{self.host.http}']\n")
            server = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                                       f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"])
            try:
                value = self.query(port, 'matchrdma_pseudo_acks_total{worker="1"}')
                self.assertEqual(value, "42")
                self.assertEqual(self.query(port, "up"), "1")
                quantile = float(self.query(port, "histogram_quantile(0.5, matchrdma_gate_wait_seconds_bucket{worker='0'})"))
                self.assertTrue(0.001 <= quantile <= 0.0021, quantile)
            finally:
                server.send_signal(signal.SIGTERM)
                server.wait(30)

    def query(self, port, expression):
        """The first value of an instant query, as soon as there is one."""
        url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(url, timeout=5) as r:
                    result = json.load(r)["data"]["result"]
                if result:
                    return result[0]["value"][1]
            except OSError:
                pass
            time.sleep(0.3)
        self.fail(f"Prometheus never knew {expression}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
