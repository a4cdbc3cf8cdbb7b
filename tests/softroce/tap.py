#!/usr/bin/env python3
"""Makes a lasting tap with a chosen interface number, which `ip tuntap` cannot.

    tap.py NAME INDEX
"""
import fcntl
import struct
import sys

# linux/if_tun.h
TUNSETIFF, TUNSETPERSIST, TUNSETIFINDEX = 0x400454CA, 0x400454CB, 0x400454DA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    name, index = sys.argv[1], int(sys.argv[2])
    with open("/dev/net/tun", "rb+", buffering=0) as tun:
        fcntl.ioctl(tun, TUNSETIFINDEX, struct.pack("I", index))
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        fcntl.ioctl(tun, TUNSETPERSIST, 1)


if __name__ == "__main__":
    main()
