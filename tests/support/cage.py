# SPDX-License-Identifier: GPL-2.0-or-later
"""A process with namespaces of its own, of which nothing stays: processes, mounts, and names of
network namespaces go away with it, also when it is killed."""
import ctypes
import os
import re
import shutil
import signal
import sys
import tempfile

CLONE_NEWNS, CLONE_NEWPID = 0x00020000, 0x20000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
PR_SET_PDEATHSIG = 1
STOPPED_BY = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
libc = ctypes.CDLL(None, use_errno=True)


def must(result):
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def mount(kind, target):
    must(libc.mount(kind, target, kind, ctypes.c_ulong(0), None))


def enter():
    """In the child, which is the init of its process namespace."""
    must(libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL)))
    must(libc.unshare(CLONE_NEWNS))
    must(libc.mount(None, b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None))
    mount(b"proc", b"/proc")
    # Names of network namespaces, locks of xdp-filter and iptables.
    mount(b"tmpfs", b"/run")
    os.mkdir("/run/netns")

    def stop(number, _frame):
        for each in STOPPED_BY:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in STOPPED_BY:
        signal.signal(number, stop)


def child_of(work, directory):
    code = 1
    try:
        enter()
        code = work(directory)
    except SystemExit as end:
        code = end.code
    except BaseException:  # pylint: disable=broad-except
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def clear_leftovers(prefix):
    """Directories of those that were killed while they waited."""
    for name in os.listdir(tempfile.gettempdir()):
        found = re.match(re.escape(prefix) + r"(\d+)-", name)
        if found and not os.path.exists("/proc/" + found[1]):
            shutil.rmtree(os.path.join(tempfile.gettempdir(), name), ignore_errors=True)


def run(work, prefix):
    """What work(directory) returns, done in such a process; the directory is gone afterwards."""
    clear_leftovers(prefix)
    directory = tempfile.mkdtemp(prefix="%s%d-" % (prefix, os.getpid()))
    try:
        must(libc.unshare(CLONE_NEWPID))
        child = os.fork()
        if not child:
            child_of(work, directory)
        for number in STOPPED_BY:
            signal.signal(number, lambda number, _frame: os.kill(child, number))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        shutil.rmtree(directory, ignore_errors=True)
