# SPDX-License-Identifier: GPL-2.0-or-later
"""What was acknowledged, and what it promises: which interfaces are wanted, what is listed and allowed,
what that makes of each source."""
import copy

# Of each source the entry that covers it; what stands in front of the dynamic ones never changes.
SOURCES = (
    ("192.0.2.1", "192.0.2.1"), ("198.51.100.9", "198.51.100.0/24"), ("2001:db8::1", "2001:db8::/48"),
    ("203.0.113.7", None), ("2001:db8:7::1", None), ("192.0.2.77", "192.0.2.77"),
    ("10.99.0.1", "10.99.0.0/24"),
    ("192.0.2.10", "192.0.2.10"), ("192.0.2.11", "192.0.2.11"), ("192.0.2.12", "192.0.2.12"),
    ("198.18.5.5", "198.18.5.0/24"), ("2001:db8:9::1", "2001:db8:9::/64"))
GATEWAY, OWN_ADDRESS = 6, "10.99.0.2"       # the machine's, when it has a network
ALWAYS_LISTED, ALWAYS_ALLOWED, DYNAMIC = {0, 1, 2, 5, GATEWAY}, {5}, range(7, len(SOURCES))
POLICIES = ("enforce", "monitor", "allow-only")
# Numbers of the sources by the text that names them in a saved state.
BY_ENTRY = {entry: number for number, (_, entry) in enumerate(SOURCES) if entry}


class Store:
    """What the store says of sources."""

    def __init__(self):
        self.listed, self.allowed, self.policy = set(ALWAYS_LISTED), set(ALWAYS_ALLOWED), "enforce"

    def __eq__(self, other):
        return (self.listed, self.allowed, self.policy) == \
            (other.listed, other.allowed, other.policy)

    def copy(self):
        return copy.deepcopy(self)

    def passing(self):
        """The sources that a filter lets through."""
        if self.policy == "monitor":
            return set(range(len(SOURCES)))
        if self.policy == "allow-only":
            return self.listed | self.allowed
        return set(range(len(SOURCES))) - self.listed | self.allowed


class Device:
    """An interface, from when it is made until it is gone, whatever it is called meanwhile."""

    def __init__(self, number, name, index, stubborn):
        self.number, self.name, self.index = number, name, index
        self.stubborn = stubborn        # has no native XDP
        self.others = set()             # alternative names
        self.home, self.up, self.foreign = True, True, False
        self.filters = False            # None: it may or may not
        self.strayed = False            # was filtered, and went to another namespace

    @property
    def far(self):
        return "f%d" % self.number

    def names(self):
        return {self.name} | self.others

    def __str__(self):
        return "%s%s (index %d%s%s)" % (
            self.name, "".join("=" + one for one in sorted(self.others)), self.index,
            "" if self.home else ", moved away", ", strayed" if self.strayed else "")


class Wish:
    """An interface that is wanted: the one it was acknowledged for, or, when that is gone, a name."""

    def __init__(self, name, mode="auto", device=None):
        self.name, self.mode, self.device = name, mode, device
        # What it was asked for by, and what its interface was called since a command last looked.
        self.used = {name}

    def names(self):
        return {self.name} | self.used | (self.device.names() if self.device else set())

    def __str__(self):
        return "%s -> %s" % (self.name, self.device or "?")


class Model:
    def __init__(self):
        self.devices, self.wishes, self.store = {}, [], Store()
        self.others = []        # what may be in force instead, until the next command has repaired
        self.made = 0
        self.graves = []        # indexes that were in use
        self.gate = None        # the interface with address and default route
        self.knows_gateway = False      # a survey has seen it, and none since that could see it go
        self.booting = False    # and no network has come yet

    def at_home(self):
        return [device for device in self.devices.values() if device.home]

    def called(self, name):
        for device in self.at_home():
            if name in device.names():
                return device
        return None

    def device_of(self, wish):
        """The interface that a wish is for, if it is here."""
        if wish.device and wish.device.home:
            return wish.device
        return self.called(wish.name)

    def wanted(self):
        """By number of the device, its wish."""
        found = {}
        for wish in self.wishes:
            device = self.device_of(wish)
            if device:
                found.setdefault(device.number, wish)
        return found

    def wishes_named(self, name):
        """All that a command may mean by it."""
        devices = [self.called(name)] + [self.device_of(wish) for wish in self.wishes
                                         if name in wish.names()]
        return [wish for wish in self.wishes
                if name in wish.names() or self.device_of(wish) in devices and
                self.device_of(wish)]

    def may_inherit(self, device):
        """Whether it has a name by which another, renamed one is wanted: then it may be so, too."""
        return device.strayed or any(device.names() & (wish.used | {wish.name})
                                      for wish in self.wishes)

    def strayed(self, name):
        """Whether one that has it was filtered, and has been away."""
        return any(device.strayed and name in device.names() for device in self.at_home())

    def gone(self, device):
        self.network_gone(device)
        self.bare(device)

    def bare(self, device):
        """Nothing on it tells any more by which wish it was filtered: only its names do."""
        for wish in self.wishes:
            if wish.device is device:
                wish.used, wish.device = wish.names(), None

    def passing(self):
        """Sources that pass a filter for sure, and such as may."""
        stores = [self.store, *self.others]
        sure = set.intersection(*(store.passing() for store in stores))
        maybe = set.union(*(store.passing() for store in stores)) | {GATEWAY}
        return sure | {GATEWAY} if self.knows_gateway else sure - {GATEWAY}, maybe

    def tells(self):
        """Whether frames tell a filter from none: not when the stores that may be in force let pass each
        source between them."""
        return self.passing()[1] != set(range(len(SOURCES)))

    def network_gone(self, device=None):
        """With this interface, if it is the one."""
        if device in (None, self.gate):
            self.gate, self.knows_gateway = None, False

    def surveyed(self):
        """A command has looked at the machine as a whole."""
        if self.gate:
            self.knows_gateway = bool(self.gate.filters)

    def told(self):
        return "policy %s; wanted: %s; interfaces: %s; network: %s%s" % (
            self.store.policy, ", ".join(map(str, self.wishes)) or "nothing",
            ", ".join("%s %s" % (device, {True: "filters", False: "is open", None: "?"}[
                device.filters]) for device in self.devices.values()),
            self.gate, ", known" if self.knows_gateway else "")
