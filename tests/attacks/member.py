# SPDX-License-Identifier: GPL-2.0-or-later
"""A member of the group may do everything to the filter, and nothing to root: in the directories that it shares with root it
puts links, pipes, directories and files of its own in the place of names, before root's commands and while they run; it
holds locks, runs commands, and asks bloomd. Root's files and their modes stay, root's commands end, bloomd lives and answers;
status does not say that all is well while listed sources pass; and once root has cleared the directories away, all is in
force again."""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time

from attacked import ALLOWED, COMMAND, PATIENCE, Deadline, Machine, Wrong, fork
from redisserver import ask
from shapes import NONE, READS, WRITES, request

MEMBER, GROUP = 54321, 54322
RIGHTS = "-all,+bpf,+net_admin,+perfmon"
LOCKS = ("writer.lock", "builder.lock", "commit.lock", "namespace.lock")
KINDS = ("link", "dangling", "second name", "pipe", "directory", "link to a directory", "own file", "nothing", "another's place")
LINKS = ("link", "link", "second name")
MOST_STEPS = 12     # between two times that root clears away
RACE = 0.0005       # seconds between two swaps


def become():
    """In a child: without a capability."""
    os.setgroups([])
    os.setresgid(GROUP, GROUP, GROUP)
    os.setresuid(MEMBER, MEMBER, MEMBER)
    os.umask(0)


def tried(action, *words):
    try:
        action(*words)
        return True
    except OSError:
        return False


