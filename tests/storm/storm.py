# SPDX-License-Identifier: GPL-2.0-or-later
"""Generations replace each other while two interfaces are flooded, and at each of them

  - nothing that is listed, for all packets or for the port it went to, has passed (I1), no packet
    was without a generation (I3), and frames of all kinds went on coming;
  - nothing else was dropped (I2); by generations that only guess, no more than they promise.

What is dropped can be told from what the queue of a veth lost only where it lost nothing, so the
flood rests after some generations, and then all is counted to the last frame.

At the end the kernel has what it had at the beginning: each program, map and link that was seen in
force is looked for by its id. The commands run under a user of their own, so that programs that
were never in force are known by whose they are, whatever else the machine does. (Maps do not tell
whose they are.)

Runs in a network namespace with out0 to in0 and out1 to in1.
"""
import json
import math
import os
import random
import subprocess
import time

# Kinds of frames, as in storm.h.
LISTED, NAME, CLEAN, ALLOWED = (0, 1, 2, 3, 4), 5, (6, 7, 8, 9), 10
KINDS = ALLOWED + 1
SCOPES = ("udp/25", "udp/24-25", "udp/25,tcp/25")   # each has the port of storm.h, none the other
PHASE = 25          # generations between two rests; in a short storm fewer
RATES = ("1e-2", "3e-3", "1e-3", "1e-4")
BASE = ("rotate", "--confirm", "--fpr", "1e-2", "--capacity", "40000")
DOMAIN = "listed.storm.test"
SEEN_WITHIN = 60    # seconds that both floods have, on a machine that has other work
GONE_WITHIN = 60    # seconds that the kernel has to free what is not used


