# SPDX-License-Identifier: GPL-2.0-or-later
"""What packets come by on the whole path: the filter that ships, its peers, and the limits."""
import ipaddress
import json
import os
import re
import shutil

from command_peers import SET
from rig import BUILD, Failed, Installation, quietly, run, within

FAR = "xbtp"  # the subject's end of its veth
LIMITS = os.path.join(BUILD, "bpf", "ask.bpf.o")
LOADED_WITHIN = 120  # seconds
# What this machine would allow by itself. Loopback and link-local stay, and are never a source.
REFUSED = "address,gateway,resolver,ssh,dhcp,time"


class Skipped(Exception):
    """A subject that is not there, or does not take what is listed."""


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skipped("%s is not installed" % tool)


class Place:
    """A network namespace with the receiver's end of a veth; the other end, where packets are made, is in the namespace of this
    process. GRO gives the veth its NAPI, without which it takes no frames from XDP programs."""

    def __init__(self, name, number):
        self.name, self.near = name, "xbtp%d" % number
        run("ip", "netns", "add", name)
        run("ip", "link", "add", self.near, "type", "veth", "peer", "name", FAR, "netns", name)
        # Nothing but the frames that are counted comes this way.
        quiet = "/proc/sys/net/ipv6/conf/%s/disable_ipv6" % self.near
        if os.path.exists(quiet):
            with open(quiet, "w") as out:
                out.write("1")
        run("ip", "link", "set", self.near, "up")
        run("ip", "-n", name, "link", "set", FAR, "up")
        self.inside("ethtool", "-K", FAR, "gro", "on")
        self.mac = json.loads(run("ip", "-n", name, "-j", "link", "show", FAR))[0]["address"]

    def inside(self, *command, **options):
        return run(*within(self.name, *command), **options)

    def counts(self):
        """Packets that came over the veth, and those that arrived at the IP layer."""
        text = self.inside("sh", "-c", "ethtool -S %s; cat /proc/net/snmp; cat /proc/net/snmp6 2>/dev/null || true" % FAR)
        came = sum(int(count) for count in re.findall(r"rx_queue_\d+_xdp_packets: (\d+)", text))
        head, values = re.findall(r"^Ip: (.*)$", text, re.MULTILINE)
        arrived = int(dict(zip(head.split(), values.split()))["InReceives"])
        six = re.search(r"^Ip6InReceives\s+(\d+)", text, re.MULTILINE)
        return came, arrived + (int(six.group(1)) if six else 0)

    def remove(self):
        quietly("ip", "link", "del", self.near)
        quietly("ip", "netns", "del", self.name)


class Subject:
    """What stands at the receiver's end. `drops`: "listed", "all" or "none". load() lists what the
    workload has, or raises Skipped."""
    drops = "listed"
    peer = True  # may fail to load

    def __init__(self, place, scratch):
        self.place, self.scratch = place, scratch
        self.before = 0  # what a rule of its own had counted

    def label(self, workload):
        return self.name % workload.kind if "%" in self.name else self.name

    def load(self, workload):
        pass

    def dropped(self, came, arrived):
        """Of packets that came, when so many arrived at the IP layer: what drops before it."""
        return came - arrived

    def since(self, now):
        before, self.before = self.before, now
        return now - before

    def memory(self):
        """Bytes of the kernel, if it is told."""
        return None

    def end(self):
        pass


class Program(Subject):
    """An XDP program that decides at once: a limit."""
    peer = False

    def load(self, _workload):
        run("ip", "-n", self.place.name, "link", "set", "dev", FAR, "xdpdrv", "object", LIMITS, "program", self.program)


class DropAll(Program):
    key, name, program, drops = "drop_all", "XDP_DROP at once", "drop_all", "all"


class PassAll(Program):
    key, name, program, drops = "pass_all", "XDP_PASS at once", "pass_all", "none"


class Nothing(Subject):
    key, name, drops, peer = "no_filter", "no filter", "none", False


class Filter(Subject):
    """What ships, attached and filled by the command that ships."""
    key, name, peer = "filter", "xdp-bloom, confirmed", False

    def __init__(self, place, scratch):
        super().__init__(place, scratch)
        self.own = Installation(scratch, "paths", *within(place.name))

    def load(self, workload):
        self.attach()
        self.own.ctl("import", workload.plain, "--include-bogons", "--format", "plain")
        if not self.own.generation()["confirm"]:
            raise Failed("the filter does not confirm")

    def attach(self):
        self.own.ctl("attach", FAR, "--mode", "native", "--refuse", REFUSED)

    def end(self):
        self.own.remove()


