"""Reading RoCEv2 captures with other eyes: tshark, and an ICRC and a parser written here after the specifications.
Shares no code with the tool."""
import struct
import subprocess
import zlib

ROCE_PORT = 4791
VLAN_TAGS = (0x8100, 0x88A8)
CNP = 0x81
FIRST_REQUEST, LAST_REQUEST = 0x00, 0x0C
ATOMICS = (0x13, 0x14)
READ_CLASS = (0x0C, 0x13, 0x14, 0x1C, 0x1D)
MORE_REQUESTS = (0x13, 0x14, 0x16, 0x17, 0x1C, 0x1D)


def read_pcap(path):
    with open(path, "rb") as f:
        data = f.read()
    magic = struct.unpack_from("<I", data)[0]
    order = "<" if magic in (0xA1B2C3D4, 0xA1B23C4D) else ">"
    at, out = 24, []
    while at < len(data):
        captured = struct.unpack_from(order + "I", data, at + 8)[0]
        out.append(data[at + 16:at + 16 + captured])
        at += 16 + captured
    return out


class Packet:
    """A RoCEv2 packet of Ethernet with up to two VLAN tags, IPv4 or IPv6 without options."""

    def __init__(self, frame):
        self.frame = frame
        self.l3 = 14
        self.vlans = []
        ether = struct.unpack_from(">H", frame, 12)[0]
        while ether in VLAN_TAGS and len(self.vlans) < 2:
            self.vlans.append(struct.unpack_from(">H", frame, self.l3)[0] & 0xFFF)
            ether = struct.unpack_from(">H", frame, self.l3 + 2)[0]
            self.l3 += 4
        if ether == 0x0800:
            self.v4, self.l4 = True, self.l3 + (frame[self.l3] & 15) * 4
            proto = frame[self.l3 + 9]
            self.addresses = frame[self.l3 + 12:self.l3 + 20]
            end = self.l3 + struct.unpack_from(">H", frame, self.l3 + 2)[0]
        elif ether == 0x86DD:
            self.v4, self.l4 = False, self.l3 + 40
            proto = frame[self.l3 + 6]
            self.addresses = frame[self.l3 + 8:self.l3 + 40]
            end = self.l4 + struct.unpack_from(">H", frame, self.l3 + 4)[0]
        else:
            raise ValueError("not IP")
        if proto != 17 or struct.unpack_from(">H", frame, self.l4 + 2)[0] != ROCE_PORT:
            raise ValueError("not RoCEv2")
        self.icrc_at, self.bth = end - 4, self.l4 + 8
        self.opcode = frame[self.bth]
        self.qpn = int.from_bytes(frame[self.bth + 5:self.bth + 8], "big")
        self.psn = int.from_bytes(frame[self.bth + 9:self.bth + 12], "big")

    def icrc(self):
        b = bytearray(self.frame[self.l3:self.icrc_at])
        if self.v4:
            ones = (1, 8, 10, 11)
        else:
            ones = (1, 2, 3, 7)
            b[0] |= 0x0F
        for i in ones:
            b[i] = 0xFF
        udp = self.l4 - self.l3
        b[udp + 6] = b[udp + 7] = b[udp + 8 + 4] = 0xFF
        return zlib.crc32(bytes(b), 0x2144DF1C)  # the running value behind eight bytes of ones

    def icrc_right(self):
        return struct.pack("<I", self.icrc()) == self.frame[self.icrc_at:self.icrc_at + 4]

    def masked(self):
        b = bytearray(self.frame)
        if self.v4:
            b[self.l3 + 1] &= 0xFC
            b[self.l3 + 8] = b[self.l3 + 10] = b[self.l3 + 11] = 0
        else:
            b[self.l3 + 1] &= 0xCF
            b[self.l3 + 7] = 0
        b[self.bth + 8] &= 0x7F
        b[self.icrc_at:self.icrc_at + 4] = bytes(4)
        return bytes(b)

    def request(self):
        return self.opcode <= LAST_REQUEST or self.opcode in MORE_REQUESTS

    def response_with_data(self):
        return 0x0D <= self.opcode <= 0x10 or self.opcode == 0x12

    def flow(self):
        return self.addresses, self.qpn


def roce(frames):
    for frame in frames:
        try:
            yield Packet(frame)
        except (ValueError, struct.error, IndexError):
            pass


def tshark_verdicts(path):
    """Per packet the last protocol and whether tshark calls it malformed."""
    # Registered RoCEv2 port, full decode; the IPv6 checksum 0 of Soft-RoCE is flagged by tshark and expected.
    fields = ["-e", "frame.number", "-e", "frame.protocols", "-e", "infiniband.bth.opcode", "-e", "_ws.malformed"]
    # Its guess that short SENDs are RPC over RDMA would call their random payload malformed.
    guess = ["--disable-protocol", "rpcordma"]
    text = subprocess.run(["tshark", "-r", path, *guess, "-T", "fields", *fields], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    return [line.split("\t") for line in text.splitlines()]


def check_readable(name, path, complain):
    frames = read_pcap(path)
    verdicts = tshark_verdicts(path)
    if len(verdicts) != len(frames):
        complain(f"{name}: tshark reads {len(verdicts)} of {len(frames)} packets")
    for frame, verdict in zip(frames, verdicts):
        number, protocols, opcode = verdict[:3]
        if len(verdict) > 3 and verdict[3]:
            complain(f"{name}: packet {number}: tshark says malformed")
        try:
            packet = Packet(frame)
        except (ValueError, struct.error, IndexError):
            continue
        if "infiniband" not in protocols:
            complain(f"{name}: packet {number}: tshark sees {protocols}, not InfiniBand")
        if packet.opcode != CNP and opcode and int(opcode, 0) != packet.opcode:
            complain(f"{name}: packet {number}: tshark reads opcode {opcode}, not {packet.opcode}")


def check_icrc(name, packets, allowed, complain):
    """Every packet that the trace itself did not spoil has a right ICRC."""
    for i, p in enumerate(packets):
        if not p.icrc_right() and p.frame not in allowed:
            complain(f"{name}: RoCE packet {i + 1}: wrong ICRC, opcode {p.opcode:#x}, PSN {p.psn}")
