# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine that is attacked: bloomd beside a filtered interface, some sources that root has listed and some that root
has allowed. look() asks whether all is as docs/security.md promises."""
import json
import os
import stat
import subprocess
import sys
import time

from frames import Frames, packet_socket
from hosts import Host, Wrong
from redisserver import ask

PATIENCE = int(os.environ.get("XB_TEST_PATIENCE", "1"))
ALL_PROTOCOLS = 3
# Of bloomd's processor, while somebody waits for an answer.
TURN = 0.5
COMMAND = 60 * PATIENCE
OWN = "5.77.0.1"
LISTED = ("5.66.0.7", "5.66.1.0/24", "2400:66::/32")
ALLOWED = ("5.66.1.9", "5.88.0.9")
NAME, OTHER_NAME = "listed.example", "other.example"
# Of a source, whether its frames pass.
FRAMES = {"5.66.0.7": False, "5.66.1.200": False, "2400:66::9": False, "5.66.1.9": True, "5.66.0.8": True, "5.66.2.0": True,
          "5.88.0.9": True, OWN: True, "2400:67::9": True}
SECRET = "precious\n"


class Machine(Host):
    """Root has a list of its own, `roots`, an allowlist, and a directory with files."""

    def __init__(self, place, configuration="", number=0):
        interface = "x%d" % number
        subprocess.run(["ip", "link", "add", interface, "type", "veth", "peer", "name", interface + "p"], check=True)
        for each in interface, interface + "p":
            subprocess.run(["ip", "link", "set", each, "up"], check=True)
        subprocess.run(["ip", "addr", "add", "5.77.%d.1/24" % number, "dev", interface], check=True)
        super().__init__(number, place.directory, "%s-%d" % (place.pins, number), interface, place.tools)
        self.place = place
        self.configuration = configuration
        self.query = os.path.join(self.runs, "query.sock")
        self.vault = os.path.join(self.directory, "root")
        self.receiver, self.sender = packet_socket(), packet_socket(0)
        self.receiver.bind((interface, ALL_PROTOCOLS))
        self.configure(configuration)
        self.lay_out()

    def lay_out(self):
        os.makedirs(os.path.join(self.vault, "below"))
        for name in "file", "linked", "below/file":
            with open(os.open(os.path.join(self.vault, name), os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
                out.write(SECRET)
        os.chmod(self.vault, 0o711)
        self.treasure = self.look_into_vault()

    def configure(self, text):
        path = os.path.join(self.directory, "bloomd.conf")
        with open(path + ".new", "w") as out:
            out.write(text)
        os.rename(path + ".new", path)

    def begin(self):
        self.must("attach", self.interface)
        self.must("add", "--list", "roots", *LISTED, NAME)
        self.must("allow", "add", *ALLOWED)
        self.start()
        self.wait_until_ready()
        self.roots, self.allows = self.of_list("roots"), self.allowed()
        self.look()

    # --- what is so -----------------------------------------------------------------------------------

    def entries(self):
        """{list: entries}, but those of the allowlist."""
        found = {}
        for name, entry in self.listing():
            found.setdefault(name, set()).add(entry)
        return found

    def allowed(self):
        """By somebody: what is allowed automatically comes and goes."""
        lines = [json.loads(line) for line in self.must("save").splitlines()]
        return sorted(line["allow"].removesuffix("/32") for line in lines if "allow" in line)

    def of_list(self, name):
        return self.entries().get(name, set())

    def worked(self):
        """Seconds that the loop of bloomd has had a processor."""
        with open("/proc/%d/schedstat" % self.process.pid) as file:
            return int(file.read().split()[0]) / 1e9

    def memory(self):
        """MiB of its own."""
        with open("/proc/%d/status" % self.process.pid) as file:
            return next(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) / 1024

    def passing(self, sources):
        """Those of the sources whose frames come through."""
        frames = Frames(self.sender, [self.receiver], sources)
        for _ in range(5):
            came = frames.judge({0: self.interface + "p"})[0]
            if came is not None:
                return {sources[index] for index in came}
        raise Wrong("frames do not come at all")

    def look_into_vault(self):
        found = []
        for at, folders, files in sorted(os.walk(self.vault)):
            for name in ["."] + sorted(folders + files):
                about = os.lstat(os.path.join(at, name))
                found.append((os.path.join(at, name), about.st_mode, about.st_uid, about.st_gid))
                if stat.S_ISREG(about.st_mode):
                    with open(os.path.join(at, name)) as file:
                        found.append(file.read())
        return found

    def control(self, *words):
        """As bloomctl asks bloomd."""
        return self.ctl(*words, patience=COMMAND)

    def status(self, ahead=0):
        """The exit code, and what it said, or would say by a clock that is so many seconds ahead."""
        clock = os.path.join(self.directory, "clock-of-status")
        with open(clock, "w") as out:
            out.write("%d\n" % ahead)
        done = subprocess.run([self.tools["bloomctl"], *self.options, "-j", "status"], env=self.environment(XB_CLOCK_AHEAD=clock),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              timeout=COMMAND, check=False)
        return done.returncode, done.stdout or done.stderr

    # --- what must be so ------------------------------------------------------------------------------

    def must_live(self):
        if not self.lives():
            raise Wrong("bloomd has ended with %s: %s" % (self.process.poll(), self.last_words()))

    def must_answer(self, path=None, most=TURN):
        """Before its loop has worked for long, whoever else asks for whatever."""
        self.must_live()
        begun = self.worked()
        try:
            said = ask(path or self.path, "PING", patience=COMMAND)
        except OSError as error:
            self.must_live()
            raise Wrong("no answer from %s: %s" % (os.path.basename(path or self.path), error)) from error
        worked = self.worked() - begun
        if said != "+PONG" or worked > most:
            raise Wrong("%s: answer %r after %.2f s of work" % (os.path.basename(path or self.path), said, worked))

    def must_judge(self, wanted):
        """wanted: whether each source's frames pass."""
        passing = self.passing(list(wanted))
        wrong = ["%s %s" % (source, "passes" if source in passing else "is dropped")
                 for source, passes in wanted.items() if passes != (source in passing)]
        if wrong:
            raise Wrong("; ".join(wrong[:5]))

    def must_keep_files(self):
        now = self.look_into_vault()
        if now != self.treasure:
            raise Wrong("root's files have changed: %s" % [each for each in now if each not in self.treasure])

    def must_keep_lists(self):
        now = self.of_list("roots")
        if now != self.roots:
            raise Wrong("root's list: lost %s, new %s" % (sorted(self.roots - now)[:5], sorted(now - self.roots)[:5]))
        allows = self.allowed()
        if allows != self.allows:
            raise Wrong("the allowlist has changed: %s" % sorted(set(allows) ^ set(self.allows))[:5])

    def look(self):
        self.must_answer()
        self.must_judge(FRAMES)
        self.must_keep_lists()
        self.must_keep_files()

    def end(self):
        """All is as it was: status agrees, and the filter is that of the store."""
        self.look()
        code, said = self.status()
        if code:
            raise Wrong("status ends with %d: %s" % (code, said))
        self.check(["agree", "drop " + NAME, "pass " + OTHER_NAME])
        self.kill()


def fork(action):
    """A child that does it; its number."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            action()
        except BaseException:  # pylint: disable=broad-except
            pass
        finally:
            os._exit(0)
    return child


class Deadline:
    """So many seconds from now on."""

    def __init__(self, seconds):
        self.until = time.monotonic() + seconds

    def is_over(self):
        return time.monotonic() > self.until

