# SPDX-License-Identifier: GPL-2.0-or-later
"""The import of 100M addresses, in a memory cgroup that holds what it may take."""
import os
import shutil

from command_peers import INTERFACE, Bloomctl, Lists, Ranges, add_interface, timed
from rig import Failed, attempt, first_line, goal, run, say

HOSTS = 100000000
LIMIT = 12 << 30
DISK = 16 << 30  # text, state, and as much again
# Of both versions of cgroups: directory, limit, peak.
HIERARCHIES = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"),
               ("/sys/fs/cgroup", "memory.max", "memory.peak"))


class Limited:
    """Whole processes, with what they have the kernel and tmpfs hold, in a cgroup of their own."""

    def __init__(self):
        for top, most, peak in HIERARCHIES:
            self.directory = os.path.join(top, "xbt-bench")
            self.end()  # of a run that was killed
            try:
                os.mkdir(self.directory)
                with open(os.path.join(self.directory, most), "w") as out:
                    out.write(str(LIMIT))
                self.peak = os.path.join(self.directory, peak)
                return
            except OSError:
                self.end()
        raise Failed("no memory cgroup can be made")

    def __call__(self, *command):
        return timed("sh", "-c", 'echo $$ >"$1" && shift && exec "$@"', "sh", os.path.join(self.directory, "cgroup.procs"), *command)

    def end(self):
        try:
            os.rmdir(self.directory)
        except OSError:
            pass


def import_once(scratch):
    limited, bloomctl = Limited(), Bloomctl(scratch)
    bloomctl.timed = limited
    try:
        add_interface(INTERFACE)
        say("import of %d addresses" % HOSTS)
        bloomctl.prepare(Lists(Ranges((0, HOSTS)), None, {}))
        bloomctl.begin()
        wall, peak = bloomctl.run("load")
        status = bloomctl.generation()
        if status["host4_keys"] != HOSTS:
            raise Failed("%d addresses are enforced, not %d" % (status["host4_keys"], HOSTS))
        maps = status["memory"]
        with open(limited.peak) as file:
            return {"hosts": HOSTS, "limit_bytes": LIMIT, "seconds": wall, "peak_bytes_of_process": peak,
                    "peak_bytes_of_all": int(file.read()), "packet_path_bytes": sum(maps.values()) - maps["counters"],
                    "bits_bytes": maps["host4"], "buckets_bytes": maps["confirm4"], "counters_bytes": maps["counters"]}
    finally:
        bloomctl.close()
        limited.end()
        run("ip", "link", "del", INTERFACE)


def measure(scratch, _quick, report):
    available = 1024 * int(first_line("/proc/meminfo", "MemAvailable").split()[0])
    for what, free, wanted in (("memory", available, LIMIT), ("disk", shutil.disk_usage(scratch.top).free, DISK)):
        if free < wanted:
            report["skipped"].append("import of 100M addresses: %.1f GiB of %s are free, not %d" % (free / 2**30, what, wanted >> 30))
            return
    report["huge_import"] = attempt(report, "import of 100M addresses", import_once, scratch)


def bytes_per_host(found):
    """Of Bloom stage and exact table."""
    return (found["bits_bytes"] + found["buckets_bytes"]) / found["hosts"]


def goals(report):
    found = report.get("huge_import")
    return [goal("import of 100M, s", 40, found and found["seconds"]),
            goal("import of 100M, GiB of memory at the most", 6, found and found["peak_bytes_of_all"] / 2**30),
            goal("bits and buckets at 100M, bytes per host", 3.9, found and bytes_per_host(found))]
