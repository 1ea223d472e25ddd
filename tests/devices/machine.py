# SPDX-License-Identifier: GPL-2.0-or-later
"""The card that is tried and what stands upon it, the card of the peer, and the commands that change and ask them."""
import json
import os
import re
import subprocess
import termios
import time
import tty

import team
import wire

CARD, PEER = "52:54:00:00:00:01", "52:54:00:00:00:02"
MODES = {1: "native", 2: "skb", 3: "hardware", 4: "several"}
PASS = "/xdp-bloom/bin/pass.bpf.o"


def run(*words, seconds=90):
    """Its exit code, and what it said."""
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return 124, "%s did not end in %d s" % (" ".join(words), seconds)
    return done.returncode, done.stdout.decode(errors="replace").strip()


def must(*words):
    code, said = run(*words)
    if code:
        raise RuntimeError("%s: exit code %d: %s" % (" ".join(words), code, said))
    return said


def ip(words):
    return must("ip", *words.split())


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def by_address(mac):
    for name in os.listdir("/sys/class/net"):
        # A bonding module has a file among them.
        if os.path.islink("/sys/class/net/" + name) and read("/sys/class/net/%s/address" % name) == mac:
            return name
    raise RuntimeError("no card has the address %s" % mac)


def wait_for_card(mac):
    """USB finds its devices in a while."""
    end = time.monotonic() + 20
    while True:
        try:
            return by_address(mac)
        except (RuntimeError, OSError):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


