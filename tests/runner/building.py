# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds what the chosen tests need, and most suites; the others build when they begin."""
import glob
import os
import shutil
import subprocess

import built
import sanitizers
import tools
from choice import Choice

FAULT_POINTS = "-DXB_FAULT_POINTS"
PRODUCT = ("bloomctl", "bloomd", "bloomd-fetch", "bloomd-redis", "bloomset")
FAULTY = ("bloomctl", "bloomd")
# They say with --targets what they run.
SUITES = ("attacks", "commands", "engines", "fleets", "packets", "storm", "torture", "world")


def names(kind, choice):
    """KIND/test_NAME of the chosen test programs."""
    found = sorted(os.path.splitext(path)[0][len("tests/"):]
                   for path in glob.glob("tests/%s/**/test_*.c" % kind, recursive=True))
    return [name for name in found if choice.takes(name)]


def unit_place(choice):
    """Where unit tests are built, and with which flags: after each change without the sanitizers, which take longer to compile
    with than all else."""
    return ("build/fault", FAULT_POINTS) if choice.quick else ("build/asan", sanitizers.ADDRESS)


def make(out, extra, targets):
    return ["make", "-j%d" % os.cpu_count(), "OUT=" + out, "BPF_OUT=build", "EXTRA=" + extra, *sorted(targets)]


def wanted_by_suites(choice):
    words = [["tests/%s/run" % name, "--targets"] for name in SUITES if choice.takes_suite(name)]
    return {target for suite in words for target in subprocess.check_output(suite, text=True).split()}


def build(choice, directory):
    """What make said if it failed, or None. Tools are copied to directory/bin: whoever builds
    meanwhile does not disturb the tests."""
    programs = set(names("prog", choice))
    if choice.takes_suite("vm"):
        programs.update(names("prog", Choice("", "")))
    targets = wanted_by_suites(choice) | {"build/" + name for name in (
        *PRODUCT, "bpf/pass.bpf.o", *tools.OWN, *("tests/" + name for name in programs))}
    targets |= {built.FAULT + name for name in FAULTY}
    with_faults = {target for target in targets if target.startswith(built.FAULT)}
    wanted = [make("build", "", targets - with_faults), make("build/fault", FAULT_POINTS, with_faults)]
    units = names("unit", choice)
    if units:
        place, extra = unit_place(choice)
        wanted.append(make(place, extra, ["%s/tests/%s" % (place, name) for name in units]))
    for words in wanted:
        done = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            return done.stdout.decode(errors="replace")
    os.environ["XB_TEST_BUILT"] = "1"
    place = os.path.join(directory, "bin")
    os.mkdir(place)
    for tool in "bloomd-fetch", "bloomd-redis", "bloomset", "bpf/pass.bpf.o", *tools.OWN:
        shutil.copy("build/" + tool, place)
    for program in FAULTY:
        shutil.copy("build/" + program, place)
        shutil.copy("build/fault/" + program, os.path.join(place, program + "-fault"))
    return None
