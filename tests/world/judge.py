# SPDX-License-Identifier: GPL-2.0-or-later
"""What must hold after each step: interfaces as frames find them, against what was acknowledged and what
status says of it."""
import re

from ground import Ground, Wrong
from model import SOURCES, Model, Wish

ALL = set(range(len(SOURCES)))
# Commands that look at the machine as a whole, for what it cannot do without.
SURVEYS = ("attach", "detach", "up", "import", "restore", "rotate", "policy")


class Judge:
    def __init__(self, directory, programs, tell, without, dispatched):
        """tell(line): what is done is said there; without: what is not to happen; dispatched: libxdp's
        dispatcher joins programs."""
        self.model, self.tell, self.without = Model(), tell, without
        self.ground = Ground(directory, programs, [source for source, _ in SOURCES])
        self.dispatched = dispatched
        self.filtering = 0          # interfaces that were seen to filter
        self.begin_step()

    def begin_step(self):
        self.acknowledged = self.incomplete = None      # a command of the step
        self.unsure = []            # of these wishes some may be gone
        self.raced = False          # something happened while a command ran
        self.problems = ""          # that status told of
        self.offered = set()        # names of interfaces that a command was given to want
        self.ground.heard = ""

    def look(self):
        return self.ground.judge(self.model.at_home())

    def compare(self, seen):
        """What must filter does, what must not does not, whatever has been said. Returns the numbers of
        those that do as the store says."""
        sure, maybe = self.model.passing()
        right = set()
        for device in self.model.at_home():
            if device.number not in seen:
                continue
            came = seen[device.number]
            if came is None:
                raise Wrong("%s lets nothing through" % device)
            fits, is_open = sure <= came <= maybe, came == ALL
            if fits:
                right.add(device.number)
                self.filtering += not is_open
            if not fits and not is_open:
                raise Wrong("%s neither filters nor is open: passes %s, should %s" % (
                    device, [SOURCES[one][0] for one in sorted(came)],
                    [SOURCES[one][0] for one in sorted(sure)]))
            if device.filters is True and not fits:
                raise Wrong("%s was filtered, and is not any more" % device)
            if device.filters is False and not is_open and not self.model.may_inherit(device):
                raise Wrong("%s filters, and nobody wants it to" % device)
        return right

    def bare_wishes(self, right):
        """Wishes whose interface is not filtered, or not here."""
        bare = []
        for wish in self.model.wishes:
            device = self.model.device_of(wish)
            if self.is_lost(device):
                continue
            if not device or device.up and device.number not in right:
                bare.append(wish)
        return bare

    def is_lost(self, device):
        """Of one that comes back from another namespace under another name the dispatcher does not tell
        for which wish it was filtered: it goes on filtering, and its former name is missing, or that of
        another one."""
        return self.dispatched and device and device.strayed

    def unnamed(self, bare, text):
        return [str(wish) for wish in bare
                if not any(name in text for name in wish.names() | self.names_here(wish))]

    def bind(self, right, done):
        """A command has said that all it does not name is as wanted."""
        wanted = self.model.wanted()
        for device in self.model.at_home():
            wish = wanted.get(device.number)
            # A wish for an alternative name is told by the name the device has.
            named = wish and any(name in done.errors for name in wish.names() | device.names())
            if not wish or device.foreign:
                device.filters = False
            elif device.up and self.model.tells():
                device.filters = device.number in right
            else:
                device.filters = None if named or done.code else True
            if wish and device.filters:
                former = wish.used if self.raced else set()
                wish.device, wish.used = device, {wish.name} | device.names() | former
            elif wish and device.filters is False:
                self.model.bare(device)

    def followed(self, names):
        """Whether a command has said that an interface got another name, one of these among the two."""
        told = re.findall("bloomctl: (\\S+) is (?:called|another name of) (\\S+?),? ", self.ground.heard)
        return any(set(pair) & set(names) for pair in told)

    def is_detached(self, wish, name):
        """A name that was its own may be that of another interface, which goes on to be wanted."""
        other = self.model.called(name)
        return self.acknowledged and wish in self.unsure and self.is_here(wish) and \
            other not in (None, wish.device)

    def names_here(self, wish):
        device = self.model.device_of(wish)
        return device.names() if device else set()

    @staticmethod
    def is_here(wish):
        return wish.device and wish.device.home

    def reconcile(self, names, followed=True):
        """What is said to be wanted, against what was acknowledged. An interface that took the name of a
        wanted one, which was renamed, may be wanted, too. followed: somebody has looked since at what
        interfaces are called."""
        if self.raced and self.unsure:
            # Which interface a name meant at that moment is not told.
            self.model.wishes = [Wish(name, device=self.model.called(name)) for name in names]
            return
        left, found = set(names), {}
        by_now, by_wish = \
            lambda wish: {wish.device.name} if self.is_here(wish) else set(), lambda wish: {wish.name}
        for names_of in (*((by_now, by_wish) if followed else (by_wish, by_now)), Wish.names,
                         self.names_here):
            for wish in self.model.wishes:
                mine = sorted(name for name in names_of(wish) & left
                              if not self.is_detached(wish, name))
                if mine and wish not in found:
                    found[wish] = mine[0]
                    left.discard(mine[0])
        # Two that became one by name: which of them is called missing is the same.
        for wish in self.model.wishes:
            some = sorted(name for name in left if self.model.wishes_named(name) and
                          not self.model.called(name))
            if wish not in found and some:
                found[wish] = some[0]
                left.discard(some[0])
        joined = {device.number for device in map(self.model.device_of, found) if device}
        for wish in self.model.wishes:
            device = self.model.device_of(wish)
            if wish not in found and wish not in self.unsure and not self.followed(wish.names()) and \
                    not self.is_lost(device) and not (device and (device.number in joined or device.name in self.problems)):
                raise Wrong("forgotten: %s; known are %s" % (wish, sorted(names)))
        for name in left:
            if not (self.model.wishes_named(name) or self.model.strayed(name) or
                    name in self.offered or self.followed({name}) or
                    not self.model.called(name)):
                raise Wrong("%s is wanted, which nobody asked for" % name)
        told = [wish for wish in self.model.wishes if wish not in found and
                wish not in self.unsure and self.is_here(wish) and wish.device.name in self.problems]
        self.model.wishes = list(found) + told
        for wish, name in found.items():
            wish.name = name
        for name in left:
            heir = self.model.called(name)
            if heir and heir.number not in self.model.wanted() or not heir:
                self.model.wishes.append(Wish(name, device=heir))

    def is_certain(self):
        """Whether each wanted interface is here, and can be told to filter."""
        return self.model.tells() and all(
            device and device.up and not device.foreign and not self.is_lost(device)
            for device in map(self.model.device_of, self.model.wishes))

    def check_words(self, bare):
        """What the command said of the interfaces: all those that do not filter by name."""
        done = self.acknowledged or self.incomplete
        silent = self.unnamed(bare, done.errors)
        if bare and done.code == 0 and done.words[0] == "up":
            silent = list(map(str, bare))
        if silent:
            raise Wrong("said to be %s, but does not filter: %s; %s" % (
                "incomplete" if done.code else "done", ", ".join(silent), done))
        if done.code and not bare and self.is_certain() and done.words[0] == "up":
            raise Wrong("all filters, and yet: %s" % done)

    def check(self):
        code, said, done = self.ground.status()
        if code not in (0, 1, 3) or not said:
            raise Wrong("status: %s" % done)
        self.problems = "; ".join(said["problems"])
        spoken = self.acknowledged or self.incomplete
        if spoken or self.unsure or self.raced:
            self.reconcile([one["name"] for one in said["interfaces"] if one["wanted"] != "no"])
        if spoken:
            # What it has taken off is looked at now.
            wanted = self.model.wanted()
            for device in self.model.at_home():
                if device.number not in wanted:
                    device.filters = False
                elif device.filters is False:
                    device.filters = None
            if self.model.gate and not self.model.gate.filters:
                self.model.knows_gateway = False
        right = self.compare(self.look())
        bare = self.bare_wishes(right)
        if spoken:
            self.check_words(bare)
            self.bind(right, spoken)
            if self.acknowledged and spoken.words[0] in SURVEYS:
                self.model.surveyed()
        self.check_status(code, bare)

    def check_status(self, code, bare):
        problems = self.problems
        if not code and bare:
            raise Wrong("status says all is well, but does not filter: %s" %
                        ", ".join(map(str, bare)))
        silent = self.unnamed(bare, problems)
        if silent:
            raise Wrong("status does not name %s, but says: %s" % (", ".join(silent), problems))
        # 1: nothing is attached.
        if code == 3 and not bare and self.acknowledged and self.is_certain() and \
                " mode" not in problems:
            raise Wrong("after %s all filters, but status says: %s" % (
                self.acknowledged, problems))
