# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of the sockets for Postfix is trusted with nothing: whatever it asks by the policy or the socketmap, leaves unread
or half said, by however many connections, lists and filter stay, the same socket answers others rightly, and bloomd answers
root before its loop has worked for long."""
import os
import socket

from asker import Asker, may_connect, press
from attacked import COMMAND, TURN, Machine, Wrong
from shapes import entry, key

MEMORY = 40         # MiB that bloomd may take for clients
# Of each socket, questions and their answers.
QUESTIONS = {
    "policy": [(b"request=smtpd_access_policy\nclient_address=%s\nsender=%s\n\n" % pair, b"action=%s\n\n" % action)
               for pair, action in (((b"5.66.0.7", b""), b"REJECT 5.66.0.7 is listed (roots)"),
                                    ((b"5.66.0.8", b"a@listed.example"), b"REJECT listed.example is listed (roots)"),
                                    ((b"5.66.1.9", b"a@other.example"), b"DUNNO"), ((b"5.66.0.8", b""), b"DUNNO"))],
    "socketmap": [(b"%d:%s," % (len(asked), asked), b"%d:%s," % (len(said), said)) for asked, said in (
        (b"roots 5.66.0.7", b"OK REJECT 5.66.0.7 is listed (roots)"), (b"tcp/25 5.66.1.9", b"NOTFOUND "),
        (b"roots listed.example", b"OK REJECT listed.example is listed (roots)"), (b"roots 5.66.0.8", b"NOTFOUND "))]}


class Poster(Asker):
    def __init__(self, machine, dice, path):
        super().__init__(machine, dice, path)
        self.policy = path.endswith("policy")

    def text(self, most=0):
        """A request, mostly; with up to so much that is not meant."""
        dice, asked = self.dice, entry(self.dice)
        if self.policy:
            lines = ["request=" + dice.choice(("smtpd_access_policy",) * 9 + ("", "junk", "\0")), "client_address=" + asked,
                     "sender=%s@%s" % (key(dice), entry(dice)), "server_port=" + dice.choice(("25", "587", "0", "-1", "x", "9" * 99)),
                     "x" * dice.randint(0, most) + "=" + "y" * dice.randint(0, most), "=", "client_address="]
            text = "\n".join(dice.choice(lines[:6]) for _ in range(dice.randint(1, 9))) + "\n" + "\n" * dice.randrange(2)
        else:
            text = "%s %s" % (dice.choice((key(dice), "tcp/25", "roots", "tcp/0", "udp/99999")), asked + "z" * dice.randint(0, most))
            text = "%d:%s," % (len(text.encode("utf-8", "surrogateescape")) + (0 if dice.randrange(9) else dice.randint(-2, 2)), text)
        return text.encode("utf-8", "surrogateescape")

    def ahead(self):
        return b"".join(self.text() for _ in range(30)) + QUESTIONS["policy" if self.policy else "socketmap"][0][0] * 30

    def costly(self):
        """Answers of full length, as many as fit."""
        return QUESTIONS["policy" if self.policy else "socketmap"][0][0] * 10000

    def wrong(self):
        return self.dice.choice((
            b"100001:x", b"99999999999999999999:", b"-1:,", b"007:roots a,", b":,", b"0:,", b"5:ab", b"100000:" + b"r" * 100000 + b",",
            b"roots 5.66.0.7", b"\n" * 5000, b"\0" * 3000, b"=\n" * 3000, b"request=smtpd_access_policy" * 4000,
            b"client_address=" + b"5" * 100000 + b"\n\n", self.dice.randbytes(self.dice.randint(1, 5000))))


def must_answer_rightly(machine, path):
    """One that reads, beside all others."""
    begun = machine.worked()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(COMMAND)
        try:
            connection.connect(path)
            for asked, wanted in QUESTIONS[os.path.basename(path)]:
                connection.sendall(asked)
                said = b""
                while len(said) < len(wanted):
                    more = connection.recv(4096)
                    said += more
                    if not more:
                        break
                if said != wanted:
                    raise Wrong("%r is answered with %r" % (asked, said))
        except OSError as error:
            machine.must_live()
            raise Wrong("no answer from %s: %s" % (os.path.basename(path), error)) from error
    if machine.worked() - begun > TURN:
        raise Wrong("%s: answers after %.2f s of work" % (os.path.basename(path), machine.worked() - begun))


def run(place, dice, seconds):
    at = os.path.join(place.directory, "h0", "postfix")
    paths = [os.path.join(at, name) for name in QUESTIONS]
    machine = Machine(place, "[postfix]\npolicy = %s\nsocketmap = %s\nsenders = roots\n" % tuple(paths))
    os.mkdir(at, 0o755)
    machine.begin()
    for directory in machine.directory, at:
        os.chmod(directory, 0o755)
    if any(may_connect(path) for path in paths):
        raise Wrong("somebody who is in no group may connect")

    def serves(_steps):
        for path in paths:
            must_answer_rightly(machine, path)

    return press(machine, [Poster(machine, dice, path) for path in paths], seconds, serves, MEMORY)
