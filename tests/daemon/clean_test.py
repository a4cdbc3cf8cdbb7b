#!/usr/bin/env python3
"""A span without faults: hosts see nothing of the proxies but speed, whatever the policy and however a pair is learned.

    unshare --net clean_test.py FOLDER-OF-PROGRAMS
"""
import select
import socket
import struct

from case import Case, main
from hosts import Pair
from testbed import await_, counts

KM = 1000
ETH_P_ALL = 3
ETHERNET = bytes.fromhex("020000000002020000000001")  # from host a to host b


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def ipv4(number, data, proto=17):
    """An IPv4 packet as a frame."""
    head = struct.pack(">BBHHHBBH8B", 0x45, 0, 20 + len(data), number, 0, 64, proto, 0, 10, 1, 1, 9, 10, 2, 1, 9)
    return ETHERNET + b"\x08\x00" + head[:10] + struct.pack(">H", checksum(head)) + head[12:] + data


class Clean(Case):
    shared = True

    @classmethod
    def prepare(cls, bed):
        bed.start(KM)

    def pseudo_acks(self):
        return counts("pseudo_acks", *self.bed.both)

    def test_transparent(self):
        for daemon in self.bed.both:
            daemon.ctl("mode", "transparent", "--class", "bulk")
        before = self.pseudo_acks()
        try:
            with self.bed.capture("transparent") as capture:
                # Not early: the model takes a completion before the execution for an error.
                result = self.hosts([Pair(1), Pair(2)], "--both", "--messages", "40").result()
        finally:
            for daemon in self.bed.both:
                daemon.ctl("mode", "configured", "--class", "bulk")
        self.assert_unnoticed(result)
        self.assert_clean(capture.verdict, proxied=False)
        self.assertEqual(self.pseudo_acks(), before, "an ACK was given on behalf of somebody")

    def through(self, frames):
        """What comes to host b when host a sends these frames, and nothing of it is RoCE."""
        ends = []
        for end, protocol in (("tapA", 0), ("tapB", socket.htons(ETH_P_ALL))):
            ends.append(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, protocol))
            ends[-1].bind((end, 0))
            self.addCleanup(ends[-1].close)
        last = ETHERNET + b"\x88\xb6" + bytes(60)
        for frame in [*frames, last]:
            ends[0].send(frame)
        got = []
        while not got or got[-1] != last:
            self.assertTrue(select.select([ends[1]], [], [], 20)[0], "the last frame does not come")
            got.append(ends[1].recv(65536))
        return got[:-1]

    def test_what_is_not_roce_passes(self):
        padding = bytes(range(60))
        frames = [ETHERNET + kind + padding for kind in (b"\x88\xb5", b"\x08\x06", b"\x86\xdd", b"\x00\x30")]
        frames += [b"\x01\x80\xc2\x00\x00\x0e" + ETHERNET[6:] + b"\x88\xcc" + padding]  # LLDP
        frames += [ipv4(1, padding), ipv4(2, padding, proto=6), ipv4(3, struct.pack(">HHHH", 7, 4791, 8, 0))]
        self.assertEqual(self.through(frames), frames)

    def test_early_registered(self):
        pairs = [Pair(3), Pair(4)]
        for p in pairs:
            p.register(self.bed.a)
        before = self.pseudo_acks()
        with self.bed.capture("registered") as capture:
            result = self.hosts(pairs, "--both", "--early", "--work", "send,write", "--messages", "60").result()
        self.assert_unnoticed(result)
        self.assert_clean(capture.verdict, proxied=True)
        for daemon, count in zip(self.bed.both, before):
            daemon.await_more("pseudo_acks", count)
        self.await_active(pairs, "registration")

    def await_active(self, pairs, learned_by):
        """Both directions of these pairs, each at its source, and learned so."""
        for daemon, side in zip(self.bed.both, "ab"):
            for pair in pairs:
                await_(lambda d=daemon, q=getattr(pair, side)[0]: d.flows(
                    src_qpn=q, role="source", state="active", learned_by=learned_by), f"{pair.numbers()} is active")

    def test_early_with_reads_and_atomics(self):
        """Their responses come from the far side; no ACK of what was posted behind them may reach the host before."""
        pair = Pair(9)
        pair.register(self.bed.a)
        before = self.bed.a.count("pseudo_acks")
        self.assert_unnoticed(self.hosts([pair], "--both", "--early", "--messages", "60").result())
        self.bed.a.await_more("pseudo_acks", before)

    def test_many_pairs_that_read(self):
        """What is remembered of answered READs is of bounded size, and never in the way of new ones."""
        pairs = [Pair(n, "readers") for n in range(20, 44)]
        for p in pairs:
            p.register(self.bed.a)
        result = self.hosts(pairs, "--early", "--work", "read", "--max-length", "1024", "--messages", "300",
                            "--depth", "8", "--timeout", "3s", "--retries", "2").result()
        self.assert_unnoticed(result)

    def test_early_learned_by_correlation(self):
        pairs = [Pair(5), Pair(6), Pair(7)]
        before = self.pseudo_acks()
        hosts = self.hosts(pairs, "--both", "--early", "--work", "send,write", "--messages", "1000000",
                           "--depth", "2")
        try:
            self.await_active(pairs, "correlation")
            for daemon, count in zip(self.bed.both, before):
                daemon.await_more("pseudo_acks", count)
            # Whichever proxy was the first to be sure.
            self.assertGreaterEqual(sum(counts("pairs_learned", *self.bed.both)), len(pairs))
        finally:
            result = hosts.end()
        self.assert_unnoticed(result)

    def test_early_is_early(self):
        """The same traffic without leave to complete early: the hosts see just that, and nothing else."""
        pair = Pair(10)
        pair.register(self.bed.a)
        result = self.hosts([pair], "--work", "send,write", "--messages", "20").result()
        self.assertEqual([w for w in result["wrong"] if "completed before it was executed" not in w], [])
        self.assertNotEqual(result["wrong"], [])

    def test_end_to_end(self):
        pair = Pair(8, "strict")
        pair.register(self.bed.a)
        before = self.bed.a.count("pseudo_acks")
        # Not early: no work request may complete before the receiver executed it.
        result = self.hosts([pair], "--messages", "60", "--work", "send,write").result()
        self.assert_unnoticed(result)
        self.bed.a.await_more("pseudo_acks", before)


if __name__ == "__main__":
    main()
