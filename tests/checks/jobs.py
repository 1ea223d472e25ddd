# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks, each of some commands, run side by side; one line for each."""
import collections
import concurrent.futures
import glob
import hashlib
import os
import subprocess
import sys
import tempfile
import time

LINES_SHOWN = 60
MOST_SHOWN = 10
WAITERS = 4  # at once, beside a command on each CPU, of the checks that wait more than they compute


# Of a command: why it failed, or ""; what it said; names and reasons of what it skipped; when it began and when
# it ended; its time of processors, with that of all that it started.
Result = collections.namedtuple("Result", "why output skipped begun ended used")


class Check:
    """Commands that must all succeed, after what they need was built: tuples of a folder below
    build/, or none, EXTRA, and a target in it."""

    def __init__(self, name, commands, needs=(), prepare=None, verdict=None, reads=None, waits=False):
        self.name = "checks/" + name
        self.waits = waits
        self.commands = commands
        self.needs = needs
        # prepare(directory): what else is in the environment of a command that has a directory
        self.prepare = prepare or (lambda directory: {})
        # reads(command): all files that it looks at. It need not look again at what it found well.
        self.reads = reads
        # verdict(code, output, directory): why it failed, "" if it has not, and names with reasons
        # of what it skipped
        self.verdict = verdict or (lambda code, output, directory: (
            "" if code == 0 else "exit code %d" % code, []))


def make(out, extra, *targets):
    folder = os.path.join("build", out) if out else "build"
    return ["make", "-s", "-j%d" % os.cpu_count(), "OUT=" + folder, "BPF_OUT=build", "EXTRA=" + extra] + \
        [os.path.join(folder, target) for target in targets]


def show(text):
    for line in text.strip().splitlines()[-LINES_SHOWN:]:
        print("     | " + line)


def reports(directory):
    """What sanitizers left there."""
    said = []
    for path in glob.glob(os.path.join(directory, "report.*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            said.append(file.read())
    return "".join(said)


def stamp_of(check, command):
    """The file that is there if the command found the same files well before, with the same version of its
    program."""
    found = hashlib.sha256(repr(command).encode())
    version = subprocess.run([command[0], "--version"], check=True, stdout=subprocess.PIPE)
    found.update(version.stdout)
    for path in check.reads(command):
        with open(path, "rb") as file:
            found.update(path.encode() + hashlib.sha256(file.read()).digest())
    return os.path.join("build", "checked", found.hexdigest())


def run_command(check, command, scratch):
    begun = time.monotonic()
    stamp = stamp_of(check, command) if check.reads else None
    if stamp and os.path.exists(stamp):
        return Result("", "", [], begun, time.monotonic(), 0.0)
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        os.chmod(directory, 0o755)  # tests also act as others than root
        environment = {**os.environ, "TMPDIR": directory, **check.prepare(directory)}
        with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            output = process.stdout.read().decode(errors="replace")
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        why, skipped = check.verdict(process.returncode, output, directory)
        output += reports(directory)
        subprocess.run(["umount", "-q", "-l", "-R", directory + "/bpf"], check=False,
                       stderr=subprocess.DEVNULL)
    if stamp and not why:
        os.makedirs(os.path.dirname(stamp), exist_ok=True)
        with open(stamp, "wb"):
            pass
    return Result(why, output, skipped, begun, time.monotonic(), used.ru_utime + used.ru_stime)


def tell(check, results):
    """Prints the line of a check; whether it is well."""
    failed = [result for result in results if result.why]
    for result in results:
        for name, reason in result.skipped:
            print("skip %s/%s: %s" % (check.name, name, reason))
    if failed:
        print("FAIL %s: %s" % (check.name, failed[0].why))
        show("\n".join(result.output.strip() for result in failed))
    else:
        print("ok   %s (%.1f s)" % (check.name, max(result.ended for result in results) -
                                    min(result.begun for result in results)))
        sys.stdout.flush()
    return not failed


def tell_most(used):
    print("most time of processors, of checks:")
    for seconds, name in sorted(used, reverse=True)[:MOST_SHOWN]:
        print("  %6.1f s  %s" % (seconds, name))


def build(checks):
    """Builds what is needed; the checks for which that went well, and whether it all did."""
    wanted, bad = {}, set()
    for out, extra, target in dict.fromkeys(need for check in checks for need in check.needs):
        wanted.setdefault((out, extra), []).append(target)
    for (out, extra), targets in wanted.items():
        done = subprocess.run(make(out, extra, *targets), check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            bad.add((out, extra))
            print("FAIL checks/build: make of build/%s fails" % out)
            show(done.stdout.decode(errors="replace"))
    return [check for check in checks if not bad.intersection(need[:2] for need in check.needs)], \
        not bad


def run(checks, scratch):
    """The exit code."""
    used, before = [], os.times()
    checks, well = build(checks)
    after = os.times()
    used.append((after[2] + after[3] - before[2] - before[3], "checks/build"))
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    waiters = concurrent.futures.ThreadPoolExecutor(WAITERS)
    try:
        waiting = [(check, [(waiters if check.waits else pool).submit(run_command, check, command, scratch)
                            for command in check.commands]) for check in checks]
        for check, futures in waiting:
            results = [future.result() for future in futures]
            used.append((sum(result.used for result in results), check.name))
            well = tell(check, results) and well
    finally:
        # Told to stop: what still runs ends with its namespace.
        pool.shutdown(wait=False, cancel_futures=True)
        waiters.shutdown(wait=False, cancel_futures=True)
    tell_most(used)
    return 0 if well else 1
