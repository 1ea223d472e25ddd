# SPDX-License-Identifier: GPL-2.0-or-later
"""fail2ban's bans in a list of xdp-bloom, over the socket of bloomd.

    [DEFAULT]
    banaction = xdp-bloom.py

The bans of a jail are its tickets, which fail2ban keeps and restores from its database. The action
holds what the list should have in memory, computed from the tickets, and a thread of its own makes
the list so: what changed at once, and all of it every minute, after a failure, and when fail2ban
starts. Nobody waits for the socket, and changes that come together are one transaction.

fail2ban owns the end of each ban. An entry also has a time, GRACE seconds behind the end, that it
reaches only if fail2ban is dead.
"""
import ipaddress
import math
import shlex
import socket
import subprocess
import threading
import time

from fail2ban.server.action import ActionBase  # pylint: disable=import-error

SOCKET = "/run/xdp-bloom/api.sock"
EACH = 60               # seconds between two comparisons of the whole list
GRACE = 2 * EACH + 30   # seconds: an end that moved is seen in time, also by a slow comparison
LINGER = 0.1            # seconds without a further restored ticket: then they are all
LINGER_MOST = 10        # seconds: this long the first of them waits at most
PATIENCE = 10           # seconds: stopping and flushing wait no longer for bloomd
BACKOFF_MOST = 10       # seconds between two attempts
WORDS = 65536           # of a request; bloomd takes no more, and no more than 1 MiB:
BYTES = (1 << 20) - 64  # with room for the next number
NEVER = math.inf
WIDE = ipaddress.ip_network("2000::/3")     # customers have networks of their own there


class Refused(Exception):
    """bloomd answered with an error."""


