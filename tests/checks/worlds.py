# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests under valgrind, ThreadSanitizer, and AddressSanitizer with UndefinedBehaviorSanitizer."""
import glob
import os
import re
import shutil

import cage
import sanitizers
import tools
from jobs import Check, reports

# Another exit code than any that tests expect, and the reports where nobody takes them for output.
REPORTS = "exitcode=99:log_path=%s/report"

VALGRIND = ["valgrind", "--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite,possible",
            "--error-exitcode=99"]
# GCC 12's ThreadSanitizer wants the addresses of a kernel that randomizes fewer bits of them.
TSAN = ["setarch", "--addr-no-randomize"]

# valgrind runs one thread at a time: this is for ThreadSanitizer.
THE_RACE = "unit/bloom/test_exact_race"

# These fault on purpose, and valgrind takes each fault for an error.
FAULTS = ["unit/cli/test_crash", "unit/store/test_damage"]

# What starts threads, or builds so much that the product does.
THREADS = ["unit/bloom/test_exact_build", THE_RACE, "unit/bloomset/test_threads",
           "prog/test_innocent", "prog/test_names_many", "prog/test_watch"]

# What CI has time for: no millions of keys, and the end-to-end tests in which most is said.
SHORT = re.compile(
    r"checks/(valgrind/(?!unit/(bloom/test_(exact(_build)?|neighbours)|lists/test_domain_files)$)|tsan/unit/"
    r"|asan/prog/test_(answers|edits|hits|verdicts|verifier|watch)$"
    r"|asan/e2e/test_(cli|import_lists|refused)$)")

# In these the sanitizers themselves do not fit into the memory that is left, or are refused since
# another library is loaded before them.
NOT_IN_ASAN = ["e2e/test_hostile"]


def tests(pattern):
    return sorted(os.path.splitext(os.path.relpath(path, "tests"))[0]
                  for path in glob.glob("tests/" + pattern, recursive=True))


def make_world(directory):
    """What tests find where scripts/test runs them, too."""
    bpf = os.path.join(directory, "bpf")
    os.mkdir(bpf)
    cage.mount(b"bpf", bpf.encode())
    options = REPORTS % directory
    return {
        "XB_TEST_DIR": directory, "XB_TEST_BPFFS": bpf,
        "XB_TEST_ID": "xbt-%s" % os.path.basename(directory),
        # What must come may come late.
        "XB_TEST_PATIENCE": "10", "CMOCKA_MESSAGE_OUTPUT": "STDOUT",
        "ASAN_OPTIONS": "detect_leaks=1:" + options,
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:" + options,
        "TSAN_OPTIONS": "history_size=7:" + options,
    }


def make_slow_world(directory):
    """For valgrind: what it looks for, bytes that nobody wrote, comes with the first of many rounds."""
    return {**make_world(directory), "XB_TEST_TENTH": "1"}


def make_tools(directory):
    """The same, with tools for the end-to-end tests."""
    place = os.path.join(directory, "bin")
    os.mkdir(place)
    for name in ("bloomctl", "bloomd", "bloomset", *tools.OWN):
        shutil.copy("build/asan/" + name, place)
    for name in ("bloomctl", "bloomd"):
        shutil.copy("build/asan/" + name, os.path.join(place, name + "-fault"))
    # In its sandbox the sanitizers may not do what they do.
    shutil.copy("build/bloomd-fetch", place)
    shutil.copy("build/bloomd-redis", place)
    shutil.copy("build/bpf/pass.bpf.o", place)
    with open(os.path.join(directory, "resolv.conf"), "wb"):
        pass
    return make_world(directory)


def first_error(text):
    found = re.search(r"(ERROR: .*|WARNING: .*|.*runtime error: .*)", text)
    return found[1] if found else text.strip().splitlines()[0]


def judge(code, output, directory):
    """Of a cmocka program."""
    report = reports(directory)
    skipped, last = [], "no reason given"
    for line in output.splitlines():
        if line.startswith("[  SKIPPED ] ") and ", listed below" not in line:
            skipped.append((line.split("] ")[1], last))
        elif not line.startswith("["):
            last = line
    skipped = list(dict(reversed(skipped)).items())
    if report:
        return first_error(report), skipped
    if code or "[  PASSED  ]" not in output:
        return "exit code %d" % code, skipped
    return "", skipped


def judge_script(code, output, directory):
    """Of an end-to-end test."""
    report = reports(directory)
    lines = output.splitlines()
    skipped = [re.match(r"skip \S*/(\S+): (.*)", line).groups()
               for line in lines if line.startswith("skip ")]
    if report:
        return first_error(report), skipped
    bad = [line for line in lines if line.startswith("FAIL ")]
    if bad or code or not any(line.startswith("ok ") for line in lines):
        return bad[0][len("FAIL "):] if bad else "exit code %d" % code, skipped
    return "", skipped


def cmocka(name, test, out, extra, before, prepare=make_world):
    return Check("%s/%s" % (name, test), [before + ["build/%s/tests/%s" % (out, test)]],
                 [(out, extra, "tests/" + test)], prepare=prepare, verdict=judge)


def end_to_end(test):
    """Names are asked of the file that the test writes, and of other tests it sees no process and no namespace."""
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
               'mount -t tmpfs netns /run/netns && mount --bind "$XB_TEST_DIR/resolv.conf" /etc/resolv.conf && '
               'exec tests/%s.sh' % test]
    with open("tests/%s.sh" % test, encoding="utf-8") as script:
        waits = re.search(r"^# waits: ", script.read(), re.M)
    return Check("asan/" + test, [command],
                 [("asan", sanitizers.ADDRESS, name) for name in ("bloomctl", "bloomd", "bloomset", *tools.OWN)] +
                 [("", "", name) for name in ("bpf/pass.bpf.o", "bloomd-fetch", "bloomd-redis")],
                 prepare=make_tools, verdict=judge_script, waits=bool(waits))


def checks(everything):
    """Those that take longest come first."""
    found = (
        [cmocka("tsan", test, "tsan", sanitizers.THREAD, TSAN) for test in THREADS] +
        [cmocka("valgrind", test, "fault", "-DXB_FAULT_POINTS", VALGRIND, make_slow_world)
         for test in tests("unit/**/test_*.c") if test not in [THE_RACE, *FAULTS]] +
        [end_to_end(test) for test in tests("e2e/test_*.sh") if test not in NOT_IN_ASAN] +
        [cmocka("asan", test, "asan", sanitizers.ADDRESS, []) for test in tests("prog/test_*.c")])
    return [check for check in found if everything or SHORT.match(check.name)]
