#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""between.py SLOT: puts a program that passes all packets, and counts none, into the pinned program array, as
another process with the right to do so could: the entry goes on calling, and the filter is called no more."""
import ctypes
import os
import struct
import sys

PROG_LOAD, MAP_UPDATE_ELEM, OBJ_GET = 5, 2, 7
TYPE_XDP, ATTACH_XDP, HAS_FRAGS = 6, 37, 1 << 5
# r0 = XDP_PASS; exit
PASS = struct.pack("<BBhi", 0xb7, 0, 0, 2) + struct.pack("<BBhi", 0x95, 0, 0, 0)

libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, *attribute):
    packed = struct.pack(*attribute).ljust(152, b"\0")
    result = libc.syscall(321, command, packed, len(packed))
    if result < 0:
        sys.exit(f"bpf {command}: {os.strerror(ctypes.get_errno())}")
    return result


code, licence = ctypes.create_string_buffer(PASS), ctypes.create_string_buffer(b"GPL")
path = ctypes.create_string_buffer(sys.argv[1].encode())
slot = bpf(OBJ_GET, "<QII", ctypes.addressof(path), 0, 0)
program = bpf(PROG_LOAD, "<IIQQIIQII16sII", TYPE_XDP, 2, ctypes.addressof(code), ctypes.addressof(licence),
              0, 0, 0, 0, HAS_FRAGS, b"between", 0, ATTACH_XDP)
key, value = ctypes.c_uint32(0), ctypes.c_uint32(program)
bpf(MAP_UPDATE_ELEM, "<IIQQQ", slot, 0, ctypes.addressof(key), ctypes.addressof(value), 0)
