# SPDX-License-Identifier: GPL-2.0-or-later
"""Interfaces over rtnetlink, and pinned programs: what ip(8) does, without a process for each."""
import ctypes
import fcntl
import os
import socket
import struct

NEWLINK, DELLINK, GETLINK, NEWADDR, DELADDR, NEWROUTE = 16, 17, 18, 20, 21, 24
ADDRESS, LOCAL, GATEWAY, OIF, MAIN_TABLE, STATIC, UNICAST = 1, 2, 5, 4, 254, 4, 1
NEWLINKPROP, DELLINKPROP = 108, 109
REQUEST, ACK, EXCL, CREATE = 1, 4, 0x200, 0x400
UP = 1
IFNAME, MTU, LINKINFO, NET_NS_FD, TX_QUEUES, RX_QUEUES, XDP = 3, 4, 18, 28, 31, 32, 43
PROP_LIST, ALT_IFNAME = 52, 53
INFO_KIND, INFO_DATA, VETH_PEER = 1, 2, 1
XDP_FD, XDP_ATTACHED, XDP_FLAGS = 1, 2, 3
IF_NO_EXIST, SKB_MODE, NATIVE_MODE = 1, 2, 4
NESTED = 0x8000
ERROR = 2
BPF_OBJ_GET, SYS_BPF = 7, 321
SIOCGIFINDEX = 0x8933
libc = ctypes.CDLL(None, use_errno=True)


def attribute(kind, value):
    if isinstance(value, int):
        value = struct.pack("=I", value)
    elif isinstance(value, str):
        value = value.encode() + b"\0"
    return struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)


def nest(kind, *attributes):
    return attribute(kind | NESTED, b"".join(attributes))


def link_header(index=0, flags=0, change=0):
    return struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, flags, change)


def attributes(data):
    """{kind: value} of those that follow each other there."""
    found = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        found[kind & ~NESTED] = data[4:size]
        data = data[max(4, size + 3 & ~3):]
    return found


def pinned_program(path):
    """A descriptor of the program that is pinned there."""
    text = ctypes.create_string_buffer(os.fsencode(path))
    words = struct.pack("=QII", ctypes.addressof(text), 0, 0)
    made = libc.syscall(SYS_BPF, BPF_OBJ_GET, ctypes.create_string_buffer(words), len(words))
    if made < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return made


class Links:
    """The interfaces of the network namespace this was made in. What the kernel refuses raises OSError."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self.socket.bind((0, 0))
        self.number = 0

    def ask(self, kind, flags, body):
        """What came before the end of the answer: messages without their heads."""
        told = []
        self.number += 1
        self.socket.send(struct.pack("=IHHII", 16 + len(body), kind, flags | REQUEST | ACK,
                                     self.number, 0) + body)
        while True:
            answer = self.socket.recv(65536)
            _, kind, _, number, _, error = struct.unpack_from("=IHHIIi", answer)
            if number == self.number and kind == ERROR:
                break
            told.append(answer[16:])
        if error:
            raise OSError(-error, os.strerror(-error))
        return told

    def add_veth(self, name, index, peer, peer_namespace, peer_queues=1):
        """The near end is up. index: 0, or the one it is to have."""
        other = link_header() + attribute(IFNAME, peer) + \
            attribute(NET_NS_FD, peer_namespace) + attribute(TX_QUEUES, peer_queues) + \
            attribute(RX_QUEUES, 1)
        self.ask(NEWLINK, CREATE | EXCL, link_header(index, UP, UP) + attribute(IFNAME, name) +
                 attribute(TX_QUEUES, 1) + attribute(RX_QUEUES, 1) +
                 nest(LINKINFO, attribute(INFO_KIND, "veth"),
                      nest(INFO_DATA, nest(VETH_PEER, other))))

    def remove(self, name):
        self.ask(DELLINK, 0, link_header() + attribute(IFNAME, name))

    def set(self, name, *attributes, up=None):
        change = 0 if up is None else UP
        self.ask(NEWLINK, 0, link_header(self.index(name), UP if up else 0, change) +
                 b"".join(attributes))

    def rename(self, name, new):
        """Kernels before 6.2 want it down for that."""
        index = self.index(name)
        self.ask(NEWLINK, 0, link_header(index, 0, UP))
        self.ask(NEWLINK, 0, link_header(index) + attribute(IFNAME, new))
        self.ask(NEWLINK, 0, link_header(index, UP, UP))

    def move(self, name, namespace, new_name):
        """It arrives down."""
        self.set(name, attribute(NET_NS_FD, namespace), attribute(IFNAME, new_name))

    def alternative(self, name, other, present):
        self.ask(NEWLINKPROP if present else DELLINKPROP, (CREATE | EXCL) if present else 0,
                 link_header(self.index(name)) + nest(PROP_LIST, attribute(ALT_IFNAME, other)))

    def add_network(self, name, own, gateway):
        """An address in a /24, and the default route."""
        index, own = self.index(name), socket.inet_aton(own)
        self.ask(NEWADDR, CREATE, struct.pack("=BBBBI", socket.AF_INET, 24, 0, 0, index) +
                 attribute(LOCAL, own) + attribute(ADDRESS, own))
        self.ask(NEWROUTE, CREATE, struct.pack("=BBBBBBBBI", socket.AF_INET, 0, 0, 0, MAIN_TABLE,
                                               STATIC, 0, UNICAST, 0) +
                 attribute(GATEWAY, socket.inet_aton(gateway)) + attribute(OIF, index))

    def remove_network(self, name, own):
        """The route goes with the address."""
        self.ask(DELADDR, 0, struct.pack("=BBBBI", socket.AF_INET, 24, 0, 0, self.index(name)) +
                 attribute(LOCAL, socket.inet_aton(own)))

    def attach(self, name, program, flags):
        """program -1: takes what is there off."""
        value = struct.pack("=i", program)
        self.set(name, nest(XDP, attribute(XDP_FD, value), attribute(XDP_FLAGS, flags)))

    def has_program(self, name):
        told = self.ask(GETLINK, 0, link_header(self.index(name)))
        of_xdp = attributes(attributes(told[0][len(link_header()):]).get(XDP, b""))
        return of_xdp.get(XDP_ATTACHED, b"\0") != b"\0"

    def index(self, name):
        """Of this namespace, whichever the caller is in."""
        request = struct.pack("=16si20x", name.encode(), 0)
        with_index = fcntl.ioctl(self.socket.fileno(), SIOCGIFINDEX, request)
        return struct.unpack_from("=i", with_index, 16)[0]
