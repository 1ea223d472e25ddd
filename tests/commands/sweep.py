# SPDX-License-Identifier: GPL-2.0-or-later
"""Line after line: what must be refused is, and changes nothing; what is done is what other programs see."""
import collections
import glob
import json
import os
import re
import time

import stored
import verdicts
from grammar import Grammar
from ground import Wrong
from kernel import Kernel
from lines import TRIAL_SECONDS, Line, Writer
from promises import ANSWERS, REFUSED, Promises, quoted

FAULTY = 0.4            # of the lines
BROKEN = 0.3            # of the texts to restore
TRIAL = float(TRIAL_SECONDS)
FEW = 4                 # listed entries
TEXTS = 6               # that were saved are kept, to be restored
EDITS = (("add",), ("del",), ("allow", "add"), ("allow", "del"))
# They answer in other forms than JSON.
PLAIN = (("save",), ("help",), ("metrics",))


class File:
    def __init__(self, name, entries, more=()):
        self.name, self.entries = name, entries
        self.text = "".join(line + "\n" for line in [*entries, *more])
        self.end = self.text.splitlines()[-1] if self.text else ""


FILES = (File("hosts", ("45.33.7.7", "45.33.7.8", "10.9.8.7", "2620:fe::9")),
         File("networks", ("45.33.7.0/24", "2001:db8::/32", "2a02:4780:1::/48"), ("# end",)),
         File("names", ("example.com", "other.net", "deep.www.example.org")),
         File("special", ("192.0.2.1", "203.0.113.7", "10.0.0.0/8")), File("empty", ()))


# How much must be as before. What is wrong in the line itself is refused before anything is opened; what the machine
# is asked for may show only under locks; and a question of the filter is counted.
BYTES, PINNED, STORED = range(3)
# Maps in which whoever looks notes what he finds, and empties the row of an interface that is to come.
NOTED = ("notes", "stats")
ASKING = (*ANSWERS, ("test",))


class Snapshot:
    """All that there is."""

    def __init__(self, kernel):
        self.saved = kernel.run("save")
        self.allowed = kernel.run("-j", "allow", "list")
        self.links = kernel.links_text()
        objects = kernel.pinned_objects()
        self.pins = kernel.pinned()
        self.objects = {path: {key: value for key, value in about.items() if key.endswith("_id") or key == "prog_tag"}
                        for path, about in objects.items()}
        self.maps = {**kernel.dumps(objects), **kernel.arrays(objects)}
        self.files = kernel.files_text()
        self.modes = kernel.modes(objects)

    def differs(self, other, level):
        """The names of what is not the same."""
        if (self.saved.out, self.saved.code) != (other.saved.out, other.saved.code):
            yield "what is saved"
        if self.allowed.out != other.allowed.out:
            yield "the allowlist"
        if self.links != other.links:
            yield "ip link"
        if level == STORED:
            return
        if self.pins != other.pins:
            yield "the names of pins"
        if self.objects != other.objects:
            yield "programs and maps"
        changed = {name for name, _ in {*self.maps.items()} ^ {*other.maps.items()}}
        changed = sorted(name for name in changed if level == BYTES or os.path.basename(name) not in NOTED)
        if changed:
            yield "maps (%s)" % ", ".join(changed)
        if level == BYTES and self.files != other.files:
            yield "files (%s)" % ", ".join(sorted({name for name, _ in {*self.files} ^ {*other.files}}))


