# SPDX-License-Identifier: GPL-2.0-or-later
"""Who answers for the names of bloomd's servers, and a server that sends requests on, have addresses of these hosts allowed,
and nothing else: 16 for a host that the configuration names, which an answer of the last day had, and none of loopback, of a
group, reserved or unspecified. Whatever else is listed is dropped, and what the configuration names no more is so at once."""
import collections
import ipaddress
import json
import os
import signal
import socket
import struct
import threading
import time

import author
import bodies
import cage
from attacked import COMMAND, FRAMES, Deadline, Machine, Wrong

CLONE_NEWNS, MS_BIND = 0x00020000, 0x1000
HOSTS = ("feeds.example", "more.example")
ELSEWHERE = "elsewhere.example"     # where a server sends requests on to
MOST, DAY = 16, 86460
LISTED = [source for source, passes in FRAMES.items() if not passes]
# 5.66.1.0/24 is listed, so what is let in beyond the answers shows.
SPECIAL = ["0.0.0.0", "127.0.0.1", "127.5.6.6", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "ff02::1",
           "::ffff:127.0.0.1", "::ffff:5.66.1.77", "10.0.0.1", "fe80::1", "5.77.0.1", "5.88.0.9", "2400:66::9", *LISTED]
TYPES = {1: 4, 28: 6}


def may_be(address):
    address = getattr(address, "ipv4_mapped", None) or address
    if address.version == 4:
        return 0 < int(address) >> 24 < 224 and not address.is_loopback
    return not (address.is_loopback or address.is_multicast or address.is_unspecified)


def plain(text):
    address = ipaddress.ip_address(text)
    return str(getattr(address, "ipv4_mapped", None) or address)


def name(text):
    return b"".join(bytes([len(label)]) + label.encode() for label in text.split(".")) + b"\0"


def record(owner, address):
    return name(owner) + struct.pack("!HHIH", 1 if address.version == 4 else 28, 1, 0, len(address.packed)) + address.packed


class Resolver(threading.Thread):
    """answers: by name, addresses and records of other names, or None if there is no such name."""

    def __init__(self):
        super().__init__(daemon=True)
        self.answers, self.asked = {}, collections.Counter()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        self.start()

    def run(self):
        while True:
            query, asker = self.socket.recvfrom(4096)
            try:
                self.socket.sendto(self.answer(query), asker)
            except (OSError, IndexError, struct.error):
                pass

    def answer(self, query):
        at, labels = 12, []
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
            at += query[at] + 1
        asked, (kind,) = ".".join(labels).lower(), struct.unpack("!H", query[at + 1:at + 3])
        self.asked[asked] += 1
        addresses, strange = self.answers.get(asked) or ((), ())
        rows = [record(asked, each) for each in addresses if each.version == TYPES.get(kind)] + [
            record(owner, each) for owner, each in strange]
        code = 0x8180 if self.answers.get(asked) else 0x8183
        return query[:2] + struct.pack("!HHHHH", code, 1, len(rows), 0, 0) + query[12:at + 5] + b"".join(rows)


class Handler(bodies.Handler):
    def do_GET(self):
        if "away" in self.path or self.server.stays:
            return super().do_GET()
        self.send_response(302)
        self.send_header("Location", "http://%s:%d/away" % (ELSEWHERE, self.server.server_port))
        self.send_header("Content-Length", "0")
        return self.end_headers()


class Server(author.Server):
    handler, stays = Handler, False


