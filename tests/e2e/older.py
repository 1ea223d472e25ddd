#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""older.py STATE: the store becomes what a bloomctl of schema 4 would have written: leaves without a
seal in a table of another name, and a meta record without a mark. Nobody may have it open."""
import ctypes
import struct
import sys

NOSUBDIR, CREATE, NEXT = 0x4000, 0x40000, 8
MARK = 128  # where the mark begins, which schema 4 did not have
SEAL = 4


class Val(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p)]

    def bytes(self):
        return ctypes.string_at(self.data, self.size)


LMDB = ctypes.CDLL("liblmdb.so.0")


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


def main():
    env, txn = ctypes.c_void_p(), ctypes.c_void_p()
    call("mdb_env_create", ctypes.byref(env))
    call("mdb_env_set_maxdbs", env, 16)
    call("mdb_env_set_mapsize", env, ctypes.c_size_t(1 << 30))
    call("mdb_env_open", env, f"{sys.argv[1]}/store.mdb".encode(), NOSUBDIR, 0o600)
    call("mdb_txn_begin", env, None, 0, ctypes.byref(txn))
    meta, sealed = table_of(txn, b"meta"), table_of(txn, b"sealed")
    leaves = table_of(txn, b"leaves", CREATE)
    for key, value in list(records(txn, sealed)):
        put(txn, leaves, key, value[:-SEAL])
    for key, value in list(records(txn, meta)):
        if key == b"meta":
            put(txn, meta, key, struct.pack("I", 4) + value[4:MARK])
        else:
            call("mdb_del", txn, meta, ctypes.byref(val(key)), None)
    call("mdb_drop", txn, sealed, 1)
    call("mdb_txn_commit", txn)
    call("mdb_env_close", env)


main()
