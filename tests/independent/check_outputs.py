#!/usr/bin/env python3
"""Replays captures with the tool and reads what the proxies sent with other eyes: roce.py, and delivery rules
written here. Shares no code with the tool.

    check_outputs.py MATCHRDMA TRACE...      exit code 1 if anything is wrong
"""
import collections
import os
import subprocess
import sys
import tempfile

from roce import READ_CLASS, Packet, check_icrc, check_readable, read_pcap, roce


def check_delivery(name, sent, received, complain):
    wanted = collections.defaultdict(set)
    for p in sent:
        if p.request() and p.icrc_right():
            wanted[(p.flow(), p.psn)].add(p.masked())
    seen, newest = set(), {}
    for p in received:
        if not p.request() or not p.icrc_right():
            continue
        key = (p.flow(), p.psn)
        if p.masked() not in wanted.get(key, ()):
            complain(f"{name}: PSN {p.psn} to QP {p.qpn} left with bytes that never entered")
        if key in seen:
            continue
        seen.add(key)
        before = newest.get(p.flow())
        behind = before is not None and ((p.psn - before) & 0xFFFFFF) >= 1 << 23
        if behind and p.opcode not in READ_CLASS:
            complain(f"{name}: PSN {p.psn} to QP {p.qpn} came after PSN {before}")
        if not behind:
            newest[p.flow()] = p.psn
    for (_, qpn), psn in wanted.keys() - seen:
        complain(f"{name}: PSN {psn} to QP {qpn} never arrived")
    return len(seen)


def check_responses(name, sent, received, complain):
    """READ responses and READ request copies pass, every one of them."""
    for what, kind in (("response", Packet.response_with_data), ("READ-class request", lambda p: p.opcode in READ_CLASS)):
        came = collections.Counter(p.masked() for p in received if kind(p))
        missing = collections.Counter(p.masked() for p in sent if kind(p)) - came
        if missing:
            complain(f"{name}: {sum(missing.values())} {what} packets of the trace did not pass")


def check_trace(tool, trace, complain):
    name = os.path.basename(trace)
    with tempfile.TemporaryDirectory() as folder:
        out = {side: os.path.join(folder, side + ".pcap") for side in ("lan-a", "lan-b", "wan")}
        writes = [word for side, path in out.items() for word in ("--write-" + side, path)]
        report = ["--json", os.path.join(folder, "report.json")]
        subprocess.run([tool, "replay", trace, "--register", "on", *report, *writes], check=True,
                       stdout=subprocess.DEVNULL)
        frames = read_pcap(trace)
        from_a = list(roce(f for f in frames if f[11] == 1))  # the hosts' MAC addresses end in 01 and 02
        from_b = list(roce(f for f in frames if f[11] == 2))
        spoiled = {p.frame for p in from_a + from_b if not p.icrc_right()}
        into = {side: list(roce(read_pcap(path))) for side, path in out.items()}
        for side, path in out.items():
            check_readable(f"{name} {side}", path, complain)
            check_icrc(f"{name} {side}", into[side], spoiled, complain)
        n = check_delivery(f"{name} A to B", from_a, into["lan-b"], complain)
        n += check_delivery(f"{name} B to A", from_b, into["lan-a"], complain)
        check_responses(f"{name} A to B", from_a, into["lan-b"], complain)
        check_responses(f"{name} B to A", from_b, into["lan-a"], complain)
        print(f"{name}: {n} distinct requests delivered, {sum(map(len, into.values()))} packets of the proxies read")


def main():
    complaints = []

    def complain(sentence):
        complaints.append(sentence)
        if len(complaints) <= 50:
            print("WRONG:", sentence)

    tool, traces = sys.argv[1], sys.argv[2:]
    if not traces:
        sys.exit(__doc__)
    for trace in traces:
        check_trace(tool, trace, complain)
    print(f"{len(traces)} traces, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


main()
