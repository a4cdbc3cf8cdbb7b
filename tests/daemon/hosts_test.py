#!/usr/bin/env python3
"""model_host itself, without daemons: it is content with a good wire, and finds what a bad one does to the data.

    unshare --net hosts_test.py FOLDER-OF-PROGRAMS
"""
import contextlib
import select
import socket
import struct
import threading

from case import Case, main
from hosts import Pair
from testbed import captures

roce = captures.roce
ETH_P_ALL, PACKET_IGNORE_OUTGOING, SOL_PACKET = 3, 23, 263
WRITE_ONLY, SEND_ONLY, ACK = 0x0A, 0x04, 0x11
BTH, RETH, PSN = 12, 16, 9  # bytes; where the PSN stands in the BTH


class Wire(threading.Thread):
    """Carries frames between lanA and lanB. `change` gets the second packet of `opcode` and gives the
    frames that go on in its place."""

    def __init__(self, opcode=None, change=None):
        super().__init__(daemon=True)
        self.opcode, self.change, self.seen, self.ending = opcode, change, 0, False
        self.ends = []
        for name in ("lanA", "lanB"):
            end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            end.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
            end.bind((name, 0))
            self.ends.append(end)
        self.start()

    def run(self):
        while not self.ending:
            for end in select.select(self.ends, [], [], 0.2)[0]:
                frame = end.recv(65536)
                for out in self.carried(frame):
                    self.ends[1 - self.ends.index(end)].send(out)

    def carried(self, frame):
        packets = list(roce.roce([frame]))
        if not packets or packets[0].opcode != self.opcode:
            return [frame]
        self.seen += 1
        return self.change(packets[0]) if self.seen == 2 else [frame]

    def close(self):
        self.ending = True
        self.join()
        for end in self.ends:
            end.close()


def flipped(offset, bit=1):
    """One bit of the packet, `offset` bytes behind the begin of its BTH, and an ICRC that is right again."""
    def change(packet):
        b = bytearray(packet.frame)
        b[packet.bth + offset] ^= bit
        b[packet.icrc_at:packet.icrc_at + 4] = struct.pack("<I", roce.Packet(bytes(b)).icrc())
        return [bytes(b)]
    return change


class Hosts(Case):
    @classmethod
    def prepare(cls, bed):
        """No daemons."""

    def result(self, opcode=None, change=None, work="send,write"):
        with contextlib.closing(Wire(opcode, change)):
            return self.hosts([Pair(1)], "--work", work, "--messages", "60", "--timeout", "200ms", "--retries", "20",
                              "--patience", "5s").result()

    def assert_wrong(self, sentence, result):
        self.assertTrue(any(sentence in w for w in result["wrong"]), result)

    def test_good_wire(self):
        self.assert_unnoticed(self.result(work="send,write,read,atomic"))

    def test_payload(self):
        self.assert_wrong("request payload differs", self.result(WRITE_ONLY, flipped(BTH + RETH)))

    def test_address(self):
        self.assert_wrong("request headers differ", self.result(WRITE_ONLY, flipped(BTH + 7)))

    def test_message(self):
        self.assert_wrong("request payload differs", self.result(SEND_ONLY, flipped(BTH)))

    def test_acknowledged_before_it_was_sent(self):
        self.assert_wrong("ACK for a PSN that was never sent", self.result(ACK, flipped(PSN + 1, 2)))

    def test_loss_and_doubles_are_seen_and_harmless(self):
        result = self.result(SEND_ONLY, lambda packet: [])
        self.assert_right(result)
        self.assertGreater(result["retransmitted"], 0)
        result = self.result(SEND_ONLY, lambda packet: [packet.frame] * 2)
        self.assert_right(result)
        self.assertEqual((result["retransmitted"], result["duplicates"]), (0, 1))

    def test_broken_icrc_is_not_taken(self):
        result = self.result(WRITE_ONLY, lambda p: [p.frame[:p.icrc_at] + bytes(4)])
        self.assert_right(result)
        self.assertEqual(result["bad_icrc"], 1)


if __name__ == "__main__":
    main()
