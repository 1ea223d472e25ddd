# SPDX-License-Identifier: GPL-2.0-or-later
"""What whole commands are run of: bloomctl and its peers. Each knows the operations it has, as
processes that are timed, and writes what they read beforehand."""
import json
import os
import re
import shutil
import subprocess

from rig import BLOOMCTL, PROGRAMS, Failed, run

INTERFACE = "xbtb0"
SET, OTHER = "xbt-bench", "xbt-bench-new"
NFT_SET = "inet xbt listed"
BPFFS = "/sys/fs/bpf"


def timed(*command, stdin=os.devnull):
    """A whole process: wall time in seconds, peak resident set in bytes."""
    found = process(*command, stdin=stdin)
    return found["seconds"], found["peak_bytes"]


def process(*command, stdin=os.devnull):
    """All that is known of a whole process."""
    with open(stdin) as lines:
        return json.loads(run(os.path.join(PROGRAMS, "bench_process"), *command, stdin=lines))


class Timed:
    """As timed(), and knows of the last one how much it wrote to a disk."""

    def __call__(self, *command):
        found = process(*command)
        self.written = found["written_bytes"]
        return found["seconds"], found["peak_bytes"]


def add_interface(name):
    """Up, with an end to send to. GRO gives it what native XDP needs."""
    run("ip", "link", "add", name, "type", "veth", "peer", "name", name + "p")
    run("ip", "link", "set", name, "up")
    run("ip", "link", "set", name + "p", "up")


class Ranges:
    """The addresses bench_addresses numbers so: (first, count) each, none in two."""

    def __init__(self, *ranges):
        self.ranges = ranges

    def __len__(self):
        return sum(count for _, count in self.ranges)

    def write(self, path, head="", before="", after="", tail=""):
        """A line each, between head and tail."""
        with open(path, "w") as out:
            out.write(head)
            out.flush()
            for first, count in self.ranges:
                subprocess.run([os.path.join(PROGRAMS, "bench_addresses"), str(first), str(count),
                                before, after], stdout=out, check=True)
            out.write(tail)
        return path


class Lists:
    """What is measured: the list, the same with some changed, and batches of further adds."""

    def __init__(self, base, changed, batches):
        self.base = base
        self.changed = changed
        self.batches = batches  # by operation

    def room(self):
        """For all that is ever listed at once."""
        return len(self.base) + sum(map(len, self.batches.values())) + 1000


class Peer:
    """What it cannot do it has no method for. load(), add() and so on: wall time, peak."""
    tool = None  # that must be there
    trial = ()   # of it, that must work

    timed = staticmethod(timed)

    def __init__(self, scratch):
        self.directory = scratch.make("commands-" + self.key)

    @classmethod
    def try_out(cls):
        if not shutil.which(cls.tool):
            raise Failed("%s is not installed" % cls.tool)
        for words in cls.trial:
            run(cls.tool, *words)

    def path(self, name):
        return os.path.join(self.directory, name)

    def close(self):
        self.end()
        shutil.rmtree(self.directory, ignore_errors=True)

    def has(self, operation):
        return hasattr(self, operation)


class Bloomctl(Peer):
    """An installation with the veth attached."""
    key, name = "bloomctl", "bloomctl"

    def __init__(self, scratch):
        super().__init__(scratch)
        self.state = self.path("state")
        self.pins = os.path.join(scratch.pins, "commands")
        self.counters = os.path.join(scratch.run, "commands")
        self.base = (BLOOMCTL, "--state", self.state, "--pin", self.pins, "--run", self.counters,
                     "-q")

    def prepare(self, lists):
        lists.base.write(self.path("load"))
        if lists.changed:
            lists.changed.write(self.path("replace"))
        for name, batch in lists.batches.items():
            batch.write(self.path(name), before="add ")

    def begin(self):
        run(*self.base, "attach", INTERFACE)

    def end(self):
        if os.path.isdir(self.state):
            subprocess.run([*self.base, "detach", "--all"], check=False, stderr=subprocess.DEVNULL)
        for directory in (self.state, self.counters, os.path.join(self.pins, "link"), self.pins):
            shutil.rmtree(directory, ignore_errors=True)

    def command(self, *words):
        return self.timed(*self.base, *words)

    def load(self):
        return self.command("import", self.path("load"), "--include-bogons")

    def add(self, address):
        return self.command("add", address)

    def delete(self, address):
        return self.command("del", address)

    def test(self, address):
        return self.command("test", address)

    def replace(self):
        return self.command("import", "--replace", self.path("replace"), "--include-bogons")

    def unchanged(self):
        """The same file once more."""
        return self.replace()

    def swap(self):
        return self.command("rotate")

    def batch(self, name):
        return self.command("batch", self.path(name))

    def status(self):
        return json.loads(run(*self.base, "-j", "status"))["generation"]

    def count(self):
        return self.status()["host4_keys"]


