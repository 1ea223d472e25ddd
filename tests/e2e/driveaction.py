#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""driveaction.py SOCKET PART...: calls the Python action for fail2ban as fail2ban would, but with a jail that
holds no tickets, so that nothing happens but for the call that is tried. Each PART is one thing to try."""
import importlib.util
import os
import sys
import time
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
PATH = os.path.join(HERE, "../../packaging/fail2ban/action.d/xdp-bloom.py")
SOCKET = sys.argv[1]
PATIENCE = 20 * float(os.environ.get("XB_TEST_PATIENCE", 1))   # seconds; less than between two comparisons


def load():
    spec = importlib.util.spec_from_file_location("action", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ACTION = load()


def make_jail():
    actions = SimpleNamespace(active=True, banManager=[], getBanTime=lambda: 600)
    return SimpleNamespace(name="driven", actions=actions, hasFailTickets=False)


def make_action(jail, bloomctl="true"):
    return ACTION.Action(jail, "driven", socket=SOCKET, bloomctl=bloomctl, type="allports", settle="0")


def banned(address, seconds, restored=0):
    return {"ip": address, "fid": address, "time": time.time(), "bantime": seconds, "restored": restored}


def becomes(wanted):
    """Whether it is so after some time."""
    until = time.monotonic() + PATIENCE
    while not wanted():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def prolong():
    client, action = ACTION.Client(SOCKET), make_action(make_jail())
    start = time.time()

    def lasts(seconds):
        score = client.ask_one("ZSCORE", "f2b-driven", "192.0.2.7")
        return score is not None and 0 <= float(score) - ACTION.GRACE - start - seconds < PATIENCE

    action.start()
    action.ban(banned("192.0.2.7", 600))
    assert becomes(lambda: lasts(600)), "not banned"
    action.prolong(banned("192.0.2.7", 86400))
    assert becomes(lambda: lasts(86400)), "not prolonged"
    action.stop()


def restore():
    """While fail2ban has more to restore, nothing is sent, also not when the list gets its scope."""
    client, jail = ACTION.Client(SOCKET), make_jail()
    action = make_action(jail, "sh -c 'sleep 0.3'")

    def listed():
        return client.ask_one("SCARD", "f2b-driven")

    jail.hasFailTickets = True
    action.start()
    action.ban(banned("192.0.2.7", 600, 1))
    time.sleep(1)
    assert listed() == 0, "sent before all were restored"
    jail.hasFailTickets = False
    action.ban(banned("192.0.2.8", 600, 1))
    assert becomes(lambda: listed() == 2), "not restored"
    action.stop()


def fill(first, groups, expected, changed):
    """bloomd takes all groups in so many requests, and so many of them change something."""
    made = ACTION.requests(*first, groups=groups)
    assert len(made) == expected, "%d requests for %d groups" % (len(made), len(groups))
    client = ACTION.Client(SOCKET)
    answers = client.ask(*made)
    client.close()
    assert sum(answers) == changed, answers


def requests():
    end = int(time.time()) + 3600
    hosts = ["203.%d.%d.%d" % (100 + i // 10000, 100 + i // 100 % 100, 100 + i % 100) for i in range(60000)]
    nets = ["2001:db8:%x:%x::/64" % (0x1000 + i // 256, 0x1000 + i % 256) for i in range(20000)]
    short = ["3.%d.%d.%d" % (i // 10000, i // 100 % 100, i % 100) for i in range(70000)]
    fill(["ZADD", "hosts"], [(end, host) for host in hosts[:20000]], 1, 20000)
    fill(["ZADD", "nets"], [(end, net) for net in nets], 1, 20000)
    fill(["ZADD", "many"], [(end, host) for host in hosts], 3, 60000)     # as 1 MiB allows
    fill(["SREM", "none"], [(host,) for host in short], 2, 0)             # as 65,536 words allow


if __name__ == "__main__":
    for part in sys.argv[2:]:
        {"prolong": prolong, "requests": requests, "restore": restore}[part]()
