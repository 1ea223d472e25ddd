# SPDX-License-Identifier: GPL-2.0-or-later
"""What all parts of the torture stand on: bloomctl with a state, pins and a run directory of its own,
and the checker that asks the generation in force."""
import json
import os
import shutil
import subprocess


class Wrong(Exception):
    """An invariant that does not hold."""


class World:
    """In a network namespace with the interfaces xt0 and xt1."""

    def __init__(self, programs, directory, pins):
        self.bloomctl, self.faulty, self.checker, self.shim = programs[:4]
        self.bloomd, self.faulty_bloomd, self.fleethost = programs[4:]
        self.directory = os.path.join(directory, "world")
        self.paths = (os.path.join(self.directory, "state"), pins,
                      os.path.join(self.directory, "run"))
        self.options = ["-q", "--state", self.paths[0], "--pin", self.paths[1], "--run",
                        self.paths[2]]
        os.mkdir(self.directory)

    def clear(self):
        """Nothing is listed, nothing attached."""
        if os.path.exists(self.paths[1]):
            subprocess.run([self.bloomctl, *self.options, "detach", "--all"], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in self.paths:
            shutil.rmtree(path, ignore_errors=True)

    def reboot(self):
        """The kernel forgets; the state directory stays."""
        subprocess.run([self.bloomctl, *self.options, "detach", "--all"], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in self.paths[1:]:
            shutil.rmtree(path, ignore_errors=True)

    def shimmed(self, **wishes):
        """An environment; the wishes are the shim's variables without XB_SHIM_."""
        environment = dict(os.environ, LD_PRELOAD=self.shim, XB_SHIM_DIR=self.directory)
        for name, value in wishes.items():
            environment["XB_SHIM_" + name.upper()] = str(value)
        return environment

    def start(self, *words, environment=None):
        """A process that goes on."""
        return subprocess.Popen([self.bloomctl, *self.options, *words], env=environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def attempt(self, *words, environment=None, text=None, state=None, before=()):
        """The exit code, stdout and stderr. before: words of a command that runs it."""
        options = ["--state", state, *self.options[3:]] if state else self.options
        try:
            done = subprocess.run([*before, self.bloomctl, *options, *words], input=text, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  errors="replace", timeout=120, check=False)
        except subprocess.TimeoutExpired as late:
            raise Wrong("%s hangs" % " ".join(words)) from late
        return done.returncode, done.stdout, done.stderr

    def run(self, *words, **how):
        code, out, errors = self.attempt(*words, **how)
        if code:
            raise Wrong("%s: exit %d: %s" % (" ".join(words), code, errors))
        return out

    def refused(self, code, errors, what):
        """It failed as it should: one line that says why."""
        if code != 3 or errors.count("\n") != 1 or not errors.startswith("bloomctl: "):
            raise Wrong("%s: exit %d, and says: %s" % (what, code, errors or "nothing"))

    def saved(self, **how):
        """What the store says, in the order in which it is saved."""
        return [json.loads(line) for line in self.run("save", **how).splitlines()]

    def ask(self, lines):
        """All lines of the checker; each has to be answered with ok."""
        if not lines:
            return
        done = subprocess.run([self.checker, *self.paths], input="\n".join(lines) + "\n",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        answers = done.stdout.splitlines()
        if done.returncode or len(answers) != len(lines):
            raise Wrong("the checker: exit %d: %s" % (done.returncode, done.stderr))
        for line, answer in zip(lines, answers):
            if answer != "ok":
                raise Wrong("%s: %s %s" % (line, answer, done.stderr))
