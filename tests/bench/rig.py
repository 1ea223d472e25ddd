# SPDX-License-Identifier: GPL-2.0-or-later
"""What everything that is measured shares: commands, directories, networks, figures."""
import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

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
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **options)
    if done.returncode:
        raise Failed("%s: exit %d: %s" % (" ".join(command), done.returncode,
                                          done.stderr.strip()[-500:]))
    return done.stdout


class Scratch:
    """Directories of this run: state on disk, counters in memory, pins on a bpffs."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="xbt-bench-")
        self.run = self.make("run")
        self.pins = self.make("bpf")
        self.errors = self.path("errors")
        run("mount", "-t", "tmpfs", "tmpfs", self.run)
        given = os.environ.get("XB_TEST_BPFFS")
        if given:
            self.pins = tempfile.mkdtemp(prefix="xbt-bench-", dir=given)
        else:
            run("mount", "-t", "bpf", "bpf", self.pins)

    def path(self, *names):
        return os.path.join(self.top, *names)

    def make(self, *names):
        os.makedirs(self.path(*names))
        return self.path(*names)

    def remove(self):
        if os.environ.get("XB_TEST_BPFFS"):
            shutil.rmtree(self.pins, ignore_errors=True)
        else:
            subprocess.run(["umount", self.pins], check=False)
        subprocess.run(["umount", self.run], check=False)
        shutil.rmtree(self.top, ignore_errors=True)


def enter_network(name):
    """This process, and what it starts, lives in the namespace from now on."""
    with open("/run/netns/" + name) as handle:
        if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), CLONE_NEWNET):
            raise Failed("setns: " + os.strerror(ctypes.get_errno()))


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


def row(*cells):
    print(("%-44s" + "%22s" * (len(cells) - 1)) % cells)