class Talker:
    """A process that answers each line with a line."""

    def __init__(self, *words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("%s has ended" % " ".join(self.process.args))
        return line

    def ask(self, line):
        self.say(line)
        return json.loads(self.hear())

    def lines(self, line):
        self.say(line)
        return list(iter(self.hear, "\n"))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Sums:
    """Frames of each interface by kind, and what the filter counted."""

    def __init__(self, sides, reasons):
        self.sent = [side["sent"] for side in sides]
        self.passed = [side["passed"] for side in sides]
        self.reasons = reasons

    def since(self, before):
        def less(now, then):
            return [[a - b for a, b in zip(*pair)] for pair in zip(now, then)]
        sums = Sums([], {name: count - before.reasons.get(name, 0)
                         for name, count in self.reasons.items()})
        sums.sent, sums.passed = less(self.sent, before.sent), less(self.passed, before.passed)
        return sums


def total(sides, kinds):
    return sum(side[kind] for side in sides for kind in kinds)


class Storm:
    def __init__(self, directory, seed):
        self.directory, self.dice = directory, random.Random(seed)
        self.pins, self.files = (os.path.join(directory, *path)
                                 for path in (("bpf", "pins"), ("run",)))
        self.options = ["-q", "--state", os.path.join(directory, "state"), "--pin", self.pins,
                        "--run", self.files]
        self.files = os.path.join(self.files, "counters")
        self.user = 0x58420000 + os.getpid()  # of nobody else
        self.user += self.dice.randrange(1000) << 8
        # It takes all that the commands leave it.
        self.traffic = Talker("nice", os.path.join(directory, "traffic"), str(seed))
        self.census = Talker(os.path.join(directory, "census"), self.pins)
        self.wrong = {}         # check: the first time it did not hold
        self.seen = set()       # what was in force at some time
        self.swaps, self.names, self.scope = 0, False, ""
        self.rate, self.confirm = 1e-2, True
        self.dropped = self.clean = 0   # of clean frames to generations that guess
        self.promised = 0.0             # of them
        self.lost = self.frames = 0

    def fail(self, check, why):
        self.wrong.setdefault(check, "after %d generations: %s" % (self.swaps, why))

    def run(self, *words):
        done = subprocess.run([os.path.join(self.directory, "bloomctl"), *self.options, *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False, preexec_fn=lambda: os.setresuid(self.user, 0, 0))
        if done.returncode:
            raise RuntimeError("%s: exit %d: %s" % (words, done.returncode, done.stderr))
        return done.stdout

    # --- what there is -----------------------------------------------------------------------------

    def count(self):
        """What is in force, in numbers; and remembers it by its ids."""
        now = self.census.ask("pinned")
        ids = {"%s:%d" % (kind, number) for kind in ("program", "map", "link")
               for number in now[kind]}
        self.seen |= ids
        sizes = sorted(os.path.getsize(os.path.join(self.files, name))
                       for name in os.listdir(self.files))
        return {"pins": now["pins"], "map bytes": now["bytes"], "programs": len(now["program"]),
                "maps": len(now["map"]), "links": len(now["link"]), "run files": sizes}, ids

    def await_none(self, question, but=()):
        """What is still there of it when the kernel has had time."""
        end = time.monotonic() + GONE_WITHIN
        while True:
            left = [one for one in self.census.ask(question) if one not in but]
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.2)

    def check_leaks(self, what, living):
        """living: what may be there of all that has been."""
        gone = self.seen - living
        left = self.await_none("alive " + " ".join(sorted(gone))) if gone else []
        for kind in ("program", "map", "link"):
            some = [one for one in left if one.startswith(kind)]
            if some:
                self.fail("no_%s_left" % kind, "%s: %d of %d: %s" % (
                    what, len(some), len(gone), " ".join(some[:5])))
        owned = {int(one.partition(":")[2]) for one in living if one.startswith("program")}
        left = self.await_none("owned %d" % self.user, owned)
        if left:
            self.fail("no_program_left", "%s: %d never in force" % (what, len(left)))

    # --- traffic -----------------------------------------------------------------------------------

    def reasons(self):
        found = json.loads(self.run("-j", "stats"))["interfaces"]
        sums = {}
        for interface in found:
            for reason in interface["reasons"]:
                key = reason["verdict"] + " " + reason["reason"]
                sums[key] = sums.get(key, 0) + reason["packets"]
        return sums

    def look(self, word="look", reasons=None):
        return Sums(self.traffic.ask(word), reasons or {})

    def await_all(self, before):
        """A look by when frames of all kinds have left, and of those that pass have come, on both
        interfaces. (What comes may have left before.)"""
        end = time.monotonic() + SEEN_WITHIN
        while True:
            now = self.look()
            since = now.since(before)
            if time.monotonic() > end or all(all(side) for side in since.sent) and all(
                    side[kind] for side in since.passed for kind in CLEAN + (ALLOWED,)):
                return now
            time.sleep(0.005)

    def check_interval(self, before, now, steady):
        """Whatever the queue lost. steady: the name was listed all the time, or never."""
        for number, side in enumerate(now.since(before).passed):
            kinds = LISTED + ((NAME,) if self.names and steady else ())
            for kind in kinds:
                if side[kind]:
                    self.fail("nothing_listed_passes", "in%d, kind %d: %d frames" % (
                        number, kind, side[kind]))
            if not all(side[kind] for kind in CLEAN + (ALLOWED,)):
                self.fail("traffic_goes_on", "in%d: passed %s" % (number, side))
        for number, side in enumerate(now.since(before).sent):
            if not all(side):
                self.fail("traffic_goes_on", "out%d: sent %s" % (number, side))

    def check_rest(self, delta, promised, clean_kinds, listed_kinds):
        """All that was sent since has arrived, been dropped, or was lost by a queue."""
        sent, seen = total(delta.sent, range(KINDS)), sum(delta.reasons.values())
        dropped = sum(n for reason, n in delta.reasons.items() if reason.startswith("drop"))
        clean, listed = total(delta.sent, clean_kinds), total(delta.sent, listed_kinds)
        missing, lost = clean - total(delta.passed, clean_kinds), sent - seen
        self.lost += lost
        self.frames += sent
        if delta.reasons["pass no_generation"]:
            self.fail("always_a_generation", "%d packets" % delta.reasons["pass no_generation"])
        if lost < 0:
            self.fail("all_is_counted", "%d frames sent, %d counted" % (sent, seen))
        if promised is None:
            if missing > lost or dropped > listed:
                self.fail("nothing_else_drops", "%d of %d clean frames missing, %d lost by queues; "
                          "%d dropped of %d listed" % (missing, clean, lost, dropped, listed))
        else:
            self.dropped += max(0, missing - lost)
            self.clean += clean
            self.promised += promised

    # --- swaps -------------------------------------------------------------------------------------

    def swap(self, confirm):
        rate = self.dice.choice(RATES)
        words = ["rotate", "--fpr", rate, "--confirm" if confirm else "--no-confirm",
                 "--capacity", str(self.dice.randint(1, 60000))]
        self.run(*words)
        self.swaps += 1
        rates = (self.rate, float(rate))
        guessed = not (confirm and self.confirm)
        self.rate, self.confirm = float(rate), confirm
        return max(rates) if guessed else 0.0

    def set_names(self, wanted):
        if wanted != self.names:
            self.run("add" if wanted else "del", DOMAIN, "--list", "names")
            self.names = wanted
            return 1
        return 0

    def set_scope(self, scope):
        if scope != self.scope:
            self.run("scope", "mail", scope)
            self.scope = scope
            self.swaps += 1

    def phase(self, swaps):
        """From a rest to the next: generations that are exact, or such as only guess, with an
        exact one before and after them."""
        guesses = self.dice.random() < 0.4
        moving = self.dice.random() < 0.3       # the name comes or goes under the flood
        if not moving:
            self.swaps += self.set_names(self.dice.random() < 0.6)
        begin = before = self.look("go", self.reasons())
        promised, former = 0.0, None
        for number in range(swaps):
            steady = True
            if self.dice.random() < 0.2:
                self.set_scope(self.dice.choice(SCOPES))
            if moving and number == swaps // 2:
                steady = False
                self.swaps += self.set_names(not self.names)
            rate = self.swap(not guesses or number == swaps - 1)
            ids = self.count()[1]
            programs = {one for one in ids if one.startswith("program")}
            if programs == former:
                self.fail("each_is_new", "the programs are those of before: %s" % programs)
            former = programs
            now = self.await_all(before)
            self.check_interval(before, now, steady)
            promised += rate * total(now.since(before).sent, CLEAN)
            before = now
        end = self.look("rest")
        end.reasons = self.reasons()
        promised += (self.rate if guesses else 0) * total(end.since(before).sent, CLEAN)
        named = () if moving else ((NAME,) if self.names else ())
        unnamed = () if moving or self.names else (NAME,)
        self.check_rest(end.since(begin), promised if guesses else None, CLEAN + (ALLOWED,) + unnamed,
                        LISTED + named + ((NAME,) if moving else ()))

    def begin(self):
        # access() asks for the real user.
        os.mkdir(os.path.join(self.directory, "state"), 0o711)
        for name, word in ("storm", "list"), ("mail", "scoped"):
            path = os.path.join(self.directory, name)
            with open(path, "w") as out:
                out.writelines(self.traffic.lines(word))
            self.run("import", path, "--include-bogons", "--list", name)
        self.set_scope(SCOPES[0])
        self.run("allow", "add", "203.0.113.0/24")
        self.run("attach", "in0", "in1", "--mode", "native", "--refuse", "all")
        self.run(*BASE)

    def end(self, first):
        self.traffic.ask("rest")
        self.set_names(False)
        self.set_scope(SCOPES[0])
        self.run(*BASE)
        last, living = self.count()
        for what, number in last.items():
            if number != first[what]:
                self.fail("as_much_as_before", "%s: %s, before %s" % (what, number, first[what]))
        self.check_leaks("attached", living)
        self.run("detach", "--all")
        self.check_leaks("detached", set())
        left = [os.path.join(path, name) for path, folders, files in os.walk(self.pins)
                for name in files + folders]
        left += [os.path.join(self.files, name) for name in os.listdir(self.files)]
        if left:
            self.fail("as_much_as_before", "detached, and there is %s" % " ".join(left[:5]))
        self.traffic.end()
        self.census.end()

    def check_promise(self):
        most = 1.1 * self.promised + 6 * math.sqrt(self.promised) + 1
        if self.dropped > most:
            self.fail("guesses_keep_the_promise", "%d of %d clean frames dropped, promised %.0f" %
                      (self.dropped, self.clean, self.promised))
        if self.promised > 10000 and not self.dropped:
            self.fail("guesses_keep_the_promise", "none was dropped: nothing has been seen")


CHECKS = ("nothing_listed_passes", "nothing_else_drops", "guesses_keep_the_promise",
          "always_a_generation", "traffic_goes_on", "all_is_counted", "each_is_new",
          "no_program_left", "no_map_left", "no_link_left", "as_much_as_before")


def run(directory, swaps, seed):
    """0: nothing was wrong."""
    storm = Storm(directory, seed)
    storm.begin()
    first = storm.count()[0]
    start, told, phase = time.monotonic(), 0, min(PHASE, max(1, swaps // 5))
    while storm.swaps < swaps and not storm.wrong:
        storm.phase(min(phase, swaps - storm.swaps))
        if storm.swaps // 100 > told // 100:
            print("%d generations, %.1f s for 100, %.1f M frames, of which the queues lost %d" % (
                storm.swaps, (time.monotonic() - start) * 100 / storm.swaps, storm.frames / 1e6,
                storm.lost), flush=True)
            told = storm.swaps
    print("%d generations in %.0f s, %.1f M frames; guesses dropped %d of %d clean ones, promised "
          "%.0f" % (storm.swaps, time.monotonic() - start, storm.frames / 1e6, storm.dropped,
                    storm.clean, storm.promised))
    storm.end(first)
    storm.check_promise()
    print("before and after: %s; %d programs, maps and links were in force meanwhile" % (
        first, len(storm.seen)))
    for check in CHECKS:
        if check in storm.wrong:
            print("FAIL storm/%s: %s" % (check, storm.wrong[check]))
        else:
            print("ok   storm/%s" % check)
    return 1 if storm.wrong else 0
