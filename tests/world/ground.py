# SPDX-License-Identifier: GPL-2.0-or-later
"""The real thing: three network namespaces (home, where bloomctl works; away; far, where frames are sent),
interfaces, and bloomctl with directories of its own."""
import json
import os
import shutil
import signal
import subprocess
import time

import cage
from frames import Frames, packet_socket
from rtnetlink import MTU, NATIVE_MODE, IF_NO_EXIST, SKB_MODE, Links, attribute, pinned_program

CLONE_NEWNET = 0x40000000
HOME, AWAY, FAR = "home", "away", "far"
BOOT_ID = "/proc/sys/kernel/random/boot_id"


PATIENCE = int(os.environ.get("XB_TEST_PATIENCE", "1"))    # more where a processor is emulated
LIBXDP_PINS = "/sys/fs/bpf/xdp"


class Wrong(Exception):
    """A promise that is not kept."""


class Done:
    """What a command said."""

    def __init__(self, words, process, how=""):
        self.words, self.how = words, how
        self.out, self.errors = process.stdout, process.stderr
        self.code = process.returncode

    def __str__(self):
        said = (self.errors.strip() or self.out.strip()).replace("\n", " | ")
        return "%s%s: exit %d%s" % (" ".join(self.words), " (%s)" % self.how if self.how else "",
                                    self.code, ": " + said[:300] if said else "")


def new_namespace():
    """A descriptor; the caller is in it afterwards."""
    cage.must(cage.libc.unshare(CLONE_NEWNET))
    with open("/proc/sys/net/ipv6/conf/default/disable_ipv6", "w") as out:
        out.write("1")
    return os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def enter(namespace):
    cage.must(cage.libc.setns(namespace, CLONE_NEWNET))


class Ground:
    def __init__(self, directory, programs, sources):
        self.directory, self.bloomctl, self.faulty = directory, programs[0], programs[1]
        self.state, self.pins, self.files = (
            os.path.join(directory, *path) for path in (("state",), ("bpf", "pins"), ("run",)))
        self.namespaces, self.links, receivers = {}, {}, []
        for name in (FAR, AWAY, HOME):
            self.namespaces[name] = new_namespace()
            self.links[name] = Links()
            self.links[name].set("lo", up=True)
            if name == FAR:
                sender = packet_socket(0)
            else:
                receivers.append(packet_socket())
        # Whoever is quick must not find home empty while a command is begun elsewhere.
        self.resident = subprocess.Popen(["sleep", "infinity"])     # pylint: disable=consider-using-with
        self.frames = Frames(sender, receivers, sources)
        self.pass_pin = os.path.join(directory, "bpf", "other")
        subprocess.run(["bpftool", "prog", "load", programs[2], self.pass_pin], check=True,
                       stdout=subprocess.DEVNULL)
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("SSH_CONNECTION", "SSH_CLIENT", "XB_FAULT")}
        self.heard = ""     # what commands have said on stderr
        self.boots = 0
        self.boot_id = os.path.join(directory, "boot_id")
        self.environment["XB_WORLD_BOOT"] = self.boot_id
        self.new_boot()
        subprocess.run(["mount", "--bind", self.boot_id, BOOT_ID], check=True)

    def new_boot(self):
        """Another boot as the kernel tells it."""
        self.boots += 1
        with open(self.boot_id, "w") as out:
            out.write("5a5a5a5a-0000-4000-8000-%012d\n" % self.boots)

    def links_of(self, device):
        return self.links[HOME if device.home else AWAY]

    # --- what happens to interfaces -----------------------------------------------------------------

    def create(self, device, index):
        self.links[HOME].add_veth(device.name, index, device.far, self.namespaces[FAR],
                                  2 if device.stubborn else 1)
        self.links[FAR].set(device.far, up=True)
        device.index = self.links[HOME].index(device.name)

    def move(self, device, name):
        links = self.links_of(device)
        links.move(device.name, self.namespaces[AWAY if device.home else HOME], name)
        device.home, device.name = not device.home, name
        self.links_of(device).set(name, up=True)
        device.up, device.index = True, self.links_of(device).index(name)

    def other_program(self, device, native):
        """One that is not ours, if nobody has the interface."""
        program = pinned_program(self.pass_pin)
        try:
            self.links_of(device).attach(device.name, program,
                                         IF_NO_EXIST | (NATIVE_MODE if native else SKB_MODE))
        finally:
            os.close(program)

    def has_program(self, device):
        """Whoever's it is."""
        return self.links_of(device).has_program(device.name)

    def no_program(self, device):
        """Whoever's it is."""
        for mode in (NATIVE_MODE, SKB_MODE):
            try:
                self.links_of(device).attach(device.name, -1, mode)
            except OSError:
                pass

    def set_mtu(self, device, mtu):
        self.links_of(device).set(device.name, attribute(MTU, mtu))

    def lose(self, *paths):
        for path in paths:
            shutil.rmtree(path, ignore_errors=True)

    def pinned(self):
        """What is pinned, each by name and number."""
        return sorted((os.path.join(at, name), os.stat(os.path.join(at, name)).st_ino)
                      for at, folders, files in os.walk(self.pins) for name in folders + files)

    # --- what filters -------------------------------------------------------------------------------

    def judge(self, devices):
        """Which sources come through each, by number; an interface that is down is left out."""
        ends = {device.number: device.far for device in devices if device.up}
        seen = self.frames.judge(ends) if ends else {}
        lost = {number: ends[number] for number, came in seen.items() if came is None}
        if lost:
            time.sleep(0.05)
            seen.update(self.frames.judge(lost))
        return seen

    # --- bloomctl -----------------------------------------------------------------------------------

    def options(self):
        return ["--state", self.state, "--pin", self.pins, "--run", self.files]

    def start(self, words, where=HOME, fault=None, before=(), text=None):
        """before: words of a command that runs it."""
        environment = dict(self.environment, XB_FAULT=fault) if fault else self.environment
        enter(self.namespaces[where])
        try:
            process = subprocess.Popen(
                [*before, self.faulty if fault else self.bloomctl, *self.options(), *words],
                stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                env=environment, start_new_session=True)
        finally:
            enter(self.namespaces[HOME])
        if text is not None:
            try:
                process.stdin.write(text)
                process.stdin.close()
            except BrokenPipeError:
                pass
            process.stdin = None
        return process

    def finish(self, process, words, how="", kill_after=None):
        try:
            out, errors = process.communicate(timeout=kill_after or 60 * PATIENCE)
        except subprocess.TimeoutExpired as late:
            os.killpg(process.pid, signal.SIGKILL)
            out, errors = process.communicate()
            if kill_after is None:
                raise Wrong("%s hangs: %s%s" % (" ".join(words), out, errors)) from late
        process.stdout, process.stderr = out, errors
        self.heard += errors
        return Done(words, process, how)

    def run(self, *words, how="", kill_after=None, **more):
        return self.finish(self.start(words, **more), words, how, kill_after)

    def saved(self):
        """What the store says, in the order in which it is saved; None: it cannot be read."""
        done = self.run("save")
        if done.code:
            raise Wrong(str(done))
        return [json.loads(line) for line in done.out.splitlines()]

    def status(self):
        done = self.run("-j", "status")
        try:
            return done.code, json.loads(done.out) if done.out else None, done
        except ValueError as odd:
            raise Wrong("status says no JSON: %s" % done) from odd
