# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks all the while at what the hosts have: what was there once, and nobody takes out, must be there."""
import threading
import time

from hosts import SHARED, Wrong


class Watcher(threading.Thread):
    """keepers: {(list, entry)}, put on one host each, which nobody ever takes out."""

    def __init__(self, hosts, outcomes):
        super().__init__(daemon=True)
        self.hosts, self.outcomes = hosts, outcomes
        self.seen = {host.name: set() for host in hosts}
        self.keepers = set()
        self.samples = 0
        self.wrong, self.ends = "", False

    def run(self):
        while not self.ends:
            for host in self.hosts:
                try:
                    self.look(host)
                except Wrong as wrong:
                    self.wrong = self.wrong or str(wrong)
                    return
                time.sleep(0.1)

    def look(self, host):
        steady = self.outcomes.steady() | (self.keepers & self.seen[host.name])
        has = {key for key in host.listing() if key[0] in SHARED}
        still = (self.outcomes.steady() | self.keepers) & steady
        if still - has:
            raise Wrong("%s: gone from its lists, though nobody has taken it out: %s" % (
                host.name, sorted(still - has)[:9]))
        self.seen[host.name] |= has & self.keepers
        self.samples += 1
