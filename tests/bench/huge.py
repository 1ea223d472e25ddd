# SPDX-License-Identifier: GPL-2.0-or-later
"""The import of 100M addresses, in a memory cgroup that holds what it may take."""
import os
import shutil

from command_peers import INTERFACE, Bloomctl, Lists, Ranges, add_interface, timed
from rig import Failed, first_line, goal, run, say

HOSTS = 100000000
LIMIT = 12 << 30
DISK = 16 << 30  # text, state, and as much again
# Of both versions of cgroups: directory, limit, peak.
HIERARCHIES = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"),
               ("/sys/fs/cgroup", "memory.max", "memory.peak"))


class Limited:
    """Whole processes, with what they have the kernel and tmpfs hold, in a cgroup of their own."""

    def __init__(self, limit):
        for top, most, peak in HIERARCHIES:
            self.directory = os.path.join(top, "xbt-bench")
            if self.begin(most, limit):
                self.peak_path = os.path.join(self.directory, peak)
                return
        raise Failed("no memory cgroup can be made")

    def begin(self, most, limit):
        self.end()  # of a run that was killed
        try:
            os.mkdir(self.directory)
            with open(os.path.join(self.directory, most), "w") as out:
                out.write(str(limit))
        except OSError:
            self.end()
            return False
        return True

    def __call__(self, *command):
        return timed("sh", "-c", 'echo $$ >"$1" && shift && exec "$@"', "sh",
                          os.path.join(self.directory, "cgroup.procs"), *command)

    def peak(self):
        with open(self.peak_path) as file:
            return int(file.read())

    def end(self):
        try:
            os.rmdir(self.directory)
        except OSError:
            pass


def obstacle(scratch):
    available = 1024 * int(first_line("/proc/meminfo", "MemAvailable").split()[0])
    if available < LIMIT:
        return "%.1f GiB of memory are free, not %d" % (available / 2**30, LIMIT >> 30)
    free = shutil.disk_usage(scratch.top).free
    if free < DISK:
        return "%.1f GiB of disk are free, not %d" % (free / 2**30, DISK >> 30)
    return None


def import_once(scratch):
    limited = Limited(LIMIT)
    bloomctl = Bloomctl(scratch)
    bloomctl.timed = limited
    try:
        add_interface(INTERFACE)
        say("import of %d addresses: writing them" % HOSTS)
        bloomctl.prepare(Lists(Ranges((0, HOSTS)), None, {}))
        bloomctl.begin()
        say("import of %d addresses" % HOSTS)
        wall, peak = bloomctl.load()
        status = bloomctl.status()
        if status["host4_keys"] != HOSTS:
            raise Failed("%d addresses are enforced, not %d" % (status["host4_keys"], HOSTS))
        maps = status["memory"]
        return {"hosts": HOSTS, "limit_bytes": LIMIT, "seconds": wall,
                "peak_bytes_of_process": peak, "peak_bytes_of_all": limited.peak(),
                "packet_path_bytes": sum(maps.values()) - maps["counters"],
                "bits_bytes": maps["host4"], "buckets_bytes": maps["confirm4"], "counters_bytes": maps["counters"]}
    finally:
        bloomctl.close()
        limited.end()
        run("ip", "link", "del", INTERFACE)


def measure(scratch, _quick, report):
    reason = obstacle(scratch)
    if reason:
        report["skipped"].append("import of 100M addresses: " + reason)
        return
    try:
        report["huge_import"] = import_once(scratch)
    except Failed as failure:
        report["failed"].append("import of 100M addresses: %s" % failure)


def bytes_per_host(found):
    """Of Bloom stage and exact table."""
    return (found["bits_bytes"] + found["buckets_bytes"]) / found["hosts"]


def goals(report):
    found = report.get("huge_import")
    return [goal("import of 100M, s", 40, found and found["seconds"]),
            goal("import of 100M, GiB of memory at the most", 6, found and found["peak_bytes_of_all"] / 2**30),
            goal("bits and buckets at 100M, bytes per host", 3.9, found and bytes_per_host(found))]


def print_text(report):
    found = report.get("huge_import")
    if found:
        print("\nImport of %d addresses in a cgroup of %d GiB: %.1f s, at the most %.2f GiB of "
              "memory in it (the process %.2f GiB, with the file it maps); packet path %.0f MiB, bits and buckets %.2f "
              "bytes an address, counters %.0f MiB" % (found["hosts"], found["limit_bytes"] >> 30, found["seconds"],
                                     found["peak_bytes_of_all"] / 2**30,
                                     found["peak_bytes_of_process"] / 2**30,
                                     found["packet_path_bytes"] / 2**20, bytes_per_host(found),
                                     found["counters_bytes"] / 2**20))
