#!/usr/bin/env python3
"""Takes the ELF kernel out of a bzImage.

    unpack_kernel.py VMLINUZ VMLINUX
"""
import struct
import subprocess
import sys

ZSTD, XZ = b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as f:
        image = f.read()
    # Linux boot protocol: sectors of the set-up code at 0x1f1, payload_offset and payload_length at 0x248.
    start = ((image[0x1F1] or 4) + 1) * 512
    offset, length = struct.unpack_from("<II", image, 0x248)
    payload = image[start + offset:start + offset + length]
    if payload.startswith(ZSTD):
        command, payload = ["zstd", "-dcq"], payload[:-4]  # the last four bytes are the size and no part of the frame
    elif payload.startswith(XZ):
        command = ["xz", "-dcq", "--single-stream"]
    else:
        sys.exit(f"unpack_kernel: {sys.argv[1]}: packed in an unknown way: {payload[:8].hex()}")
    kernel = subprocess.run(command, input=payload, stdout=subprocess.PIPE, check=True).stdout
    if not kernel.startswith(b"\x7fELF"):
        sys.exit(f"unpack_kernel: {sys.argv[1]} holds no ELF kernel")
    with open(sys.argv[2], "wb") as f:
        f.write(kernel)


if __name__ == "__main__":
    main()
