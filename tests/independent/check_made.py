#!/usr/bin/env python3
"""Makes traces with the tool and compares what it says of them with what other eyes see: roce.py, and tshark for the
MADs of connection management. Shares no code with the tool.

    check_made.py MATCHRDMA      exit code 1 if anything is wrong
"""
import collections
import ipaddress
import json
import os
import subprocess
import sys
import tempfile

from roce import CNP, check_icrc, check_readable, read_pcap, roce

UD_SEND = 0x64
SHORT = "--qps 4 --message 8K --iterations 2 --compute 300us"
RECIPES = [
    "",
    "--pattern write --loss 0.01 --mtu 4096",
    "--pattern send --psn random --qpn random",
    "--pattern read --ecn 0.05",
    "--pattern mixed --hosts 2 --loss 0.01 --loss-at before",
    "--setup cm --psn random --qpn random --source-port per-qp",
    "--setup cm --psn random --reuse --distance 100km",
    "--setup cm --ipv6 --vlan 100,200 --psn random",
    "--source-port own-qpn --vlan 7 --tap b --distance 10km",
    "--source-port fixed --hide 0.5",
    "--setup cm --psn random --hide 0.5 --hide-direction a",
    "--join-after 600us",
]
CM_NAMES = {0x10: "REQ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP"}


def request_or_answer(packet):
    return packet.opcode not in (UD_SEND, CNP)


def check_ends(name, truth, packets, complain):
    """Packets, first PSN and ports of every end, for traces in which a QPN means one connection only."""
    seen = collections.defaultdict(list)
    for p in packets:
        if p.opcode != UD_SEND:
            half = len(p.addresses) // 2
            seen[(ipaddress.ip_address(p.addresses[half:]), p.qpn)].append(p)
    for pair in truth["pairs"]:
        for end, other in ((pair["a"], pair["b"]), (pair["b"], pair["a"])):
            sent = seen.pop((ipaddress.ip_address(other["ip"]), other["qpn"]), [])
            who = f"{name}: QP {end['qpn']} of {end['ip']}"
            if len(sent) != end["packets"]:
                complain(f"{who}: {len(sent)} packets, not {end['packets']}")
            if sent and not end["visible"]:
                complain(f"{who}: should be hidden")
            requests = [p for p in sent if p.request()]
            if len(requests) != end["requests"]:
                complain(f"{who}: {len(requests)} requests, not {end['requests']}")
            if requests and requests[0].psn != end["first_request_psn"]:
                complain(f"{who}: begins with PSN {requests[0].psn}, not {end['first_request_psn']}")
            ports = {int.from_bytes(p.frame[p.l4:p.l4 + 2], "big") for p in sent if request_or_answer(p)}
            if ports - {end["udp_source_port"]}:
                complain(f"{who}: ports {ports}, not {end['udp_source_port']}")
            tags = [v for v in (pair["vlan_outer"], pair["vlan_inner"]) if v]
            if any(p.vlans != tags for p in sent):
                complain(f"{who}: other VLANs than {tags}")
    for (address, qpn), sent in seen.items():
        complain(f"{name}: {len(sent)} packets to QP {qpn} of {address}, of which the truth knows nothing")


def cm_messages(path):
    """What tshark reads in the MADs: (type, QPN and starting PSN of REQ and REP, QPN of a DREQ)."""
    fields = ["infiniband.mad.attributeid", "infiniband.cm.req.localqpn", "infiniband.cm.rep.localqpn",
              "infiniband.cm.req.startpsn", "infiniband.cm.rep.startpsn", "infiniband.cm.req.remoteqpneecn"]
    words = [w for f in fields for w in ("-e", f)]
    text = subprocess.run(["tshark", "-r", path, "-Y", "infiniband.mad", "-T", "fields", *words], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    for line in text.splitlines():
        kind, *numbers = (int(cell, 0) if cell else None for cell in line.split("\t"))
        req_qpn, rep_qpn, req_psn, rep_psn, dreq_qpn = numbers
        yield CM_NAMES.get(kind, kind), (req_qpn or rep_qpn, rep_psn if req_psn is None else req_psn), dreq_qpn


def check_cm(name, truth, path, complain):
    kinds, opened, closed = collections.Counter(), set(), set()
    for kind, numbers, dreq_qpn in cm_messages(path):
        kinds[kind] += 1
        if kind in ("REQ", "REP"):
            opened.add(numbers)
        if kind == "DREQ":
            closed.add(dreq_qpn)
    kinds_wanted, opened_wanted, closed_wanted = collections.Counter(), set(), set()
    for pair in truth["pairs"]:
        for end, peer, mads in ((pair["a"], pair["b"], ("REQ", "RTU", "DREQ")), (pair["b"], pair["a"], ("REP", "DREP"))):
            if end["visible"]:
                kinds_wanted.update(mads)
                opened_wanted.add((end["qpn"], peer["starting_psn"]))  # a MAD names the PSN that it expects
        if pair["a"]["visible"]:
            closed_wanted.add(pair["b"]["qpn"])
    if kinds != kinds_wanted:
        complain(f"{name}: tshark reads {dict(kinds)}, not {dict(kinds_wanted)}")
    if opened != opened_wanted:
        complain(f"{name}: tshark reads other QPNs and PSNs in REQ and REP: {sorted(opened ^ opened_wanted)}")
    if closed != closed_wanted:
        complain(f"{name}: tshark reads other QPNs in DREQ: {sorted(closed ^ closed_wanted)}")


def check_recipe(tool, options, complain):
    name = options or "(usual)"
    with tempfile.TemporaryDirectory() as folder:
        path, truth_path = os.path.join(folder, "made.pcap"), os.path.join(folder, "truth.json")
        subprocess.run([tool, "trace", "make", path, "--json", truth_path, *SHORT.split(), *options.split()],
                       check=True, stdout=subprocess.DEVNULL)
        with open(truth_path, encoding="utf-8") as f:
            truth = json.load(f)
        frames = read_pcap(path)
        packets = list(roce(frames))
        if not len(frames) == len(packets) == truth["packets"]:
            complain(f"{name}: {len(frames)} packets, {len(packets)} of RoCE, the truth says {truth['packets']}")
        if sum(map(len, frames)) != truth["bytes"]:
            complain(f"{name}: {sum(map(len, frames))} bytes, the truth says {truth['bytes']}")
        check_readable(name, path, complain)
        check_icrc(name, packets, (), complain)
        if "--reuse" not in options:
            check_ends(name, truth, packets, complain)
        if "cm" in options.split():
            check_cm(name, truth, path, complain)
        print(f"{name}: {len(packets)} packets, {len(truth['pairs'])} connections")


def main():
    complaints = []

    def complain(sentence):
        complaints.append(sentence)
        if len(complaints) <= 50:
            print("WRONG:", sentence)

    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for options in RECIPES:
        check_recipe(sys.argv[1], options, complain)
    print(f"{len(RECIPES)} recipes, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


main()
