# SPDX-License-Identifier: GPL-2.0-or-later
"""What people do: commands, from home or from elsewhere, that end or are killed. As events they take three
numbers, of which the third says how the command fares."""
import json
import re
import signal
import time

from events import Events, pick
from ground import AWAY, BOOT_ID, FAR, LIBXDP_PINS, PATIENCE, Wrong
from model import ALWAYS_LISTED, BY_ENTRY, DYNAMIC, POLICIES, SOURCES, Store, Wish

POINTS = ("apply-dirty", "apply-half", "apply-done", "commit-before", "commit-after",
          "publish-before", "publish-swapped", "rotate-built", "rotate-unlocked", "rotate-recorded",
          "rotate-replayed", "lifelines-known", "names-followed", "rows-named", "row-enrolled", "row-renumbered",
          "trial-pinned", "trial-recorded", "trial-begun", "rollback-released")
KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
KILL_WITHIN = 0.04 * PATIENCE   # seconds
# What runs a command elsewhere. A hidden /proc is what a container sees.
ELSEWHERE = (("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
              "mount --bind $XB_WORLD_BOOT %s && exec \"$@\"" % BOOT_ID, "sh"),
             ("unshare", "--time", "--monotonic", "3600", "--boottime", "3600", "--fork",
              "--kill-child"),
             ("unshare", "--net"))


class Attempt:
    """A command, and what it makes of the store and the wishes if it is acknowledged."""

    def __init__(self, words, store=None, wishes=None, text=None):
        self.words, self.store, self.text = words, store, text
        self.wishes = wishes        # a function that changes the model's
        self.about = []             # devices that it names
        self.touched = []           # devices that may filter or not when it is cut off
        self.may_fail = self.may_lack = False
        self.partial = False        # done, though it may say that something is not protected
        self.unsure = []            # of these wishes at least one goes


