# SPDX-License-Identifier: GPL-2.0-or-later
"""What resolvers answer whom nothing is refused, and how their answers are told apart: for rpz.py and unbound.py."""
import ipaddress
import multiprocessing
import os
import select
import shutil
import socket
import struct
import time

import engine

UPSTREAM = "127.0.0.9"      # the addresses of all names are there, and all have records of these types
TYPES = {1: "203.0.113.9", 28: "2001:db8:f::9", 16: b"\2up", 15: b"\0\1\0"}
NOWHERE = [ipaddress.ip_network(net) for net in ("0.0.0.0/32", "127.0.0.0/8", "::/128", "::1/128")]
NO_NAME, REFUSED, FAILS = 3, 5, 2


def serve():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((UPSTREAM, 53))
        while True:
            message, asker = sock.recvfrom(4096)
            end = 12
            while message[end]:
                end += message[end] + 1
            kind = struct.unpack("!H", message[end + 1:end + 3])[0]
            data = TYPES.get(kind, b"")
            data = data if isinstance(data, bytes) else ipaddress.ip_address(data).packed
            answer = b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 60, len(data)) + data if data else b""
            sock.sendto(message[:2] + struct.pack("!5H", 0x8580, 1, len(answer) and 1, 0, 0) + message[12:end + 5] + answer,
                        asker)


class Upstream:
    def __init__(self):
        self.process = multiprocessing.Process(target=serve, daemon=True)
        self.process.start()
        engine.wait_for("the upstream", lambda: engine.ask("probe", server=UPSTREAM, tries=1, patience=0.2))

    def close(self):
        self.process.kill()
        self.process.join()


def lets_pass(answer):
    """Whether the answer leads somewhere, or lets the asker ask again by TCP; None: there was no answer."""
    if answer is None:
        return False
    if answer.truncated:
        return True
    if answer.code in (NO_NAME, REFUSED):
        return False
    nowhere = all(any(ipaddress.ip_address(text) in net for net in NOWHERE) for text in answer.addresses)
    return not nowhere or answer.records > len(answer.addresses)


def receive(sock, waiting, answers, patience):
    until = time.monotonic() + patience
    while waiting and select.select([sock], [], [], max(0, until - time.monotonic()))[0]:
        try:
            message = sock.recv(65535)
        except ConnectionRefusedError:
            continue
        asked = waiting.pop(struct.unpack("!H", message[:2])[0], None)
        if asked:
            answers[asked] = engine.Answer(message)
            until = time.monotonic() + patience


def ask_all(server, port, names, kinds=tuple(TYPES), patience=0.3, tries=3):
    """The answers for all names and types, None for those that do not come."""
    answers = {(name, kind): None for name in names for kind in kinds}
    waiting, texts = {}, {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((server, port))
        for number, asked in enumerate(answers):
            _, message = engine.question(*asked)
            texts[number] = struct.pack("!H", number) + message[2:]
            waiting[number] = asked
        for _ in range(tries):
            for number in list(waiting):
                try:
                    sock.send(texts[number])
                except ConnectionRefusedError:
                    pass
                receive(sock, waiting, answers, 0)
            receive(sock, waiting, answers, patience)
    return answers


def refused(server, port, names, failing_is_refused=False):
    """Those of which no type of record leads anywhere. A failure is no refusal, unless this program refuses so."""
    passing = set()
    for (name, _kind), answer in ask_all(server, port, names).items():
        failed = answer is not None and answer.code == FAILS
        if not failing_is_refused if failed else lets_pass(answer):
            passing.add(name)
    return set(names) - passing


class Resolver:
    """One that reads /lists/PACKAGE/list, and asks the upstream. probe: a line that refuses the name "probe"."""

    def __init__(self, root, package, port, probe):
        self.root, self.port, self.package, self.probe = root, port, package, probe
        self.version = root.version(package)
        self.fails_as_refusal = False
        self.folder = root.file(package)
        os.makedirs(self.folder, exist_ok=True)

    def put(self, file, text):
        path = os.path.join(self.folder, file)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return "/lists/%s/%s" % (self.package, file)

    def start(self, _path):
        raise NotImplementedError

    def is_ready(self):
        answer = engine.ask("probe", self.port, tries=1, patience=0.2)
        return answer and answer.code == NO_NAME

    def refused(self, text, questions):
        server = self.start(self.put("list", text + self.probe))
        try:
            engine.wait_for(self.package, self.is_ready, server)
            return refused("127.0.0.1", self.port, questions, self.fails_as_refusal)
        except RuntimeError as error:
            raise RuntimeError("%s: %s\n%s" % (self.version, error, self.root.log(server))) from error
        finally:
            engine.stop(server)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class First:
    """The upstream of all ends with the first of them."""

    def __init__(self, resolver):
        self.upstream, self.resolver, self.version = Upstream(), resolver, resolver.version

    def refused(self, text, questions):
        return self.resolver.refused(text, questions)

    def close(self):
        self.resolver.close()
        self.upstream.close()
