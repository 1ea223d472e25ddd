# SPDX-License-Identifier: GPL-2.0-or-later
"""What whole commands are run of: bloomctl and its peers. Each knows the operations it has, as processes that are timed, and
writes what they read beforehand."""
import os
import re
import shutil
import subprocess

from rig import Failed, Installation, program, quietly, run, told_by

INTERFACE = "xbtb0"
SET, OTHER = "xbt-bench", "xbt-bench-new"
NFT_SET = "inet xbt listed"
BPFFS = "/sys/fs/bpf"


def timed(*command, stdin=os.devnull):
    """A whole process: wall time in seconds, peak resident set in bytes."""
    with open(stdin) as lines:
        found = told_by("bench_process", *command, stdin=lines)
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
                subprocess.run([program("bench_addresses"), str(first), str(count), before, after], stdout=out, check=True)
            out.write(tail)
        return path


class Lists:
    """What is measured: the list, the same with some changed, and batches of further adds."""

    def __init__(self, base, changed, batches):
        self.base, self.changed = base, changed
        self.batches = batches  # by operation

    def room(self):
        """For all that is ever listed at once."""
        return len(self.base) + sum(map(len, self.batches.values())) + 1000


class Peer:
    """What it cannot do it has no command for. run() an operation: wall time, peak."""
    tool = None  # that must be there
    trial = ()   # of it, that must work
    # By operation; %(path)s: of the file that is written for it, %(what)s: what it is done to.
    commands = {}
    piped = ()   # operations that get their file as input
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

    def begin(self):
        pass

    def close(self):
        self.end()
        shutil.rmtree(self.directory, ignore_errors=True)

    def has(self, operation):
        return operation.split("_")[0] in self.commands

    def run(self, operation, what=None):
        """Batches have a file each."""
        kind, path = operation.split("_")[0], self.path("replace" if operation == "unchanged" else operation)
        words = [word % {"path": path, "what": what} for word in self.commands[kind]]
        return self.timed(*words, **({"stdin": path} if kind in self.piped else {}))


class Bloomctl(Peer, Installation):
    """An installation with the veth attached."""
    key, name = "bloomctl", "bloomctl"
    commands = {"load": ("import", "%(path)s", "--include-bogons"), "add": ("add", "%(what)s"), "delete": ("del", "%(what)s"),
                "test": ("test", "%(what)s"), "replace": ("import", "--replace", "%(path)s", "--include-bogons"),
                "unchanged": ("import", "--replace", "%(path)s", "--include-bogons"), "swap": ("rotate",),
                "batch": ("batch", "%(path)s")}

    def __init__(self, scratch):
        Peer.__init__(self, scratch)
        Installation.__init__(self, scratch, "commands")
        self.commands = {name: (*self.base, "-q", *words) for name, words in self.commands.items()}

    def prepare(self, lists):
        lists.base.write(self.path("load"))
        if lists.changed:
            lists.changed.write(self.path("replace"))
        for name, batch in lists.batches.items():
            batch.write(self.path(name), before="add ")

    def begin(self):
        self.ctl("attach", INTERFACE)

    end = Installation.remove

    def count(self):
        return self.generation()["host4_keys"]


