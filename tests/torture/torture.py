# SPDX-License-Identifier: GPL-2.0-or-later
"""Several processes at once change what is listed, allowed and wanted, and most of them are killed: with
-9 at any moment, or at a point where a change is half done. After each round

  - each change that was acknowledged is in the store, each that was not is in it whole or not at all;
  - what is listed drops, though nobody has repaired anything; after the next command all else passes;
  - now and then: the generation in force equals one built anew from the store.

Runs in a network namespace with the interfaces xt0 and xt1; ends at the first thing that is wrong,
with the round and what was being done.
"""
import json
import os
import random
import signal
import subprocess
import time

WORKERS = 4
UNIVERSE = 300      # entries of a worker
POINTS = ("apply-dirty", "apply-half", "apply-done", "commit-before", "commit-after",
          "publish-before", "publish-swapped", "rotate-built", "rotate-recorded",
          "rotate-replayed")
AGREE_EVERY = 10    # rounds


class Wrong(Exception):
    """An invariant that does not hold."""


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

    def __init__(self, words, after=None, text=None, wish=None, refusal=None):
        self.words, self.after, self.text, self.wish = words, after, text, wish
        self.refusal = refusal  # the exit code of one that found nothing to do


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

    def change(self):
        dice = self.dice
        if dice.random() < 0.4:
            return super().change()
        return dice.choice([
            lambda: Change(["rotate"], self.state),
            lambda: Change(["rotate", "--capacity", str(dice.randint(500, 20000))], self.state),
            lambda: Change(["rotate", "--fpr", dice.choice(["1e-2", "1e-3", "1e-4"])], self.state),
            lambda: Change(["attach", "xt1"], self.state),
            lambda: Change(["detach", "xt1"], self.state, refusal=1),
            lambda: Change(["up"], self.state),
            lambda: Change(["policy", "enforce"], self.state, wish="enforce"),
            lambda: Change(["policy", "monitor"], self.state, wish="monitor"),
        ])()