class Actions(Events):

    # --- how a command fares ------------------------------------------------------------------------

    def perform(self, attempt, c):
        """c: below 70 as usual."""
        fate = c % 100
        if fate >= 70 and (set(self.without) & {
                "kills" if fate < 86 else "races" if fate < 92 else "elsewhere"}):
            fate = 0
        if fate >= 92 and not self.model.wishes:
            fate = 0    # where interfaces are wanted has not been said yet
        if fate < 70:
            return self.run(attempt)
        if fate < 78:
            return self.run(attempt, kill_after=max(0.001, c // 100 % 997 / 997 * KILL_WITHIN),
                            how="killed")
        if fate < 86:
            point = pick(POINTS, c // 100)
            return self.run(attempt, fault=point, how="dies at " + point)
        if fate < 92:
            return self.run_beside(attempt, c // 100)
        if fate < 96:
            where = AWAY if fate % 2 else FAR
            return self.run_elsewhere(attempt, where=where, how="in another network namespace")
        runner = pick(ELSEWHERE, c // 100)
        run = self.run_elsewhere if "--net" in runner else self.run
        return run(attempt, before=runner, how=" ".join(runner[:2]))

    def protected(self):
        """Whether something is surely in force."""
        return not self.model.others and any(device.filters for device in self.model.at_home())

    def run(self, attempt, how="", kill_after=None, **more):
        done = self.ground.run(*attempt.words, how=how, kill_after=kill_after, text=attempt.text,
                               **more)
        self.tell(str(done))
        self.conclude(attempt, done, bool(how))
        return done

    def run_elsewhere(self, attempt, **more):
        """In another network namespace than that of the wanted interfaces: refused, and nothing comes to
        be. But what is not in force may be detached."""
        pins = self.ground.pinned()
        detached = attempt.words[0] == "detach" and \
            not any(device.filters for device in self.model.devices.values())
        done = self.ground.run(*attempt.words, text=attempt.text, **more)
        self.tell(str(done))
        if done.code == 0 and detached:
            self.acknowledge(attempt)
            return done
        if not (done.code == 3 and "network namespace" in done.errors or
                done.code == 1 and detached):
            raise Wrong("not refused elsewhere: %s" % done)
        self.one_line(done)
        if self.ground.pinned() != pins:
            raise Wrong("refused elsewhere, and pins are others: %s" % done)
        self.settle(Attempt(attempt.words), done, cut_off=False, followed=False)
        return done

    def conclude(self, attempt, done, special):
        if done.code == 0:
            self.acknowledge(attempt)
            self.acknowledged = done
        elif done.code in KILLED:
            self.settle(attempt, done)
        elif done.code not in (1, 2, 3) or done.code == 1 and not attempt.may_lack:
            raise Wrong("no exit code for this: %s" % done)
        else:
            self.refused(attempt, done, special)
        if done.code != 0 and done.code not in KILLED and done.words[0] not in ("up", "restore"):
            self.one_line(done)

    @staticmethod
    def one_line(done):
        said = [line for line in done.errors.splitlines()
                if not re.match("bloomctl: (warning|[Ww]aiting|.* from now on$)", line)]
        if len(said) != 1 or not done.errors.startswith("bloomctl: "):
            raise Wrong("not one line on stderr: %s" % done)

    def refused(self, attempt, done, expected):
        """It changed nothing, or, where that is allowed, said what it could not do."""
        if not (attempt.may_fail or attempt.may_lack or expected) and \
                not (attempt.partial or done.words[0] == "up"):
            raise Wrong("refused without a cause: %s" % done)
        if attempt.partial and done.code == 3:
            self.settle(attempt, done)
            self.incomplete = done
            return
        if done.words[0] == "up":
            self.incomplete = done
            return
        # It may have put on what was wanted and bare before it looked at what it was asked for.
        for device in map(self.model.device_of, self.model.wishes):
            if device and device.filters is False:
                device.filters = None
        self.settle(Attempt(attempt.words), done, cut_off=False)

    def acknowledge(self, attempt):
        model = self.model
        if attempt.store:
            model.store = attempt.store
        if attempt.wishes:
            attempt.wishes()
        model.others = []
        for device in attempt.touched:
            device.filters = None
        self.unsure = attempt.unsure

    def settle(self, attempt, done, cut_off=True, followed=True):
        """Killed: the store has the change, or has it not; what is in force may be either. followed: it
        may have looked at what interfaces are called."""
        model, found, names = self.model, Store(), []
        found.listed, found.allowed = set(), set()
        for line in self.ground.saved():
            if "policy" in line:
                found.policy = line["policy"]
            elif "interface" in line:
                names.append(line["interface"])
            elif "entry" in line and line["entry"] in BY_ENTRY:
                found.listed.add(BY_ENTRY[line["entry"]])
            elif "allow" in line and not line["list"].startswith("auto:"):
                found.allowed.add(BY_ENTRY[line["allow"]])
        before, after = model.store, attempt.store or model.store
        if found not in (before, after):
            raise Wrong("the store has neither what was nor what was to be: %s: listed %s, allowed "
                        "%s, policy %s" % (done, found.listed, found.allowed, found.policy))
        if cut_off:
            model.others = [one for one in (before, after) if one != found] + \
                [one for one in model.others if one != found]
            for device in attempt.touched:
                device.filters = None
            for device in model.devices.values():
                if device.filters is False and model.wishes:
                    device.filters = None
            if model.gate in attempt.touched:
                model.knows_gateway = False     # the last survey may have gone by
        model.store = found
        before = list(model.wishes)
        try:
            self.reconcile(names, followed)
        except Wrong as wrong:
            if not attempt.wishes or not cut_off:
                raise Wrong("%s; %s" % (wrong, done)) from wrong
            model.wishes = before
            attempt.wishes()
            self.unsure = attempt.unsure
            self.reconcile(names)
        if cut_off and attempt.words[0] == "attach":
            for device in attempt.about:
                if device.home and not self.ground.has_program(device):
                    model.bare(device)      # as between two modes

    def run_beside(self, attempt, number):
        """Something happens to an interface while it runs."""
        process = self.ground.start(attempt.words, text=attempt.text)
        time.sleep(number % 7 * 0.002)
        devices = list(self.model.devices.values())
        event = pick((self.rename, self.delete, self.create, self.up_or_down, self.swap), number)
        try:
            event(number // 7, number // 3, number // 11)
        except OSError as error:
            self.tell("cannot: %s" % error)
        done = self.ground.finish(process, attempt.words, "meanwhile: " + event.__name__)
        self.tell(str(done))
        if done.code not in (0, 1, 2, 3):
            raise Wrong("no exit code for this: %s" % done)
        if done.code == 0:
            self.acknowledge(attempt)
        else:
            self.settle(attempt, done)
        for wish in self.model.wishes:
            if attempt.words[0] == "attach" and wish.device in attempt.about:
                # Which of them it was then is known by name only.
                wish.used, wish.device = wish.names(), None
        for device in {*devices, *self.model.devices.values()}:
            device.filters = None
        self.raced = True
        if attempt.words[0] == "detach":
            self.unsure = list(self.model.wishes)

    # --- what is listed -----------------------------------------------------------------------------

    def chosen(self, number):
        return [one for one in DYNAMIC if number >> one % 16 & 1] or [DYNAMIC[0]]

    def change(self, words, c, text=None, **edits):
        """edits: the sets of the store that change, and to what."""
        after = self.model.store.copy()
        for name, value in edits.items():
            setattr(after, name, value)
        return self.perform(Attempt(words, after, text=text), c)

    def add(self, a, _b, c):
        some = self.chosen(a)
        self.change(["add", *(SOURCES[one][1] for one in some), "--list", "dyn", "--exist"], c,
                    listed=self.model.store.listed | set(some))

    def delete_entries(self, a, _b, c):
        some = self.chosen(a)
        if self.model.store.listed & set(DYNAMIC):
            self.change(["del", *(SOURCES[one][1] for one in some), "--exist"], c,
                        listed=self.model.store.listed - set(some))

    def bring(self, a, _b, c):
        some = self.chosen(a)
        self.change(["import", "-", "--list", "dyn", "--replace", "--force", "--include-bogons"], c,
                    "".join(SOURCES[one][1] + "\n" for one in some),
                    listed=ALWAYS_LISTED | set(some))

    def batch(self, a, b, c):
        add, remove = self.chosen(a), self.chosen(b)
        lines = ["add %s --list dyn --exist" % SOURCES[one][1] for one in add] + \
            ["del %s --exist" % SOURCES[one][1] for one in remove]
        self.change(["batch", "-"], c, "\n".join(lines) + "\n",
                    listed=(self.model.store.listed | set(add)) - set(remove))

    def allow(self, a, b, c):
        some, allowed = self.chosen(a), self.model.store.allowed
        if b % 2:
            self.change(["allow", "add", *(SOURCES[one][1] for one in some), "--exist"], c,
                        allowed=allowed | set(some))
        else:
            self.change(["allow", "del", *(SOURCES[one][1] for one in some), "--exist"], c,
                        allowed=allowed - set(some))

    def policy(self, a, _b, c):
        policy = pick(POLICIES + ("enforce",) * 3, a)
        self.change(["policy", policy, "--force"], c, policy=policy)

    def rotate(self, a, _b, c):
        self.perform(Attempt(["rotate", *pick(([], ["--capacity", "5000"], ["--fpr", "1e-3"]),
                                              a)]), c)

    def restore(self, a, b, c):
        """What another machine saved: nobody's interfaces, or all that was here."""
        saved = self.ground.saved()
        kept = [line for line in saved if "interface" not in line and line.get("entry") not in
                {SOURCES[one][1] for one in DYNAMIC}]
        kept[0].pop("memberships", None)    # of what was saved
        some = self.chosen(a)
        kept += [{"entry": SOURCES[one][1], "list": "dyn"} for one in some]
        if b % 2:
            kept[1:1] = [line for line in saved if "interface" in line]
            self.offered = {line["interface"] for line in saved if "interface" in line}
        after = self.model.store.copy()
        after.listed = ALWAYS_LISTED | set(some)
        attempt = Attempt(["restore", "-"], after,
                          text="".join(json.dumps(line) + "\n" for line in kept))
        attempt.partial = True
        self.perform(attempt, c)

    # --- interfaces ---------------------------------------------------------------------------------

    def up(self, _a, _b, c):
        self.perform(Attempt(["up"]), c)

    def attach(self, a, b, c):
        devices = self.model.at_home()
        if not devices:
            return
        some = [pick(devices, a)]
        if b % 4 == 0 and len(devices) > 1:
            some.append(pick([each for each in devices if each is not some[0]], b))
        words = [pick(sorted(device.names()), a // 7) for device in some]
        mode = pick(("auto", "auto", "auto", "native", "skb"), b // 4)
        if "modes" in self.without:
            mode = "auto"

        wanted, names = self.model.wanted(), [device.names() for device in some]

        def wish():
            for name, device, former_names in zip(words, some, names):
                self.wish(name, device, mode, wanted.get(device.number), former_names)

        attempt = Attempt(["attach", *words, *(["--mode", mode] if mode != "auto" else [])],
                          wishes=wish)
        attempt.about = some
        attempt.touched = [device for device in some
                           if device.filters is not True or mode != "auto"]
        attempt.may_fail = any(self.may_refuse(name, device, mode)
                               for name, device in zip(words, some))
        self.perform(attempt, c)

    def may_refuse(self, name, device, mode):
        """The kernel, or we: one name cannot stand for two interfaces."""
        return device.foreign or not device.up or mode == "native" and device.stubborn or \
            any(name in wish.names() and self.model.device_of(wish) is not device
                for wish in self.model.wishes)

    def wish(self, name, device, mode="auto", former=None, former_names=()):
        """former: the wish for the device when the command began, and what it was called."""
        used = {name, *former_names} | device.names()
        if device.number not in self.model.devices:     # it went while it was attached
            device = None
            if any(wish is former for wish in self.model.wishes):
                former.mode = mode
                former.used.add(name)
                return
        for wish in self.model.wishes:
            if device and self.model.device_of(wish) is device or \
                    wish.name == name and not self.model.device_of(wish):
                wish.device, wish.mode = device, mode
                wish.used.add(name)
                return
        self.model.wishes.append(Wish(name, mode, device))
        self.model.wishes[-1].used = used

    def detach(self, a, b, c):
        names = sorted({wish.name for wish in self.model.wishes} |
                       {name for device in self.model.at_home() for name in device.names()})
        name = "nosuch0" if b % 8 == 0 else pick(names, a)
        if b % 8 == 1:
            return self.detach_all(c)
        if not name:
            return None
        meant = self.model.wishes_named(name)
        certain = len(meant) == 1 and meant[0].names() == {name}

        def unwish():
            if certain:
                self.model.wishes = [wish for wish in self.model.wishes if wish is not meant[0]]

        self.model.booting = False
        if not self.model.gate:
            self.model.knows_gateway = False
        attempt = Attempt(["detach", name], wishes=unwish)
        attempt.touched = [wish.device for wish in meant if wish.device]
        attempt.unsure = [] if certain else meant
        attempt.may_lack = not any(name == wish.name or wish.device and wish.device.home and
                                   name in wish.device.names() for wish in meant)
        return self.perform(attempt, c)

    def detach_all(self, c):
        def unwish():
            self.model.wishes = []

        self.model.network_gone()
        self.model.booting = False
        attempt = Attempt(["detach", "--all"], wishes=unwish)
        attempt.touched = list(self.model.devices.values())
        return self.perform(attempt, c)

    # --- boots --------------------------------------------------------------------------------------

    def reboot(self, a, b, c):
        """The kernel forgets; interfaces come under their names, some of them late."""
        model, former = self.model, list(self.model.devices.values())
        known = model.knows_gateway or model.booting
        names = [line["interface"] for line in self.ground.saved() if "interface" in line]
        self.reconcile(names, followed=False)
        for device in former:
            self.destroy(device)
        self.ground.lose(self.ground.pins, self.ground.files,
                         *([LIBXDP_PINS] if self.dispatched else []))
        self.ground.new_boot()
        model.others = []
        model.booting = model.knows_gateway = known
        self.tell("reboot; wanted: %s" % " ".join(names))
        late = [device for number, device in enumerate(former) if a >> number & 1]
        for device in former:
            if device not in late:
                self.make(device.name, 0, device.stubborn)
        self.perform(Attempt(["up"]), b % 70)
        self.check()
        for device in late:
            self.make(device.name, 0, device.stubborn)
        if c % 3:
            self.perform(Attempt(["up"]), b % 70)
