# SPDX-License-Identifier: GPL-2.0-or-later
"""An author of feeds is trusted with who is dropped, as far as the guards go, and with nothing else: whatever stands in a list,
nothing of it is allowed or taken off another list, no bogon and no address of the machine is dropped; what a feed lists stays
until another body is taken; `feeds` tells what the store has; and who is on no list passes."""
import gzip
import ipaddress
import json
import os
import time

import bodies
from attacked import FRAMES, NAME, OTHER_NAME, OWN, PATIENCE, Deadline, Machine, Wrong

# Of each feed, besides its url.
FEEDS = {"plain": "", "open": "skip-bad = 10000\nmax-change = 1000000\n", "names": "format = adblock\n", "short": "timeout = 1h\n",
         "small": "max-entries = 500\nformat = ipset\n"}
FACTOR, FEWEST = 2, 1000    # a change by more than both is refused where nothing else is said
TAKEN = ("updated", "unchanged")
BOGONS = ("0.0.0.0/0", "10.0.0.0/8", "127.0.0.1", "192.168.1.0/24", "224.0.0.0/4", "::/0", "::1", "fe80::/10", "255.255.255.255",
          "100.64.0.0/10", "198.51.100.0/24", "2001:db8::/32")
HOSTILE = ("5.66.1.9", "5.88.0.9", OWN, "5.77.0.0/24", "listed.example", "5.66.0.7")
WAITS = 40 * PATIENCE
SAMPLE = 40         # sources of a list whose frames are judged


class Server(bodies.Server):
    """Each feed is a path."""

    def __init__(self):
        self.bodies = {}
        super().__init__(lambda path: self.bodies.get(path.strip("/"), b""))


class Writer:
    """Bodies of any kind, often with something that is not meant."""

    def __init__(self, dice):
        self.dice = dice

    def addresses(self):
        first = self.dice.randrange(60000)
        count = self.dice.choice((1, 10, 99, 450, 501, 1100, 2500, 6000))
        return ["5.9.%d.%d" % (i >> 8 & 255, i & 255) for i in range(first, first + count)]

    def prefixes(self):
        return ["5.%d.0.0/%d" % (10 + i % 40, self.dice.randint(10, 32)) for i in range(self.dice.randint(1, 60))]

    def names(self):
        return ["n%d.example" % i for i in range(self.dice.choice((1, 20, 700, 3000)))]

    def spice(self, lines, most=5):
        """Lines that are worse, among them."""
        worse = list(BOGONS + HOSTILE) + [
            "@@||%s^" % NAME, "@@||%s^$important" % NAME, "!5.66.0.7", "!5.66.0.0/16", "-5.66.0.7", "not 5.66.0.7", "allow 5.66.0.7",
            "5.66.0.7 # allow", NAME + " CNAME rpz-passthru.", "local-zone: \"%s\" transparent" % NAME, "address=/%s/#" % NAME,
            "\x1b[2J", "x" * 10000, "\0", "5.9.0.1;5.66.0.7", "include /etc/passwd", "$INCLUDE /etc/passwd", "; end", "../../etc/passwd"]
        lines = list(lines)
        for _ in range(self.dice.randint(0, most)):
            lines.insert(self.dice.randrange(len(lines) + 1), self.dice.choice(worse))
        return lines

    def ipset(self):
        seconds = self.dice.choice((1, 1, 2, 0, 3600, 1 << 32))
        return ["create x hash:net family inet timeout %d" % seconds] + [
            "add x %s timeout %d" % (each, seconds) for each in self.spice(self.addresses(), 1)]

    def nft(self):
        return ["table ip t {", " set s {", "  type ipv4_addr; flags timeout;", "  elements = { %s }" % ", ".join(
            "%s timeout 1s expires 1s" % each for each in self.addresses()), " }", "}"]

    def adblock(self):
        kind = self.dice.choice(("||%s^", "||%s^$important", "%s", "0.0.0.0 %s", "||%s^$badfilter"))
        lines = [kind % each for each in self.names()]
        lines += ["@@||%s^" % each for each in (NAME, "n1.example", OTHER_NAME)[:self.dice.randint(0, 3)]]
        return self.spice(lines, 2)

    def zone(self):
        rows = ["rpz.test. 60 IN SOA ns.test. a.test. %d 2 3 4 5" % self.dice.randrange(1000), "rpz.test. 60 IN NS ns.test."]
        rows += ["%s.rpz.test. 60 IN CNAME %s" % (each, self.dice.choice((".", "rpz-drop.", "rpz-passthru.", "*.")))
                 for each in self.names()[:500]]
        return rows + ["%s.rpz.test. 60 IN CNAME rpz-passthru." % NAME, "32.7.0.66.5.rpz-client-ip.rpz.test. 60 IN CNAME rpz-passthru."]

    def document(self):
        return [json.dumps({"allow": ["5.66.0.7"], "prefixes": [{"ip": each} for each in self.addresses()], "deep": self.deep()})]

    def deep(self):
        found = "5.66.0.7"
        for _ in range(self.dice.choice((1, 50, 900))):
            found = [found]
        return found

    def rows(self):
        return ["ip,verdict"] + ["%s,%s" % (each, self.dice.choice(("ban", "allow"))) for each in self.addresses()]

    def page(self):
        return ["<!DOCTYPE html><html><body>5.9.0.1</body></html>"]

    def huge(self):
        return ["5.%d.%d.%d" % (9 + (i >> 16), i >> 8 & 255, i & 255) for i in range(self.dice.choice((30000, 90000)))]

    def body(self, name):
        """For the feed, in the format that it has, or in any."""
        fitting = {"names": self.adblock, "small": self.ipset}.get(name, self.addresses)
        kinds = (fitting, fitting, fitting, fitting, fitting, self.addresses, self.addresses, lambda: self.spice(self.addresses()), lambda: self.spice(self.prefixes()), self.ipset,
                 self.ipset, self.nft, self.adblock, self.adblock, self.zone, self.document, self.rows, self.page, self.huge,
                 lambda: self.spice([], 9), lambda: ["# nothing"], lambda: [], self.names)
        kind = self.dice.choice(kinds)
        lines = kind()
        end = self.dice.choice(("\n",) * 20 + ("\r\n", "\r\n", "\r", ""))
        body = end.join(lines).encode() + end.encode()
        if not self.dice.randrange(12):
            at = self.dice.randrange(len(body) + 1)
            body = body[:at] + self.dice.randbytes(self.dice.randint(1, 40)) + body[at:]
        if not self.dice.randrange(8):
            body = gzip.compress(body)
        if not self.dice.randrange(20):
            body = self.dice.randbytes(self.dice.randint(1, 5000))
        return body