class Torture:
    def __init__(self, bloomctl, faulty, check, directory, pins, seed):
        self.bloomctl, self.faulty, self.checker = bloomctl, faulty, check
        self.paths = (os.path.join(directory, "state"), pins, os.path.join(directory, "run"))
        self.options = ["-q", "--state", self.paths[0], "--pin", self.paths[1], "--run",
                        self.paths[2]]
        self.dice = random.Random(seed)
        kinds = [Ruler] + [Worker] * (WORKERS - 1)
        self.workers = [kind(number, random.Random(self.dice.random()), directory)
                        for number, kind in enumerate(kinds)]
        self.policy = "enforce"
        self.kills = self.rounds = self.done = 0
        self.changes = []

    def run(self, *words):
        done = subprocess.run([self.bloomctl, *self.options, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Wrong("%s: exit %d: %s" % (" ".join(words), done.returncode, done.stderr))
        return done.stdout

    def start(self, change):
        """The process, and when it is to be killed; None: not by us."""
        environment, how = dict(os.environ), self.dice.random()
        program, when = self.bloomctl, None
        if how < 0.25:
            program = self.faulty
            environment["XB_FAULT"] = self.dice.choice(POINTS)
        elif how < 0.85:
            when = time.monotonic() + self.dice.random() ** 2 * 0.03
        process = subprocess.Popen([program, *self.options, *change.words], env=environment,
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        try:
            process.stdin.write(change.text or "")
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.stdin = None
        return process, when

    def let_run(self, started):
        """Kills each when its time has come. Returns the exit codes."""
        for process, when in sorted((one for one in started if one[1] is not None),
                                    key=lambda one: one[1]):
            time.sleep(max(0, when - time.monotonic()))
            process.send_signal(signal.SIGKILL)
        codes = []
        for (process, _), change in zip(started, self.changes):
            errors = process.communicate()[1]
            codes.append(process.returncode)
            if process.returncode not in (0, -signal.SIGKILL, change.refusal):
                raise Wrong("%s: exit %d: %s" % (" ".join(process.args), process.returncode,
                                                 errors))
        return codes

    def saved(self):
        """What the store says: the worker's states, and the policy."""
        states, policy = [State() for _ in self.workers], None
        for line in self.run("save").splitlines():
            line = json.loads(line)
            policy = line.get("policy", policy)
            if "entry" in line and line["list"].startswith("w"):
                states[int(line["list"][1:])].listed.add(line["entry"])
            elif "allow" in line and line["list"].startswith("a"):
                states[int(line["list"][1:])].allowed.add(line["allow"])
        return states, policy

    def settle(self, changes, codes):
        """Acknowledged: it is there. Killed: whole or not at all."""
        states, policy = self.saved()
        for worker, change, code, found in zip(self.workers, changes, codes, states):
            self.done += code == 0
            self.kills += code < 0
            if found == change.after:
                worker.state = found
            elif code >= 0 or found != worker.state:
                raise Wrong("worker %d, %s (exit %d): the store has neither what was nor what was "
                            "to be: %s" % (worker.number, change.words, code,
                                           sorted(found.listed ^ change.after.listed)[:9]))
            if change.wish and (policy == change.wish or code == 0):
                if policy != change.wish:
                    raise Wrong("policy %s was acknowledged and is %s" % (change.wish, policy))
                self.policy = policy
        if policy != self.policy:
            raise Wrong("the policy is %s, not %s" % (policy, self.policy))

    def ask(self, lines):
        if not lines:
            return
        done = subprocess.run([self.checker, *self.paths], input="\n".join(lines) + "\n",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        answers = done.stdout.splitlines()
        if done.returncode or len(answers) != len(lines):
            raise Wrong("the checker: exit %d: %s" % (done.returncode, done.stderr))
        for line, answer in zip(lines, answers):
            if answer != "ok":
                raise Wrong("%s: %s %s" % (line, answer, done.stderr))

    def verdicts(self, known_before):
        """Lines for the checker. known_before: the states of before the round, too: only what was
        and is listed, and was not and is not allowed, must drop whatever is still to be repaired."""
        lines = []
        for number, worker in enumerate(self.workers):
            listed, allowed = set(worker.state.listed), set(worker.state.allowed)
            if known_before:
                before = known_before[number]
                listed &= before.listed
                allowed |= before.allowed
            drops = listed - allowed if self.policy == "enforce" else set()
            lines += ["drop " + entry for entry in drops]
            if not known_before:
                lines += ["pass " + entry for entry in worker.entries if entry not in drops]
        return lines

    def round(self):
        before = [worker.state for worker in self.workers]
        policy = self.policy
        self.changes = [worker.change() for worker in self.workers]
        codes = self.let_run([self.start(change) for change in self.changes])
        self.settle(self.changes, codes)
        if self.policy == policy:
            self.ask(self.verdicts(before))
        self.run("add", "192.0.2.%d" % (self.rounds % 200), "--exist")
        self.ask(self.verdicts(None))
        if self.rounds % AGREE_EVERY == 0:
            self.ask(["agree"])
        self.rounds += 1


def run(torture, rounds):
    """0: nothing was wrong."""
    torture.run("attach", "xt0")
    try:
        while torture.rounds < rounds:
            torture.round()
            if torture.rounds % 100 == 0:
                print("%d rounds, %d changes acknowledged, %d killed" %
                      (torture.rounds, torture.done, torture.kills), flush=True)
    except Wrong as wrong:
        print("round %d: %s" % (torture.rounds, wrong))
        print("changes: %s" % [" ".join(change.words)[:150] for change in torture.changes])
        return 1
    print("%d rounds, %d changes acknowledged, %d killed: nothing wrong" %
          (torture.rounds, torture.done, torture.kills))
    torture.run("detach", "--all")
    return 0
