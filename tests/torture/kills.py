# SPDX-License-Identifier: GPL-2.0-or-later
"""Several processes at once change what is listed, allowed and wanted, and most of them are killed: with
-9 at any moment, or at a point where a change is half done; or a call on a file or of bpf(2) fails.
After each round

  - each change that was acknowledged is in the store, each that was not is in it whole or not at all;
  - what is listed drops, though nobody has repaired anything; after the next command all else passes;
  - now and then: the generation in force equals one built anew from the store.

Some lists are those of a fleet. Now and then a part of what waits in the outbox is published meanwhile, and
the host that notes it is killed as well; after some rounds another host has the same lists.

Ends at the first thing that is wrong, with the round and what was being done.
"""
import errno
import os
import random
import signal
import subprocess
import time

from fleetlog import Fleet
from world import Wrong

WORKERS = 4
UNIVERSE = 300      # entries of a worker
POINTS = ("apply-dirty", "apply-half", "apply-step", "apply-step:2", "apply-done", "commit-before", "commit-after",
          "publish-before", "publish-swapped", "rotate-built", "rotate-unlocked", "rotate-recorded",
          "rotate-replayed", "lifelines-known", "names-followed", "rows-named", "row-enrolled", "row-renumbered",
          "trial-pinned", "trial-recorded", "trial-begun", "rollback-released")
ERRORS = (errno.EIO, errno.ENOSPC, errno.ENOMEM)
CALLS = 150         # that a change makes, about
OPENING = 30        # of these are of the opening of the store
SLEEPS = (0, 5, 20) # milliseconds
AGREE_EVERY = 10    # rounds
POLICIES = ("enforce", "enforce", "monitor", "allow-only")
TRIAL = 1           # seconds
SCOPES = ("all", "all", "tcp/25", "tcp/25,icmp", "udp/9,udp/53", "tcp/443,udp")
SERVICES = ("tcp/25", "udp/9")  # to which packets go, and some scopes have either


