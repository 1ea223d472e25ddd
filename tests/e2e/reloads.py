#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/e2e/reloads.py DIRECTORY STATE RUN PID STEPS SEED BLOOMCTL...: a walk through configurations of feeds, which
the bloomd with that number reads from DIRECTORY/bloomd.conf, with DIRECTORY/agent.err as its log. Feeds are files, or
come from a server in this process that takes its time. Now and then all is left alone; then each list has what the
feed that fills it publishes, and the others are empty."""
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "support"))
import bodies  # pylint: disable=wrong-import-position

NAMES = ("a", "b", "c", "d", "e")
FILES = 5
SETTLED_EVERY = 20  # steps
PATIENCE = 60 * int(os.environ.get("XB_TEST_PATIENCE", "1"))  # seconds until all is as it should be


class Wrong(Exception):
    """What must not be."""


class Walk:
    def __init__(self, words):
        self.directory, self.state, self.run, pid, steps, seed = words[:6]
        self.bloomctl = words[6:]
        self.agent, self.steps, self.dice = int(pid), int(steps), random.Random(int(seed))
        self.server = bodies.Server(self.serve)
        self.sections, self.lists, self.contents = {}, 0, {}
        self.used = set()
        self.filler = os.path.join(os.path.dirname(self.state), "filler")
        self.reloads = 0
        self.done = {}
        for number in range(FILES):
            self.write_file(number)

    def serve(self, path):
        """DIRECTORY/fN as /fN, late."""
        time.sleep(random.random() * 0.3)
        try:
            with open(self.directory + path, "rb") as file:
                return file.read()
        except OSError:
            return None

    # --- steps --------------------------------------------------------------------------------------

    def fresh_list(self):
        taken = {section["list"] for section in self.sections.values()}
        self.lists += 1
        while "l%d" % (self.lists % 40) in taken:
            self.lists += 1
        return "l%d" % (self.lists % 40)

    def add(self):
        name = self.dice.choice(NAMES)
        if name not in self.sections:
            self.sections[name] = {"list": self.fresh_list(), "file": self.dice.randrange(FILES),
                                   "served": self.dice.random() < 0.5}
            self.reload()

    def remove(self):
        if self.sections:
            del self.sections[self.dice.choice(sorted(self.sections))]
            self.reload()

    def rename(self):
        free = [name for name in NAMES if name not in self.sections]
        if self.sections and free:
            self.sections[self.dice.choice(free)] = self.sections.pop(self.dice.choice(sorted(self.sections)))
            self.reload()

    def change_list(self):
        if self.sections:
            self.sections[self.dice.choice(sorted(self.sections))]["list"] = self.fresh_list()
            self.reload()

    def hand_on(self):
        """A section gets the list of another one, which goes or gets another list."""
        if len(self.sections) < 2:
            return
        giver, taker = self.dice.sample(sorted(self.sections), 2)
        self.sections[taker]["list"] = self.sections[giver]["list"]
        if self.dice.random() < 0.5:
            del self.sections[giver]
        else:
            self.sections[giver]["list"] = self.fresh_list()
        self.reload()

    def change_file(self):
        if self.sections:
            section = self.sections[self.dice.choice(sorted(self.sections))]
            section["file"] = self.dice.randrange(FILES)
            section["served"] = self.dice.random() < 0.5
            self.reload()

    def write(self):
        self.write_file(self.dice.randrange(FILES))

    def spoil(self):
        """Of the file nothing is taken."""
        self.replace(self.dice.randrange(FILES), ["what is this?"])

    def take_away(self):
        path = os.path.join(self.directory, "f%d" % self.dice.randrange(FILES))
        if os.path.exists(path):
            os.unlink(path)

    def forget(self):
        """State files go."""
        place = os.path.join(self.state, "feeds")
        if self.dice.random() < 0.3:
            shutil.rmtree(place, ignore_errors=True)
            return
        for name in os.listdir(place) if os.path.isdir(place) else []:
            if self.dice.random() < 0.5:
                try:
                    os.unlink(os.path.join(place, name))
                except FileNotFoundError:
                    pass

    def fill_disk(self):
        with open(self.filler, "ab", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1 << 8):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass

    def free_disk(self):
        if os.path.exists(self.filler):
            os.unlink(self.filler)

    def update(self):
        """As `bloomctl feeds update`."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.path.join(self.run, "control.sock"))
            connection.sendall(b"feeds update\n")

    def rest(self):
        time.sleep(self.dice.random() * 0.3)

    # --- what they are made of ----------------------------------------------------------------------

    def replace(self, number, lines):
        path = os.path.join(self.directory, "f%d" % number)
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write("".join(line + "\n" for line in lines))
        os.rename(path + ".new", path)

    def write_file(self, number):
        count = self.dice.choice((5, 20, 900))
        first = self.dice.randrange(0, 60000)
        self.contents[number] = {"5.%d.%d.%d" % (number, i >> 8, i & 255) for i in range(first, first + count)}
        self.replace(number, sorted(self.contents[number]))

    def reload(self):
        path = os.path.join(self.directory, "bloomd.conf")
        with open(path + ".new", "w", encoding="ascii") as file:
            for name, section in self.sections.items():
                place = "http://127.0.0.1:%d" % self.server.server_port if section["served"] else \
                    "file://" + self.directory
                self.used.add(section["list"])
                file.write("[feed %s]\nurl = %s/f%d\nlist = %s\nevery = 1h\non-removal = flush\nmax-change = 1000\n" % (
                    name, place, section["file"], section["list"]))
        os.rename(path + ".new", path)
        before = self.count_reloads()
        self.signal(signal.SIGHUP)
        # A signal that comes before the former one was taken is the same one.
        if self.dice.random() < 0.7:
            self.wait(lambda: self.count_reloads() > before, "a reload")

    def signal(self, number):
        try:
            os.kill(self.agent, number)
            with open("/proc/%d/stat" % self.agent, encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    raise ProcessLookupError
        except (ProcessLookupError, FileNotFoundError) as error:
            with open(os.path.join(self.directory, "agent.err"), encoding="utf-8", errors="replace") as log:
                raise Wrong("bloomd has ended: %s" % log.read()[-2000:].replace("\n", " | ")) from error

    def count_reloads(self):
        with open(os.path.join(self.directory, "agent.err"), "rb") as log:
            return log.read().count(b": reloaded\n")

    def wait(self, is_so, what):
        until = time.monotonic() + PATIENCE
        while not is_so():
            self.signal(0)
            if time.monotonic() > until:
                raise Wrong("%s does not come" % what)
            time.sleep(0.1)

    # --- what must be so ----------------------------------------------------------------------------

    def listed(self):
        """Entries of each list."""
        told = subprocess.run([*self.bloomctl, "save"], check=True, stdout=subprocess.PIPE, text=True).stdout
        lists = {}
        for line in map(json.loads, told.splitlines()):
            if "entry" in line:
                lists.setdefault(line["list"], set()).add(line["entry"].removesuffix("/32"))
        return lists

    def wanted(self):
        return {section["list"]: self.contents[section["file"]] for section in self.sections.values()}

    def states(self):
        place = os.path.join(self.state, "feeds")
        return {name.removesuffix(".json") for name in os.listdir(place)} if os.path.isdir(place) else set()

    def settle(self):
        self.free_disk()
        for number, content in self.contents.items():
            self.replace(number, sorted(content))
        self.wait_for_reload()
        last = [None]

        def is_settled():
            # One that is fetched already is not fetched again.
            self.update()
            last[0] = self.listed()
            return last[0] == self.wanted() and self.states() <= set(self.sections)
        try:
            self.wait(is_settled, "the end of all changes")
        except Wrong as wrong:
            if "does not come" not in str(wrong):
                raise
            found, wanted = last[0], self.wanted()
            raise Wrong("sections %s; lists with entries that differ: %s; states %s" % (
                self.sections, {name: (len(found.get(name, ())), len(wanted.get(name, ())))
                                for name in set(found) | set(wanted) if found.get(name) != wanted.get(name)},
                sorted(self.states()))) from wrong

    def wait_for_reload(self):
        before = self.count_reloads()
        self.signal(signal.SIGHUP)
        self.wait(lambda: self.count_reloads() > before, "a reload")

    def step(self):
        what = self.dice.choice((self.add, self.add, self.add, self.remove, self.rename, self.change_list,
                                 self.hand_on, self.hand_on, self.change_file, self.write, self.write, self.spoil,
                                 self.take_away, self.forget, self.forget, self.fill_disk, self.free_disk,
                                 self.free_disk, self.update, self.update, self.rest, self.rest))
        self.done[what.__name__] = self.done.get(what.__name__, 0) + 1
        what()

    def go(self):
        for number in range(1, self.steps + 1):
            try:
                self.step()
                if number % SETTLED_EVERY == 0 or number == self.steps:
                    self.settle()
            except (Wrong, OSError) as wrong:
                raise Wrong("step %d: %s" % (number, wrong)) from wrong
        return "%d steps: %s" % (self.steps, self.done)


def main():
    try:
        print(Walk(sys.argv[1:]).go())
    except Wrong as wrong:
        print(wrong)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
