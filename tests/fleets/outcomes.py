# SPDX-License-Identifier: GPL-2.0-or-later
"""What the fleet may end with: for each entry, the last change of some host.

A change has a mark of its own, by which the listing shows it: the time when the entry expires, or its comment.
Changes of one host go into the log in their order. Those of different hosts may go there in any order, so the
last one of each host may be the last one of all. What a host did not answer may have been done or not."""
import calendar
import threading
import time

LATER = 4000000000      # seconds since 1970: entries that expire then stay
ACKNOWLEDGED, OPEN, NOTHING = "acknowledged", "open", "nothing"


class Change:
    def __init__(self, host, words, mark, removes):
        self.host, self.words, self.mark, self.removes = host, words, mark, removes
        self.state, self.begun, self.ended = OPEN, time.time(), 0.0

    def __str__(self):
        return "%.3f-%.3f %s %s -> %s: %s" % (self.begun, self.ended, self.host, " ".join(self.words), self.mark,
                                              self.state)


def mark_of(member):
    """Of (expires, comment); None: it is not listed; "short": it will not be for long."""
    if member is None:
        return None
    if member[0]:
        expires = calendar.timegm(time.strptime(member[0], "%Y-%m-%dT%H:%M:%SZ"))
        return "z%d" % expires if expires >= LATER else "short"
    return member[1]


class Outcomes:
    """Of one round: from a state that all hosts have, to the next one."""

    def __init__(self):
        self.lock = threading.Lock()
        self.before = {}        # key: mark, in the state from which the round began
        self.changes = {}       # key: [Change]
        self.removable = set()  # keys that somebody has taken out, or wants to, or that expire soon

    def begin(self, listing):
        with self.lock:
            self.before = {key: mark_of(member) for key, member in listing.items()}
            self.changes, self.removable = {}, set()

    def note(self, key, change):
        """Before it is asked for."""
        with self.lock:
            self.changes.setdefault(key, []).append(change)
            if change.removes:
                self.removable.add(key)

    def steady(self):
        """Those that all hosts had when the round began, and that nobody takes out."""
        with self.lock:
            return {key for key, mark in self.before.items() if mark and mark != "short"} - self.removable

    def acknowledged(self):
        return sum(change.state == ACKNOWLEDGED for changes in self.changes.values() for change in changes)

    def acceptable(self, key, lost):
        """Marks. lost: the server lost something, so that hosts published changes again, also of before the round.
        Then an older put may win; but no older delete."""
        last, unchanged = {}, True
        for change in self.changes.get(key, []):
            if change.state == ACKNOWLEDGED:
                last[change.host] = {change.mark}
                unchanged = False
            elif change.state == OPEN:
                last.setdefault(change.host, set()).add(change.mark)
        marks = set().union(*last.values())
        before = self.before.get(key)
        if unchanged or (lost and before):
            marks.add(before)
        if lost:
            marks |= {change.mark for change in self.changes.get(key, [])
                      if change.mark not in (None, "short") and change.state != NOTHING}
        return {None if mark == "short" else mark for mark in marks}