class Member:
    def __init__(self, machine, dice):
        self.machine, self.dice = machine, dice
        self.children = []
        self.asides = 0

    def names(self):
        """All that there is to be swapped in one of the directories, where the member has no right to as well."""
        found = []
        for at, folders, files in os.walk(self.dice.choice((self.machine.runs, self.machine.runs, self.machine.state, self.machine.pins))):
            found += [os.path.join(at, each) for each in folders + files]
        return sorted(each for each in found if not each.endswith((".aside", "store.mdb")))

    def aside(self, path):
        self.asides += 1
        return "%s-%d.aside" % (path, self.asides)

    def swap(self, path, kind, aside):
        """By the member: what is there goes aside, and something else comes."""
        vault = self.machine.vault
        if not tried(os.rename, path, aside):
            return
        if kind == "link":
            os.symlink(os.path.join(vault, "file"), path)
        elif kind == "dangling":
            os.symlink(os.path.join(vault, "new"), path)
        elif kind == "second name":
            tried(os.link, os.path.join(vault, "linked"), path)
        elif kind == "pipe":
            os.mkfifo(path, 0o666)
        elif kind == "directory":
            os.mkdir(path, 0o777)
        elif kind == "link to a directory":
            os.symlink(os.path.join(vault, "below"), path)
        elif kind == "own file":
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666))
        elif kind == "another's place":
            tried(os.rename, self.dice.choice(self.names()), path)

    # --- what it does -------------------------------------------------------------------------------

    def as_member(self, action):
        def child():
            become()
            action()
        return fork(child)

    def wait(self, child):
        os.waitpid(child, 0)

    def one_name(self):
        names = self.names()
        if names:
            path, kind = self.dice.choice(names), self.dice.choice(KINDS + LINKS)
            self.note("%s becomes %s" % (os.path.relpath(path, self.machine.place.directory), kind))
            aside = self.aside(path)
            self.wait(self.as_member(lambda: self.swap(path, kind, aside)))

    def race(self):
        """While root does something."""
        names = self.names()
        if names:
            path, kind = self.dice.choice(names), self.dice.choice(KINDS[:7] + LINKS)
            aside = self.aside(path)
            self.note("%s and %s in turns" % (os.path.relpath(path, self.machine.place.directory), kind))

            def swaps():
                while True:
                    self.swap(path, kind, aside)
                    time.sleep(RACE)
                    tried(os.unlink, path) or tried(os.rmdir, path)  # pylint: disable=expression-not-assigned
                    tried(os.rename, aside, path)
                    time.sleep(RACE)
            self.children.append(self.as_member(swaps))

    def new_names(self):
        """Those that root may make next, and others."""
        place = self.dice.choice((self.machine.runs, os.path.join(self.machine.runs, "counters"), self.machine.state,
                                  os.path.join(self.machine.state, "trial"), os.path.join(self.machine.state, "feeds"),
                                  self.machine.pins, os.path.join(self.machine.pins, "link")))
        name = self.dice.choice(("api.sock", "control.sock", "x.counters", "tallies-0", "trial.input", "link-new", "trial",
                                 "gen-0123456789abcdef", "known.new", "fleet.json", "main.json.new", "-x", "\n"))
        kind = self.dice.choice(KINDS[:7])
        self.note("new: %s in %s" % (name, os.path.basename(place)))
        path = os.path.join(place, name)

        def make():
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o666))
            self.swap(path, kind, path + ".aside")
        self.wait(self.as_member(make))

    def spoil(self):
        """Files of counters: cut, longer, other bytes."""
        place = os.path.join(self.machine.runs, "counters")
        names = sorted(os.listdir(place)) if os.path.isdir(place) else []
        if names:
            path, size = os.path.join(place, self.dice.choice(names)), self.dice.choice((0, 1, 4095, 4096, 1 << 20))
            text = self.dice.randbytes(self.dice.randrange(1, 8192))
            self.note("%s is %d bytes long" % (os.path.basename(path), size))

            def write():
                with open(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "wb") as out:
                    out.write(text)
                    out.flush()
                    os.ftruncate(out.fileno(), size)
            self.wait(self.as_member(write))

    def lock(self):
        path, seconds = os.path.join(self.machine.state, self.dice.choice(LOCKS)), self.dice.random()
        self.note("holds %s" % os.path.basename(path))

        def hold():
            with open(path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                time.sleep(seconds)
        self.children.append(self.as_member(hold))

    def command(self):
        words = self.dice.choice((
            ["add", "5.55.0.1"], ["del", "5.66.0.7"], ["flush", "--yes"], ["detach", "x0"], ["attach", "x0"], ["policy", "monitor"],
            ["policy", "enforce"], ["rotate"], ["allow", "add", "5.66.0.7"], ["allow", "del", "5.88.0.9"], ["up"], ["status"], ["save"],
            ["policy", "monitor", "--rollback", "1"], ["commit"], ["attach", "x0", "--rollback", "1"], ["metrics"], ["known", "on"],
            ["detach", "--all"], ["import", self.machine.vault + "/file", "--rollback", "1"]))
        self.note("bloomctl " + " ".join(words))
        done = subprocess.run(
            ["setpriv", "--reuid", str(MEMBER), "--regid", str(GROUP), "--clear-groups", "--bounding-set=" + RIGHTS,
             "--inh-caps=" + RIGHTS, "--ambient-caps=" + RIGHTS, "--", self.machine.tools["bloomctl"],
             *self.machine.options, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=COMMAND, check=False)
        if done.returncode not in (0, 1, 2, 3) or b"precious" in done.stdout + done.stderr:
            raise Wrong("a member's bloomctl %s ends with %d: %s" % (" ".join(words), done.returncode, done.stderr[:300]))

    def asks(self):
        """By api.sock, which is open to the group."""
        text = request(self.dice, READS + WRITES + NONE, 100)
        self.note("asks %r" % text[:60])

        def ask_it():
            import socket  # pylint: disable=import-outside-toplevel
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(5)
                connection.connect(self.machine.path)
                connection.sendall(text)
                connection.recv(65536)
        self.wait(self.as_member(ask_it))

    def step(self):
        self.dice.choice((self.one_name, self.one_name, self.one_name, self.race, self.race, self.new_names, self.spoil, self.lock,
                          self.command, self.command, self.asks))()

    def stop(self):
        for child in self.children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.children = []

    def note(self, what):
        self.machine.place.note("member: " + what)


class Root:
    """What root does meanwhile."""

    def __init__(self, machine, dice):
        self.machine, self.dice = machine, dice
        self.reloads = 0

    def step(self):
        if not self.dice.randrange(2):
            self.reload()
            return
        words = self.dice.choice((["add", "5.55.0.2"], ["del", "5.55.0.2"], ["rotate"], ["up"], ["status"], ["metrics"], ["stats"],
                                  ["commit"], ["list"], ["policy", "monitor", "--rollback", "1"], ["test", "5.66.0.7"], ["fleet"],
                                  ["import", self.machine.place.directory + "/list", "--rollback", "1"], ["known", "off"], ["feeds"]))
        code, _, errors = self.machine.control(*words)
        self.machine.place.note("root: bloomctl %s: %d %s" % (" ".join(words), code, errors[:200].replace("\n", "; ")))
        if code not in (0, 1, 2, 3):
            raise Wrong("root's bloomctl %s ends with %d: %s" % (" ".join(words), code, errors[:300]))

    def reload(self):
        """With other modes of the sockets."""
        self.reloads += 1
        mode = self.dice.choice(("0660", "0666", "0600"))
        self.machine.place.note("root: reload, query-mode = " + mode)
        self.machine.configure("[api]\nquery-mode = %s\n" % mode)
        before = self.machine.reloaded()
        self.machine.signal(signal.SIGHUP)
        until = time.monotonic() + 20 * PATIENCE
        while self.machine.reloaded() == before and time.monotonic() < until:
            self.machine.must_live()
            time.sleep(0.01)


class Shared(Machine):
    """With directories for a group, as docs/security.md sets them up."""

    def reloaded(self):
        with open(self.log, "rb") as file:
            return file.read().count(b"reload")

    def share(self):
        os.chmod(self.directory, 0o755)
        for path, mode in ((self.state, 0o2750), (self.runs, 0o2750), (os.path.join(self.runs, "counters"), 0o2770),
                           (self.pins, 0o2770)):
            os.makedirs(path, exist_ok=True)
            os.chown(path, 0, GROUP)
            os.chmod(path, mode)
        with open(os.path.join(self.place.directory, "list"), "w") as out:
            out.write("5.55.1.0/24\n")
        self.must("up")

    def must_be_honest(self):
        """Where all is well by what status says, what is listed is dropped."""
        source = "5.66.0.7"
        code, said = self.status()
        if code or source not in self.of_list("roots") or source in self.allowed():
            return
        told = json.loads(said)
        if told["policy"] != "enforce" or told["trial"]:
            return
        # A trial may have ended meanwhile, or bloomd mended something.
        if self.passing([source]) and self.status()[1] == said and self.passing([source]):
            raise Wrong("status ends with 0, and %s passes, which is listed: %s" % (source, said[:300]))

    def clear_away(self):
        """Root takes away what members have put, and says again what it wants."""
        for place in self.pins, os.path.join(self.runs, "counters"), os.path.join(self.state, "trial"):
            for name in os.listdir(place) if os.path.isdir(place) and not os.path.islink(place) else []:
                path = os.path.join(place, name)
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    os.unlink(path)
        until, said = time.monotonic() + COMMAND, []
        wishes = (("policy", "enforce"), ("known", "off"), ("attach", self.interface), ("add", "--exist", "--list", "roots", *self.roots),
                  ("allow", "add", "--exist", *ALLOWED))
        while time.monotonic() < until:
            said = [self.control(*words) for words in wishes]
            code, status = self.status()
            if code == 0 and all(each[0] == 0 for each in said):
                break
            time.sleep(0.2)
        else:
            raise Wrong("after root has cleared all away: %s; status %s" % (
                [each[2] for each in said if each[0]], status[:600]))
        for entry in self.allowed():
            if entry not in self.allows:
                self.control("allow", "del", entry)
        self.roots, self.allows = self.of_list("roots"), self.allowed()
        self.look()


def run(place, dice, seconds):
    machine = Shared(place, "[api]\nquery-mode = 0660\n")
    machine.share()
    machine.begin()
    if ask(machine.path, "PING") != "+PONG":
        raise Wrong("bloomd does not answer")
    member, root, deadline, steps, cleared = Member(machine, dice), Root(machine, dice), Deadline(seconds), 0, 0
    while not deadline.is_over():
        for _ in range(dice.randint(1, MOST_STEPS)):
            member.step()
            root.step()
            steps += 1
            machine.must_keep_files()
            machine.must_answer()
        member.stop()
        machine.must_be_honest()
        machine.clear_away()
        cleared += 1
    machine.end()
    return "%d steps, %d times cleared away" % (steps, cleared)
