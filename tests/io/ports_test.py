#!/usr/bin/env python3
"""Ports over net_af_packet: every frame passes byte for byte, both ways, and links are seen and switched.

    unshare --net ports_test.py MATCHRDMA
"""
import os
import socket
import subprocess
import sys
import time

from rig import Host, Span, carrier, check, finish, frame, gro, ip, make_wires, wait_for, MAC_A, MAC_B

MTU = 9000


def bytes_pass(a, b):
    sizes = [60, 61, 64, 128, 576, 1500, 1514, 1518, 2048, 2049, 4096, 4200, 8192, 9000, MTU + 14]
    cases = {"untagged": [(s, ()) for s in sizes]}
    for name, tags in {"one 0x8100 tag": [(0x8100, 0xe064)], "priority tag": [(0x8100, 0x6000)],
                       "one 0x88a8 tag": [(0x88a8, 100)], "0x88a8 and 0x8100": [(0x88a8, 100), (0x8100, 200)],
                       "0x8100 twice": [(0x8100, 100), (0x8100, 0x30c8)], "0x9100": [(0x9100, 7)],
                       "three tags": [(0x88a8, 1), (0x8100, 2), (0x8100, 3)]}.items():
        cases[name] = [(s, tags) for s in sizes if s >= 64]
    cases["0x8100 beyond the MTU"] = [(MTU + 18, [(0x8100, 5)])]
    for name, list_of in cases.items():
        for way, (src, dst, macs) in {"a to b": (a, b, (MAC_A, MAC_B)), "b to a": (b, a, (MAC_B, MAC_A))}.items():
            sent = [frame(i, size, tags, *macs) for i, (size, tags) in enumerate(list_of)]
            for f in sent:
                src.send(f)
            got = dst.receive_all(len(sent), 10)
            wrong = [len(s) for s, g in zip(sent, got) if s != g]
            check(got == sent, f"{name}, {way}: {len(got)} of {len(sent)} frames, wrong {wrong or 'none'}")
    check(a.receive(0.1) is None and b.receive(0.1) is None, "nothing comes twice or back")


def tags_survive_any_moment(a, b):
    """The kernel hands the outer tag beside the frame: frames that arrive while the port takes others keep theirs."""
    sent = [frame(i, 100, [(0x88a8 if i % 2 else 0x9100, i & 0xfff)]) for i in range(4000)]
    got = []
    for f in sent:
        a.send(f)
        if len(got) < len(sent) and (g := b.receive(0)) is not None:
            got.append(g)
    got += b.receive_all(len(sent) - len(got), 10)
    # The kernel queues what crosses a veth by CPU: a sender that moves between two of them may overtake itself.
    check(sorted(got) == sorted(sent), f"{len(got)} of {len(sent)} frames of a stream have their tags")


def links(span, a, b):
    check(span.stats()["port_a"]["link_up"] and span.stats()["port_b"]["link_up"], "both links are up")
    ip("link", "set", "a0", "down")
    wait_for(lambda: not span.stats()["port_a"]["link_up"], "port a sees its neighbour go down")
    check(span.stats()["port_b"]["link_up"], "a's link goes down, b's stays")
    ip("link", "set", "a0", "up", "promisc", "on")
    wait_for(lambda: span.stats()["port_a"]["link_up"], "port a sees its neighbour come back")

    span.do("cut link")
    wait_for(lambda: not carrier("a0") and not carrier("b0"), "both neighbours lose the carrier")
    stats = span.stats()
    check(not stats["port_a"]["link_up"] and stats["dark"], "the ports know it")
    span.do("restore")
    wait_for(lambda: carrier("a0") and carrier("b0"), "both neighbours have the carrier again")
    wait_for(lambda: span.stats()["port_a"]["link_up"] and span.stats()["port_b"]["link_up"], "links up")
    f = frame(77, 200)
    a.send(f)
    check(b.receive(10) == f, "frames pass again")

    # A port that is switched off under a running driver: frames for it are dropped and do not come later.
    ip("link", "set", "b1", "down")
    wait_for(lambda: not span.stats()["port_b"]["link_up"], "port b is switched off")
    for i in range(100):
        a.send(frame(i, 200))
    wait_for(lambda: span.stats()["port_b"]["tx_link_down"] >= 100, "frames are dropped before it")
    ip("link", "set", "b1", "up")
    wait_for(lambda: carrier("b0") and span.stats()["port_b"]["link_up"], "and on again")
    a.send(f)
    check(b.receive(10) == f, "none of them comes late")


