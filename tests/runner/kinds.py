# SPDX-License-Identifier: GPL-2.0-or-later
"""The kinds of tests, and how a program of each kind is run. Each prints, or is made to print, lines
that begin with "ok", "FAIL" and "skip"."""
import glob
import os
import re
import shutil

import building

TIMEOUT = os.environ.get("XB_TEST_TIMEOUT", "900")      # seconds of a test program
# It counts the programs, maps and links of the whole machine.
ALONE = ("storm",)
# It runs this runner, when somebody wants it.
OUTSIDE = ("defects",)
# They build most, on all processors.
CHAINED = ("checks", "fuzz")
# They build nothing that is not built before, and nearly each of their machines has one processor.
BESIDE = ("vm", "devices")
# They bring what they need from elsewhere with --fetch, before the tests begin.
FETCHING = ("checks", "fuzz", "package", "vm", "devices", "engines")
# They try other releases and machines with --platforms.
PLATFORMS = ("package", "vm", "devices", "engines")
# Of these the long run does the share, and --platforms the whole.
SHARED = ("devices",)
STYLE = {"style/clang-format": "tests/runner/format", "style/checks": "tests/checks/proof"}
SANITIZED = {"ASAN_OPTIONS": "detect_leaks=1",
             "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}


class Program:
    """command, run with environment in a directory of its own."""

    def __init__(self, name, command, scratch, environment=None):
        self.name, self.command = name, command
        self.environment = environment or {}
        self.waits = False      # more than it computes
        self.lasts = False      # for minutes
        self.directory = os.path.join(scratch, re.sub(r"[^a-z0-9_]", "-", name))

    def prepare(self):
        """The whole environment."""
        os.mkdir(self.directory, 0o755)     # tests also act as others than root
        return {**os.environ, **self.environment}

    def translate(self, line):
        """What it printed, as a line of ours; None: a line that belongs to the next."""
        return line

    def end(self, code, told):
        """Whether a line must say that it failed; told: some line said so."""
        return "ended with exit code %d" % code if code and not told else ""

    def clean_up(self):
        shutil.rmtree(self.directory, ignore_errors=True)


class Elsewhere(Program):
    """A suite that tries other platforms, and has its own directories."""

    def __init__(self, name):
        super().__init__(name, ["tests/%s/run" % name, "--platforms"], "")

    def prepare(self):
        return dict(os.environ)

    def clean_up(self):
        pass


class Grounded(Program):
    """One that finds a bpf file system, a resolv.conf and the tools where the environment says, and no
    names of other programs' network namespaces."""

    def __init__(self, name, command, scratch, environment=None):
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
                   'mount -t bpf bpf "$XB_TEST_BPFFS" && mount -t tmpfs netns /run/netns && '
                   '{ [ ! -e /etc/resolv.conf ] || '
                   'mount --bind "$XB_TEST_DIR/resolv.conf" /etc/resolv.conf; } && exec "$@"',
                   "sh"] + command
        super().__init__(name, command, scratch, environment)
        self.scratch = scratch

    def prepare(self):
        environment = super().prepare()
        pins = os.path.join(self.directory, "bpf")
        os.mkdir(pins)
        with open(os.path.join(self.directory, "resolv.conf"), "wb"):
            pass
        shutil.copytree(os.path.join(self.scratch, "bin"), os.path.join(self.directory, "bin"), copy_function=os.link)
        return {**environment, "XB_TEST_DIR": self.directory, "XB_TEST_BPFFS": pins,
                # Side by side, what must come may come late.
                "XB_TEST_PATIENCE": os.environ.get("XB_TEST_PATIENCE", "3"),
                # Some names are the whole machine's: those of control groups.
                "XB_TEST_ID": "%s-%s" % (os.path.basename(self.scratch),
                                         os.path.basename(self.directory)),
                "TMPDIR": self.directory}


class Cmocka(Grounded):
    """A program of cmocka's."""

    def __init__(self, name, folder, scratch):
        super().__init__(name, ["timeout", "-k", "5", TIMEOUT, os.path.join(folder, "tests", name)],
                         scratch, {"CMOCKA_MESSAGE_OUTPUT": "STDOUT", **SANITIZED})
        self.last, self.lines, self.failed, self.seen, self.over = "", [], False, False, False

    def translate(self, line):
        self.lines.append(line)
        self.over |= bool(re.match(r"\[==========\] .* run\.$", line))
        found = re.match(r"\[ +(OK|FAILED|SKIPPED) +\] (\S+)$", line)
        if self.over or not found:
            if not line.startswith("["):
                self.last = line
            return None
        self.seen = True
        self.failed |= found[1] == "FAILED"
        name = "%s/%s" % (self.name, found[2])
        return {"OK": "ok   " + name, "FAILED": "FAIL " + name,
                "SKIPPED": "skip %s: %s" % (name, self.last or "no reason given")}[found[1]]

    def end(self, code, told):
        if not code and self.seen and not self.failed:
            return ""
        said = "\n".join("     | " + line for line in self.lines[-60:])
        return ("exit code %d" % code if not self.failed else "") + "\n" + said


def scripts(choice, scratch):
    """The end-to-end tests, a program for each file."""
    for path in sorted(glob.glob("tests/e2e/test_*.sh")):
        name = "e2e/" + os.path.basename(path)[len("test_"):-len(".sh")]
        with open(path, encoding="utf-8") as file:
            text = file.read()
        names = ["%s/%s" % (name, test) for test in re.findall(r"^t_(\w+)\(\)", text, re.M)]
        waits = re.search(r"^# waits: (.*)", text, re.M)
        lasts = bool(waits) and "minutes" in waits[1]
        wanted = [] if choice.quick and lasts else choice.of_file(names)
        if wanted:
            program = Grounded(name, [path], scratch, {"XB_TEST_PATTERN": "^(%s)$" % "|".join(wanted)})
            program.waits, program.lasts = bool(waits), lasts
            yield program


def suites():
    return sorted({os.path.basename(os.path.dirname(path)) for path in glob.glob("tests/*/run")} - set(OUTSIDE))


def find(choice, scratch):
    """Programs: tests, and suites among them, those first that take long, so that short ones are left at the end;
    chains of suites, which build when they begin and so follow each other; suites during which nothing else may run."""
    tests = [Program(name, [command], scratch) for name, command in STYLE.items() if choice.takes(name)]
    tests += scripts(choice, scratch)
    tests += [Cmocka(name, "build", scratch) for name in building.names("prog", choice)]
    tests += [Cmocka(name, building.unit_place(choice)[0], scratch) for name in building.names("unit", choice)]
    wanted = [name for name in suites() if choice.takes_suite(name)]
    programs = {name: Program(name, ["tests/%s/run" % name] +
                              (["--all"] if choice.everything and name not in SHARED else []), scratch) for name in wanted}

    def those(names):
        return [program for name, program in programs.items() if name in names]

    first = set(wanted) - {*ALONE, *BESIDE, *CHAINED}
    return those(first) + tests, [chain for chain in (those(CHAINED), those(BESIDE)) if chain], those(ALONE)


def platforms(choice):
    """The suites that try other releases and machines, one after the other."""
    return [Elsewhere(name) for name in PLATFORMS if choice.takes_suite(name)]