class Ipset(Peer):
    """A set of type hash:ip, which no rule names. Lines as `ipset save` writes them: its hash has the size it will need. It
    replaces by a set of its own, which takes the place of the other."""
    key, name, tool = "ipset", "ipset hash:ip", "ipset"
    trial = (("create", SET, "hash:ip"), ("destroy", SET))
    commands = {"load": ("ipset", "restore"), "replace": ("ipset", "restore"), "batch": ("ipset", "restore"),
                "add": ("ipset", "add", SET, "%(what)s"), "delete": ("ipset", "del", SET, "%(what)s"),
                "test": ("ipset", "test", SET, "%(what)s"), "swap": ("ipset", "swap", SET, OTHER)}
    piped = ("load", "replace", "batch")

    def prepare(self, lists):
        size = 1 << max(10, (len(lists.base) // 4 - 1).bit_length())
        create = "create %%s hash:ip hashsize %d maxelem %d\n" % (size, lists.room())
        lists.base.write(self.path("load"), create % SET, "add %s " % SET)
        lists.changed.write(self.path("replace"), create % OTHER, "add %s " % OTHER,
                            tail="swap %s %s\ndestroy %s\n" % (SET, OTHER, OTHER))
        for name, batch in lists.batches.items():
            batch.write(self.path(name), before="add %s " % SET)

    def end(self):
        for name in (SET, OTHER):
            quietly("ipset", "destroy", name)

    def run(self, operation, what=None):
        if operation != "swap":
            return super().run(operation, what)
        run("ipset", "create", OTHER, "hash:ip")    # two sets that are there, and back
        found = super().run(operation)
        run("ipset", "swap", SET, OTHER)
        run("ipset", "destroy", OTHER)
        return found

    def told(self, what):
        found = re.search("^%s: (\\d+)" % what, run("ipset", "list", "-t", SET), re.MULTILINE)
        if not found:
            raise Failed("ipset does not tell: " + what)
        return int(found[1])

    def count(self):
        return self.told("Number of entries")


class Nft(Peer):
    """A set of single addresses in a table of its own, which no rule names. It has a size, so that the kernel takes the fastest
    of its hashes. To test one of a million takes it 11 s, and is left out. It replaces all in one transaction. An end of a block
    on each line: nft 1.0.6 wants it so."""
    key, name, tool = "nft", "nft set", "nft"
    trial = (("add table inet xbt",), ("delete table inet xbt",))
    commands = {"load": ("nft", "-f", "%(path)s"), "replace": ("nft", "-f", "%(path)s"), "batch": ("nft", "-f", "%(path)s"),
                "add": ("nft", "add element " + NFT_SET + " { %(what)s }"),
                "delete": ("nft", "delete element " + NFT_SET + " { %(what)s }")}

    def prepare(self, lists):
        lists.base.write(self.path("load"), "table inet xbt {\nset listed {\ntype ipv4_addr\n"
                         "size %d\nelements = {\n" % lists.room(), after=",", tail="}\n}\n}\n")
        adds = "add element %s {\n" % NFT_SET
        lists.changed.write(self.path("replace"), "flush set %s\n%s" % (NFT_SET, adds), after=",", tail="}\n")
        for name, batch in lists.batches.items():
            batch.write(self.path(name), adds, after=",", tail="}\n")

    def end(self):
        quietly("nft", "delete", "table", "inet", "xbt")

    def count(self):
        return len(re.findall(r"\d+\.\d+\.\d+\.\d+", run("nft", "list", "set", *NFT_SET.split())))


class XdpFilter(Peer):
    """Its table takes 10,000 addresses and one a process: single ones alone, next to no others."""
    key, name, tool = "xdp_filter", "xdp-filter", "xdp-filter"
    interface = "xbtb1"
    commands = {"add": ("xdp-filter", "ip", "-m", "src", "%(what)s"), "delete": ("xdp-filter", "ip", "-r", "-m", "src", "%(what)s")}

    def prepare(self, _lists):
        """It pins below a fixed path: a bpf file system of this process and those it starts."""
        add_interface(self.interface)
        run("mount", "-t", "bpf", "bpf", BPFFS)

    def begin(self):
        run("xdp-filter", "load", "-m", "native", "-f", "ipv4", self.interface)

    def end(self):
        quietly("xdp-filter", "unload", "--all")

    def close(self):
        super().close()
        quietly("umount", BPFFS)
        quietly("ip", "link", "del", self.interface)


def usable(report):
    """Those that are installed, and that the kernel lets work."""
    found = []
    for kind in (Ipset, Nft, XdpFilter):
        try:
            kind.try_out()
            found.append(kind)
        except Failed as failure:
            report["skipped"].append("whole commands, %s: %s" % (kind.name, failure))
    return found
