# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs side by side."""
import collections
import os
import subprocess
import threading
import time

LOOK_SECONDS = 0.5
IDLE_ENOUGH = 0.25      # of all processors: then one test more begins
WAITERS = 3             # workers for the tests that wait more than they compute
HELPERS = 6             # for each processor, which begin a test when processors are idle


def perform(program, report):
    lines = report.lines(program.name)
    try:
        environment = program.prepare()
        # A session of its own: no signal to a process group reaches other tests.
        with subprocess.Popen(program.command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True) as process:
            for line in process.stdout:
                line = program.translate(line.decode(errors="replace").rstrip("\n"))
                if line is not None:
                    lines.take(line)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            lines.used(usage.ru_utime + usage.ru_stime)
        why = program.end(process.returncode, lines.failed)
    except OSError as error:
        why = str(error)
    lines.end(why)
    program.clean_up()


def idle_share(seconds):
    """Of all processors, during the next seconds."""
    def times():
        with open("/proc/stat", encoding="ascii") as stat:
            fields = [int(word) for word in stat.readline().split()[1:]]
        return fields[3], sum(fields)

    idle, total = times()
    time.sleep(seconds)
    idle_now, total_now = times()
    return (idle_now - idle) / max(1, total_now - total)


def run(tests, chains, report, workers=None):
    """A worker begins with each chain of suites, then all do the tests: some those first that wait more than they compute, and
    of these the ones that do so for minutes, so that these are not what is left at the end. More workers do the same as long
    as processors are idle, unless it is said how many there are."""
    compute = collections.deque(program for program in tests if not program.waits)
    wait = collections.deque(sorted((program for program in tests if program.waits), key=lambda program: not program.lasts))
    lock, gate = threading.Lock(), threading.Lock()

    def perform_next(first, then):
        with lock:
            if not first and not then:
                return False
            program = (first or then).popleft()
        perform(program, report)
        return True

    def work(chain, first, then):
        for program in chain:
            perform(program, report)
        while perform_next(first, then):
            pass

    def help_out():
        while compute or wait:
            with gate:
                idle = idle_share(LOOK_SECONDS)
            if idle > IDLE_ENOUGH:
                perform_next(wait, compute)

    count = workers or max(os.cpu_count(), len(chains) + 1)
    threads = [threading.Thread(target=work, args=(chain, compute, wait))
               for chain in chains + [[]] * (count - len(chains))]
    if not workers:
        threads += [threading.Thread(target=work, args=([], wait, compute)) for _ in range(WAITERS)]
        threads += [threading.Thread(target=help_out) for _ in range(HELPERS * os.cpu_count())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
