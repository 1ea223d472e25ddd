# SPDX-License-Identifier: GPL-2.0-or-later
"""The world's store as that of a host in a fleet, which publishes some lists; another host follows them.
What is acknowledged waits in the outbox or is in the log, once and in order: so when all of it is in
the log, the other host has the same lists."""
import json
import os
import shutil
import subprocess

from world import Wrong

MOST = 1000     # changes of an entry


class Fleet:
    """Its log is a file; see fleethost.c."""

    def __init__(self, world, lists):
        self.world, self.lists = world, lists
        place = os.path.join(world.directory, "..")
        self.log = os.path.join(place, "log")
        self.other = tuple(os.path.join(place, "other-" + name) for name in ("state", "pins", "run"))
        self.published = 0

    def words(self, paths, *words):
        return [self.world.fleethost, *paths, self.log, *words]

    def host(self, *words, environment=None, paths=None):
        """What it says; None: it was killed."""
        done = subprocess.run(self.words(paths or self.world.paths, *words), env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, -9):
            raise Wrong("fleethost %s: exit %d: %s" % (words, done.returncode, done.stderr))
        return None if done.returncode else done.stdout

    def begin(self, environment=None):
        """An empty log, and two hosts."""
        if os.path.exists(self.log):
            os.remove(self.log)
        self.host("join", *self.lists, environment=environment)
        self.renew_other()

    def renew_other(self):
        for path in self.other:
            shutil.rmtree(path, ignore_errors=True)
        self.host("join", *self.lists, paths=self.other)

    def publish(self, most):
        """Appends to the log; whether there was something. The store does not know it yet."""
        count = int(self.host("publish", str(most)))
        self.published += count
        return count > 0

    def take(self, environment=None):
        """The store gets to know what was published; whether it was not killed."""
        return self.host("follow", environment=environment) is not None

    def start_taking(self, environment):
        return subprocess.Popen(self.words(self.world.paths, "follow"), env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def shared(self, state):
        """Without the time of adding: what is taken out and put in again at once is not published."""
        lines = map(json.loads, self.world.run("save", state=state).splitlines())
        return sorted(json.dumps({**line, "added": 0}, sort_keys=True) for line in lines
                      if "entry" in line and line["list"] in self.lists)

    def publish_all(self):
        """What is listed here stays as it is."""
        before = self.shared(self.world.paths[0])
        self.take()
        while self.publish(MOST):
            self.take()
        self.compare("after publishing those here", self.shared(self.world.paths[0]), before)

    @staticmethod
    def compare(what, found, wanted):
        if found != wanted:
            raise Wrong("of the lists that are shared, %s lack %s, and have %s too many" % (
                what, sorted(set(wanted) - set(found))[:5], sorted(set(found) - set(wanted))[:5]))

    def check(self):
        """All of it is published, and followed; the two hosts are compared."""
        self.publish_all()
        self.host("follow", paths=self.other)
        said = [self.host("show", paths=paths) for paths in (self.world.paths, self.other)]
        self.compare("the other host's", *(self.shared(paths[0]) for paths in (self.other, self.world.paths)))
        if said[0] != said[1] or "waiting 0\n" not in said[0]:
            raise Wrong("the two hosts differ: %s" % said)
