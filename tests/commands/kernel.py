# SPDX-License-Identifier: GPL-2.0-or-later
"""What there is, as other programs than ours see it: ip(8), bpftool, files, and frames."""
import ctypes
import hashlib
import json
import os
import re
import struct
import subprocess

import cage
import values
import verdicts
from ground import Ground
from model import Device
from rtnetlink import SYS_BPF, pinned_program

CLONE_NEWCGROUP = 0x02000000
# Types of maps. What comes and goes by itself is in none of them.
ARRAY, PERCPU_ARRAY = 2, 6  # all of these is read at once, which bpftool does not do
DUMPED = {1: "hash", 3: "prog_array", 5: "percpu_hash", 11: "lpm_trie", 12: "array_of_maps"}    # by bpftool
CELL = 24                   # bytes of an interface in their table: struct xb_iface_cell
LOOKUP_BATCH = 24           # of bpf(2)
DRIVER, GENERIC = 1, 2      # as ip(8) tells the modes


def make_cgroup():
    """The path of a group for enter_cgroup(); None: there is no cgroup v2 here."""
    with open("/proc/self/mountinfo") as mounts:
        places = [line.split()[4] for line in mounts if line.split()[3] == "/" and " - cgroup2 " in line]
    if not places:
        return None
    for name in os.listdir(places[0]):
        found = re.fullmatch(r"xbt-commands-(\d+)", name)
        if found and not os.path.exists("/proc/" + found[1]):
            remove_cgroup(os.path.join(places[0], name))
    group = os.path.join(places[0], "xbt-commands-%d" % os.getpid())
    try:
        os.mkdir(group)
    except OSError:
        return None
    return group


def remove_cgroup(group):
    """When all of its processes have ended."""
    if group:
        try:
            os.rmdir(group)
        except OSError:
            pass


def enter_cgroup(group, directory):
    """A root of cgroup v2 that is ours: what hears of all connections below it hears of those of no other."""
    with open(os.path.join(group, "cgroup.procs"), "w") as out:
        out.write(str(os.getpid()))
    cage.must(cage.libc.unshare(CLONE_NEWCGROUP))
    place = os.path.join(directory, "cgroup")
    os.mkdir(place)
    cage.must(cage.libc.mount(b"cgroup2", place.encode(), b"cgroup2", ctypes.c_ulong(0), None))


def said(*words, text=None):
    return subprocess.run(words, check=True, input=text, stdout=subprocess.PIPE, text=True).stdout


def kind_of(descriptor):
    """What fdinfo says of it."""
    with open("/proc/self/fdinfo/%d" % descriptor) as text:
        return dict(line.strip().split(":\t", 1) for line in text if ":\t" in line)


def is_array(about):
    return int(about.get("map_type", 0)) in (ARRAY, PERCPU_ARRAY)


def possible_cpus():
    with open("/sys/devices/system/cpu/possible") as text:
        return int(text.read().strip().rpartition("-")[2]) + 1


def array_of(path, about):
    """All that is in an array."""
    count, size = int(about["max_entries"]), int(about["value_size"])
    if int(about["map_type"]) == PERCPU_ARRAY:
        size = (size + 7) // 8 * 8 * possible_cpus()
    keys, content, place = (ctypes.create_string_buffer(room) for room in (4 * count, size * count, 4))
    descriptor = pinned_program(path)
    asked = struct.pack("=QQQQIIQQ", 0, ctypes.addressof(place), ctypes.addressof(keys), ctypes.addressof(content), count,
                        descriptor, 0, 0)
    words = ctypes.create_string_buffer(asked)
    failed = cage.libc.syscall(SYS_BPF, LOOKUP_BATCH, words, len(asked))
    os.close(descriptor)
    if failed or struct.unpack_from("=I", words, 32)[0] != count:
        raise OSError(ctypes.get_errno(), "cannot read all of %s" % path)
    return content.raw


def taken_cells(content):
    """Of the table of interfaces; what stands in a free cell is nobody's."""
    cells = (content[at:at + CELL] for at in range(0, len(content), CELL))
    return b"".join(cell for cell in cells if any(cell[:4]))


class Kernel(Ground):
    def __init__(self, directory, programs):
        super().__init__(directory, programs, [])
        self.frames.bodies = [frame.body() for frame in verdicts.FRAMES]
        self.devices = {}
        for number, name in enumerate(values.INTERFACES):
            device = self.devices[name] = Device(number, name, 0, name == values.STUBBORN)
            self.create(device, 0)
        self.other_program(self.devices[values.TAKEN], True)

    def links_text(self):
        return said("ip", "-j", "-d", "link", "show")

    def pinned_objects(self):
        """What is pinned by path: what fdinfo says of it."""
        found = {}
        for at, _, files in os.walk(self.pins):
            for name in files:
                path = os.path.join(at, name)
                descriptor = pinned_program(path)
                found[path] = kind_of(descriptor)
                os.close(descriptor)
        return found

    def modes(self, objects):
        """By name the mode in which ip(8) shows a program of ours."""
        ours = {int(about["prog_id"]) for about in objects.values() if "prog_id" in about}
        found = {}
        for link in json.loads(self.links_text()):
            xdp = link.get("xdp")
            if xdp and xdp["prog"]["id"] in ours:
                found[link["ifname"]] = {DRIVER: "native", GENERIC: "skb"}[xdp["mode"]]
        return found

    def dumps(self, objects):
        """What is in the maps but arrays, as bpftool shows it, by path."""
        paths = sorted(path for path, about in objects.items() if int(about.get("map_type", 0)) in DUMPED)
        told = said("bpftool", "-j", "batch", "file", "-",
                    text="".join("map dump id %s\n" % objects[path]["map_id"] for path in paths))
        return dict(zip(paths, told.split('{"command":')[1:], strict=True))

    def arrays(self, objects):
        """What is in arrays, by path."""
        found = {path: array_of(path, about) for path, about in objects.items() if is_array(about)}
        return {path: hashlib.sha256(taken_cells(content) if path.endswith("/ifaces") else content).hexdigest()
                for path, content in found.items()}

    def files_text(self):
        """Of the state and run directories; locks are those of whoever looks."""
        found = []
        for top in (self.state, self.files):
            for at, _, files in os.walk(top):
                for name in files:
                    path = os.path.join(at, name)
                    with open(path, "rb") as file:
                        data = b"" if "lock" in name else file.read()
                    found.append((path, hashlib.sha256(data).hexdigest()))
        return sorted(found)

    def seen(self):
        """By name of each interface the frames that came through."""
        numbers = {device.number: name for name, device in self.devices.items()}
        return {numbers[number]: came for number, came in self.judge(list(self.devices.values())).items()}
