# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes MaxMind DB files, format 2.0: https://maxmind.github.io/MaxMind-DB. As a program, makes one of a JSON text that
maps networks to values: mmdbfile.py FILE.mmdb [TYPE] <NETWORKS.json."""
import ipaddress
import json
import struct
import sys

MARKER = b"\xab\xcd\xefMaxMind.com"
EMPTY = None
# The places of IPv4 within IPv6 that lead to the same tree: ::/96 is where it is.
ALIASES = ("::ffff:0:0/96", "2002::/16", "2001::/32")
POINTER, TEXT, DOUBLE, BYTES, UINT16, UINT32, MAP, INT32, UINT64, UINT128, ARRAY = range(1, 12)
BOOL = 14


def control(kind, size):
    more = b""
    for least, count in ((65821, 3), (285, 2), (29, 1)):
        if size >= least:
            more, size = (size - least).to_bytes(count, "big"), 28 + count
            break
    return bytes([(kind << 5 if kind < 8 else 0) | size]) + (bytes([kind - 7]) if kind > 7 else b"") + more


def pointer(offset):
    """To a place in the data section."""
    for size, (base, bits) in enumerate(((0, 11), (2048, 19), (526336, 27))):
        if offset < base + (1 << bits):
            value = offset - base
            low = value & (1 << 8 * (size + 1)) - 1
            return bytes([POINTER << 5 | size << 3 | value >> 8 * (size + 1)]) + low.to_bytes(size + 1, "big")
    return bytes([POINTER << 5 | 3 << 3]) + offset.to_bytes(4, "big")


class Uint(int):
    """A number of this kind, whatever its value would have."""

    def __new__(cls, value, kind):
        made = super().__new__(cls, value)
        made.kind = kind
        return made


class Data:
    """A data section. What comes twice is there once; texts and maps that come again are pointers."""

    def __init__(self, shares=True):
        self.bytes, self.shares, self.known = bytearray(), shares, {}

    def _number(self, value):
        kind = getattr(value, "kind", UINT32 if value < 1 << 32 else UINT64 if value < 1 << 64 else UINT128)
        if value < 0:
            return control(INT32, 4) + struct.pack(">i", value)
        digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
        return control(kind, len(digits)) + digits

    def encode(self, value):
        """The bytes of a value, of which parts may be pointers."""
        if isinstance(value, bool):
            return control(BOOL, int(value))
        if isinstance(value, int):
            return self._number(value)
        if isinstance(value, float):
            return control(DOUBLE, 8) + struct.pack(">d", value)
        if isinstance(value, bytes):
            return control(BYTES, len(value)) + value
        if isinstance(value, str):
            text = value.encode()
            return self.shared(value, control(TEXT, len(text)) + text)
        if isinstance(value, dict):
            return control(MAP, len(value)) + b"".join(self.encode(key) + self.encode(one) for key, one in value.items())
        return control(ARRAY, len(value)) + b"".join(self.encode(one) for one in value)

    def shared(self, value, encoded):
        if not self.shares or len(encoded) < 5:
            return encoded
        if value not in self.known:
            self.known[value] = len(self.bytes)
            self.bytes += encoded
        return pointer(self.known[value])

    def place(self, value):
        """Where the value is, as a whole."""
        key = ("whole", json.dumps(value, sort_keys=True, default=repr))
        if key not in self.known:
            encoded = self.encode(value)
            self.known[key] = len(self.bytes)
            self.bytes += encoded
        return self.known[key]


class Tree:
    """Networks and what is said of them. The longest prefix holds, in whatever order they are put."""

    def __init__(self, version=6, bits=24, kind="Test", aliases=True, shares=True):
        self.version, self.bits, self.kind, self.aliases = version, bits, kind, aliases and version == 6
        self.networks, self.data = {}, Data(shares)

    def put(self, network, value):
        self.networks[ipaddress.ip_network(network)] = value

    def _number(self, network):
        """Its first bits, as many as its length."""
        number, length = int(network.network_address), network.prefixlen
        if network.version == 4 and self.version == 6:
            return number >> (32 - length), length + 96
        return number >> (network.max_prefixlen - length), length

    def _nodes(self):
        root = [EMPTY, EMPTY]
        for network in sorted(self.networks, key=lambda one: self._number(one)[1]):
            self._insert(root, *self._number(network), ("data", self.data.place(self.networks[network])))
        if self.aliases:
            at = root
            for _ in range(96):
                at = at[0] if isinstance(at, list) else None
            for alias in ALIASES if isinstance(at, list) else ():
                network = ipaddress.ip_network(alias)
                self._insert(root, *self._number(network), at)
        return root

    @staticmethod
    def _insert(node, number, length, value):
        for depth in range(length - 1, -1, -1):
            side = number >> depth & 1
            if not depth:
                node[side] = value
            else:
                if not isinstance(node[side], list):
                    node[side] = [node[side], node[side]]
                node = node[side]

    def _numbered(self, root):
        order, numbers, left = [], {}, [root]
        while left:
            node = left.pop()
            if id(node) in numbers:
                continue
            numbers[id(node)] = len(order)
            order.append(node)
            left.extend(child for child in reversed(node) if isinstance(child, list))
        return order, numbers

    def _record(self, left, right):
        if self.bits == 28:
            middle = bytes([left >> 24 << 4 | right >> 24])
            return (left & 0xffffff).to_bytes(3, "big") + middle + (right & 0xffffff).to_bytes(3, "big")
        return left.to_bytes(self.bits // 8, "big") + right.to_bytes(self.bits // 8, "big")

    def metadata(self, count):
        return {"node_count": count, "record_size": Uint(self.bits, UINT16), "ip_version": Uint(self.version, UINT16),
                "database_type": self.kind, "languages": ["en"], "binary_format_major_version": Uint(2, UINT16),
                "binary_format_minor_version": Uint(0, UINT16), "build_epoch": Uint(1764000000, UINT64),
                "description": {"en": "made by a test"}}

    def bytes(self):
        order, numbers = self._numbered(self._nodes())
        count = len(order)

        def record(child):
            return numbers[id(child)] if isinstance(child, list) else count if child is None else count + 16 + child[1]
        tree = b"".join(self._record(record(left), record(right)) for left, right in order)
        return tree + bytes(16) + bytes(self.data.bytes) + MARKER + Data(shares=False).encode(self.metadata(count))


def main():
    tree = Tree(kind=sys.argv[2] if len(sys.argv) > 2 else "Test")
    for network, value in json.load(sys.stdin).items():
        tree.put(network, value)
    with open(sys.argv[1], "wb") as file:
        file.write(tree.bytes())


if __name__ == "__main__":
    main()