class Client:
    """One connection to bloomd, in RESP2."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.settimeout(PATIENCE)
            self.socket.connect(path)
            self.answers = self.socket.makefile("rb")
        except OSError:
            self.socket.close()
            raise

    def close(self):
        self.answers.close()
        self.socket.close()

    def ask(self, *requests):
        """Sends all of them before it reads an answer: they are one transaction. What is refused has
        its Refused among the answers."""
        self.socket.sendall(b"".join(map(encode, requests)))
        return [self.answer() for _ in requests]

    def ask_one(self, *words):
        answer, = self.ask(words)
        if isinstance(answer, Refused):
            raise answer
        return answer

    def answer(self):
        line = self.answers.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("bloomd closed the connection")
        kind, text = line[:1], line[1:-2]
        if kind == b"-":
            return Refused(text.decode())
        if kind == b"$":
            size = int(text)
            return self.answers.read(size + 2)[:size].decode() if size >= 0 else None
        if kind == b"*":
            return [self.answer() for _ in range(int(text))]
        return int(text) if kind == b":" else text.decode()


def encode(words):
    return b"*%d\r\n" % len(words) + b"".join(map(encode_word, words))


def encode_word(word):
    part = str(word).encode()
    return b"$%d\r\n%s\r\n" % (len(part), part)


def encoded_size(words):
    return sum(len(encode_word(word)) for word in words)


def requests(*first, groups):
    """As few as bloomd takes, since each is a transaction or part of one. All begin with the same words,
    and no group of words is split."""
    made, size = [], 0
    for group in groups:
        more = encoded_size(group)
        if not made or len(made[-1]) + len(group) > WORDS or size + more > BYTES:
            made.append(list(first))
            size = len(encode([])) + encoded_size(first)
        made[-1].extend(group)
        size += more
    return made


def canonical(text, length=128):
    """The entry as bloomd writes it; that of an IPv6 customer at most `length` bits long."""
    network = ipaddress.ip_network(text, strict=False)
    if network.version == 6 and network.prefixlen > length and network.network_address in WIDE:
        network = network.supernet(new_prefix=length)
    family = socket.AF_INET6 if network.version == 6 else socket.AF_INET
    address = socket.inet_ntop(family, network.network_address.packed)
    whole = network.prefixlen == network.max_prefixlen
    return address if whole else "%s/%d" % (address, network.prefixlen)


def services(port, protocol, kind):
    """The scope of the list: the ports of the jail."""
    if kind == "allports":
        return "all"
    found = []
    for name in protocol.replace(",", " ").split():
        for part in port.replace(",", " ").split():
            ends = [end if end.isdigit() else str(socket.getservbyname(end))
                    for end in part.replace(":", "-").split("-")]
            whole = [int(end) for end in ends] in ([0, 65535], [1, 65535])
            found.append(name if whole else "%s/%s" % (name, "-".join(ends)))
    return ",".join(found)


class Tickets:
    """What is banned: entries, each with the tickets for which it is listed, and when these end."""

    def __init__(self):
        self.ends = {}      # ticket: (entry, end)
        self.entries = {}   # entry: its tickets
        self.changed = set()

    def put(self, ticket, entry, end):
        if self.ends.get(ticket) == (entry, end):
            return
        self.ends[ticket] = entry, end
        self.entries.setdefault(entry, set()).add(ticket)
        self.changed.add(entry)

    def take(self, ticket):
        entry, _ = self.ends.pop(ticket, (None, None))
        if entry is None:
            return
        self.entries[entry].discard(ticket)
        if not self.entries[entry]:
            del self.entries[entry]
        self.changed.add(entry)

    def clear(self):
        self.changed.update(self.entries)
        self.ends, self.entries = {}, {}

    def end(self, entry):
        """When the last of its tickets ends; None: it has none."""
        return max((self.ends[ticket][1] for ticket in self.entries.get(entry, ())), default=None)


class XdpBloomAction(ActionBase):
    """docs/recipes/fail2ban.md has the options."""

    def __init__(self, jail, name, **options):
        super().__init__(jail, name)
        self._tickets = Tickets()
        self._wake = threading.Condition()
        self._thread = self._client = None
        self._stopping = None               # when to give up
        self._restoring = None              # since when, and until when one more is awaited
        self._asked = self._compared = 0    # comparisons, counted
        self._compare_at = self._settled = 0
        self._failing = None                # the message
        self._wrong = set()                 # entries that bloomd refuses
        self._configure(**options)

    # pylint: disable=redefined-builtin
    def _configure(self, port="0:65535", protocol="tcp", type="multiport", list=None, prefix6="64",
                   keep="no", settle="10", socket=SOCKET, bloomctl="bloomctl", chain=None):
        """chain: jail.conf passes it to every action; there is none here."""
        del chain
        self._list = list or "f2b-" + self._jail.name
        self._scope = services(port, protocol, type)
        self._prefix6 = int(prefix6)
        self._keep = keep.lower() in ("yes", "true", "1", "on")
        self._settle = float(settle)
        self._path = socket
        self._bloomctl = shlex.split(bloomctl)
        self._ready = False         # the list has its scope

    # --- what fail2ban calls, from several threads ------------------------------------------------------

    def start(self):
        self._settled = self._compare_at = time.monotonic() + self._settle
        self._thread = threading.Thread(target=self._run, daemon=True, name="xdp-bloom")
        self._thread.start()

    def stop(self):
        with self._wake:
            self._stopping = time.monotonic() + PATIENCE
            self._wake.notify_all()
        self._thread.join()

    def ban(self, aInfo):
        entry = canonical(str(aInfo["ip"]), self._prefix6)
        end = aInfo["time"] + aInfo["bantime"] if aInfo["bantime"] >= 0 else NEVER
        with self._wake:
            self._tickets.put(aInfo["fid"], entry, end)
            if aInfo["restored"]:
                now = time.monotonic()
                self._restoring = self._restoring[0] if self._restoring else now, now + LINGER
                self._settled = max(self._settled, now + self._settle)
            self._wake.notify_all()

    def unban(self, aInfo):
        with self._wake:
            self._tickets.take(aInfo["fid"])
            self._wake.notify_all()

    @property
    def _prolongable(self):
        return True

    def prolong(self, aInfo):
        self.ban(aInfo)

    def flush(self):
        """Of all bans: fail2ban stops, or was asked to unban all. True: it need not unban each."""
        if not self._thread or (self._keep and not self._jail.actions.active):
            return True
        with self._wake:
            self._tickets.clear()
            self._settled = time.monotonic()
            number = self._ask_comparison()
            if not self._wake.wait_for(lambda: self._compared >= number, PATIENCE):
                self._logSys.error("list %s could not be emptied yet", self._list)
        return True

    def consistencyCheck(self, beforeRepair=None):
        """fail2ban asks for it when a banned source goes on; repairing is the same as comparing."""
        del beforeRepair
        with self._wake:
            self._ask_comparison()
        return True

    def clearAllParams(self):
        """Without this and reload(), fail2ban drops the action when it reloads."""

    def reload(self, **options):
        with self._wake:
            self._configure(**options)
            self._tickets.clear()       # the comparison takes them from fail2ban again
            self._ask_comparison()

    def _ask_comparison(self):
        self._asked += 1
        self._wake.notify_all()
        return self._asked

    # --- the thread that makes the list what it should be -----------------------------------------------

    def _run(self):
        failures = 0
        while self._wait():
            try:
                if not self._ready:
                    self._set_scope()
                    continue    # what came meanwhile may have more to come
                self._step()
                failures = 0
                self._tell_failing(None)
            except (OSError, ValueError, Refused) as error:
                failures += 1
                self._tell_failing(str(error))
                self._disconnect()
                self._back_off(min(2 ** failures / 2, BACKOFF_MOST))
        self._disconnect()

    def _back_off(self, seconds):
        with self._wake:
            self._ask_comparison()      # nobody knows what was done
            if not self._wake.wait_for(lambda: self._stopping is not None, seconds):
                return
        time.sleep(LINGER)

    def _wait(self):
        """Until there is something to do. False: the end."""
        with self._wake:
            while True:
                now = time.monotonic()
                if self._stopping is not None:
                    done = not self._tickets.changed and self._compared == self._asked
                    return not done and now < self._stopping
                until = self._next(now)
                if until <= now:
                    return True
                self._wake.wait(until - now)

    def _next(self, now):
        """When there is something to do."""
        if not self._ready or self._compared < self._asked:
            return now
        if not self._tickets.changed:
            return self._compare_at
        if not self._restoring:
            return now
        since, until = self._restoring
        return min(now + LINGER if self._jail.hasFailTickets else until, since + LINGER_MOST)

    def _step(self):
        with self._wake:
            now, asked = time.monotonic(), self._asked
            settled = self._settled <= now
            whole = self._compared < asked or self._compare_at <= now
            if whole:
                self._look_at_tickets()
                self._compare_at = now + EACH if settled else self._settled
            self._restoring = None
            changed, self._tickets.changed = self._tickets.changed, set()
            entries = self._tickets.entries.keys() | changed if whole else changed
            wanted = {entry: self._tickets.end(entry) for entry in entries}
        try:
            self._write(self._differences(wanted, settled) if whole else wanted)
        except BaseException:
            with self._wake:
                self._tickets.changed |= changed
            raise
        if whole:
            with self._wake:
                self._compared = asked
                self._wake.notify_all()

    def _look_at_tickets(self):
        """fail2ban prolongs some without a call, and an action that came by a reload gets none for those
        that were there before. One that is over and still there has its unban to come."""
        default, now = self._jail.actions.getBanTime(), time.time()
        for ticket in self._jail.actions.banManager:
            known = self._tickets.ends.get(ticket.getID())
            end = ticket.getEndOfBanTime(default)
            try:
                entry = known[0] if known else canonical(str(ticket.getIP()), self._prefix6)
            except ValueError:
                continue
            self._tickets.put(ticket.getID(), entry, NEVER if end >= ticket.MAX_TIME else max(end, now))

    def _set_scope(self):
        done = subprocess.run([*self._bloomctl, "--wait", str(PATIENCE), "-q", "scope", self._list, self._scope],
                              check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace")
        if done.returncode:
            raise OSError("its ports cannot be set: " + done.stderr.strip())
        self._ready = True

    def _tell_failing(self, message):
        """Once; and when it is over."""
        if message == self._failing:
            return
        self._failing = message
        if message:
            self._logSys.error("list %s: %s; trying again", self._list, message)
        else:
            self._logSys.info("list %s is as it should be again", self._list)

    # --- what is said to bloomd -------------------------------------------------------------------------

    def _connection(self):
        if not self._client:
            self._client = Client(self._path)
        return self._client

    def _disconnect(self):
        if self._client:
            self._client.close()
            self._client = None

    def _listed(self):
        cursor, found = "0", set()
        while True:
            cursor, members = self._connection().ask_one("SSCAN", self._list, cursor, "COUNT", 1000)
            found.update(members)
            if cursor == "0":
                return found

    def _differences(self, wanted, settled):
        """What of the wanted the list has not, or with another time; and what it should not have, unless
        fail2ban may still be about to restore its ticket."""
        gone = {entry for entry, end in wanted.items() if end is None}
        lived = [entry for entry in wanted if entry not in gone]
        found = dict.fromkeys(self._listed() - wanted.keys()) if settled else {}
        found.update(dict.fromkeys(gone))
        for request in requests("ZMSCORE", self._list, groups=[(entry,) for entry in lived]):
            scores = self._connection().ask_one(*request)
            found.update((entry, wanted[entry]) for entry, score in zip(request[2:], scores)
                         if score is None or float(score) != float(score_of(wanted[entry])))
        return found

    def _write(self, wanted):
        """Entries with their ends; without one they are taken out."""
        gone = [(entry,) for entry, end in wanted.items() if end is None]
        come = [(score_of(end), entry) for entry, end in wanted.items() if end is not None]
        asked = requests("ZADD", self._list, groups=come) + requests("SREM", self._list, groups=gone)
        if not asked:
            return
        for request, answer in zip(asked, self._connection().ask(*asked)):
            if isinstance(answer, Refused):
                self._refused(request, answer)

    def _refused(self, request, error):
        """Of a request with several entries one may be wrong: then the others are listed without it."""
        kind = str(error).split(" ", 1)[0]
        width = 2 if request[0] == "ZADD" else 1
        words = request[2:]
        if kind == "UNENFORCED":
            self._logSys.error("list %s: %s", self._list, error)
        elif kind != "ERR":
            raise error
        elif len(words) == width:
            if words[-1] not in self._wrong:
                self._logSys.error("%s cannot be in list %s: %s", words[-1], self._list, error)
            self._wrong.add(words[-1])
        else:
            single = [(*request[:2], *words[i:i + width]) for i in range(0, len(words), width)]
            for one, answer in zip(single, self._connection().ask(*single)):
                if isinstance(answer, Refused):
                    self._refused(one, answer)


def score_of(end):
    """When the entry ends if fail2ban does not come back."""
    return "+inf" if end == NEVER else int(math.ceil(end)) + GRACE


Action = XdpBloomAction
