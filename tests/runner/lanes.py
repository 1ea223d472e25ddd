# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs side by side."""
import collections
import os
import subprocess
import threading
import time

LOOK_SECONDS = 4
IDLE_ENOUGH = 0.3       # of all processors: then one test more begins


def perform(program, report):
    lines = report.lines(program.name)
    try:
        environment = program.prepare()
        with subprocess.Popen(program.command, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
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
    """A worker begins with each chain of suites, all do the tests. There are more than processors, and
    the last takes the tests from their end: those wait for packets more than they compute. More
    workers do the same as long as processors are idle, unless it is said how many there are."""
    waiting, lock, gate = collections.deque(tests), threading.Lock(), threading.Lock()

    def perform_next(take):
        with lock:
            if not waiting:
                return False
            program = take()
        perform(program, report)
        return True

    def work(first, take):
        for program in first:
            perform(program, report)
        while perform_next(take):
            pass

    def help_out():
        while waiting:
            with gate:
                idle = idle_share(LOOK_SECONDS)
            if idle > IDLE_ENOUGH:
                perform_next(waiting.pop)

    count = workers or max(os.cpu_count() + 1, len(chains) + 2)
    chains = chains + [[]] * (count - len(chains))
    threads = [threading.Thread(target=work, args=(chain, waiting.popleft))
               for chain in chains[:-1]]
    threads.append(threading.Thread(target=work, args=(chains[-1], waiting.pop)))
    if not workers:
        threads += [threading.Thread(target=help_out) for _ in range(2 * os.cpu_count())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
