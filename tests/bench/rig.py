# SPDX-License-Identifier: GPL-2.0-or-later
"""What everything that is measured shares: commands, directories, networks, figures."""
import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("OUT", "build"))
BLOOMCTL = os.path.join(BUILD, "bloomctl")
PROGRAMS = os.path.join(BUILD, "tests", "bench")
CLONE_NEWNET = 0x40000000
K, MILLION = 1000, 1000000
PROGRESS = sys.stderr.isatty()


class Failed(Exception):
    """Something could not be measured."""


def say(text):
    if PROGRESS:
        sys.stderr.write("\r%s\033[K" % text)
        sys.stderr.flush()


def run(*command, **options):
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode:
        raise Failed("%s: exit %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()[-500:]))
    return done.stdout


def quietly(*command):
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def program(name):
    return os.path.join(PROGRAMS, name)


def told_by(name, *words, **options):
    """The JSON that a program of the benchmark prints."""
    return json.loads(run(program(name), *map(str, words), **options))


def addresses(first, count):
    """Random ones by their numbers, as text."""
    return run(program("bench_addresses"), str(first), str(count)).split()


def packets(scratch, section, count, others, rounds, repeats):
    """What bench_packets found."""
    say("packets: %s, %d" % (section, count))
    return told_by("bench_packets", section, count, others, rounds, repeats,
                   env=dict(os.environ, XB_TEST_BPFFS=scratch.pins, XB_TEST_DIR=scratch.run))


def attempt(report, what, work, *words):
    """What it returns, or None and a note."""
    try:
        return work(*words)
    except (Failed, OSError) as failure:
        report["failed"].append("%s: %s" % (what, failure))
        return None


def first_line(path, start):
    """What stands behind the colon in the first line that begins so; None without one."""
    try:
        with open(path) as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(start)), None)
    except OSError:
        return None


def this_run(command):
    """What a figure depends on: when, on what, by which command."""
    memory = first_line("/proc/meminfo", "MemTotal")
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "kernel": os.uname().release,
            "cpu": first_line("/proc/cpuinfo", "model name"), "cpus": os.cpu_count(),
            "memory_bytes": memory and int(memory.split()[0]) * 1024, "command": " ".join(command)}


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


class Installation:
    """Of bloomctl, with directories of its own."""

    def __init__(self, scratch, name, *before):
        """before: words in front of the command."""
        self.state = scratch.path(name + "-state")
        self.pins, self.counters = (os.path.join(top, name) for top in (scratch.pins, scratch.run))
        self.options = ("--state", self.state, "--pin", self.pins, "--run", self.counters)
        self.base = (*before, BLOOMCTL, *self.options)

    def ctl(self, *words):
        return run(*self.base, "-q", *words)

    def told(self, *words):
        """Whatever it exits with."""
        done = subprocess.run([*self.base, "-j", *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not done.stdout.strip():
            raise Failed("bloomctl %s: %s" % (" ".join(words), done.stderr.strip()))
        return json.loads(done.stdout)

    def generation(self):
        return self.told("status")["generation"]

    def remove(self):
        quietly(*self.base, "-q", "detach", "--all")
        for directory in (self.state, self.counters, self.pins):
            shutil.rmtree(directory, ignore_errors=True)


def wait_for(what, question, seconds=60, every=0.02):
    """Until the question is answered with something; that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = question()
        if found:
            return found
        time.sleep(every)
    raise Failed("%s does not come in %d s" % (what, seconds))


def stop(process):
    if process and process.poll() is None:
        process.terminate()
        process.wait()


def within(name, *words):
    """The command, in the network namespace."""
    return ("nsenter", "--net=/run/netns/" + name, *map(str, words))


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(word) for word in file.read().split()]


def processor_seconds(pid):
    """Of the process."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def add_network(name):
    """A network namespace, in which this process and what it starts live from now on."""
    run("ip", "netns", "add", name)
    with open("/run/netns/" + name) as handle:
        if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), CLONE_NEWNET):
            raise Failed("setns: " + os.strerror(ctypes.get_errno()))
    run("ip", "link", "set", "lo", "up")


def quartiles(values):
    """And the median; of a single one, that alone."""
    if len(values) < 2:
        return {"median": values[0]} if values else {}
    return dict(zip(("low", "median", "high"), statistics.quantiles(values, n=4, method="inclusive")))


def cost_over(values, alone):
    """What a subject costs over parsing alone. Both took turns, so their difference in each round is freer of what else the
    machine does than each by itself."""
    return {"median": statistics.median(a - b for a, b in zip(values, alone)), "min": min(values) - min(alone)}


class Samples:
    """Figures by name, one for each round."""

    def __init__(self):
        self.of = {}

    def add(self, name, value):
        self.of.setdefault(name, []).append(value)

    def summary(self, name):
        values = self.of.get(name)
        return values and {"median": statistics.median(values), "min": min(values)}

    def ratio(self, name, other):
        """Of medians and of minima; its spread is between the quartiles of single rounds. Both were measured in the same
        rounds."""
        one, two = self.summary(name), self.summary(other)
        found = one and two and {key: quotient(one[key], two[key]) for key in one}
        return found and {**quartiles([a / b for a, b in zip(self.of[name], self.of[other]) if b > 0]), **found}


def median(found, *names):
    """Of what is found below these names; None if it is not there."""
    for name in names:
        found = found.get(name) if found else None
    return found.get("median") if isinstance(found, dict) else found


def quotient(one, other):
    """None where it means nothing."""
    return one / other if one is not None and other and other > 0 else None


def goal(name, limit, value, at_most=True):
    """What was promised, beside what was found; reached None: not measured."""
    known = limit is not None and value is not None
    return {"goal": name, "at_most": at_most, "limit": limit, "value": value,
            "reached": (value <= limit if at_most else value >= limit) if known else None}


def limit_of(each):
    return "-" if each["limit"] is None else "%s %s" % ("at most" if each["at_most"] else "at least", amount(each["limit"]))


def amount_of(number):
    """Of entries: 1k, 10M."""
    for unit, name in ((MILLION, "M"), (K, "k")):
        if number >= unit and number % unit == 0:
            return "%d%s" % (number // unit, name)
    return str(number)


def amount(value):
    """Three digits, or all that stand before the point; of nothing, a dash."""
    if value is None:
        return "-"
    return "{:,.0f}".format(value) if abs(value) >= 1000 else "%.3g" % value
