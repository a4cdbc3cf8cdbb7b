#!/usr/bin/env python3
"""Carries out the Dockerfile without Docker, each stage in a bare Debian 12, and tries what came of it.

    unshare --mount image.py FOLDER     as root; FOLDER/tree.tar is the context, and the stages are left in FOLDER

Not covered: layers, and the slim image's missing manuals.
"""
import fnmatch
import glob
import os
import shutil
import subprocess
import sys

import dockerfile

HERE = os.path.dirname(os.path.abspath(__file__))
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
UNPRIVILEGED = ["--inh-caps=-all", "--bounding-set=-all,+net_admin,+net_raw,+ipc_lock"]


def say(text):
    print(f"\n== image: {text}", flush=True)


def proxy():
    out = subprocess.run(["apt-config", "dump", "--format", "%f %v%n", "Acquire::http::Proxy"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout.split()
    value = os.environ.get("http_proxy") or (out[1] if len(out) == 2 else "")
    return {"http_proxy": value} if value else {}


class Machine:
    """The root folder of one stage."""

    def __init__(self, folder, name):
        self.root = os.path.join(folder, name)
        self.folder = "/"
        self.user = ""
        subprocess.run([os.path.join(HERE, "..", "bare.sh"), folder, self.root], check=True)
        packages = os.path.join(folder, "packages")
        os.makedirs(os.path.join(packages, "partial"), exist_ok=True)
        subprocess.run(["mount", "-t", "proc", "proc", self.root + "/proc"], check=True)
        subprocess.run(["mount", "--bind", packages, self.root + "/var/cache/apt/archives"], check=True)

    def inside(self, path):
        """Where a path of the machine is."""
        return self.root + os.path.normpath(os.path.join(self.folder, path))

    def run(self, *command, **options):
        env = {"PATH": PATH, "HOME": "/tmp", "LANG": "C.UTF-8", **proxy()}
        become = ["setpriv", "--reuid", self.user, "--regid", self.user, "--init-groups", *UNPRIVILEGED] if self.user else []
        where = ["sh", "-c", 'cd "$0" && exec "$@"', self.folder]
        return subprocess.run(["chroot", self.root, *become, *where, *command], env=env, **options)

    def copy(self, source_root, sources, target):
        into = self.inside(target)
        for source in sources:
            for path in glob.glob(os.path.normpath(f"{source_root}/{source}")) or sys.exit(f"COPY {source}: is not there"):
                # A folder's contents are copied, a file goes into a target that is a folder.
                folder = os.path.isdir(path)
                place = into if folder or not target.endswith(("/", ".")) else os.path.join(into, os.path.basename(path))
                os.makedirs(into if folder or place != into else os.path.dirname(into), exist_ok=True)
                subprocess.run(["cp", "-a", path + ("/." if folder else ""), place], check=True)


def unpack_context(folder):
    context = os.path.join(folder, "context")
    shutil.rmtree(context, ignore_errors=True)
    os.makedirs(context)
    subprocess.run(["tar", "-C", context, "-xf", os.path.join(folder, "tree.tar")], check=True)
    with open(os.path.join(context, ".dockerignore"), encoding="utf-8") as f:
        ignored = [line.strip().rstrip("/") for line in f if line.strip()]
    for name in os.listdir(context):
        if any(fnmatch.fnmatch(name, pattern) for pattern in ignored):
            sys.exit(f"image: {name} is tracked, and kept out by .dockerignore")
    return context


def carry_out(folder, context):
    machines = {}
    for number, stage in enumerate(dockerfile.read(os.path.join(context, "Dockerfile"))):
        name = stage.name or f"stage-{number}"
        say(f"stage {name} from {stage.image}")
        machine = machines[name] = Machine(folder, name)
        for i in stage.instructions:
            print(f"-- {i.word} {i.text}", flush=True)
            if i.word == "WORKDIR":
                machine.folder = i.text
                os.makedirs(machine.inside("."), exist_ok=True)
            elif i.word == "USER":
                machine.user = i.text
            elif i.word == "COPY":
                copy = dockerfile.copy_of(i)
                machine.copy(machines[copy.stage].root if copy.stage else context, copy.sources, copy.target)
            elif i.word == "RUN":
                machine.run("/bin/sh", "-c", i.text, check=True)
    return stage, machine


def check(good, what):
    print(("ok   " if good else "FAIL ") + what, flush=True)
    if not good:
        sys.exit(1)


def try_it(stage, machine):
    say("trying the image, as its user")
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    entry = stage.one("ENTRYPOINT").exec_form()
    done = machine.run(*entry, "--help", **both)
    check(done.returncode == 0 and "--config" in done.stdout, "the daemon starts and tells its options")
    done = machine.run(*entry, *stage.one("CMD").exec_form(), timeout=60, **both)
    check(done.returncode != 0 and "/etc/matchrdma/matchrdmad.yaml" in done.stdout,
          f"without a configuration it says so: {done.stdout.strip()}")
    done = machine.run("id", "-u", **both)
    check(done.stdout.strip() == "10001", f"it is user {done.stdout.strip()}")
    done = machine.run("getcap", "/usr/local/bin/matchrdmad", **both)
    check(set(done.stdout.split()[-1].removesuffix("=p").split(",")) == {"cap_net_admin", "cap_net_raw", "cap_ipc_lock"},
          f"capabilities: {done.stdout.strip()}")
    trace = "/usr/share/matchrdma/traces/b_write_bw_64k_pmtu1024.pcap"
    done = machine.run("matchrdma", "replay", trace, "--register", "on", "--distance", "1000", **both)
    check(done.returncode == 0, "the tool replays a shipped trace")
    done = machine.run("matchrdma", "config", "--check", "--without-keys",
                       "/usr/share/doc/matchrdma/examples/one-span.yaml", **both)
    check(done.returncode == 0, f"the tool checks a shipped example: {done.stdout.strip()}")
    done = machine.run(*stage.one("HEALTHCHECK").exec_form(), timeout=10, **both)
    check(done.returncode != 0, "where nobody listens it is not healthy")


def main():
    folder = os.path.realpath(sys.argv[1])
    stage, machine = carry_out(folder, unpack_context(folder))
    try_it(stage, machine)
    say("every stage was carried out, and what came of it runs")


main()
