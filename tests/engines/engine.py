# SPDX-License-Identifier: GPL-2.0-or-later
"""What the engines stand on: a root of a Debian release with the programs that own list formats, processes in it,
questions of DNS, and what the product reads of a file."""
import ipaddress
import json
import os
import random
import re
import socket
import struct
import subprocess
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
READING = os.path.join(ROOT, "build/tests/engines/reading")
PATIENCE = 30       # seconds that a server may take to begin, or to answer


class Root:
    """A root directory with installed packages; programs run in it, with the network of the caller."""

    def __init__(self, release):
        self.release = release
        self.path = os.path.join(ROOT, "build/engines", release)

    def file(self, name, text=None):
        """The path outside of a file in /lists of the root; written, if there is text."""
        path = os.path.join(self.path, "lists", name)
        if text is not None:
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
        return path

    def run(self, *words, **options):
        """The finished process, with its output as text."""
        return subprocess.run(["chroot", self.path, *words], check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=options.pop("stdin", subprocess.DEVNULL), **options)

    def start(self, *words):
        """A server in the foreground, with a log of its own."""
        with open(self.file("log-" + words[0]), "wb") as log:
            return subprocess.Popen(["chroot", self.path, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def log(self, server):
        with open(self.file("log-" + server.args[2]), encoding="utf-8", errors="replace") as log:
            return log.read()

    def version(self, package):
        return "%s %s" % (package, self.run("dpkg-query", "-W", "-f=${Version}", package).stdout)


def stop(server):
    server.kill()
    server.wait()


def wait_for(what, condition, server=None):
    """Until the condition holds; a server that ended meanwhile, or no end of waiting, is an error."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if server and server.poll() is not None:
            raise RuntimeError("%s ended" % what)
        if time.monotonic() > until:
            raise RuntimeError("%s does not come" % what)
        time.sleep(0.005)


class Answer:
    """Of a question: the code, and the texts of addresses in it."""

    def __init__(self, message):
        self.code = struct.unpack("!H", message[2:4])[0] & 15
        self.truncated = bool(message[2] & 2)
        counts = struct.unpack("!4H", message[4:12])
        at = self._name_end(message, 12) + 4
        self.addresses, self.records = [], counts[1]
        for _ in range(counts[1]):
            at = self._name_end(message, at)
            kind, _group, _ttl, size = struct.unpack("!HHIH", message[at:at + 10])
            data = message[at + 10:at + 10 + size]
            at += 10 + size
            if (kind, size) in ((1, 4), (28, 16)):
                self.addresses.append(str(ipaddress.ip_address(data)))

    @staticmethod
    def _name_end(message, at):
        while message[at]:
            if message[at] >= 0xc0:
                return at + 2
            at += message[at] + 1
        return at + 1


def question(name, kind=1):
    number = random.getrandbits(16)
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split(".") if label)
    return number, struct.pack("!6H", number, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)


def ask(name, port=53, kind=1, server="127.0.0.1", patience=1.0, tries=30):
    """The answer of a server over UDP, or None if none comes: the caller says whether that is a refusal."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(patience)
        sock.connect((server, port))
        for _ in range(tries):
            number, message = question(name, kind)
            try:
                sock.send(message)
                while True:
                    reply = sock.recv(4096)
                    if reply[:2] == struct.pack("!H", number):
                        return Answer(reply)
            except (TimeoutError, ConnectionRefusedError):
                time.sleep(0.01)
    return None


class Reading:
    """What the library reads of a file: entries, what passes, notes, or why it is refused."""

    def __init__(self, path, **options):
        words = ["%s=%s" % option for option in options.items()]
        done = subprocess.run([READING, path, *words], check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode not in (0, 1):
            raise RuntimeError("reading ends with %d: %s" % (done.returncode, done.stderr))
        self.refused = done.stderr.strip() if done.returncode else None
        said = [json.loads(line) for line in done.stdout.splitlines()]
        self.notes = [(one["line"], one["note"]) for one in said if "note" in one]
        # An exception has "!" in front.
        self.entries = {one["entry"].lstrip("!"): not (one["passes"] or one["entry"].startswith("!"))
                        for one in said if "entry" in one}
        self._networks = [ipaddress.ip_network(entry) for entry, listed in self.entries.items()
                          if listed and re.match(r"[0-9a-f.:]+(/\d+)?$", entry) and not entry.isalpha() and
                          self._is_network(entry)]

    @staticmethod
    def _is_network(entry):
        try:
            return bool(ipaddress.ip_network(entry))
        except ValueError:
            return False

    def has_address(self, address):
        address = ipaddress.ip_address(address)
        return any(address in network for network in self._networks)

    def has_name(self, name):
        """By the most specific entry: the name alone, then the domains in which it lies."""
        name = name.rstrip(".").lower()
        for entry in ["=" + name] + [name.split(".", i)[i] for i in range(name.count(".") + 1)]:
            if entry in self.entries:
                return self.entries[entry]
        return False