def universe(worker):
    """Entries of all kinds that no other worker has, none within another."""
    found, worker = [], worker + 1
    for number in range(UNIVERSE):
        kind = number % 8
        if kind == 0:
            found.append("10.%d.%d.0/24" % (worker, number % 256))
        elif kind == 1:
            found.append("11.%d.%d.%d/29" % (worker, number % 256, 8 * (number // 256)))
        elif kind == 2:
            found.append("2001:db8:%x:%x::/64" % (worker, number))
        elif kind == 3:
            found.append("2001:db9:%x::%x" % (worker, number))
        elif kind == 4:
            found.append("a%d.w%d.example" % (number, worker))
        elif kind == 5:
            found.append("=b%d.w%d.example" % (number, worker))
        else:
            found.append("12.%d.%d.%d" % (worker, number % 256, 1 + number // 256))
    return found


class State:
    """What is listed and allowed by one worker, in lists of its own."""

    def __init__(self):
        self.listed, self.allowed = set(), set()

    def copy(self):
        other = State()
        other.listed, other.allowed = set(self.listed), set(self.allowed)
        return other

    def __eq__(self, other):
        return self.listed == other.listed and self.allowed == other.allowed


class Change:
    """A command, and what the worker's state is once it is acknowledged."""

    def __init__(self, words, after=None, text=None, wish=None, refusal=None, trial=None):
        self.words, self.after, self.text = words, after, text
        self.wish = wish        # the name of a setting, and its value
        self.refusal = refusal  # the exit code of one that found nothing to do
        self.trial = trial      # the wish that a commit makes
        self.fate = ""          # what was done to it, and what came of it


class Worker:
    def __init__(self, number, dice, directory):
        self.number, self.dice = number, dice
        self.list, self.allow_list = "w%d" % number, "a%d" % number
        self.entries = universe(number)
        self.file = os.path.join(directory, "list-%d" % number)
        self.state = State()

    def some(self, most):
        return self.dice.sample(self.entries, self.dice.randint(1, most))

    def add(self):
        after, entries = self.state.copy(), self.some(20)
        after.listed.update(entries)
        return Change(["add", *entries, "--list", self.list, "--exist"], after)

    def delete(self):
        after, entries = self.state.copy(), self.some(20)
        after.listed.difference_update(entries)
        return Change(["del", *entries, "--list", self.list, "--exist"], after)

    def bring(self):
        after, entries = self.state.copy(), self.some(150)
        words = ["import", self.file, "--list", self.list, "--include-bogons", "--format", "plain"]
        entries = [entry for entry in entries if "example" not in entry]
        if self.dice.random() < 0.5:
            words += ["--replace", "--force"]
            after.listed = set()
        if not entries and "--replace" not in words:
            return self.add()
        after.listed.update(entries)
        with open(self.file, "w") as out:
            out.writelines(entry + "\n" for entry in entries)
        return Change(words, after)

    def batch(self):
        after, lines = self.state.copy(), []
        for entry in self.some(100):
            if self.dice.random() < 0.6:
                lines.append("add %s --list %s --exist" % (entry, self.list))
                after.listed.add(entry)
            elif after.listed:
                lines.append("del %s --list %s --exist" % (entry, self.list))
                after.listed.discard(entry)
        if not any(line.startswith("add") for line in lines) and not self.state.listed:
            return self.add()
        return Change(["batch", "-"], after, "\n".join(lines) + "\n")

    def allow(self):
        after, entries = self.state.copy(), self.some(8)
        after.allowed.update(entries)
        return Change(["allow", "add", *entries, "--list", self.allow_list, "--exist"], after)

    def disallow(self):
        after, entries = self.state.copy(), self.some(20)
        after.allowed.difference_update(entries)
        return Change(["allow", "del", *entries, "--list", self.allow_list, "--exist"], after)

    def change(self):
        kinds = [self.add, self.add, self.delete, self.bring, self.batch, self.allow, self.disallow]
        change = self.dice.choice(kinds)()
        # A list that does not exist cannot be taken from.
        if change.words[0] == "del" and not self.state.listed or \
                change.words[:2] == ["allow", "del"] and not self.state.allowed:
            return self.add()
        return change


class Ruler(Worker):
    """The one who changes what is everybody's."""

    def rotate(self):
        options = [[], ["--capacity", str(self.dice.randint(500, 20000))],
                   ["--fpr", self.dice.choice(["1e-2", "1e-3", "1e-4"])]]
        return Change(["rotate", *self.dice.choice(options)], self.state)

    def interface(self):
        return self.dice.choice([Change(["attach", "xt1"], self.state),
                                 Change(["detach", "xt1"], self.state, refusal=1),
                                 Change(["up"], self.state)])

    def policy(self):
        policy = self.dice.choice(POLICIES)
        return Change(["policy", policy, "--force"], self.state, wish=("policy", policy))

    def verdict(self):
        verdict = self.dice.choice(["drop", "drop", "nxdomain", "refused", "count"])
        return Change(["verdict", self.list, verdict], self.state, wish=("verdict", verdict))

    def scope(self):
        scope = self.dice.choice(SCOPES)
        return Change(["scope", self.list, scope], self.state, wish=("scope", scope))

    def ports(self):
        return Change(["ports", self.dice.choice(["tls", "http"]),
                       self.dice.choice(["off", "443", "80,8080"])], self.state,
                      refusal=2)  # a port is either

    def trial(self):
        policy = self.dice.choice(POLICIES)
        return Change(["policy", policy, "--force", "--rollback", str(TRIAL)], self.state,
                      trial=("policy", policy))

    def change(self):
        kinds = [self.rotate] * 6 + [self.interface] * 6 + [self.policy] * 4 + \
            [self.verdict] * 2 + [self.scope] * 3 + [self.ports, self.trial] + [super().change] * 12
        return self.dice.choice(kinds)()


TERMS = {"verdict": "drop", "scope": "all"}     # of the ruler's list


def has_service(scope, service):
    """Of these scopes and services."""
    return scope == "all" or service in scope.split(",") or service.split("/")[0] in scope.split(",")


class Torture:
    def __init__(self, world, seed):
        self.world = world
        self.dice = random.Random(seed)
        kinds = [Ruler] + [Worker] * (WORKERS - 1)
        self.workers = [kind(number, random.Random(self.dice.random()), world.directory)
                        for number, kind in enumerate(kinds)]
        self.settings = {"policy": "enforce", **TERMS}
        self.fleet = Fleet(world, ["w0", "w1", "w2"])
        self.kills = self.failures = self.rounds = self.done = 0
        self.changes, self.codes = [], []
        self.repaired = False   # in this round

    def start(self, change):
        """The process, when it is to be killed (None: not by us), and whether a call may fail."""
        world, how = self.world, self.dice.random()
        program, environment, when, fails = world.bloomctl, dict(os.environ), None, False
        if how < 0.25:
            program = world.faulty
            change.fate = self.dice.choice(POINTS)
            environment["XB_FAULT"] = change.fate
        elif how < 0.35:
            fails = True
            change.fate = "%d%s:%d" % (self.dice.randint(1, CALLS), self.dice.choice(["", "+"]),
                                       self.dice.choice(ERRORS))
            environment = world.shimmed(fail=change.fate)
        elif how < 0.5:
            # While it opens the store, and others wait for it to have done so.
            call = self.dice.randint(1, OPENING)
            change.fate = "dies at call %d" % call
            environment = world.shimmed(die=call, sleep="%d:%d" % (call, self.dice.choice(SLEEPS)))
        elif how < 0.9:
            when = time.monotonic() + self.dice.random() ** 2 * 0.03
        process = subprocess.Popen([program, *world.options, *change.words], env=environment,
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        try:
            process.stdin.write(change.text or "")
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.stdin = None
        return process, when, fails

    def let_run(self, changes):
        """All at once; kills each when its time has come. Returns the exit codes."""
        started = [self.start(change) for change in changes]
        for process, when, _ in sorted((one for one in started if one[1] is not None),
                                       key=lambda one: one[1]):
            time.sleep(max(0, when - time.monotonic()))
            process.send_signal(signal.SIGKILL)
        codes = []
        for (process, _, fails), change in zip(started, changes):
            try:
                errors = process.communicate(timeout=120)[1]
            except subprocess.TimeoutExpired as late:
                raise Wrong("%s hangs" % " ".join(process.args)) from late
            code = process.returncode
            codes.append(code)
            change.fate = "%s exit %d %s" % (change.fate, code, errors.strip())
            self.done += code == 0
            self.kills += code < 0
            if fails and code == 3:
                self.failures += 1
                self.world.refused(code, errors, " ".join(change.words))
            elif code not in (0, -signal.SIGKILL, change.refusal):
                raise Wrong("%s: exit %d: %s" % (" ".join(process.args), code, errors))
        return codes

    def start_publishing(self):
        """The process of the host that notes what it has published; or None."""
        if self.dice.random() < 0.5 or not self.fleet.publish(self.dice.randint(1, 100)):
            return None
        environment = dict(os.environ)
        if self.dice.random() < 0.7:
            environment = self.world.shimmed(die=self.dice.randint(1, CALLS))
        return self.fleet.start_taking(environment)

    @staticmethod
    def end_publishing(process):
        errors = process.communicate(timeout=120)[1] if process else ""
        if process and process.returncode not in (0, -signal.SIGKILL):
            raise Wrong("the host that publishes: exit %d: %s" % (process.returncode, errors))

    def saved(self):
        """What the store says: the worker's states, and the settings."""
        states, settings = [State() for _ in self.workers], dict(TERMS)
        for line in self.world.saved():
            if "policy" in line:
                settings["policy"] = line["policy"]
            elif "verdict" in line and line["list"] == self.workers[0].list:
                settings.update(verdict=line["verdict"], scope=line.get("scope", "all"))
            elif "entry" in line and line["list"].startswith("w"):
                states[int(line["list"][1:])].listed.add(line["entry"])
            elif "allow" in line and line["list"].startswith("a"):
                states[int(line["list"][1:])].allowed.add(line["allow"])
        return states, settings

    def settle(self, wish, wished):
        """Acknowledged: it is there. Killed or failed: whole or not at all."""
        states, settings = self.saved()
        for worker, change, code, found in zip(self.workers, self.changes, self.codes, states):
            if found == change.after:
                worker.state = found
            elif code == 0 or found != worker.state:
                raise Wrong("worker %d, %s (exit %d): the store has neither what was nor what was "
                            "to be: %s" % (worker.number, change.words, code,
                                           sorted(found.listed ^ change.after.listed)[:9]))
        expected = dict(self.settings)
        if wish and (wished or settings[wish[0]] == wish[1]):
            expected[wish[0]] = wish[1]
        if settings != expected:
            raise Wrong("the settings are %s, not %s" % (settings, expected))
        self.settings = settings

    def finish_trial(self, code):
        """Some are committed; others end. Returns whether the wish is acknowledged."""
        committed = code == 0 and self.dice.random() < 0.7 and \
            self.let_run([Change(["commit"], refusal=1)])[0] == 0
        if not committed:
            time.sleep(TRIAL + 0.1)
        return committed

    def of_name(self, entry, state, hit):
        policy = self.settings["policy"]
        if policy == "allow-only":
            return "drop"   # for where it comes from
        return hit if entry in state.listed and entry not in state.allowed and policy == "enforce" else "pass"

    def of_source(self, entry, state, drops):
        """drops: whether the list drops packets to the service, if it has their source."""
        policy, listed = self.settings["policy"], entry in state.listed and drops
        if entry in state.allowed or policy == "monitor":
            return "pass"
        return "drop" if listed == (policy == "enforce") else "pass"

    def wanted(self, worker, before):
        """Entries, some with a service, and what becomes of their packets. before: None, or the
        worker's state before the round: only what both states agree on is told."""
        terms = self.settings if worker.number == 0 else TERMS
        hit = {"drop": "drop", "count": "pass"}.get(terms["verdict"], "answer")
        states = (worker.state, before or worker.state)
        for entry in worker.entries:
            if "example" in entry:
                verdicts = {self.of_name(entry, state, hit) for state in states}
                if len(verdicts) == 1:
                    yield entry, verdicts.pop()
                continue
            for service in SERVICES:
                drops = terms["verdict"] != "count" and has_service(terms["scope"], service)
                verdicts = {self.of_source(entry, state, drops) for state in states}
                if len(verdicts) == 1:
                    yield entry + " " + service, verdicts.pop()

    def verdicts(self, before):
        """Lines for the checker. Before the repair what is to drop must, though what is to pass
        may not yet."""
        return ["%s %s" % (verdict, entry)
                for number, worker in enumerate(self.workers)
                for entry, verdict in self.wanted(worker, before and before[number])
                if not before or verdict != "pass"]

    def round(self):
        before, settings = [worker.state for worker in self.workers], self.settings
        self.changes = [worker.change() for worker in self.workers]
        self.repaired = False
        publishing = self.start_publishing()
        self.codes = self.let_run(self.changes)
        self.end_publishing(publishing)
        wishes = [(change.wish, code == 0) for change, code in zip(self.changes, self.codes)
                  if change.wish]
        for change, code in zip(self.changes, self.codes):
            if change.trial:
                wishes = [(change.trial, self.finish_trial(code))]
        self.settle(*(wishes or [(None, False)])[0])
        if self.settings == settings:
            self.world.ask(self.verdicts(before))
        self.repaired = True
        self.world.run("add", "192.0.2.%d" % (self.rounds % 200), "--exist")
        self.world.ask(self.verdicts(None))
        if self.rounds % AGREE_EVERY == 0:
            self.world.ask(["agree"])
            self.fleet.check()
        self.rounds += 1

    def told(self):
        return "%d rounds, %d changes acknowledged, %d killed, %d failed; %d changes published" % (
            self.rounds, self.done, self.kills, self.failures, self.fleet.published)


def run(world, rounds, seed):
    """Returns what was done; raises Wrong."""
    torture = Torture(world, seed)
    torture.fleet.begin()
    world.run("attach", "xt0")
    # Under allow-only somebody is admitted.
    world.run("add", "192.0.2.0")
    try:
        while torture.rounds < rounds:
            torture.round()
            if torture.rounds % 100 == 0:
                print("# " + torture.told(), flush=True)
    except Wrong as wrong:
        raise Wrong("round %d, %s the repair: %s; settings %s; changes: %s" % (
            torture.rounds, "after" if torture.repaired else "before", wrong, torture.settings,
            [(" ".join(change.words)[:60], change.fate) for change in torture.changes])) from wrong
    world.clear()
    return torture.told()
