# SPDX-License-Identifier: GPL-2.0-or-later
"""What happens to interfaces, whoever does it. Each event takes three numbers, which choose among what there
is at that moment, so that a list of steps still means something when some of them are left out."""
from judge import Judge
from model import GATEWAY, OWN_ADDRESS, SOURCES, Device

NAMES = ("wan0", "wan1", "lan0", "lan1", "eth0", "eth1", "x0", "x1")
OTHER_NAMES = NAMES + ("uplink", "inside")
MOST = 5                # interfaces at a time
MODULUS = 4096          # of indexes: what a table of that size might confuse
MTUS = (1400, 1500, 3000, 9000)


def pick(some, number):
    return some[number % len(some)] if some else None


class Events(Judge):
    def free_name(self, number, names=NAMES):
        taken = set().union(*(device.names() for device in self.model.devices.values()))
        return pick([name for name in names if name not in taken], number)

    def some(self, number):
        return pick(self.model.at_home(), number)

    def make(self, name, index, stubborn):
        """A new interface. Its name may be that of a wish whose interface is gone."""
        self.model.made += 1
        device = Device(self.model.made % 65536, name, index, stubborn)
        self.ground.create(device, index)
        self.model.devices[device.number] = device
        self.tell("create %s%s" % (device, " without native XDP" if stubborn else ""))
        return device

    def create(self, a, b, c):
        name = self.free_name(a)
        if len(self.model.devices) >= MOST or not name:
            return
        index, used = 0, {device.index for device in self.model.devices.values()}
        if b % 3 == 0 and self.model.graves:
            index = self.model.graves[-1 - b // 3 % min(3, len(self.model.graves))]
        elif b % 3 == 1 and used:
            index = pick(sorted(used), b) + MODULUS * (1 + b % 5)
        self.make(name, 0 if index in used else index, c % 5 == 0)

    def delete(self, a, _b, _c):
        device = pick(list(self.model.devices.values()), a)
        if device:
            self.destroy(device)

    def destroy(self, device):
        self.ground.links_of(device).remove(device.name)
        del self.model.devices[device.number]
        self.model.gone(device)
        self.model.graves = self.model.graves[-5:] + [device.index]
        self.tell("delete %s" % device)

    def again(self, a, b, _c):
        """Deleted, and made again under its name; in between another may take its index."""
        device, name = self.some(a), self.free_name(b)
        if not device:
            return
        index, stubborn, former = device.index, device.stubborn, device.name
        self.destroy(device)
        if b % 2 and name and len(self.model.devices) < MOST:
            self.make(name, index, False)
            index = 0
        self.make(former, 0 if b % 4 < 2 else index, stubborn)

    def rename(self, a, b, _c):
        device, name = self.some(a), self.free_name(b)
        if device and name:
            self.rename_to(device, name)

    def rename_to(self, device, name):
        self.ground.links_of(device).rename(device.name, name)
        self.model.network_gone(device)     # it was down
        self.tell("rename %s to %s" % (device, name))
        for wish in self.model.wishes:
            if wish.device is device:
                wish.used |= {device.name, name}
        device.name, device.up = name, True

    def swap(self, a, b, _c):
        one = self.some(a)
        other = pick([each for each in self.model.at_home() if each is not one], b)
        if one and other:
            names = one.name, other.name
            self.rename_to(one, "swap")
            self.rename_to(other, names[0])
            self.rename_to(one, names[1])

    def replace(self, a, b, c):
        """Renamed, and another takes the name."""
        device, name = self.some(a), self.free_name(b)
        if device and name and len(self.model.devices) < MOST:
            former = device.name
            self.rename_to(device, name)
            self.make(former, 0, c % 5 == 0)

    def other_name(self, a, b, c):
        device = self.some(a)
        if not device:
            return
        known = pick(sorted(device.others), b)
        name = known if known and c % 2 else self.free_name(b, OTHER_NAMES)
        if not name:
            return
        self.ground.links_of(device).alternative(device.name, name, name != known)
        device.others ^= {name}
        self.tell("%s is %s called %s" % (device, "no longer" if name == known else "also", name))

    def move(self, a, b, _c):
        device = pick(list(self.model.devices.values()), a)
        if not device:
            return
        for name in device.others:
            self.ground.links_of(device).alternative(device.name, name, False)
        device.others = set()
        before, name = str(device), device.name
        if b % 4 == 0:
            name = self.free_name(b) or name
        self.ground.move(device, name)
        self.model.network_gone(device)
        # Whether the filter comes with it is not promised; that it is told when it is not here is.
        if device.filters is not False:
            device.filters, device.strayed = None, True
        self.tell("move %s: %s" % (before, device))

    def up_or_down(self, a, b, _c):
        device = self.some(a)
        if device:
            device.up = not device.up if b % 4 == 0 else True
            self.ground.links_of(device).set(device.name, up=device.up)
            if not device.up:
                self.model.network_gone(device)
            self.tell("%s is %s" % (device, "up" if device.up else "down"))

    def network(self, a, b, _c):
        """A DHCP client's work; mostly on what is filtered."""
        device = self.some(a) if b % 4 == 0 else \
            pick([each for each in self.model.at_home() if each.filters and each.up], a)
        if not device or not device.up or device is self.model.gate:
            return
        if self.model.gate:
            self.ground.links_of(self.model.gate).remove_network(self.model.gate.name, OWN_ADDRESS)
            self.model.network_gone()
        if not self.model.booting or not device.filters:
            self.model.knows_gateway = False
        self.model.booting = False
        self.ground.links_of(device).add_network(device.name, OWN_ADDRESS, SOURCES[GATEWAY][0])
        self.model.gate = device
        self.tell("%s has the network" % device)

    def mtu(self, a, b, _c):
        device, mtu = self.some(a), pick(MTUS, b)
        if device:
            try:
                self.ground.set_mtu(device, mtu)
                self.tell("%s has MTU %d" % (device, mtu))
            except OSError as error:
                self.tell("%s cannot have MTU %d: %s" % (device, mtu, error))

    def other_program(self, a, b, _c):
        """Comes if nobody is there, goes if it is there."""
        device = self.some(a)
        if not device:
            return
        if device.foreign:
            self.ground.no_program(device)
            device.foreign = False
            self.tell("%s has no other program" % device)
            return
        try:
            self.ground.other_program(device, b % 2 == 0)
            device.foreign = True
            if not device.filters:
                self.model.bare(device)     # a command that was killed had taken ours off
            self.tell("%s has another program" % device)
        except OSError as error:
            self.tell("%s takes no other program: %s" % (device, error))

    def bare(self, a, b, _c):
        """Somebody tries to take off what is there."""
        device = self.some(a)
        if device and b % 4 == 0:
            self.ground.no_program(device)
            device.foreign = False
            if device.filters and self.dispatched:
                device.filters = None
                self.model.bare(device)
            self.tell("%s: xdp off" % device)

    def lose(self, _a, b, _c):
        """The run directory, or the pins: then traffic passes."""
        if b % 3:
            self.ground.lose(self.ground.files)
            self.tell("the run directory is lost")
            return
        self.ground.lose(self.ground.pins)
        for device in self.model.devices.values():
            device.filters = None if device.filters is not False else False
        for wish in self.model.wishes:
            # From now on it is looked for by its name.
            wish.used, wish.device = wish.names(), None
        self.tell("the pins are lost")
