#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""otherschema.py STATE SCHEMA: the store becomes one that a bloomctl of that schema may have written. Nobody may have it
open."""
import ctypes
import struct
import sys
import zlib

NOSUBDIR = 0x4000
SEAL, SEAL_BYTES, TRANSACTION = 108, 4, 144     # where they are in the record


class Val(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p)]


LMDB = ctypes.CDLL("liblmdb.so.0")
LMDB.mdb_txn_id.restype = ctypes.c_size_t
LMDB.mdb_env_close.restype = None


def call(name, *arguments):
    error = getattr(LMDB, name)(*arguments)
    if error:
        sys.exit(f"{name}: {error}")


def val(text):
    return Val(len(text), ctypes.cast(ctypes.create_string_buffer(text, len(text)), ctypes.c_void_p))


def main():
    env, txn, table, value, key = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint(), Val(), val(b"meta")
    call("mdb_env_create", ctypes.byref(env))
    call("mdb_env_set_maxdbs", env, 16)
    call("mdb_env_set_mapsize", env, ctypes.c_size_t(1 << 30))
    call("mdb_env_open", env, f"{sys.argv[1]}/store.mdb".encode(), NOSUBDIR, 0o600)
    call("mdb_txn_begin", env, None, 0, ctypes.byref(txn))
    call("mdb_dbi_open", txn, b"meta", 0, ctypes.byref(table))
    call("mdb_get", txn, table, ctypes.byref(key), ctypes.byref(value))
    record = bytearray(ctypes.string_at(value.data, value.size))
    record[:4] = struct.pack("I", int(sys.argv[2]))
    record[TRANSACTION:TRANSACTION + 8] = struct.pack("Q", LMDB.mdb_txn_id(txn))
    record[SEAL:SEAL + SEAL_BYTES] = bytes(SEAL_BYTES)
    record[SEAL:SEAL + SEAL_BYTES] = struct.pack("I", zlib.crc32(record))
    call("mdb_put", txn, table, ctypes.byref(key), ctypes.byref(val(bytes(record))), 0)
    call("mdb_txn_commit", txn)
    call("mdb_env_close", env)


main()
