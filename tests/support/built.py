# SPDX-License-Identifier: GPL-2.0-or-later
"""What suites run, made where everything lies that is tested."""
import os
import subprocess
import sys

FAULT = "build/fault/"


def call(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def programs(*paths):
    """Targets of make; those below build/fault/ have fault points. `tests/SUITE/run --targets` prints them, and ends here: whoever
    makes those of several suites at once says so with XB_TEST_BUILT, and no two suites write the same file."""
    if sys.argv[1:] == ["--targets"]:
        print("\n".join(paths))
        sys.exit(0)
    if os.environ.get("XB_TEST_BUILT"):
        return
    jobs = "-j%d" % os.cpu_count()
    plain, fault = ([path for path in paths if path.startswith(FAULT) == of] for of in (False, True))
    call("scripts/setup", "--test")
    call("make", jobs, *plain)
    if fault:
        call("make", jobs, "OUT=" + FAULT.rstrip("/"), "BPF_OUT=build", "EXTRA=-DXB_FAULT_POINTS", *fault)