class Sweep:
    def __init__(self, directory, programs, dice, tell):
        self.kernel, self.dice, self.tell = Kernel(directory, programs), dice, tell
        self.writer = Writer(Grammar(programs[0]), dice)
        self.directory = directory
        for file in FILES:
            with open(self.path_of(file), "w") as out:
                out.write(file.text)
        self.store, self.modes, self.imported, self.texts = stored.Store(), {}, set(), []
        self.counts, self.strange, self.dropped = collections.Counter(), set(), 0

    def path_of(self, file):
        return os.path.join(self.directory, "list-" + file.name)

    def begin(self):
        """Something is listed, some of it for services only, and something filters."""
        for words in (["add", "192.0.2.1", "2001:db8::1", "--list", "mine"], ["add", "203.0.113.7", "other.net"],
                      ["add", "10.9.8.7", "example.com", "--list", "ads"], ["attach", "wan0"],
                      ["limit", "add", "mine", "--to", "udp", "--rate", "1/h", "--over", "count"],
                      ["add", "198.51.100.9", "2620:fe::/48", "--list", "mail"], ["scope", "mail", "tcp/25"],
                      ["scope", "mail", "all"], ["scope", "mail", "udp/9,icmp"], ["verdict", "mail", "count"],
                      ["verdict", "mail", "drop"]):
            self.run_one(words)
            if self.kernel.modes(self.kernel.pinned_objects()):
                self.modes = {"wan0": "native"}
                self.judge_frames(stored.read(self.kernel.run("save").out), self.modes)
        self.store = stored.read(self.kernel.run("save").out)
        self.before = Snapshot(self.kernel)
        self.keep_text()

    def keep_text(self):
        text = self.before.saved.out
        if text not in self.texts:
            self.texts = self.texts[1 - TEXTS:] + [text]

    def run_one(self, words):
        done = self.kernel.run(*words)
        self.tell(str(done))
        if done.code:
            raise Wrong(str(done))

    # --- what a line needs besides ----------------------------------------------------------------------

    def prepare(self, line):
        words = line.command.words
        if words == ("import",):
            line.file = self.dice.choice(FILES)
            line.text = line.file.text
            if self.dice.random() < 0.5:
                line.units = [[self.path_of(line.file)] if unit == ["-"] else unit for unit in line.units]
        elif words == ("batch",):
            line.lines = [self.edit() for _ in range(self.dice.choice((1, 2, 3, 5)))]
            line.text = "".join(" ".join(map(quoted, one.words())) + "\n" for one in line.lines)
        elif words == ("restore",):
            line.text = self.dice.choice(self.texts)
            line.saved, line.broken = stored.read(line.text), self.dice.random() < BROKEN
            if line.broken:
                line.text = self.broken(line.text)

    def edit(self):
        """A line of a batch."""
        commands = [command for command in self.writer.grammar.commands if command.words in EDITS]
        line = Line(self.dice.choice(commands))
        self.writer.add_operands(line, line.command)
        self.writer.add_options(line, line.command, 0.4)
        return line

    def broken(self, text):
        lines = text.splitlines()
        return self.dice.choice((text[:len(text) // 2], text.replace('"policy"', '"policies"', 1), text + lines[-1] + "x\n",
                                 text + '{"entry":"192.0.2.300","list":"mine"}\n', "", "192.0.2.1\n",
                                 text.replace('"memberships":', '"memberships":9', 1)))

    def wanted(self):
        """The command that lets a filter drop something again, if none does; mostly None."""
        names = ("attach",) if not self.modes else ("policy",) if self.store.policy == "monitor" else \
            ("add", "import") if len(self.store.listed) < FEW else ()
        if not names or self.dice.random() > 0.4:
            return None
        name = self.dice.choice(names)
        return next(command for command in self.writer.grammar.commands if command.words == (name,))

    def run(self, line):
        done = self.kernel.run(*line.words(), text=line.text)
        self.tell("%s%s" % (done, " [%s]" % line.fault if line.fault else ""))
        if line.text is not None:
            self.tell("   with: %s" % line.text.strip().replace("\n", " | ")[:400])
        return done

    # --- one line -----------------------------------------------------------------------------------------

    def step(self):
        line = self.writer.faulty() if self.dice.random() < FAULTY else self.writer.right(self.wanted())
        self.prepare(line)
        self.do(line, Promises(self.store, self.modes, self.imported).of(line), self.dice.random() < 0.5)

    def each_trial(self):
        """Of each command that can be tried a line that is not kept, then one that is: it may leave nothing more to try."""
        for command in self.writer.grammar.commands:
            for kept in (False, True):
                if "rollback" in command.options:
                    self.tell("-- a trial")
                    self.do(*self.trial_of(command), kept)

    def trial_of(self, command):
        """A line that is tried for certain, and changes something if such a line comes soon, and what it promises."""
        found = None
        for _ in range(200):
            line = self.writer.right(command, True)
            self.prepare(line)
            promise = Promises(self.store, self.modes, self.imported).of(line)
            if promise.tried and not promise.may_refuse and not promise.free:
                found = line, promise
                if promise.store and vars(promise.store) != vars(self.store):
                    return found
        if not found:
            raise Wrong("no line of `%s` is tried for certain" % " ".join(command.words))
        return found

    def do(self, line, promise, kept):
        """kept: whether a trial is committed."""
        begun = time.monotonic()
        done = self.run(line)
        self.strange |= {" ".join((*line.command.words, one)) for one in line.strange}
        if done.code not in promise.codes and not (promise.may_refuse and done.code in (1, 2, 3)):
            raise Wrong("exit %d, not %s" % (done.code, " or ".join(map(str, promise.codes))))
        if done.code and not promise.store or done.code not in promise.codes:
            self.counts["refused"] += 1
            self.refused(line, done)
        elif promise.tried:
            self.counts["tried"] += 1
            self.answers(line, done)
            self.tried(line, promise, begun, kept)
        else:
            self.counts["done"] += 1
            self.answers(line, done)
            self.done(line, promise)

    def one_line(self, line, done):
        """An error is one line."""
        if set("vjp") & {letter for word in line.words() if re.fullmatch("-[a-z]+", word) for letter in word} or \
                {"--verbose", "--json", "--pretty"} & set(line.words()):
            return
        said = [text for text in done.errors.splitlines() if not re.match("bloomctl: (warning|note)|Empty ", text)]
        if done.code in (2, 3) and line.command.words not in (("doctor",), ("status",), ("check",)) and \
                (not said or not said[-1].startswith("bloomctl: ") or line.fault and len(said) != 1):
            raise Wrong("not one line on stderr: %s" % done.errors)

    def refused(self, line, done):
        """An interface that came before one that cannot be attached may have been attached in another mode meanwhile: then
        it has another link to the same program, in the mode that it had."""
        self.one_line(line, done)
        asks = line.command.words in ASKING or line.command.words == ("attach",) and done.code == 3
        self.unchanged(STORED if asks and not line.fault else
                       BYTES if line.fault and line.codes == REFUSED else PINNED, "exit %d, and it" % done.code)

    def each_fault(self):
        """Of each command and of each option, all faults that there are; what they have changed shows together."""
        lines = [line for command in self.writer.grammar.commands for line in self.writer.each_fault(command)]
        for level, some in ((BYTES, [line for line in lines if line.codes == REFUSED]),
                            (PINNED, [line for line in lines if line.codes != REFUSED])):
            for line in some:
                self.tell("-- a fault")
                self.refuse(line)
            try:
                self.unchanged(level, "one of %d lines" % len(some))
            except Wrong:
                # Which of them it was shows when they are repeated.
                for line in some:
                    self.before = Snapshot(self.kernel)
                    self.tell(str(self.kernel.run(*line.words(), text=line.text)))
                    self.unchanged(level, "[%s]" % line.fault)
                raise

    def refuse(self, line):
        self.prepare(line)
        done = self.run(line)
        if done.code not in line.codes:
            raise Wrong("exit %d, not %s" % (done.code, " or ".join(map(str, line.codes))))
        self.one_line(line, done)
        self.counts["faults"] += 1

    def unchanged(self, level, what):
        now = Snapshot(self.kernel)
        changed = list(self.before.differs(now, level))
        if changed:
            raise Wrong("%s changes %s" % (what, ", ".join(changed)))
        self.before = now

    def done(self, line, promise):
        store, modes = promise.store or self.store, self.modes if promise.modes is None else promise.modes
        self.judge(store, modes, promise.free, promise.unforeseen)
        if line.command.words == ("import",) and promise.store:
            self.imported.add(line.options.get("list", ["default"])[-1])
        self.judge_frames(self.store, self.modes)
        self.before = Snapshot(self.kernel)
        self.keep_text()

    def answers(self, line, done):
        json_wanted = {"-j", "--json", "-p", "--pretty"} & {word for unit in line.front + line.units if len(unit) == 1
                                                            for word in unit}
        if not json_wanted or line.command.words in PLAIN:
            return
        try:
            json.loads(done.out)
        except ValueError as error:
            raise Wrong("no JSON: '%s'" % done.out[:200]) from error

    def judge(self, store, modes, free=(), unforeseen=False):
        """What is stored, and what is attached, against what was foretold; then that is what there is."""
        found = stored.read(self.kernel.run("save").out)
        foretold = store.copy()
        for name in free:
            for side, real in ((foretold.listed, found.listed), (foretold.allowed, found.allowed)):
                for key in [key for key in side if key[1] == name]:
                    del side[key]
                side.update({key: value for key, value in real.items() if key[1] == name})
        wrong = stored.differences(foretold, found)
        now = self.kernel.modes(self.kernel.pinned_objects())
        if now != modes:
            wrong.append("ip link shows the filter on %s, not on %s" % (now, modes))
        if wrong and not unforeseen:
            raise Wrong("; ".join(wrong))
        self.store, self.modes = stored.taken_over(foretold, found), now

    def judge_frames(self, store, modes):
        """Frames through each interface, against what is in force there."""
        for name, came in self.kernel.seen().items():
            if came is None:
                raise Wrong("%s lets nothing through" % name)
            for number, frame in enumerate(verdicts.FRAMES):
                must = verdicts.passes(store, frame) if name in modes else True
                self.dropped += number not in came
                if must is not None and must != (number in came):
                    raise Wrong("%s: %s %s" % (name, frame, "is dropped" if must else "passes"))

    # --- trials -----------------------------------------------------------------------------------------

    def tried(self, line, promise, begun, kept):
        modes = next(modes for modes in (promise.modes_tried, promise.modes, self.modes) if modes is not None)
        ended = time.monotonic()
        store, before = promise.store, (self.store, self.modes)
        self.judge(self.store, modes)
        if promise.free or promise.unforeseen:
            store = None
        if store and time.monotonic() - begun < TRIAL * 0.6:
            self.in_force(store, modes, begun)
        done = self.kernel.run("commit") if kept else None
        if done and done.code == 0:
            self.tell(str(done))
            self.nothing_is_left()
            self.done(line, promise)
            time.sleep(max(0.0, ended + TRIAL + 0.2 - time.monotonic()))
            self.judge_frames(self.store, self.modes)
            self.before = Snapshot(self.kernel)
            return
        if done and (done.code != 1 or time.monotonic() - begun < TRIAL):
            raise Wrong("not committed: %s" % done)
        time.sleep(max(0.0, ended + TRIAL + 0.2 - time.monotonic()))
        # Nobody has to do anything for that.
        self.judge_frames(*before)
        done = self.kernel.run("up")
        self.tell(str(done))
        self.store, self.modes = before
        self.judge(*before)
        self.judge_frames(*before)
        self.nothing_is_left()
        self.before = Snapshot(self.kernel)

    def nothing_is_left(self):
        """Of a trial; one generation is in force, with its counters."""
        kernel, few = self.kernel, int(bool(self.kernel.modes(self.kernel.pinned_objects())))
        found = [glob.glob(os.path.join(*place)) for place in (
            (kernel.state, "trial", "trial.input*"), (kernel.pins, "trial"), (kernel.pins, "gen-*"),
            (kernel.files, "counters", "*.counters"))]
        if [len(some) for some in found] != [0, 0, few, few]:
            raise Wrong("left behind: %s" % found)

    def in_force(self, store, modes, begun):
        try:
            self.judge_frames(store, modes)
        except Wrong:
            # It may be over by now.
            if time.monotonic() - begun < TRIAL:
                raise


def run(directory, programs, amount, dice, tell):
    """Does so many lines, and raises Wrong. Returns what to say of them."""
    sweep = Sweep(directory, programs, dice, tell)

    sweep.begin()
    sweep.each_fault()
    sweep.each_trial()
    for number in range(amount):
        tell("-- %d" % number)
        sweep.step()
    return sweep