class Ipset(Peer):
    """A set of type hash:ip, which no rule names. Lines as `ipset save` writes them: its hash has
    the size it will need."""
    key, name, tool = "ipset", "ipset hash:ip", "ipset"
    trial = (("create", SET, "hash:ip"), ("destroy", SET))

    def prepare(self, lists):
        size = 1 << max(10, (len(lists.base) // 4 - 1).bit_length())

        def create(name):
            return "create %s hash:ip hashsize %d maxelem %d\n" % (name, size, lists.room())

        lists.base.write(self.path("load"), create(SET), "add %s " % SET)
        lists.changed.write(self.path("replace"), create(OTHER), "add %s " % OTHER,
                            tail="swap %s %s\ndestroy %s\n" % (SET, OTHER, OTHER))
        for name, batch in lists.batches.items():
            batch.write(self.path(name), before="add %s " % SET)

    def begin(self):
        pass

    def end(self):
        for name in (SET, OTHER):
            subprocess.run(["ipset", "destroy", name], check=False, stderr=subprocess.DEVNULL)

    def load(self):
        return self.timed("ipset", "restore", stdin=self.path("load"))

    def add(self, address):
        return self.timed("ipset", "add", SET, address)

    def delete(self, address):
        return self.timed("ipset", "del", SET, address)

    def test(self, address):
        return self.timed("ipset", "test", SET, address)

    def replace(self):
        """Into a set of its own, which takes the place of the other."""
        return self.timed("ipset", "restore", stdin=self.path("replace"))

    def swap(self):
        """Of two sets that are there, and back."""
        run("ipset", "create", OTHER, "hash:ip")
        found = self.timed("ipset", "swap", SET, OTHER)
        run("ipset", "swap", SET, OTHER)
        run("ipset", "destroy", OTHER)
        return found

    def batch(self, name):
        return self.timed("ipset", "restore", stdin=self.path(name))

    def told(self, what):
        found = re.search("^%s: (\\d+)" % what, run("ipset", "list", "-t", SET), re.MULTILINE)
        if not found:
            raise Failed("ipset does not tell: " + what)
        return int(found[1])

    def count(self):
        return self.told("Number of entries")

    def own_account(self):
        return self.told("Size in memory")


class Nft(Peer):
    """A set of single addresses in a table of its own, which no rule names. It has a size, so that
    the kernel takes the fastest of its hashes. To test one of a million takes it 11 s, and is left out. An end of a block on each line: nft 1.0.6 wants it
    so."""
    key, name, tool = "nft", "nft set", "nft"
    trial = (("add table inet xbt",), ("delete table inet xbt",))

    def prepare(self, lists):
        lists.base.write(self.path("load"), "table inet xbt {\nset listed {\ntype ipv4_addr\n"
                         "size %d\nelements = {\n" % lists.room(), after=",", tail="}\n}\n}\n")
        adds = "add element %s {\n" % NFT_SET
        lists.changed.write(self.path("replace"), "flush set %s\n%s" % (NFT_SET, adds), after=",",
                            tail="}\n")
        for name, batch in lists.batches.items():
            batch.write(self.path(name), adds, after=",", tail="}\n")

    def begin(self):
        pass

    def end(self):
        subprocess.run(["nft", "delete", "table", "inet", "xbt"], check=False,
                       stderr=subprocess.DEVNULL)

    def load(self):
        return self.timed("nft", "-f", self.path("load"))

    def add(self, address):
        return self.timed("nft", "add element %s { %s }" % (NFT_SET, address))

    def delete(self, address):
        return self.timed("nft", "delete element %s { %s }" % (NFT_SET, address))

    def replace(self):
        """All of it, in one transaction."""
        return self.timed("nft", "-f", self.path("replace"))

    def batch(self, name):
        return self.timed("nft", "-f", self.path(name))

    def count(self):
        text = run("nft", "list", "set", *NFT_SET.split())
        return len(re.findall(r"\d+\.\d+\.\d+\.\d+", text))


class XdpFilter(Peer):
    """Its table takes 10,000 addresses and one a process: single ones alone, next to no others."""
    key, name, tool = "xdp_filter", "xdp-filter", "xdp-filter"
    interface = "xbtb1"

    def prepare(self, _lists):
        """It pins below a fixed path: a bpf file system of this process and those it starts."""
        add_interface(self.interface)
        run("mount", "-t", "bpf", "bpf", BPFFS)

    def begin(self):
        run("xdp-filter", "load", "-m", "native", "-f", "ipv4", self.interface)

    def end(self):
        subprocess.run(["xdp-filter", "unload", "--all"], check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def close(self):
        super().close()
        subprocess.run(["umount", BPFFS], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["ip", "link", "del", self.interface], check=False,
                       stderr=subprocess.DEVNULL)

    def add(self, address):
        return self.timed("xdp-filter", "ip", "-m", "src", address)

    def delete(self, address):
        return self.timed("xdp-filter", "ip", "-r", "-m", "src", address)


PEERS = (Ipset, Nft, XdpFilter)


def usable(report):
    """Those that are installed, and that the kernel lets work."""
    found = []
    for kind in PEERS:
        try:
            kind.try_out()
            found.append(kind)
        except Failed as failure:
            report["skipped"].append("whole commands, %s: %s" % (kind.name, failure))
    return found
