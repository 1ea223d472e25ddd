#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scenes.py NAME STACK BRIEF: in a machine of tests/devices/run, attaches the filter to its card in each mode, sends
frames, and goes on doing so through all that is done to a card (not if BRIEF is 1): does a listed frame pass while
anything says that all is well, and is another one lost that a program that lets all pass does not lose? Lines "ok", "FAIL"
and "skip" for each scene, and "ROW" for each mode: driver, kernel, card, mode asked, mode got, largest MTU that is accepted
and works, how long attaching took frames away, notes."""
import os
import re
import subprocess
import sys
import time
import traceback

import machine
import wire
from machine import run

PATIENCE = 15           # seconds until a link is there again
FRAMES = 30             # of a burst
LOOK = 0.4              # seconds, in which 16 frames of each source are sent
BOND = "called for its members by their own numbers"
TRIAL = 6               # seconds for the end of a trial; bloomd looks once a second, on a slow machine
BLOOMD = "/run/bloomd.log"
# The kernel's sentence of a driver that has nothing to do with XDP, which others may say in words of their own.
NO_XDP = "Underlying driver does not support XDP in native mode"


class Failed(Exception):
    pass


class Stage:
    """One card in one machine."""

    def __init__(self, name, stack, brief):
        self.name, self.code, self.brief = name, 0, brief == "1"
        self.card = machine.Card(stack)
        self.stream = wire.Stream()
        self.stream.start()
        self.limits = []        # of MTU, found in this mode
        self.notes = []         # of this mode
        self.pass_says = {}     # why the kernel takes no program, by mode
        self.agent = None

    # --- lines -------------------------------------------------------------------------------------------

    def tell(self, word, scene, seconds, details=(), reason=""):
        line = "%-4s devices/%s/%s" % (word, self.name, scene)
        print(line + (": " + reason if reason else " (%.1f s)" % seconds), flush=True)
        for one in details:
            for part in one.splitlines():
                print("     | " + part, flush=True)

    def scene(self, name, function, *arguments):
        """function(details, *arguments) fills details, and returns why it could not be tried, or raises Failed."""
        started, details = time.monotonic(), []
        try:
            reason = function(details, *arguments)
            if reason:
                self.tell("skip", name, 0, reason=reason)
            else:
                self.tell("ok", name, time.monotonic() - started, details)
            return not reason
        except Failed as error:
            self.code = 3
            self.notes.append("%s failed" % name.split("/")[1])
            self.tell("FAIL", name, time.monotonic() - started, [str(error)] + details)
        except Exception:  # pylint: disable=broad-exception-caught
            self.code = 3
            self.notes.append("%s failed" % name.split("/")[1])
            self.tell("FAIL", name, time.monotonic() - started, [traceback.format_exc()] + details)
        return False

    # --- looks -------------------------------------------------------------------------------------------

    def look(self, seconds):
        """How many listed frames and how many others come in the next seconds."""
        start = time.monotonic()
        time.sleep(seconds)
        return self.stream.since(wire.LISTED, start), self.stream.since(wire.OTHER, start)

    def settle(self):
        """Until frames arrive and the link is up; e1000 receives before it says so."""
        start = time.monotonic()
        arrive = self.stream.wait(wire.OTHER, start, PATIENCE) is not None
        while "NO-CARRIER" in self.card.link()["flags"] and time.monotonic() < start + PATIENCE:
            time.sleep(0.1)
        return arrive

    def status(self):
        code, said = run("bloomctl", "status")
        return code, "status exits %d: %s" % (code, said)

    def anew(self, details):
        detach = [("detach", self.card.name)] if self.card.mode() != "none" else []
        for words in detach + [("attach", self.card.name, "--mode", self.asked)]:
            code, said = run("bloomctl", *words)
            if code:
                details.append("`%s` exits %d: %s" % (" ".join(words), code, said))
        self.settle()

    def judge(self, details, when):
        """Whether a listed frame passes while the programs say that all is well. Afterwards none does, if that can be had."""
        listed = self.look(LOOK)[0]
        code, said = self.status()
        after = self.look(LOOK)[0]
        if not after:
            if listed:
                details.append("%s: %d listed frames passed until status" % (when, listed))
            if code:
                details.append("%s: no listed frame passes, but %s" % (when, said))
            return
        wrong = ""
        if code:
            details.append("%s: %d listed frames pass, and %s" % (when, after, said))
        else:
            wrong = "%s: %d listed frames pass, and status exits 0" % (when, after)
        code, said = run("bloomctl", "up")
        after = self.look(LOOK)[0]
        details.append("`up` exits %d, and then %d listed frames pass%s" % (code, after, ": " + said if said else ""))
        if after:
            if not code:
                wrong = wrong or "%s: %d listed frames pass after `up`, which exits 0" % (when, after)
            self.anew(details)
            details.append("after `detach` and `attach`, %d listed frames pass" % self.look(LOOK)[0])
        if wrong:
            raise Failed(wrong)

    def losses(self):
        """What innocent traffic suffers: frames lost of a burst that fills the MTU, what is wrong with TCP."""
        if not self.settle():
            return FRAMES, "no frame of the other source comes"
        mtu = int(machine.read("/sys/class/net/%s/mtu" % self.card.name))
        return FRAMES - wire.burst(mtu, FRAMES), wire.transfer()

    def innocent(self, details, redo, undo):
        """Does the same with a plain program if frames are lost."""
        mode = "skb" if self.card.mode() == "skb" else "native"
        lost, tcp = self.losses()
        if not lost and not tcp:
            return True
        mtu = int(machine.read("/sys/class/net/%s/mtu" % self.card.name))
        details.append("lost %d of %d frames as large as the MTU; %s" % (lost, FRAMES, tcp or "TCP is well"))
        undo()
        run("bloomctl", "detach", self.card.name)
        why = self.card.plain(mode)
        why = why or redo()
        with_plain = self.losses() if not why else None
        undo()
        self.card.no_plain(mode)
        self.card.restore(self.original)
        redo()
        without = self.losses()
        undo()
        self.anew(details)
        details.append("without a program: lost %d; %s" % (without[0], without[1] or "TCP is well"))
        if why:
            details.append("a plain program cannot be tried: %s" % why)
        else:
            details.append("with a plain program: lost %d; %s" % (with_plain[0], with_plain[1] or "TCP is well"))
        than = with_plain or without
        if lost > than[0] + 2 or (tcp and not than[1]):
            raise Failed("innocent frames are lost that a plain program does not lose")
        self.notes.append("large frames are lost at MTU %d, with a plain program as well" % mtu if with_plain else
                          "large frames are lost at MTU %d, without a program as well" % mtu)
        return False

    # --- scenes ------------------------------------------------------------------------------------------

    def attach(self, details):
        card, asked, start = self.card, self.asked, time.monotonic()
        self.before, changes = card.snapshot(), card.carrier_changes()
        code, said = run("bloomctl", "attach", card.name, "--mode", asked)
        self.attach_said = said
        took = time.monotonic() - start
        self.got, wrong = card.mode(), None
        details.append("exit code %d, mode %s%s" % (code, self.got, ": " + said if said else ""))
        if code:
            self.got = "refused"
        if asked != "skb" and self.got != "native":
            sentence = re.sub(r"^(Error|Warning): |\.? *$", "", (self.pass_says["native"] or "").split(" Error:")[0])
            told = sentence in said or (sentence == NO_XDP and "no native XDP" in said)
            # Of a bond the kernel is not asked.
            if sentence and not told and BOND not in said:
                self.notes.append("the kernel's sentence: %s" % sentence)
                wrong = "the kernel's sentence is not told: %s" % sentence
        if not code:
            self.settle()
            time.sleep(2.5)
            self.away = "%d ms, %d changes of carrier" % (self.stream.away(start) * 1000, card.carrier_changes() - changes)
            details.append("took %.1f s; frames away for %s" % (took, self.away))
        if wrong:
            raise Failed(wrong)

    def traffic(self, details):
        self.judge(details, "attached")
        lost, tcp = self.losses()
        if lost or tcp:
            self.innocent(details, lambda: None, lambda: None)
        ping = run("ip", "netns", "exec", "peer", "ping", "-c", "3", "-i", "0.2", "-W", "2", wire.SERVER)
        if ping[0]:
            raise Failed("ping: %s" % ping[1])
        answer = wire.ask_for_listed(wire.OTHER, wire.SERVER, self.card.peer)
        details.append("a query for a listed name: %s" % answer)
        # A VLAN sits on the card, and `attach` has said that the tag cannot be known.
        if answer != ("silence" if "takes VLAN tags off" in self.attach_said else "nxdomain"):
            raise Failed("a query for a listed name: %s" % answer)

    def tags(self, details):
        if not self.card.tagged:
            return "not tried on %s" % self.card.stack
        listed = wire.burst(500, 10, wire.TAGGED_LISTED, wire.TAGGED_SERVER)
        other = wire.burst(1400, 10, wire.TAGGED_OTHER, wire.TAGGED_SERVER)
        answers = [wire.ask_for_listed(wire.TAGGED_OTHER, wire.TAGGED_SERVER, "peer0.5") for _ in range(2)]
        details.append("with a tag: %d of 10 listed frames pass, %d of 10 others; a query for a listed name: %s" %
                       (listed, other, ", ".join(answers)))
        if listed or other < 10:
            raise Failed("frames with a tag")
        if not set(answers) <= {"nxdomain", "silence"}:
            raise Failed("an answer without its tag, or a query that passed")
        return None

    def change(self, details, do, undo):
        """do() and undo() return None, or why not; undo is None where there is nothing to undo."""
        start = time.monotonic()
        why = do()
        if why:
            return why
        first = self.stream.wait(wire.OTHER, time.monotonic(), PATIENCE)
        if first is None:
            details.append("no frame of the other source for %d s" % PATIENCE)
        elif self.stream.away(start) > 0.2:
            details.append("frames away for %.1f s" % self.stream.away(start))
        wrongs = []

        def judged(when):
            try:
                self.judge(details, when)
            except Failed as error:
                wrongs.append(str(error))
        judged("after it")
        self.whole = self.innocent(details, do, undo or (lambda: None))
        if undo and self.whole:
            why = undo()
            if why:
                details.append("not undone: %s" % why)
            self.settle()
            judged("after it was undone")
        if wrongs:
            raise Failed("\n".join(wrongs))
        return None

    def way_out(self, details):
        """Some drivers take a larger MTU than they let a program go with."""
        why = self.card.set_mtu(9000)
        if why:
            return why
        self.settle()
        code, said = run("bloomctl", "detach", self.card.name)
        details.append("`detach` exits %d%s" % (code, ": " + said if said else ""))
        listed = self.look(LOOK)[0]
        self.set_back_mtu()
        self.settle()
        self.anew(details)
        if not listed:
            raise Failed("after `detach` at MTU 9000, a listed source is still blocked")
        return None

    def differences(self):
        """What is asked of a driver again, it may grant where it did not before."""
        after = self.card.snapshot()
        return ["%s: %s, was %s" % (key, after.get(key), self.before.get(key))
                for key in sorted({*after, *self.before}) if after.get(key) != self.before.get(key)
                and (self.before.get(key), after.get(key)) != ("off [requested on]", "on")]

    def detach(self, details):
        card, start, changes = self.card, time.monotonic(), self.card.carrier_changes()
        code, said = run("bloomctl", "detach", card.name)
        self.settle()
        time.sleep(2.5)
        details.append("frames away for %d ms, %d changes of carrier" %
                       (self.stream.away(start) * 1000, card.carrier_changes() - changes))
        other = self.differences()
        mode, listed = card.mode(), self.look(LOOK)[0]
        run("bloomctl", "detach", "--all")
        if code:
            raise Failed("exit code %d: %s" % (code, said))
        if mode != "none":
            raise Failed("a program in mode %s is left" % mode)
        if not listed:
            raise Failed("a listed source is still blocked")
        if other:
            raise Failed("the card is not as it was before: %s" % "; ".join(other))

    def set_back_mtu(self):
        return self.card.set_mtu(self.card.mtu)

    def changes(self):
        """Name, what is done, what undoes it."""
        card = self.card
        yield "down-up", card.down_up, None
        for mtu in 1400, 3000, 3600, 9000:
            yield "mtu-%d" % mtu, lambda mtu=mtu: card.set_mtu(mtu), self.set_back_mtu
        rings = card.rings()
        if rings:
            # Half of them; a driver may round it.
            yield "rings", lambda: card.set_rings(rings[0] // 2), lambda: card.set_rings(rings[0])
        else:
            yield "rings", lambda: "the driver has no number of descriptors", None
        channels = card.channels()
        if channels and channels[1] > 1:
            other = 1 if channels[0] > 1 else channels[1]
            yield "channels", lambda: card.set_channels(other), lambda: card.set_channels(channels[0])
        else:
            yield "channels", lambda: "the driver has one", None
        for feature, short in (("rx-gro-hw", "rx-gro-hw"), ("generic-receive-offload", "gro"), ("rx-vlan-offload", "rxvlan")):
            again = lambda feature=feature, short=short: card.toggle(feature, short)     # noqa: E731
            yield "offload-" + short, again, again
        if card.stack == "none":
            yield "reload", self.reload, None
        yield "cable", card.out_and_in, None

    def reload(self):
        self.card.reload()
        if self.agent is None:
            run("bloomctl", "up")

    def sweep(self, asked):
        for name, do, undo in self.changes():
            self.whole = False
            if self.scene("%s/%s" % (asked, name), self.change, do, undo) and self.whole:
                found = re.match(r"mtu-(\d+)$", name)
                if found:
                    self.limits.append(int(found[1]))
        self.scene(asked + "/way-out", self.way_out)

    def row(self, asked, notes=""):
        version = re.search(r"Debian (\S+)", os.uname().version)
        mtu = max(self.limits, default="")
        print("ROW " + "\t".join(str(one) for one in (
            self.card.driver, version[1] if version else os.uname().release, self.name.split("/")[1], asked, self.got, mtu,
            self.away, "; ".join(self.notes + [notes] * bool(notes)).replace("\n", " ").replace("\t", " "))), flush=True)

    def phase(self, asked, full):
        self.asked = asked
        self.limits, self.notes, self.away, self.got = [], [], "", "refused"
        self.scene(asked + "/attach", self.attach)
        if self.got == "refused":
            self.row(asked, self.attach_said)
            return
        self.scene(asked + "/traffic", self.traffic)
        self.scene(asked + "/tags", self.tags)
        if full and not self.brief:
            self.sweep(asked)
        self.scene(asked + "/detach", self.detach)
        self.card.restore(self.original)
        self.row(asked)

    # --- with bloomd ---------------------------------------------------------------------------------------

    def start_agent(self, details):
        run("bloomctl", "attach", self.card.name)
        os.makedirs("/etc/xdp-bloom", exist_ok=True)
        with open("/etc/xdp-bloom/bloomd.conf", "w", encoding="utf-8"):
            pass
        with open(BLOOMD, "w", encoding="utf-8") as log:
            self.agent = subprocess.Popen(["bloomd"], stdout=log, stderr=log)
        end = time.monotonic() + 30
        while ": ready" not in machine.read(BLOOMD):
            if time.monotonic() > end:
                raise Failed("bloomd is not ready: %s" % machine.read(BLOOMD))
            time.sleep(0.1)
        self.settle()
        time.sleep(3)       # what it finds wrong, it may mend
        details.append(self.status()[1].split("\nfilter")[0])

    def cured(self, details, do, undo):
        """For how long listed frames pass, once frames come at all."""
        start = time.monotonic()
        why = do()
        if why:
            return why
        self.stream.wait(wire.OTHER, time.monotonic(), PATIENCE)
        done = time.monotonic()
        code, answered, end = None, done, done + 12
        while time.monotonic() < end:
            listed = self.look(0.7)[0]
            if not listed:
                break
            if code is None and time.monotonic() - done > 2.5:
                code, said = self.status()
                answered = time.monotonic()
                details.append(said)
        came = [one for one in self.stream.came[wire.LISTED] if one >= start]
        opened = came[-1] - came[0] if came else 0
        details.append("listed frames passed for %.1f s" % opened)
        if undo:
            undo()
            self.settle()
        # What came after the answer: bloomd may have mended it right before.
        if code == 0 and came and came[-1] > answered:
            raise Failed("listed frames pass for longer than two seconds, and status exits 0")
        return None

    @staticmethod
    def cures(details, mode):
        """The kernel itself calls a program in skb mode: whoever mends that opens the filter for nothing."""
        said = [line for line in machine.read(BLOOMD).splitlines() if "attached anew" in line]
        details.extend(said)
        if said and mode == "skb":
            raise Failed("bloomd attached anew what was in skb mode")

    def trial(self, details, mode, mtu):
        """When its time is over, listed frames pass, bloomd takes the program off, and the card is as it was before; or, with
        an MTU at which the driver lets no program go, `status` says so and `detach --force` ends it. During a trial bloomd
        changes nothing: what the driver forgets then, `status` tells."""
        card = self.card
        run("bloomctl", "detach", card.name)
        self.settle()
        self.before = card.snapshot()
        details.append("before: large-receive-offload %s" % self.before.get("large-receive-offload"))
        code, said = run("bloomctl", "attach", card.name, "--mode", mode, "--rollback", "15")
        if code:
            return said
        self.settle()
        why = card.set_mtu(mtu) if mtu else None
        if why:
            run("bloomctl", "detach", card.name)
            return why
        self.settle()
        blocked = not self.look(LOOK)[0]
        told = blocked or self.status()[0] != 0
        while not blocked and "TRIAL" in self.status()[1]:
            time.sleep(0.2)
        opened = self.stream.wait(wire.LISTED, time.monotonic(), 30)
        start = time.monotonic()
        while card.mode() != "none" and time.monotonic() < start + TRIAL:
            time.sleep(0.1)
        took, left = time.monotonic() - start, card.mode() != "none"
        code, said = self.status()
        if left and mtu and code and opened is not None:
            details.append(said)
            code, said = run("bloomctl", "detach", card.name, "--force")
            details.append("`detach --force` exits %d%s" % (code, ": " + said if said else ""))
            left = card.mode() != "none"
        else:
            details.append("taken off %.1f s after listed frames passed" % took)
        if mtu:
            self.set_back_mtu()
        self.settle()
        other = self.differences()
        if not told or opened is None:
            raise Failed("listed frames %s" % ("are still blocked" if told else "pass on trial, and status exits 0"))
        if left:
            raise Failed("a program in mode %s is left" % card.mode())
        if other:
            raise Failed("the card is not as it was before: %s" % "; ".join(other))
        return None

    def with_agent(self):
        if not self.scene("bloomd/start", self.start_agent):
            return
        card = self.card
        wanted = [one for one in self.changes() if one[0] in ("down-up", "mtu-3000", "rings", "reload", "cable")]
        for name, do, undo in wanted:
            self.scene("bloomd/" + name, self.cured, do, undo)
        self.scene("bloomd/cures", self.cures, card.mode())
        self.scene("bloomd/trial", self.trial, "auto", None)
        self.scene("bloomd/trial-skb", self.trial, "skb", None)
        self.scene("bloomd/trial-mtu-9000", self.trial, "auto", 9000)
        self.agent.terminate()
        self.agent.wait()
        self.agent = None
        run("bloomctl", "detach", card.name)

    def all(self):
        if not self.settle():
            raise Failed("no frame comes from the peer before anything is attached: %s" %
                         run("ip", "-d", "address")[1])
        self.original = self.card.snapshot()
        for mode in "native", "skb":
            self.pass_says[mode] = self.card.plain(mode)
            self.settle()
            self.card.no_plain(mode)
            self.card.restore(self.original)
            self.settle()
        print("     | a plain program: %s" % "; ".join("%s: %s" % (mode, why or "taken")
                                                       for mode, why in self.pass_says.items()))
        for words in (("policy", "enforce"), ("add", wire.LISTED), ("add", wire.TAGGED_LISTED),
                      ("add", wire.NAME, "--list", "names"), ("verdict", "names", "nxdomain")):
            run("bloomctl", *words)
        self.phase("auto", True)
        same = self.got
        self.phase("native", same != "native")
        self.phase("skb", same != "skb")
        if not self.brief:
            self.with_agent()
        return self.code


def main():
    try:
        stage = Stage(*sys.argv[1:4])
        code = stage.all()
    except Exception as error:  # pylint: disable=broad-exception-caught
        traceback.print_exc()
        print("FAIL devices/%s: %s" % (sys.argv[1], str(error).replace("\n", " ")), flush=True)
        code = 3
    sys.stdout.flush()
    os._exit(code)


main()
