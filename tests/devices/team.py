# SPDX-License-Identifier: GPL-2.0-or-later
"""The mode of a team device, by generic netlink: iproute2 makes a team, but without a mode it sends nothing."""
import socket
import struct

NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 1, 4, 2
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
TEAM_CMD_OPTIONS_SET, TEAM_ATTR_TEAM_IFINDEX, TEAM_ATTR_LIST_OPTION, TEAM_ATTR_ITEM_OPTION = 1, 1, 2, 1
OPTION_NAME, OPTION_TYPE, OPTION_DATA, NLA_STRING, NLA_F_NESTED = 1, 3, 4, 5, 0x8000


def attribute(kind, data):
    return struct.pack("=HH", len(data) + 4, kind) + data + bytes(-len(data) % 4)


def ask(one, family, command, attributes, flags=NLM_F_REQUEST):
    """Attributes of the answer, by kind; OSError if it is an error."""
    one.send(struct.pack("=IHHIIBBH", 20 + len(attributes), family, flags, 1, 0, command, 1, 0) + attributes)
    data = one.recv(65536)
    if struct.unpack_from("=H", data, 4)[0] == NLMSG_ERROR:
        error = -struct.unpack_from("=i", data, 16)[0]
        if error:
            raise OSError(error, "team")
        return {}
    found, place = {}, 20
    while place + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, place)
        found[kind & 0x3fff] = data[place + 4:place + length]
        place += (length + 3) & ~3
    return found


def set_mode(device, mode):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16) as one:
        name = attribute(CTRL_ATTR_FAMILY_NAME, b"team\0")
        family = struct.unpack("=H", ask(one, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, name)[CTRL_ATTR_FAMILY_ID])[0]
        option = (attribute(OPTION_NAME, b"mode\0") + attribute(OPTION_TYPE, bytes([NLA_STRING])) +
                  attribute(OPTION_DATA, mode.encode() + b"\0"))
        options = attribute(TEAM_ATTR_LIST_OPTION | NLA_F_NESTED, attribute(TEAM_ATTR_ITEM_OPTION | NLA_F_NESTED, option))
        index = attribute(TEAM_ATTR_TEAM_IFINDEX, struct.pack("=I", socket.if_nametoindex(device)))
        try:
            ask(one, family, TEAM_CMD_OPTIONS_SET, index + options, NLM_F_REQUEST | NLM_F_ACK)
        except ProcessLookupError:      # it is set, but nobody listens to what changes
            pass
