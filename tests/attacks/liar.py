# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that is slow or lies. Each answer of a feed means a whole list, and often shows by itself that it is not that list:
then the last one stays in force, and `feeds` says why; otherwise the new one is. A local API of CrowdSec answers what it likes:
what it has never banned is not listed, and what it has banned and not deleted stays."""
import gzip
import json
import os
import random
import socket
import struct
import threading
import time

from attacked import COMMAND, PATIENCE, Deadline, Machine, Wrong
from author import Author

TAKEN = ("updated", "unchanged")
LIMIT = 5 * PATIENCE    # seconds of a fetch
KEPT = ["5.44.0.%d" % i for i in range(1, 40)]      # banned from the start, for long, and never deleted
HOUR = "1h0m0s"
DAYS = 5 * 86400
MOST_BYTES = 1 << 20


class Answer:
    """Bytes, how they are sent, and whether they are to be taken."""

    def __init__(self, parts, good=False, pause=0.0, reset=False):
        self.parts, self.good, self.pause, self.reset = parts, good, pause, reset


def head(status, *lines):
    return ("\r\n".join(["HTTP/1.1 " + status, "Connection: close", *lines]) + "\r\n\r\n").encode()


def in_chunks(body, dice, end=b"0\r\n\r\n"):
    at, parts = 0, []
    while at < len(body):
        size = dice.randint(1, 700)
        parts.append(b"%x\r\n%s\r\n" % (len(body[at:at + size]), body[at:at + size]))
        at += size
    return parts + [end]


def endless(dice):
    yield head("200 OK", dice.choice(("Transfer-Encoding: chunked", "Content-Length: 9000000000")))
    while True:
        yield b"1000\r\n" + b"# more and more\n" * 256 + b"\r\n"


class Liar:
    """What is said of a body."""

    def __init__(self, dice):
        self.dice = dice

    def whole(self, body):
        """In one of the ways in which it shows its end."""
        packed = gzip.compress(body)
        pause = self.dice.choice((0.0, 0.0, 0.001))
        return self.dice.choice((
            Answer([head("200 OK", "Content-Length: %d" % len(body)), body], True, pause),
            Answer([head("200 OK", "Transfer-Encoding: chunked"), *in_chunks(body, self.dice)], True),
            Answer([head("200 OK", "Content-Encoding: gzip", "Content-Length: %d" % len(packed)), packed], True),
            Answer([head("200 OK", "Content-Encoding: gzip"), packed], True),
            Answer([head("200 OK", "Content-Length: %d" % len(body)), *[body[i:i + 1] for i in range(200)], body[200:]], True, 0.0)))

    def cut(self, body):
        return body[:self.dice.randrange(len(body))]

    def broken(self, body):
        """Where its end is not shown, or shown in two ways."""
        half, length = self.cut(body), len(body)
        packed = gzip.compress(body)
        return self.dice.choice((
            [head("200 OK", "Content-Length: %d" % length), half],
            [head("200 OK"), half],
            [head("200 OK"), body],
            [head("200 OK", "Content-Length: %d" % len(half), "Content-Length: %d" % length), half],
            [head("200 OK", "Content-Length: %d" % length, "Content-Length: %d" % len(half)), half],
            [head("200 OK", "Content-Length: %d, %d" % (len(half), length)), half],
            [head("200 OK", "Transfer-Encoding: identity", "Content-Length: %d" % length), half],
            [head("200 OK", "Transfer-Encoding: chunked"), *in_chunks(half, self.dice, b"")],
            [head("200 OK", "Transfer-Encoding: chunked"), *in_chunks(half, self.dice, b"zz\r\n\r\n")],
            [head("200 OK", "Transfer-Encoding: chunked", "Content-Length: %d" % length), *in_chunks(half, self.dice)],
            [head("200 OK", "Content-Length: -1"), half],
            [head("200 OK", "Content-Length: 99999999999999999999"), half],
            [head("200 OK", "Content-Length: 0x%x" % len(half)), half],
            [head("200 OK", "Content-Encoding: gzip"), self.cut(packed)],
            [head("200 OK", "Content-Encoding: gzip"), packed[:-8]],
            [head("200 OK", "Content-Encoding: gzip"), packed[:-8] + bytes(8)],
            [head("200 OK", "Content-Encoding: gzip", "Content-Length: %d" % len(body)), body],
            [head("200 OK", "Content-Encoding: br", "Content-Length: %d" % len(body)), body]))

    def other(self, body):
        """Another status, or no answer."""
        status = self.dice.choice(("204 No Content", "206 Partial Content", "301 Moved", "302 Found", "304 Not Modified", "401 No", "404 Not",
                                   "429 Slow", "500 Oh", "503 Away", "999 What", "000 Nothing", "600 More"))
        place = self.dice.choice(("file:///etc/passwd", "gopher://127.0.0.1/", "/loop", "http://[::1", "//", "unix:/run/x", "", "\x01"))
        return self.dice.choice((
            [head(status, "Location: " + place, "Content-Length: %d" % len(body), "Retry-After: 999999999999"), body],
            [head(status, "Location: " + place, "Content-Length: %d" % len(body), "Content-Range: bytes 0-9/99999"), body],
            [], [b"\0\1\2 no HTTP\r\n\r\n"], [body], [b"HTTP/1.1 200"], [b"HTTP/1.1 100 Continue\r\n\r\n" * 50],
            [b"HTTP/1.1 200 OK\r\nX: " + b"x" * 400000 + b"\r\n\r\n", body],
            [b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20000 + b"Content-Length: 9999999\r\n\r\n", body],
            [head("200 OK", "Content-Length: %d" % (MOST_BYTES * 2)), b"5.9.0.1\n" * (MOST_BYTES // 4)],
            [head("200 OK", "Last-Modified: Fri, 01 Jan 2100 00:00:00 GMT", "Content-Length: %d" % len(body)), body],
            [head("200 OK", "Last-Modified: Mon, 01 Jan 2001 00:00:00 GMT", "Content-Length: %d" % len(body)), body],
            [head("200 OK", "Content-Length: 36"), b"<!DOCTYPE html><html>wait</html>    "]))

    def answer(self, body):
        kind = self.dice.randrange(20)
        if kind < 6:
            return self.whole(body)
        if kind < 13:
            return Answer(self.broken(body), reset=not self.dice.randrange(5))
        if kind < 18:
            return Answer(self.other(body), reset=not self.dice.randrange(5))
        if kind < 19:
            return Answer(endless(self.dice))
        return Answer([head("200 OK", "Content-Length: %d" % len(body)), *[body[i:i + 1] for i in range(len(body))]],
                      pause=LIMIT / 40)


class Server:
    """answer(request): an Answer; asked counts the requests."""

    def __init__(self, answer):
        self.answer, self.asked = answer, 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, connection):
        connection.settimeout(20)
        try:
            text = b""
            while b"\r\n\r\n" not in text:
                more = connection.recv(65536)
                if not more:
                    return
                text += more
            answer = self.answer(text.decode("latin-1"))
            for part in answer.parts:
                connection.sendall(part)
                if answer.pause:
                    time.sleep(answer.pause)
            if answer.reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
        finally:
            connection.close()
            self.asked += 1


class Lapi:
    """A local API: some decisions that stay, and others; answers of any kind."""

    def __init__(self, dice):
        self.dice = random.Random(dice.random())    # bloomd decides when it asks
        self.ever, self.calm, self.fails, self.number = set(KEPT), True, False, 100
        self.lock = threading.Lock()

    def decision(self, number, value, duration=HOUR, kind="ban", **more):
        return {"id": number, "origin": "cscli", "scenario": "test", "scope": "Ip", "type": kind, "value": value, "duration": duration,
                **more}

    def kept(self):
        return [self.decision(i, value, "100h0m0s") for i, value in enumerate(KEPT)]

    def some(self):
        found = []
        for _ in range(self.dice.choice((0, 1, 20, 400))):
            value = "5.45.%d.%d" % (self.dice.randrange(8), self.dice.randrange(256))
            self.ever.add(value)
            self.number += 1
            found.append(self.decision(self.dice.choice((self.number, self.number, 1 << 40)), value,
                                       self.dice.choice((HOUR, "2s", "-5s", "0.5s", "99999h"))))
        for value in ("5.66.0.7", "5.88.0.9", "5.66.1.9"):
            if not self.dice.randrange(9):
                self.ever.add(value)
                found.append(self.decision(90 + len(found), value))
        return found

    def odd(self):
        """Decisions that are none, or not for us."""
        value = self.dice.choice(("0.0.0.0/0", "::/0", "5.200.0.1/7", "nonsense", "", "5.46.0.1 5.46.0.2", "5.46.0.1\n", "x" * 60, "5.46.0.1/33"))
        return self.dice.choice((
            self.decision(7000, "5.46.0.1", kind="captcha"), self.decision(7001, "DE", scope="Country"), self.decision(7002, value),
            self.decision(7003, "5.46.0.3", simulated=True), self.decision(7004, "5.46.0.4", self.dice.choice(("", "1", "h", "1x", "-", None, 5))),
            self.decision(self.dice.choice((-1, 1 << 64, "7005", None, 1.5)), "5.46.0.5"), {}, [], None, 7, "x"))

    def told(self, whole):
        if self.calm:
            return {"new": self.kept() if whole else None, "deleted": None}
        new, deleted = self.some(), self.some()
        if whole and self.dice.randrange(2):
            new += self.kept()
        for place in new, deleted:
            if not self.dice.randrange(4):
                place.insert(self.dice.randrange(len(place) + 1), self.odd())
        if not self.dice.randrange(4):
            deleted += [self.decision(self.dice.randrange(1 << 20), value) for value in ("5.66.0.7", "5.66.1.0/24")]
        return self.dice.choice(({"new": new, "deleted": deleted},) * 6 + (
            {"new": new}, {"deleted": deleted}, {}, [], None, {"new": {}, "deleted": 5}, {"new": new, "deleted": deleted, "links": [[]] * 9}))

    def answer(self, request):
        with self.lock:
            if self.fails:
                return Answer([head("500 Oh", "Content-Length: 0")])
            text = json.dumps(self.told("startup=true" in request)).encode()
            whole = [head("200 OK", "Content-Length: %d" % len(text)), text]
            if self.calm or self.dice.randrange(3):
                return Answer(whole)
            half = text[:self.dice.randrange(len(text))]
            return Answer(self.dice.choice((
                [head("200 OK", "Content-Length: %d" % len(text)), half], [head("200 OK", "Content-Length: %d" % len(half)), half],
                [head("200 OK", "Content-Length: %d" % (2 * len(text))), text, text], [head("200 OK"), half], [],
                [head("302 Found", "Location: http://127.0.0.1:1/", "Content-Length: 0")], [head("403 No", "Content-Length: 0")],
                [head("200 OK", "Content-Length: %d" % 400000), b"[" * 400000], [b"\0"], [head("304 Not Modified")],
                [head("200 OK", "Content-Length: 44"), b"<html><body>checking your browser</body></ht"])))


class Walk:
    def __init__(self, machine, dice, lapi):
        self.machine, self.lapi = machine, lapi
        self.dice = dice
        self.liar, self.answers = Liar(dice), Answer([])
        self.list, self.version, self.taken = set(), 0, 0
        self.author = Author(machine, dice, None)

    def step(self):
        self.version += 1
        wanted = {"5.40.%d.%d" % (self.version % 256, i) for i in range(self.dice.randint(100, 150))}
        body = "".join("%s\n" % each for each in sorted(wanted)).encode()
        self.answers = self.liar.answer(body)
        shown = b"".join(self.answers.parts)[:120] if isinstance(self.answers.parts, list) else b"endless"
        self.machine.place.note("%s: %r" % ("good" if self.answers.good else "bad", shown))
        self.author.fetch("main")
        told, now = self.author.told("main"), self.machine.of_list("main")
        self.machine.place.note("%s: %s" % (told["outcome"], told.get("message")))
        if self.answers.good:
            self.list, self.taken = wanted, self.taken + 1
        if now != self.list or (told["outcome"] in TAKEN) != self.answers.good:
            raise Wrong("an answer that is %s: %s, %d entries, of which %d are those of the body (%s)" % (
                "whole" if self.answers.good else "not whole", told["outcome"], len(now), len(now & wanted), told.get("message")))
        if not self.answers.good and not told.get("message"):
            raise Wrong("feeds does not say why it is %s" % told["outcome"])

    def look(self):
        """At what CrowdSec has listed, and at all else."""
        listed = self.machine.of_list("crowdsec")
        if not set(KEPT) <= listed:
            raise Wrong("of what CrowdSec has not deleted these are gone: %s" % sorted(set(KEPT) - listed)[:5])
        strange = listed - self.lapi.ever
        if strange:
            raise Wrong("CrowdSec has never banned %s" % sorted(strange)[:5])
        self.machine.look()

    def await_first(self, name):
        """The end of the fetch with which bloomd begins: it has the answer of now, whatever is to be answered then."""
        until = time.monotonic() + COMMAND
        while not self.author.told(name).get("outcome"):
            self.machine.must_answer()
            if time.monotonic() > until:
                raise Wrong("the first fetch of %s does not end" % name)
            time.sleep(0.02)

    def await_outcome(self, name, outcomes):
        until = time.monotonic() + COMMAND
        while self.author.told(name).get("outcome") not in outcomes:
            self.machine.must_answer()
            if time.monotonic() > until:
                raise Wrong("the outcome of %s is %s" % (name, self.author.told(name)))
            self.machine.control("feeds", "update", name)
            time.sleep(0.2)


def configuration(feeds, lapi):
    return ("[feed main]\nurl = http://127.0.0.1:%d/main\nevery = 1d\ntime-limit = %ds\nmax-bytes = %d\nmax-age = 30d\nmax-change = 10\n"
            "[crowdsec]\nurl = http://127.0.0.1:%d/\nkey-file = KEY\nevery = 1s\ntime-limit = %ds\nusage-metrics = no\n" % (
                feeds, LIMIT, MOST_BYTES, lapi, LIMIT))


def must_tell_that_all_fails(walk):
    """Now, and in some days."""
    walk.lapi.fails = True
    walk.await_outcome("crowdsec", ("http-error",))
    walk.answers = Answer([])
    walk.author.fetch("main")
    if walk.author.told("main")["outcome"] in TAKEN:
        raise Wrong("an answer of nothing is taken")
    code, said = walk.machine.status(ahead=DAYS)
    if code != 3 or not all("feed %s has " % name in said for name in ("main", "crowdsec")):
        raise Wrong("for five days nothing comes, and status ends with %d: %s" % (code, said[:600]))
    walk.lapi.fails = False


def run(place, dice, seconds):
    lapi = Lapi(dice)
    server = Server(lambda _request: walk.answers)
    machine = Machine(place)
    key = place.directory + "/lapi-key"
    with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
        out.write("secret\n")
    machine.configure(configuration(server.port, Server(lapi.answer).port).replace("KEY", key))
    walk = Walk(machine, dice, lapi)
    machine.begin()
    walk.await_outcome("crowdsec", TAKEN)
    walk.await_first("main")
    deadline, steps = Deadline(seconds), 0
    lapi.calm = False
    while not deadline.is_over():
        walk.step()
        steps += 1
        walk.look()
    must_tell_that_all_fails(walk)
    lapi.calm = True
    walk.await_outcome("crowdsec", TAKEN)
    walk.answers = walk.liar.whole(b"".join(b"5.41.0.%d\n" % i for i in range(120)))
    walk.author.fetch("main")
    walk.look()
    machine.end()
    return "%d answers, of which %d were taken, and some of CrowdSec's" % (steps, walk.taken)