class LimitFilter(Filter):
    """The same, with a limit of each source to the port of the frames."""
    name = "xdp-bloom, limit"

    def load(self, workload):
        self.attach()
        self.own.ctl("limit", "add", "flood", "--to", "udp/9", "--rate", "1/h", "--burst", "1", "--capacity", str(workload.room))

    def memory(self):
        return self.own.told("limit", "list")["limits"][0]["memory"]


class Iptables(Subject):
    """The first rule of raw PREROUTING, which comes behind the IP layer's counter."""
    match = ()

    def table(self, *words):
        return self.place.inside(self.command, "-w", "-t", "raw", *words)

    def load(self, workload):
        self.command = "iptables" if workload.family == 4 else "ip6tables"
        need(self.command)
        self.fill(workload)
        self.table("-A", "PREROUTING", *self.match, "-j", "DROP")

    def fill(self, workload):
        pass

    def counted(self, number):
        """By that rule, since it was asked last."""
        # Chain, head, then the rules: packets, bytes, target.
        return self.since(int(self.table("-nvxL", "PREROUTING").splitlines()[2 + number].split()[0]))

    def dropped(self, _came, _arrived):
        return self.counted(0)


class IptablesAll(Iptables):
    key, name, drops = "iptables_drop", "iptables raw, drop all, no set", "all"


class Ipset(Iptables):
    key, name = "ipset", "iptables raw, ipset hash:%(hash)s"
    match = ("-m", "set", "--match-set", SET, "src")

    def fill(self, workload):
        need("ipset")
        path = self.scratch.path("ipset")
        with open(path, "w") as out, open(workload.plain) as lines:
            out.write("create %s hash:%s family %s maxelem %d\n" % (
                SET, workload.kind["hash"], "inet" if workload.family == 4 else "inet6", max(1024, workload.entries)))
            out.writelines("add %s %s" % (SET, line) for line in lines)
        with open(path) as lines:
            self.place.inside("ipset", "restore", stdin=lines, timeout=LOADED_WITHIN)
        os.unlink(path)


class HashLimit(Iptables):
    """Its rule does not count the packets that it drops because its table is full: a second one counts what passes."""
    key, name = "hashlimit", "iptables raw, hashlimit"

    def fill(self, workload):
        self.match = ("-m", "hashlimit", "--hashlimit-name", SET, "--hashlimit-mode", "srcip", "--hashlimit-above", "1/hour",
                      "--hashlimit-burst", "1", "--hashlimit-htable-size", str(workload.room), "--hashlimit-htable-max",
                      str(workload.room), "--hashlimit-htable-expire", "3600000")

    def load(self, workload):
        super().load(workload)
        self.table("-A", "PREROUTING")
        self.room = workload.room

    def memory(self):
        """Its sources, which have a slab of their own, and a pointer for each that there is room for."""
        with open("/proc/slabinfo") as slabs:
            found = re.search(r"^xt_hashlimit +(\d+) +\d+ +(\d+)", slabs.read(), re.MULTILINE)
        return found and int(found[1]) * int(found[2]) + 8 * self.room

    def dropped(self, _came, arrived):
        return arrived - self.counted(1)


class Nftables(Subject):
    """A rule in a table of its own, with a set of its own if it has one. An end of a block on each line: nft 1.0.6 wants it
    so."""
    match = "%s saddr @listed"

    def load(self, workload):
        need("nft")
        four = workload.family == 4
        self.family, path = self.table or ("ip" if four else "ip6"), self.scratch.path("nft")
        with open(path, "w") as out:
            out.write("table %s xbt {\n" % self.family)
            if self.drops != "all":
                out.write("set listed {\ntype %s\n" % ("ipv4_addr" if four else "ipv6_addr"))
                self.write_set(out, workload)
                out.write("}\n")
            out.write("chain drops {\ntype filter hook %s\n%s counter drop\n}\n}\n" % (
                self.hook, "" if self.drops == "all" else self.match % ("ip" if four else "ip6")))
        self.place.inside("nft", "-f", path, timeout=LOADED_WITHIN)
        os.unlink(path)

    def write_set(self, out, workload):
        # With a size the kernel takes the fastest of its hashes for single addresses.
        out.write("size %d\n%selements = {\n" % ((1 + workload.prefixes) * workload.entries,
                                                 "flags interval\nauto-merge\n" if workload.prefixes else ""))
        with open(workload.plain) as lines:
            out.writelines(line.rstrip() + ",\n" for line in lines)
        out.write("}\n")


