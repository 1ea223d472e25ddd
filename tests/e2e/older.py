#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""older.py STATE: the store becomes what a bloomctl of schema 4 would have written: leaves without a
seal in a table of another name, and a meta record without a mark. Nobody may have it open.

older.py STATE mapped: what one of schema 6 would have written, which kept ::ffff:10.77.0.3 as it was
typed. What is listed as ::fffe:10.77.x.y, or as ::fffe:0:0/96 or /97, is in that form then.

older.py STATE newer: what one of a schema that nobody knows yet may write.

older.py STATE words: what one of schema 7 would have written, which recorded a trial as its command, word
by word."""
import ctypes
import re
import struct
import sys
import zlib

NOSUBDIR, CREATE, NEXT = 0x4000, 0x40000, 8
MARK = 128  # where the mark begins, which schema 4 did not have
LIMIT = 144  # where the limit of answers begins, which schema 6 did not have
SEAL = 4
SEAL_OF_META = 100  # where it is, and where the number of the transaction is
TRANSACTION = 136


class Val(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p)]

    def bytes(self):
        return ctypes.string_at(self.data, self.size)


LMDB = ctypes.CDLL("liblmdb.so.0")
LMDB.mdb_txn_id.restype = ctypes.c_size_t
LMDB.mdb_cursor_close.restype = LMDB.mdb_env_close.restype = None


def call(name, *arguments):
    """Whether there is such a thing."""
    error = getattr(LMDB, name)(*arguments)
    if error and error != -30798:
        sys.exit(f"{name}: {error}")
    return not error


def val(text):
    return Val(len(text), ctypes.cast(ctypes.create_string_buffer(text, len(text)), ctypes.c_void_p))


def put(txn, table, key, value):
    call("mdb_put", txn, table, ctypes.byref(val(key)), ctypes.byref(val(value)), 0)


def table_of(txn, name, flags=0):
    table = ctypes.c_uint()
    call("mdb_dbi_open", txn, name, flags, ctypes.byref(table))
    return table


def records(txn, table):
    cursor, key, value = ctypes.c_void_p(), Val(), Val()
    call("mdb_cursor_open", txn, table, ctypes.byref(cursor))
    while call("mdb_cursor_get", cursor, ctypes.byref(key), ctypes.byref(value), NEXT):
        yield key.bytes(), value.bytes()
    call("mdb_cursor_close", cursor)


def map_keys(text):
    return re.sub(rb"\xff\xfe(?=\x0a\x4d|\0\0\0\0[\x60\x61])", b"\xff\xff", text)


def map_table(txn, table, sealed):
    for key, value in list(records(txn, table)):
        call("mdb_del", txn, table, ctypes.byref(val(key)), None)
        key = map_keys(key)
        if sealed:
            value = map_keys(value[:-SEAL])
            value += struct.pack("I", zlib.crc32(value, zlib.crc32(key)))
        put(txn, table, key, value)


def make_sealed(txn, meta, schema, size):
    record = bytearray(next(value for key, value in records(txn, meta) if key == b"meta")[:size])
    record[:4] = struct.pack("I", schema)
    record[TRANSACTION:TRANSACTION + 8] = struct.pack("Q", LMDB.mdb_txn_id(txn))
    record[SEAL_OF_META:SEAL_OF_META + SEAL] = bytes(SEAL)
    record[SEAL_OF_META:SEAL_OF_META + SEAL] = struct.pack("I", zlib.crc32(record))
    put(txn, meta, b"meta", bytes(record))


def make_6(txn, meta):
    map_table(txn, table_of(txn, b"sealed"), True)
    map_table(txn, table_of(txn, b"expiry"), False)
    make_sealed(txn, meta, 6, LIMIT)


def make_7(txn, meta):
    for key, value in list(records(txn, meta)):
        if key == b"trial request":
            words = b"policy\0monitor\0"
            call("mdb_del", txn, meta, ctypes.byref(val(key)), None)
            put(txn, meta, b"trial", value[8:16] + struct.pack("II", 0, len(words)) + words)
    make_sealed(txn, meta, 7, None)


def make_4(txn, meta):
    sealed, leaves = table_of(txn, b"sealed"), table_of(txn, b"leaves", CREATE)
    for key, value in list(records(txn, sealed)):
        put(txn, leaves, key, value[:-SEAL])
    for key, value in list(records(txn, meta)):
        if key == b"meta":
            put(txn, meta, key, struct.pack("I", 4) + value[4:MARK])
        else:
            call("mdb_del", txn, meta, ctypes.byref(val(key)), None)
    call("mdb_drop", txn, sealed, 1)


def make_newer(txn, meta):
    make_sealed(txn, meta, 99, None)


def main():
    env, txn = ctypes.c_void_p(), ctypes.c_void_p()
    call("mdb_env_create", ctypes.byref(env))
    call("mdb_env_set_maxdbs", env, 16)
    call("mdb_env_set_mapsize", env, ctypes.c_size_t(1 << 30))
    call("mdb_env_open", env, f"{sys.argv[1]}/store.mdb".encode(), NOSUBDIR, 0o600)
    call("mdb_txn_begin", env, None, 0, ctypes.byref(txn))
    make = {"mapped": make_6, "words": make_7, "newer": make_newer}.get(sys.argv[-1], make_4)
    make(txn, table_of(txn, b"meta"))
    call("mdb_txn_commit", txn)
    call("mdb_env_close", env)


main()
