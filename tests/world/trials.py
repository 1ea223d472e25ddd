# SPDX-License-Identifier: GPL-2.0-or-later
"""What is on trial is in force from the answer on; when its time is over nobody has to do anything."""
import time

from actions import ELSEWHERE, KILLED, KILL_WITHIN, Actions, Attempt
from events import pick
from ground import PATIENCE, Wrong
from judge import ALL
from model import POLICIES

TRIAL = 1 if PATIENCE == 1 else 6      # seconds


class Trials(Actions):
    def trial(self, a, b, c):
        """Kept, or over by itself, whatever is done meanwhile."""
        former, tried = self.model.store.copy(), self.model.store.copy()
        tried.policy = pick(POLICIES, a)
        if tried.policy == former.policy or not self.protected():
            return
        before = ELSEWHERE[1] if b % 5 == 4 and "elsewhere" not in self.without else ()
        begun = time.monotonic()
        done = self.ground.run("policy", tried.policy, "--force", "--rollback", str(TRIAL), before=before)
        end = time.monotonic() + TRIAL + 0.15
        self.tell(str(done) + (" (in another time namespace)" if before else ""))
        if done.code:
            if not before:
                raise Wrong("no trial: %s" % done)
            return self.settle(Attempt(["policy"]), done, cut_off=False)
        for device in self.model.at_home():
            if device.filters is False and self.model.may_inherit(device):
                device.filters = None
        self.model.others, self.model.store = [], tried
        if time.monotonic() - begun < TRIAL * 0.5:
            seen = self.look()
            if time.monotonic() - begun < TRIAL:
                self.compare(seen)
        self.model.store = former
        self.model.others = [tried]
        if b % 5 == 0:
            self.commit(tried, begun, c)
        elif b % 5 == 1:
            self.refused_detach(tried, begun)
        elif b % 5 == 2:
            self.event(c)
        if not self.model.others:
            return None
        time.sleep(max(0, end - time.monotonic()))
        self.model.others = []
        self.tell("the trial is over")
        self.compare(self.look())
        self.run(Attempt(["up"]))
        return None

    def commit(self, tried, begun, c):
        before = ELSEWHERE[1] if c % 4 == 0 and "elsewhere" not in self.without else ()
        kill = c // 4 % 997 / 997 * KILL_WITHIN if c % 4 == 1 else None
        done = self.ground.run("commit", before=before, kill_after=kill)
        self.tell(str(done) + (" (in another time namespace)" if before else ""))
        if done.code == 0:
            self.model.store, self.model.others = tried, []
        elif done.code in KILLED:
            self.settle(Attempt(["commit"], tried), done)
            # A commit that was cut off has ten minutes more until a command looks.
            self.run(Attempt(["up"]))
        elif done.code != 1 or time.monotonic() - begun < TRIAL:
            if not before:
                raise Wrong("not committed: %s" % done)

    def refused_detach(self, tried, begun):
        """What is refused does not end the trial."""
        done = self.ground.run("detach", "nosuch0")
        self.tell(str(done))
        seen = self.look()
        if done.code and time.monotonic() - begun < TRIAL:
            self.model.store, former = tried, self.model.store
            self.model.others = []
            self.compare(seen)
            self.model.store = former
            self.model.others = [tried]

    def attach_trial(self, a, b, c):
        """Of an interface that nobody wants: filtered for a moment."""
        device = pick([device for device in self.model.at_home()
                       if device.filters is False and device.up and not device.foreign and
                       not any(self.model.device_of(wish) is device or device.name in wish.names()
                               for wish in self.model.wishes)], a)
        if not device:
            return
        begun, name = time.monotonic(), device.name
        done = self.ground.run("attach", name, "--rollback", str(TRIAL))
        end = time.monotonic() + TRIAL + 0.15
        self.tell(str(done))
        if done.code:
            raise Wrong("no trial: %s" % done)
        device.filters = None
        self.model.others = []
        if b % 3 == 0:
            self.event(c)
        if b % 3 == 1:
            done = self.ground.run("commit")
            self.tell(str(done))
            if done.code == 0:
                self.wish(name, device)
                self.acknowledged = done
                return
            if time.monotonic() - begun < TRIAL:
                raise Wrong("not committed: %s" % done)
        time.sleep(max(0, end - time.monotonic()))
        self.tell("the trial is over")
        if device.number in self.model.devices and self.model.tells() and device.up:
            came = self.look().get(device.number)
            if device.home and came != ALL:
                raise Wrong("%s still filters after its trial" % device)
        self.run(Attempt(["up"]))

    def event(self, c):
        event = pick((self.rename, self.delete, self.create, self.up_or_down, self.swap,
                      self.other_name, self.mtu), c)
        try:
            event(c // 7, c // 3, c // 11)
        except OSError as error:
            self.tell("cannot: %s" % error)
