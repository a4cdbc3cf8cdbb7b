#!/usr/bin/env python3
"""The Dockerfile against the tree it stands in: what can be known without building it (./run image does that).

    dockerfile_test.py ROOT PROGRAM...     PROGRAMs of this build, to see which libraries the image must have
"""
import fnmatch
import http.server
import os
import re
import socketserver
import subprocess
import sys
import threading
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(sys.argv[1], "tests", "law")]
import dockerfile  # noqa: E402
from tree import source_files  # noqa: E402

ROOT, PROGRAMS = sys.argv[1], sys.argv[2:]
HEALTH_PORT = 9464  # the default of metrics.listen, docs/configuration.md


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def shell(command, text=""):
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=ROOT, input=text, check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def installed_by(run):
    """Packages that an apt-get install of a RUN line names."""
    words = re.search(r"apt-get install ([^&|]*)", run.text).group(1).split()
    return {w for w in words if not w.startswith("-")}


def closure_of(packages):
    """What Debian installs with these, as far as it is installed here."""
    out = subprocess.run(["dpkg-query", "-W", "-f", "${Package}\t${Depends}, ${Pre-Depends}\n"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    depends = {name: re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]+)", needs)
               for name, needs in (line.split("\t") for line in out.splitlines())}
    seen, left = set(), list(packages)
    while left:
        package = left.pop()
        if package not in seen:
            seen.add(package)
            left += depends.get(package, [])
    return seen


class Dockerfile(unittest.TestCase):
    def setUp(self):
        self.stages = dockerfile.read(os.path.join(ROOT, "Dockerfile"))
        self.build, self.image = self.stages

    def test_debian_12_twice(self):
        self.assertEqual([(s.image, s.name) for s in self.stages], [("debian:12", "build"), ("debian:12-slim", "")])

    def test_what_is_copied_is_there(self):
        ignored = text_of(".dockerignore").split()
        files = [f for f in source_files(ROOT)
                 if not any(fnmatch.fnmatch(f, p.rstrip("/") + "/*") or fnmatch.fnmatch(f, p) for p in ignored)]
        targets = self.targets()
        for copy in [dockerfile.copy_of(i) for s in self.stages for i in s.all("COPY")]:
            for source in copy.sources:
                if copy.stage:
                    self.assertEqual(copy.stage, "build")
                    self.assertTrue(source.startswith("/src/"), source)
                    source = source[len("/src/"):]
                if source.startswith("build/bin/"):
                    self.assertIn(source[len("build/bin/"):], targets)
                    continue
                there = source == "." or any(f == source or f.startswith(source + "/") for f in files)
                self.assertTrue(there, f"COPY {source}: not in the tree, or kept out by .dockerignore")

    def targets(self):
        """What the last RUN of the build stage builds."""
        run = self.build.all("RUN")[-1].text
        return re.search(r"--target ([\w ]+)$", run).group(1).split()

    def test_it_builds_as_run_does(self):
        run = self.build.all("RUN")[-1].text
        self.assertIn("cmake --preset release ", run)
        self.assertTrue(re.search(r"\bbuild\) build release\b", text_of("run")), "./run build has another preset")
        self.assertIn("cmake --build build ", run)

    def test_packages_to_build_are_those_of_packages_txt(self):
        awk = re.search(r"awk '[^']*' packages.txt", self.build.all("RUN")[0].text).group(0)
        here = shell(awk).split()
        by_run = shell('source /dev/stdin; packages_of build', re.search(r"^packages_of\(\) \{.*?^\}$", text_of("run"),
                                                                         re.M | re.S).group(0)).split()
        self.assertEqual(here, by_run)
        self.assertIn("libdpdk-dev", here)

    def test_apt_is_asked_for_no_more(self):
        for run in [r for s in self.stages for r in s.all("RUN") if "apt-get" in r.text]:
            self.assertIn("apt-get install -y --no-install-recommends", run.text)
            self.assertIn("DEBIAN_FRONTEND=noninteractive", run.text)
        self.assertIn("rm -rf /var/lib/apt/lists/*", self.image.all("RUN")[0].text)

    def test_the_image_has_every_library(self):
        closure = closure_of(installed_by(self.image.all("RUN")[0]) | {"libstdc++6"})
        files = subprocess.run(["dpkg-query", "-L", *sorted(closure)], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True).stdout
        there = {os.path.basename(f) for f in files.splitlines()}
        for program in PROGRAMS:
            out = subprocess.run(["ldd", program], check=True, stdout=subprocess.PIPE, text=True).stdout
            needs = set(re.findall(r"(\S+) => /", out))
            self.assertTrue(needs, program)
            self.assertEqual(needs - there, set(), f"{program} needs them, no package of the image brings them")

    def test_the_image_has_every_driver(self):
        closure = closure_of(installed_by(self.image.all("RUN")[0]))
        drivers = "mlx5 ice i40e bnxt virtio af-packet af-xdp memif tap vhost pcap ring null".split()
        for stem in [f"librte-net-{d}" for d in drivers] + ["librte-mempool-ring", "librte-bus-pci", "librte-bus-vdev"]:
            self.assertTrue(any(re.fullmatch(stem + r"-?\d+", p) for p in closure), f"{stem}, loaded at run time")

    def test_it_does_not_run_as_root(self):
        user = self.image.one("USER").text
        self.assertEqual(user, "matchrdma")
        self.assertRegex(self.image.all("RUN")[0].text, rf"useradd .*\b{user}\b")
        self.assertEqual(self.image.one("ENTRYPOINT").exec_form(), ["matchrdmad"])
        order = [i.word for i in self.image.instructions]
        self.assertGreater(order.index("USER"), len(order) - 1 - order[::-1].index("RUN"), "a RUN behind USER")

    def test_health(self):
        check = self.image.one("HEALTHCHECK").exec_form()
        self.assertIn(f"/{HEALTH_PORT} ", check[-1])
        self.assertRegex(text_of("docs/configuration.md"), rf"`listen`.*127\.0\.0\.1:{HEALTH_PORT}")
        said = {}

        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                said["path"] = self.path
                self.send_response(said["code"])
                self.end_headers()

            def log_message(self, *_):
                pass

        server = socketserver.TCPServer(("127.0.0.1", 0), Page)
        port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = check[:-1] + [check[-1].replace(f"/{HEALTH_PORT} ", f"/{port} ")]
        healthy = lambda: subprocess.run(command, stderr=subprocess.DEVNULL, timeout=10).returncode == 0  # noqa: E731
        for code, good in [(200, True), (503, False), (404, False)]:
            said["code"] = code
            self.assertEqual(healthy(), good, code)
            self.assertEqual(said["path"], "/healthz")
        server.shutdown()
        server.server_close()
        self.assertFalse(healthy(), "nobody listens")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