class Author:
    def __init__(self, machine, dice, server):
        self.machine, self.dice, self.server = machine, dice, server
        self.writer = Writer(dice)
        self.former = {name: set() for name in FEEDS}
        self.taken = 0

    def told(self, name):
        """By `feeds`."""
        code, out, errors = self.machine.control("-j", "feeds")
        if code:
            raise Wrong("feeds ends with %d: %s" % (code, errors))
        return next((each for each in json.loads(out)["feeds"] if each["name"] == name), {})

    def version(self, name):
        try:
            return os.stat(os.path.join(self.machine.state, "feeds", name + ".json")).st_mtime_ns
        except OSError:
            return 0

    def wait_for_first_fetches(self):
        """That bloomd makes by itself, each within a second: it takes an update for done that its first fetch has begun."""
        until = time.monotonic() + WAITS
        while not all("last_attempt" in self.told(name) for name in FEEDS):
            if time.monotonic() > until:
                raise Wrong("bloomd does not fetch by itself")
            time.sleep(0.02)

    def fetch(self, name):
        before, until = self.version(name), time.monotonic() + WAITS
        code, _, errors = self.machine.control("feeds", "update", name)
        if code:
            raise Wrong("feeds update %s ends with %d: %s" % (name, code, errors))
        while self.version(name) == before:
            self.machine.must_answer()
            if time.monotonic() > until:
                raise Wrong("the fetch of %s does not end" % name)
            time.sleep(0.02)

    def step(self):
        name = self.dice.choice(sorted(FEEDS))
        body = self.server.bodies[name] = self.writer.body(name)
        self.machine.place.note("%s: %d bytes, %r" % (name, len(body), body[:100]))
        self.fetch(name)
        told, lists = self.told(name), self.machine.entries()
        now, before = lists.get(name, set()), self.former[name]
        self.machine.place.note("%s: %s, %d entries" % (name, told.get("outcome"), len(now)))
        if now != before and told["outcome"] != "updated":
            raise Wrong("%s is %s, and its list has changed from %d to %d entries" % (name, told["outcome"], len(before), len(now)))
        if told["outcome"] in TAKEN and told["entries"] != len(now):
            raise Wrong("feeds tells of %s %d entries, and there are %d" % (name, told["entries"], len(now)))
        self.must_have_been_guarded(name, len(before), len(now))
        for other, entries in self.former.items():
            if other != name and lists.get(other, set()) != entries:
                raise Wrong("a body of %s has changed the list %s" % (name, other))
        self.must_have_no_bogon(name, now)
        self.must_be_judged(name, now, lists)
        self.former[name] = now
        self.taken += now != before

    def must_have_been_guarded(self, name, before, now):
        if before and not now:
            raise Wrong("the list of %s is empty, and had %d entries" % (name, before))
        least, most = sorted((before, now))
        if name != "open" and before and most - least >= FEWEST and most > FACTOR * least:
            raise Wrong("the list of %s has %d entries, and had %d" % (name, now, before))

    def must_have_no_bogon(self, name, entries):
        bogons = [ipaddress.ip_network(each) for each in BOGONS if "/0" not in each]
        for entry in entries:
            if entry[0].isdigit() or ":" in entry:
                network = ipaddress.ip_network(entry)
                if not network.prefixlen or any(network.version == each.version and network.subnet_of(each) for each in bogons):
                    raise Wrong("%s has listed %s" % (name, entry))

    def must_be_judged(self, name, entries, lists):
        """Some of the list, and some beside it."""
        networks = [ipaddress.ip_network(each) for each in set().union(*lists.values()) if each[0].isdigit() and "example" not in each]
        hosts = {each.network_address for each in networks if each.prefixlen == 32}
        wide = [each for each in networks if each.prefixlen < 32]
        sample = [each for each in sorted(entries) if each[0].isdigit() and "example" not in each]
        sources = {str(ipaddress.ip_network(each)[-1]) for each in self.dice.sample(sample, min(SAMPLE, len(sample)))}
        sources |= {"5.%d.%d.%d" % (self.dice.randint(9, 60), self.dice.randrange(256), self.dice.randrange(256)) for _ in range(SAMPLE)}
        wanted = dict(FRAMES)
        for source in sorted(sources - set(FRAMES)):
            address = ipaddress.ip_address(source)
            wanted[source] = not (address in hosts or any(address in each for each in wide))
        try:
            self.machine.must_judge(wanted)
        except Wrong as wrong:
            raise Wrong("%s: %s" % (name, wrong)) from wrong

    def must_last(self):
        """A list does not end by itself."""
        time.sleep(1.1)
        lists = self.machine.entries()
        for name, entries in self.former.items():
            if lists.get(name, set()) != entries:
                raise Wrong("the list of %s has %d entries, and had %d when it was fetched" % (
                    name, len(lists.get(name, set())), len(entries)))

    def must_be_told(self):
        """That a feed has brought no list yet; then it brings one."""
        for name in sorted(FEEDS):
            never = "last_success" not in self.told(name) and self.told(name).get("failures")
            code, said = self.machine.status()
            if never and (code != 3 or "feed %s has never brought a list" % name not in said):
                raise Wrong("feed %s has never brought a list, and status ends with %d: %s" % (name, code, said[:300]))
            if never:
                self.server.bodies[name] = {"names": b"||n0.example^\n", "small": b"create x hash:ip family inet\nadd x 5.9.0.1\n"}.get(
                    name, b"5.9.0.1\n")
                self.fetch(name)
                self.former[name] = self.machine.of_list(name)


def run(place, dice, seconds):
    server = Server()
    machine = Machine(place, "".join("[feed %s]\nurl = http://127.0.0.1:%d/%s\nevery = 1d\n%s" % (
        name, server.server_port, name, more) for name, more in FEEDS.items()))
    machine.begin()
    author, deadline, steps = Author(machine, dice, server), Deadline(seconds), 0
    author.wait_for_first_fetches()
    while not deadline.is_over():
        author.step()
        steps += 1
        machine.must_keep_lists()
        machine.check(["drop " + NAME, "pass " + OTHER_NAME])
        if steps % 8 == 0:
            author.must_last()
    author.must_last()
    author.must_be_told()
    machine.end()
    return "%d bodies, of which %d changed a list" % (steps, author.taken)
