# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs side by side."""
import collections
import os
import subprocess
import threading


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


def run(tests, chains, report, workers=None):
    """A worker begins with each chain of suites, all do the tests. There are more than processors, and
    the last takes the tests from their end: those wait for packets more than they compute."""
    waiting, lock = collections.deque(tests), threading.Lock()

    def work(first, take):
        for program in first:
            perform(program, report)
        while True:
            with lock:
                if not waiting:
                    return
                program = take()
            perform(program, report)

    count = workers or max(os.cpu_count() + 1, len(chains) + 2)
    chains = chains + [[]] * (count - len(chains))
    threads = [threading.Thread(target=work, args=(chain, waiting.popleft))
               for chain in chains[:-1]]
    threads.append(threading.Thread(target=work, args=(chains[-1], waiting.pop)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