def removed(span):
    """Another interface of the same name is not the one that was opened: its packets would be lost in silence."""
    ip("link", "del", "a1")
    wait_for(lambda: not span.stats()["port_a"]["link_up"], "port a is gone")
    ip("link", "add", "a0", "mtu", str(MTU), "type", "veth", "peer", "name", "a1", "mtu", str(MTU))
    ip("link", "set", "a0", "up")
    ip("link", "set", "a1", "up")
    wait_for(lambda: carrier("a0") and carrier("a1"), "the new a1 is up")
    time.sleep(0.1)
    check(not span.stats()["port_a"]["link_up"], "a port whose interface was removed stays down")


def own_host(span):
    """What this host itself sends out of the port's interface is none of the span's business."""
    before = span.stats()["a_to_b"]["frames_in"]
    Host("a1").send(frame(1, 100))
    time.sleep(0.2)
    check(span.stats()["a_to_b"]["frames_in"] == before, "frames of this host itself are not taken")


def merging():
    """The kernel merges segments of one connection into a frame that no other port could send."""
    for end in ("a1", "b1"):
        check(not gro(end), f"GRO of {end}, which was on, is switched off")


def fanout_group_that_is_taken(tool):
    """The driver's own number for its group of sockets is held by somebody on another interface: it takes another."""
    def hold():
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        s.bind(("lo", 0))
        group = (os.getpid() ^ socket.if_nametoindex("a1")) & 0xffff
        s.setsockopt(263, 18, group)  # SOL_PACKET, PACKET_FANOUT: by hash
        os.set_inheritable(s.detach(), True)
    span = Span(tool, preexec_fn=hold, close_fds=False)
    check(span.stats()["port_a"]["link_up"], "a port starts although its group is taken")
    span.end()


def more_than_is_free():
    """MiB of hugepages that this machine cannot give."""
    with open("/proc/meminfo", encoding="ascii") as f:
        free = next((int(line.split()[1]) for line in f if line.startswith("HugePages_Free:")), 0)
    return 2 * free + 512


def complaints(tool):
    lacking = more_than_is_free()
    for options, says in [(["--a", "net_af_packet0,iface=nosuch", "--b", "net_af_packet1,iface=b1"],
                           "interface nosuch: its MTU cannot be read: No such device; `ip link` lists"),
                          (["--a", "a1", "--b", "b1"], "port a1: neither a PCI address"),
                          (["--a", "net_null0", "--b", "net_null1", "--memory", f"{lacking}MiB"],
                           f"not enough free hugepages for {lacking} MiB: reserve {lacking // 2} pages of 2 MiB")]:
        done = subprocess.run([tool, "span", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60)
        check(done.returncode != 0 and says in done.stdout, f"says: {says}")
        if says not in done.stdout:
            print(done.stdout)


def main():
    tool = sys.argv[1]
    make_wires(MTU)
    for end in ("a1", "b1"):
        gro(end, on=True)
        check(gro(end), f"GRO of {end} is on")
    span = Span(tool)
    merging()
    print(span.said, end="")
    a, b = Host("a0"), Host("b0")
    bytes_pass(a, b)
    tags_survive_any_moment(a, b)
    own_host(span)
    links(span, a, b)
    removed(span)
    figures = span.end()
    drops = {k: v for side in "ab" for k, v in figures[f"port_{side}"].items() if k.startswith(("rx_", "tx_")) and v}
    check(drops == {"tx_link_down": drops.get("tx_link_down")}, f"no other drops: {drops}")
    fanout_group_that_is_taken(tool)
    complaints(tool)
    finish()


main()