class Card:
    """stack: what stands upon the card, or "none". name is what is attached, peer what frames come from."""

    def __init__(self, stack):
        self.stack = stack
        self.name, self.peer = ("card0", "peer0") if stack == "none" else ("s0", "peer0")
        self.tagged = stack in ("none", "bond", "team", "bridge")
        ip("netns add peer")
        ip("link set %s netns peer name peer0" % wait_for_card(PEER))
        ip("-n peer link set peer0 mtu 9200 up")
        if stack == "vlan":
            ip("-n peer link add link peer0 name p0 type vlan id 7")
            self.peer = "p0"
        elif stack == "vxlan":
            ip("-n peer address add 10.8.0.2/24 dev peer0")
            ip("-n peer link add p0 type vxlan id 9 local 10.8.0.2 remote 10.8.0.1 dstport 4789 dev peer0")
            self.peer = "p0"
        ip("-n peer link set %s up" % self.peer)
        for address in wire.OTHER, wire.LISTED:
            ip("-n peer address add %s/24 dev %s" % (address, self.peer))
        if self.tagged:
            ip("-n peer link add link %s name peer0.5 type vlan id 5" % self.peer)
            ip("-n peer link set peer0.5 up")
            for address in wire.TAGGED_OTHER, wire.TAGGED_LISTED:
                ip("-n peer address add %s/24 dev peer0.5" % address)
        self.configure()
        self.mtu = int(read("/sys/class/net/%s/mtu" % self.name))
        self.driver = os.path.basename(os.readlink("/sys/class/net/card0/device/driver"))
        if stack != "none":
            self.driver = "%s on %s" % (stack, self.driver)

    def configure(self):
        """What the system does with a card that is new."""
        ip("link set %s name card0" % wait_for_card(CARD))
        if self.stack == "none":
            ip("link set card0 up")
        else:
            if not os.path.exists("/sys/class/net/s0"):
                self.make_stack()
            if self.stack in ("bond", "team", "bridge"):
                ip("link set card0 down")
                ip("link set card0 master s0")
            ip("link set card0 up")
            ip("link set s0 up")
        ip("address add %s/24 dev %s" % (wire.SERVER, self.name))
        if self.tagged:
            ip("link add link %s name card0.5 type vlan id 5" % self.name)
            ip("link set card0.5 up")
            ip("address add %s/24 dev card0.5" % wire.TAGGED_SERVER)

    def make_stack(self):
        how = {"bond": "link add s0 type bond mode active-backup miimon 100",
               "team": "link add s0 type team",
               "bridge": "link add s0 type bridge stp_state 0 forward_delay 0",
               "vlan": "link add link card0 name s0 type vlan id 7",
               "macvlan": "link add link card0 name s0 type macvlan mode bridge",
               "vxlan": "link add s0 type vxlan id 9 local 10.8.0.1 remote 10.8.0.2 dstport 4789 dev card0"}
        if self.stack == "vxlan":
            ip("address add 10.8.0.1/24 dev card0")
        ip(how[self.stack])
        if self.stack == "team":
            team.set_mode("s0", "roundrobin")

    # --- what the kernel says ---------------------------------------------------------------------------

    def link(self):
        return json.loads(ip("-d -j link show dev %s" % self.name))[0]

    def mode(self):
        return MODES.get((self.link().get("xdp") or {}).get("mode"), "none")

    def features(self):
        lines = run("ethtool", "-k", self.name)[1].splitlines()[1:]
        return dict(line.strip().split(": ", 1) for line in lines if ": " in line)

    def snapshot(self):
        """All that has to be there again when the filter has gone."""
        link = {key: value for key, value in self.link().items() if key not in ("xdp", "ifindex", "operstate")}
        for data in link.get("linkinfo", {}).values():
            # What a bridge counts down.
            for key in [key for key in data if key.endswith("_timer")] if isinstance(data, dict) else []:
                del data[key]
        return {**link, **self.features()}

    def restore(self, wanted):
        """Features, as the snapshot has them."""
        for feature, value in self.features().items():
            if wanted.get(feature) != value and "[" not in value:
                run("ethtool", "-K", self.name, feature, wanted[feature].split()[0])

    def carrier_changes(self):
        return int(read("/sys/class/net/%s/carrier_changes" % self.name))

    # --- what changes it: None, or why it cannot be ----------------------------------------------------

    def refused(self, *words):
        code, said = run(*words)
        return said.replace("\n", " ") or "exit code %d" % code if code else None

    def down_up(self):
        why = self.refused("ip", "link", "set", "dev", self.name, "down")
        time.sleep(0.3)
        return why or self.refused("ip", "link", "set", "dev", self.name, "up")

    def set_mtu(self, mtu):
        why = None
        if self.stack != "none":
            # Whoever stands on a card follows it, or cannot be larger.
            why = self.refused("ip", "link", "set", "dev", "card0", "mtu", str(mtu + (50 if self.stack == "vxlan" else 0)))
        return why or self.refused("ip", "link", "set", "dev", self.name, "mtu", str(mtu))

    def rings(self):
        """The present number of receive descriptors, and the most of them."""
        said = run("ethtool", "-g", "card0")[1]
        found = re.findall(r"^RX:\s+(\d+)", said, re.M)
        return (int(found[1]), int(found[0])) if len(found) > 1 else None

    def set_rings(self, number):
        return self.refused("ethtool", "-G", "card0", "rx", str(number))

    def channels(self):
        found = re.findall(r"^Combined:\s+(\d+)", run("ethtool", "-l", "card0")[1], re.M)
        return (int(found[1]), int(found[0])) if len(found) > 1 else None

    def set_channels(self, number):
        return self.refused("ethtool", "-L", "card0", "combined", str(number))

    def toggle(self, feature, short):
        """Also back again. "[fixed]": the kernel would not."""
        now = self.features().get(feature, "unknown [fixed]")
        if "[fixed]" in now:
            return "%s is %s" % (feature, now)
        wanted = "off" if now.startswith("on") else "on"
        why = self.refused("ethtool", "-K", self.name, short, wanted)
        if why:
            # The kernel remembers what it could not do, and would do it later.
            run("ethtool", "-K", self.name, short, "on" if wanted == "off" else "off")
        return why

    def reload(self):
        """The driver lets the card go, and takes it again, as when its module is loaded anew."""
        device = os.path.realpath("/sys/class/net/card0/device")
        driver = os.path.realpath(device + "/driver")
        for what in "unbind", "bind":
            with open("%s/%s" % (driver, what), "w", encoding="utf-8") as file:
                file.write(os.path.basename(device))
        self.configure()

    def cable(self, state):
        """The monitor of QEMU listens at the second serial line."""
        line = os.open("/dev/ttyS1", os.O_RDWR | os.O_NOCTTY)
        try:
            # Not back to it what it says.
            tty.setraw(line)
            os.write(line, b"\nset_link nic %s\n" % state.encode())
            termios.tcdrain(line)
            time.sleep(0.2)
        finally:
            os.close(line)

    def out_and_in(self):
        before = self.carrier_changes()
        self.cable("off")
        time.sleep(1)
        self.cable("on")
        time.sleep(0.3)
        return None if self.carrier_changes() > before else "the driver does not see it"

    # --- a program that lets all pass -------------------------------------------------------------------

    def plain(self, mode):
        """None, or the kernel's sentence."""
        kind = {"native": "xdpdrv", "skb": "xdpgeneric"}[mode]
        return self.refused("ip", "link", "set", "dev", self.name, kind, "obj", PASS, "sec", "xdp")

    def no_plain(self, mode):
        kind = {"native": "xdpdrv", "skb": "xdpgeneric"}[mode]
        run("ip", "link", "set", "dev", self.name, kind, "off")
