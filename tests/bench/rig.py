# SPDX-License-Identifier: GPL-2.0-or-later
"""What everything that is measured shares: commands, directories, networks, figures."""
import ctypes
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("OUT", "build"))
BLOOMCTL = os.path.join(BUILD, "bloomctl")
PROGRAMS = os.path.join(BUILD, "tests", "bench")
CLONE_NEWNET = 0x40000000
PROGRESS = sys.stderr.isatty()


class Failed(Exception):
    """Something could not be measured."""


def say(text):
    if PROGRESS:
        sys.stderr.write("\r%s\033[K" % text)
        sys.stderr.flush()


def run(*command, **options):
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, **options)
    if done.returncode:
        raise Failed("%s: exit %d: %s" % (" ".join(command), done.returncode,
                                          done.stderr.strip()[-500:]))
    return done.stdout


def first_line(path, start):
    """What stands behind the colon in the first line that begins so; None without one."""
    try:
        with open(path) as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(start)),
                        None)
    except OSError:
        return None


def this_run(command):
    """What a figure depends on: when, on what, by which command."""
    memory = first_line("/proc/meminfo", "MemTotal")
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "kernel": os.uname().release,
            "cpu": first_line("/proc/cpuinfo", "model name"), "cpus": os.cpu_count(),
            "memory_bytes": memory and int(memory.split()[0]) * 1024,
            "command": " ".join(command)}


class Scratch:
    """Directories of this run: state on disk, counters in memory, pins on a bpffs."""

    def __init__(self, directory):
        self.top = directory
        self.run = self.make("run")
        self.pins = self.make("bpf")
        run("mount", "-t", "tmpfs", "tmpfs", self.run)
        run("mount", "-t", "bpf", "bpf", self.pins)

    def path(self, *names):
        return os.path.join(self.top, *names)

    def make(self, *names):
        os.makedirs(self.path(*names))
        return self.path(*names)


def add_network(name):
    """A network namespace, in which this process and what it starts live from now on."""
    run("ip", "netns", "add", name)
    with open("/run/netns/" + name) as handle:
        if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), CLONE_NEWNET):
            raise Failed("setns: " + os.strerror(ctypes.get_errno()))
    run("ip", "link", "set", "lo", "up")


class Samples:
    """Figures by name, one for each round."""

    def __init__(self):
        self.of = {}

    def add(self, name, value):
        self.of.setdefault(name, []).append(value)

    def summary(self, name):
        values = self.of.get(name)
        if not values:
            return None
        return {"median": statistics.median(values), "min": min(values), "n": len(values)}

    def ratio(self, name, other):
        """Of medians and of minima; its spread is between the quartiles of single rounds. Both were
        measured in the same rounds."""
        found = ratio(self.summary(name), self.summary(other))
        if not found:
            return None
        each = sorted(a / b for a, b in zip(self.of[name], self.of[other]) if b > 0)
        if len(each) > 1:
            low, _, high = statistics.quantiles(each, n=4, method="inclusive")
            found.update(low=low, high=high)
        return found


def ratio(a, b):
    """Of medians, and of minima; None where one was not measured or is nothing."""
    if not a or not b:
        return None
    return {key: a[key] / b[key] if b[key] > 0 else None for key in ("median", "min")}


def both(figure, scale=1.0, digits=1):
    """A median with its minimum beside it."""
    if figure is None:
        return "-"
    texts = ["-" if figure[key] is None else "%.*f" % (digits, scale * figure[key])
             for key in ("median", "min")]
    return "%s (%s)" % tuple(texts)


def spread(found, digits=2):
    """A ratio of medians with the quartiles of rounds beside it."""
    if not found:
        return "-"
    if "low" not in found:
        return "%.*f" % (digits, found["median"])
    return "%.*f (%.*f to %.*f)" % (digits, found["median"], digits, found["low"], digits,
                                    found["high"])


def row(*cells):
    print(("%-44s" + "%22s" * (len(cells) - 1)) % cells)


def goal(name, limit, value, at_most=True):
    """What was promised, beside what was found; reached None: not measured."""
    known = limit is not None and value is not None
    return {"goal": name, "at_most": at_most, "limit": limit, "value": value,
            "reached": (value <= limit if at_most else value >= limit) if known else None}


def limit_of(each):
    return "-" if each["limit"] is None else "%s %s" % (
        "at most" if each["at_most"] else "at least", amount(each["limit"]))


def amount(value):
    """Three digits, or all that stand before the point; of nothing, a dash."""
    if value is None:
        return "-"
    return "{:,.0f}".format(value) if abs(value) >= 1000 else "%.3g" % value


def print_goals(goals):
    if goals:
        print("\nGoals")
    for each in goals:
        print("%-56s%20s%12s  %s" % (each["goal"], limit_of(each), amount(each["value"]), {
            True: "reached", False: "MISSED", None: "not measured"}[each["reached"]]))