class Attack:
    def __init__(self, machine, dice, resolver, port):
        self.machine, self.dice, self.resolver, self.port = machine, dice, resolver, port
        self.hosts, self.days, self.most = list(HOSTS), 0, 0
        self.said = {host: {} for host in HOSTS}    # addresses, and the last day on which an answer had them
        self.last = {}                              # of each host, the addresses of the last answer

    def configure(self):
        self.machine.configure("".join("[feed f%d]\nurl = http://%s:%d/%s\nevery = 1d\ntime-limit = 3s\n" % (
            i, host, self.port, host) for i, host in enumerate(self.hosts)))

    def addresses(self):
        dice = self.dice
        some = ["5.66.1.%d" % dice.randint(10, 250) for _ in range(dice.choice((0, 1, 3, 15, 40)))]
        some += ["2400:66::%x" % dice.randint(16, 999) for _ in range(dice.choice((0, 0, 2, 20)))]
        some += dice.sample(SPECIAL, dice.choice((0, 1, 4, 8)))
        dice.shuffle(some)
        return [ipaddress.ip_address(each) for each in some]

    def change(self):
        """What is said of one host, or of each, from now on."""
        for host in self.dice.choice((HOSTS, HOSTS[:1], HOSTS[1:])):
            strange = [(self.dice.choice(("", "5.66.1.200.", "x." + host, ELSEWHERE)), ipaddress.ip_address(address))
                       for address in self.dice.sample(LISTED, self.dice.choice((0, 0, 2)))]
            self.resolver.answers[host] = self.dice.choice(((self.addresses(), strange),) * 6 + (None,))
        self.resolver.answers[ELSEWHERE] = [ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("5.66.1.200")], ()

    def peers(self):
        """On the allowlist."""
        told = json.loads(self.machine.status(self.days * DAY)[1])["allowlist"]["automatic"]
        return {each["entry"]: each.get("why", "") for each in told if each["kind"] == "peer"}

    def look_up(self):
        """By bloomd, all hosts; until what it found is allowed."""
        for host in self.hosts:
            self.last[host] = [plain(each) for each in (self.resolver.answers.get(host) or ((),))[0] if may_be(each)]
            self.said[host].update((each, self.days) for each in self.last[host])
        begun, until = int(self.now()), time.monotonic() + COMMAND
        self.machine.signal(signal.SIGHUP)
        while not self.is_known(begun):
            self.machine.must_answer()
            if time.monotonic() > until:
                raise Wrong("the answers %s are not taken: %s" % (self.last, self.file()))
            time.sleep(0.05)

    def now(self):
        return time.time() + self.days * DAY

    def file(self):
        """(address, host, last time) of the file in the run directory."""
        try:
            with open(os.path.join(self.machine.runs, "peers")) as file:
                return [(address, host, int(seen)) for address, host, seen in map(str.split, file)]
        except FileNotFoundError:
            return []

    def is_known(self, since):
        found = self.file()
        for host in self.hosts:
            fours = {each for each in self.last[host] if "." in each}
            fresh = {address for address, one, seen in found if one == host and seen >= since}
            if len(fresh & set(self.last[host])) < min(MOST, len(fours)):
                return False
        return {address for address, _, seen in found if self.now() - seen < DAY} == set(self.peers()) and \
            {host for _, host, _ in found} <= set(self.hosts)

    def look(self):
        peers, found = self.peers(), self.file()
        self.most = max(self.most, len(peers))
        may = {address for host in self.hosts for address, day in self.said[host].items() if day == self.days}
        wrong = set(peers) - may
        if wrong:
            raise Wrong("allowed as peers, and in no answer of the last day: %s" % {each: peers[each] for each in wrong})
        for host in self.hosts:
            if sum(one == host for _, one, _ in found) > MOST:
                raise Wrong("more than %d addresses of %s" % (MOST, host))
        wanted = {source: passes or source in peers for source, passes in FRAMES.items()}
        listed = ["5.66.1.%d" % i for i in self.dice.sample(range(10, 250), 20)] + ["2400:66::%x" % self.dice.randint(16, 999)]
        wanted.update((each, each in peers) for each in listed + list(peers)[:20] if each.startswith(("5.66.1.", "2400:66:")))
        wanted["5.66.1.9"] = True
        self.machine.must_judge(wanted)
        self.machine.must_keep_lists()
        self.machine.must_keep_files()

    def send_on(self):
        """A feed's server answers, and sends the request on to another name."""
        host, before = self.dice.choice(self.hosts), self.resolver.asked[ELSEWHERE]
        self.resolver.answers[host] = [ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("5.66.1.%d" % self.dice.randint(10, 99))], ()
        until = time.monotonic() + COMMAND
        while self.resolver.asked[ELSEWHERE] == before:
            # A fetch that goes on has asked for the name before.
            self.machine.control("feeds", "update")
            self.machine.must_answer()
            if time.monotonic() > until:
                raise Wrong("the request is not sent on")
            time.sleep(0.5)

    def step(self):
        what = self.dice.randrange(8)
        if what < 5:
            self.change()
        elif what == 5:
            self.days += self.dice.choice((1, 2))
            self.machine.step_clock(self.days * DAY)
        elif what == 6:
            self.hosts = list(self.dice.choice((HOSTS, HOSTS[:1], HOSTS[1:])))
            self.configure()
        self.machine.place.note("%d on day %d: %s, %s" % (what, self.days, self.hosts, {
            host: [str(each) for each in (said or [()])[0]][:6] for host, said in self.resolver.answers.items()}))
        if what == 7:
            self.send_on()
        self.look_up()
        self.look()


def run(place, dice, seconds):
    # The others have no names to look up; their file of resolvers stays.
    cage.must(cage.libc.unshare(CLONE_NEWNS))
    own = os.path.join(place.directory, "resolv.conf")
    with open(own, "w") as out:
        out.write("nameserver 127.0.0.1\noptions timeout:2 attempts:2\n")
    cage.must(cage.libc.mount(own.encode(), os.path.realpath("/etc/resolv.conf").encode(), None, MS_BIND, None))
    server, resolver = Server(), Resolver()
    attack = Attack(Machine(place), dice, resolver, server.server_port)
    attack.configure()
    attack.change()
    attack.machine.begin()
    attack.look_up()
    deadline, steps = Deadline(seconds), 0
    while not deadline.is_over():
        attack.step()
        steps += 1
    if not attack.most:
        raise Wrong("no answer was taken")
    attack.hosts = []
    attack.configure()
    attack.look_up()
    attack.machine.end()
    return "%d answers and changes, %d names asked for, up to %d peers" % (steps, len(resolver.asked), attack.most)