class NftIngress(Nftables):
    key, name, table = "nft_ingress", "nftables %(set)s, netdev ingress", "netdev"
    hook = 'ingress device "%s" priority 0' % FAR


class NftMeter(NftIngress):
    """A limit of each source, in a set that packets fill."""
    key, name = "nft_meter", "nftables dynamic set, netdev ingress"
    match = "add @listed { %s saddr limit rate over 1/hour burst 1 packets }"

    def write_set(self, out, workload):
        out.write("size %d\nflags dynamic\n" % workload.room)


class NftAll(NftIngress):
    key, name, drops = "nft_drop", "nftables netdev, drop all, no set", "all"


class NftPrerouting(Nftables):
    key, name, table = "nft_prerouting", "nftables %(set)s, prerouting raw", None
    hook = "prerouting priority raw"

    def dropped(self, _came, _arrived):
        """Behind the IP layer's counter: the rule has its own. -t: without the set."""
        text = self.place.inside("nft", "-t", "list", "chain", self.family, "xbt", "drops")
        return self.since(int(re.search(r"counter packets (\d+)", text).group(1)))


class XdpFilter(Subject):
    """xdp-filter of xdp-tools, with the features the others have: IPv4 and IPv6 sources. It takes one address a process, and pins
    below /sys/fs/bpf, which is a directory of ours for it."""
    key, name = "xdp_filter", "xdp-filter"

    def __init__(self, place, scratch):
        super().__init__(place, scratch)
        self.pins = os.path.join(scratch.pins, "xdp-filter")

    def shell(self, script, *words, **options):
        return self.place.inside("unshare", "--mount", "sh", "-c", 'mount --bind "$1" /sys/fs/bpf || exit; shift; ' + script, "sh",
                                 self.pins, *words, **options)

    def load(self, workload):
        need("xdp-filter", "bpftool")
        if workload.prefixes:
            raise Skipped("it takes no prefixes")
        os.makedirs(self.pins)
        self.shell('xdp-filter load -m native -f ipv4,ipv6 "$1"', FAR)
        table = json.loads(run("bpftool", "-j", "map", "show", "pinned", os.path.join(
            self.pins, "xdp-filter", "filter_ipv%d" % workload.family)))
        if workload.entries > table["max_entries"]:
            raise Skipped("its map takes %d addresses" % table["max_entries"])
        self.shell('while read -r address; do xdp-filter ip -m src "$address" || exit; done <"$1"',
                   workload.plain, timeout=LOADED_WITHIN)

    def end(self):
        shutil.rmtree(self.pins, ignore_errors=True)


class Trie(Subject):
    """An XDP program that asks the kernel's map for prefixes, and does nothing else."""
    key, name = "lpm_trie", "XDP with an LPM trie"

    def __init__(self, place, scratch):
        super().__init__(place, scratch)
        self.pins = os.path.join(scratch.pins, "trie")

    def load(self, workload):
        need("bpftool")
        self.place.inside("bpftool", "prog", "loadall", LIMITS, self.pins, "pinmaps", self.pins)
        path = self.scratch.path("trie")
        with open(path, "w") as out, open(workload.plain) as lines:
            for net in map(ipaddress.ip_network, map(str.strip, lines)):
                out.write("map update pinned %s/listed key %s value 1 0 0 0\n" % (
                    self.pins, " ".join(map(str, net.prefixlen.to_bytes(4, "little") + net.network_address.packed))))
        self.place.inside("bpftool", "batch", "file", path, timeout=LOADED_WITHIN)
        os.unlink(path)
        self.place.inside("bpftool", "net", "attach", "xdpdrv", "pinned", os.path.join(self.pins, "drop_listed6"), "dev", FAR)

    def end(self):
        shutil.rmtree(self.pins, ignore_errors=True)


# Limits of listed and of clean traffic first, then what ships, then peers.
SUBJECTS = (DropAll, PassAll, Nothing, Filter, NftIngress, NftPrerouting, NftAll, Ipset, IptablesAll, XdpFilter)
SHAPED = tuple(kind for kind in SUBJECTS if kind is not XdpFilter) + (Trie,)  # of IPv6 prefixes
ALONE = (DropAll, PassAll, Filter)  # where peers do not take part
LIMITED = (DropAll, LimitFilter, HashLimit, NftMeter)  # of a flood from sources that are over a limit
