# SPDX-License-Identifier: GPL-2.0-or-later
"""What bloomctl(8) promises of a line: that it is refused, or what the store and the interfaces are afterwards."""
import shlex
import time

import stored
import values
from stored import ANY

DONE, ABSENT, REFUSED = (0,), (1,), (2,)
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
SYSTEM = (2, 3)     # refused for what the machine says
# They answer, and change nothing.
ANSWERS = {("status",): (0, 1, 3), ("check",): (0, 1, 2, 3), ("doctor",): (0, 3), ("allow", "test"): (0, 1), ("save",): DONE,
           ("stats",): DONE, ("metrics",): DONE, ("plan",): DONE, ("help",): DONE, ("log",): DONE, ("expire",): DONE, ("up",): DONE,
           ("limit", "list"): DONE, ("known", "status"): DONE, ("known", "clear"): DONE, ("commit",): ABSENT}


# Options of which it is known here what they mean.
EDIT = "list comment timeout exist force"
MEANT = {("add",): EDIT, ("allow", "add"): EDIT, ("del",): "within list exist", ("allow", "del"): "within list exist", ("test",): "to",
         ("list",): "list within", ("allow", "list"): "list within", ("flush",): "list yes", ("attach",): "mode refuse rollback",
         ("detach",): "all force", ("policy",): "known force rollback", ("known", "on"): "remember capacity fpr",
         ("limit", "add"): "to rate burst per of over capacity known list timeout forgeable rollback", ("limit", "del"): "rollback",
         ("verdict",): "rollback", ("scope",): "rollback", ("fleet",): "limit", ("restore",): "interfaces rollback",
         ("check",): "policy nagios", ("log",): "since last list", ("aggregate",): "from to apply into timeout",
         ("rotate",): "fpr capacity confirm no-confirm rollback", ("stats",): "names", ("plan",): "entries limit fpr no-confirm",
         ("import",): "list verdict scope format zone column where json-path country not-country continent asn mmdb-path skip-bad "
                      "below replace max-change min-entries min-bytes expect-end include-bogons force dry-run rollback"}


class Promise:
    def __init__(self, codes=DONE, store=None, modes=None):
        self.codes = codes
        self.store = store          # after the line; None: as before
        self.modes = modes          # of interfaces: None: as before
        self.may_refuse = False     # then nothing has changed
        self.free = set()           # lists of whose entries nobody knows what becomes of them
        self.unforeseen = False     # nobody knows what it makes of the store
        self.tried = False          # it is a trial: in force for a while, and not stored
        self.modes_tried = None     # meanwhile; None: as afterwards


def seconds(text):
    return int(text.rstrip("smhdw")) * UNITS.get(text[-1], 1)


def last(line, name, default=None):
    return line.options[name][-1] if name in line.options else default


class Promises:
    """Of the lines for one state: store, modes by name of the interfaces that are attached."""

    def __init__(self, store, modes, imported):
        self.store, self.modes, self.imported = store, modes, imported

    def of(self, line):
        if line.fault:
            return Promise(line.codes)
        words = line.command.words
        line.strange += ["--" + name for name in line.options if name not in MEANT.get(words, "").split()]
        promise = getattr(self, "do_" + "_".join(words), self.do_answer)(line)
        # What is new here may be refused, and do what it wants with what is stored: frames have to agree with that.
        promise.may_refuse |= bool(line.strange)
        promise.unforeseen |= bool(line.strange)
        if "rollback" in line.options and promise.codes == DONE and promise.store:
            promise.tried = True
            # Where nothing is filtered there is nothing to try.
            promise.may_refuse |= not self.modes and words != ("attach",)
        return promise

    @staticmethod
    def do_answer(line):
        words = line.command.words
        if words not in ANSWERS:
            line.strange.append("command")
        return Promise(ANSWERS.get(words, (0, 1, 2, 3)))

    def changed(self):
        return Promise(DONE, self.store.copy())

    # --- entries ------------------------------------------------------------------------------------

    def edit(self, store, line, add, allow):
        """The codes; store changes."""
        entries = [values.canonical(word) for word in line.operands]
        side, exist = store.side(allow), "exist" in line.options
        name = last(line, "list", ("allow" if allow else "default") if add else None)
        if add and "force" not in line.options and any(map(values.is_too_wide, entries)):
            return REFUSED
        if not exist and len(set(entries)) < len(entries):
            return REFUSED
        if add:
            return self.add_all(side, line, entries, name)
        if name and name not in store.lists() and not exist:
            return REFUSED
        if "within" in line.options:
            return self.del_within(side, values.canonical(last(line, "within")), name, exist)
        for entry in entries:
            keys = [key for key in side if key[0] == entry and name in (None, key[1])]
            if not keys and not exist:
                return ABSENT
            for key in keys:
                del side[key]
        return DONE

    @staticmethod
    def del_within(side, entry, name, exist):
        keys = [key for key in side if name in (None, key[1]) and values.is_inside(key[0], entry)]
        for key in keys:
            del side[key]
        return DONE if keys or exist else ABSENT

    @staticmethod
    def add_all(side, line, entries, name):
        comment, timeout = last(line, "comment"), last(line, "timeout")
        expires = int(time.time()) + seconds(timeout) if timeout else None
        for entry in entries:
            former = side.get((entry, name))
            if former and "exist" not in line.options:
                return REFUSED
            side[entry, name] = (comment if comment is not None or not former else former[0],
                                 expires if expires or not former else former[1])
        return DONE

    def edited(self, line, add, allow):
        store = self.store.copy()
        codes = self.edit(store, line, add, allow)
        promise = Promise(codes, store if codes == DONE else None)
        promise.may_refuse = self.meets_automatic(line, allow)
        return promise

    @staticmethod
    def meets_automatic(line, allow):
        """Nobody takes what the machine needs off the allowlist, and that may lie in anything."""
        return allow and "within" in line.options and "list" not in line.options

    def do_add(self, line):
        return self.edited(line, True, False)

    def do_del(self, line):
        return self.edited(line, False, False)

    def do_allow_add(self, line):
        return self.edited(line, True, True)

    def do_allow_del(self, line):
        return self.edited(line, False, True)

    def do_batch(self, line):
        """line.lines: as they are in the text."""
        store, promise = self.store.copy(), Promise()
        for one in line.lines:
            words = one.command.words
            promise.may_refuse |= self.meets_automatic(one, words[0] == "allow")
            codes = self.edit(store, one, words[-1] == "add", words[0] == "allow")
            if codes != DONE:
                # Whether a list that the lines before empty is there yet is nobody's business.
                return Promise((1, 2))
        promise.store = store
        return promise

    def do_aggregate(self, line):
        """What it adds stands for several entries; of few, there is hardly ever anything to add."""
        applies, timeout = "apply" in line.options, "timeout" in line.options
        if applies != timeout or line.operands[0] not in self.store.lists():
            return Promise(REFUSED)
        promise = self.changed()
        promise.unforeseen = applies
        return promise if applies else Promise()

    def do_flush(self, line):
        promise, name = self.changed(), last(line, "list")
        if "yes" not in line.options or name and name not in self.store.lists():
            return Promise(REFUSED)
        for key in self.store.listed:
            if name in (None, key[1]):
                del promise.store.listed[key]
        return promise

    def do_list(self, line):
        name = last(line, "list")
        return Promise(DONE if not name or name in self.store.lists() else REFUSED)

    def do_allow_list(self, line):
        return self.do_list(line)

    def take_kinds(self, words):
        return stored.KINDS if "all" in words else set(words)

    def do_allow_refuse(self, line):
        promise = self.changed()
        promise.store.refused |= self.take_kinds(line.operands)
        return promise

    def do_allow_accept(self, line):
        promise = self.changed()
        promise.store.refused -= self.take_kinds(line.operands)
        return promise

    def do_test(self, line):
        """A service is one of addresses."""
        names = any(values.is_name(values.canonical(word)) for word in line.operands)
        return Promise(REFUSED if "to" in line.options and names else (0, 1))

    # --- files --------------------------------------------------------------------------------------

    def do_import(self, line):
        promise, name = self.changed(), last(line, "list", "default")
        options, file = line.options, line.file
        if "max-change" in options and ("replace" not in options or "force" in options) or \
                "dry-run" in options and "rollback" in options:
            return Promise(REFUSED)
        entries = {values.canonical(word) for word in file.entries}
        if "include-bogons" not in options:
            entries = {entry for entry in entries if not values.is_bogon(entry)}
        if set(options) & {"format", "zone", "column", "where", "json-path", "country", "not-country", "continent", "asn",
                           "mmdb-path", "skip-bad", "below"}:
            promise.may_refuse = True
            promise.free.add(name)
        elif int(last(line, "min-entries", 0)) > len(entries) or int(last(line, "min-bytes", 0)) > len(file.text) or \
                last(line, "expect-end", file.end) != file.end:
            return Promise(REFUSED)
        promise.may_refuse |= not entries or "replace" in options
        self.fill(promise.store, line, name, entries)
        if "dry-run" in options:
            promise.store = None
        return promise

    @staticmethod
    def fill(store, line, name, entries):
        if "replace" in line.options:
            for side in (store.listed, store.allowed):
                for key in [key for key in side if key[1] == name and (side is store.allowed or key[0] not in entries)]:
                    del side[key]
        for entry in entries:
            store.listed[entry, name] = (ANY, ANY) if (entry, name) in store.listed else (None, None)
        scope = values.scope(last(line, "scope")) if "scope" in line.options else store.scope(name)
        store.set_terms(name, last(line, "verdict", store.verdict(name)), scope)

    def do_restore(self, line):
        if line.broken:
            return Promise(REFUSED)
        store, modes = line.saved.copy(), dict(self.modes)
        if not store.known:
            store.remembers = dict(self.store.remembers)
        if "interfaces" not in line.options:
            store.interfaces.update(self.store.interfaces)
        for name in set(modes) - set(store.interfaces):
            del modes[name]
        for name, mode in store.interfaces.items():
            modes[name] = self.mode_after(name, mode)
        promise = Promise(DONE, store, modes)
        # What is tried is what is listed, and not where.
        promise.modes_tried = self.modes
        return promise

    # --- settings -----------------------------------------------------------------------------------

    def do_policy(self, line):
        promise, store = self.changed(), self.store
        if not line.operands:
            return Promise(REFUSED if "rollback" in line.options else DONE)
        policy, known, force = line.operands[0], "known" in line.options, "force" in line.options
        if known and (policy != "allow-only" or not store.known):
            return Promise(REFUSED)
        if policy == "allow-only":
            if not store.confirm or not force and not store.admits():
                return Promise(REFUSED)
            # Of what was imported nobody can say whether it is of friends.
            promise.may_refuse = bool(self.imported) and not force
        promise.store.policy, promise.store.admits_known = policy, known
        return promise

    def do_rotate(self, line):
        promise = self.changed()
        store = promise.store
        store.rate = float(last(line, "fpr", store.rate))
        store.capacity = int(last(line, "capacity", store.capacity))
        if "confirm" in line.options or "no-confirm" in line.options:
            store.confirm = "confirm" in line.options
        return Promise(REFUSED) if store.policy == "allow-only" and not store.confirm else promise

    def property(self, line, take):
        promise = self.changed()
        if len(line.operands) < 2:
            if "rollback" in line.options or line.operands and line.operands[0] not in self.store.lists():
                return Promise(REFUSED)
            return Promise()
        take(promise.store, *line.operands)
        return promise

    def do_verdict(self, line):
        return self.property(line, lambda store, name, word: store.set_terms(name, word, store.scope(name)))

    def do_scope(self, line):
        return self.property(line, lambda store, name, word: store.set_terms(name, store.verdict(name),
                                                                            values.scope(word)))

    def do_ports(self, line):
        promise = self.changed()
        if len(line.operands) < 2:
            return Promise()
        carrier, word = line.operands
        ports = [] if word == "off" else sorted(map(int, word.split(",")))
        promise.store.ports = {**self.store.ports, carrier: ports}
        others = [port for name, some in self.store.ports.items() if name != carrier for port in some]
        return Promise(REFUSED) if set(ports) & set(others) else promise

    def do_limit_answers(self, line):
        promise = self.changed()
        if not line.operands:
            return Promise()
        promise.store.limit = 0 if line.operands[0] == "off" else int(line.operands[0])
        return promise

    def do_limit_add(self, line):
        promise, name = self.changed(), line.operands[0]
        amount, period = last(line, "rate").split("/")
        rate = int(amount.rstrip("k")) * (1000 if amount.endswith("k") else 1)
        of, per = last(line, "of", "packets"), last(line, "per", "32,64").split(",")
        over = last(line, "over", "truncate" if per == ["name"] else "drop")
        least = 65536 if of == "bytes" else 5
        burst = int(last(line, "burst", max(least, 2 * rate // UNITS[period])))
        if name in self.store.limits or burst < least and of == "bytes" or burst * UNITS[period] > 86400 * rate:
            return Promise(REFUSED)
        if of != "queries" and (per == ["name"] or over == "truncate"):
            return Promise(REFUSED)
        per4, per6 = 24 if "24" in per else 32, 48 if "48" in per else 64
        listing = self.limit_list(line, (of, per4, per6) == ("connections", 32, 64))
        if listing is None or per == ["name"] and (listing or last(line, "known", "1x") != "1x"):
            return Promise(REFUSED)
        to, known = last(line, "to"), last(line, "known", "1x")
        promise.store.limits[name] = {
            "limit": name, "to": values.scope(to) or to, "rate": "%d/%s" % (rate, period), "burst": burst, "of": of,
            "over": over, "capacity": int(last(line, "capacity", 16384)), "known": known,
            **({"per": "name"} if per == ["name"] else {"per4": per4, "per6": per6}), **listing}
        return promise

    @staticmethod
    def limit_list(line, proves):
        """What `save` writes of the list of sources over a limit; None: the line is refused. proves: these sources are not
        forged."""
        name, forgeable = last(line, "list"), "forgeable" in line.options
        if not name:
            return None if forgeable or "timeout" in line.options else {}
        first, _, longest = last(line, "timeout", "10m").partition("..")
        return {"list": name, "timeout": seconds(first), "longest": seconds(longest or first), "forgeable": forgeable} \
            if forgeable or proves else None

    def do_limit_del(self, line):
        promise = self.changed()
        return promise if promise.store.limits.pop(line.operands[0], None) else Promise(ABSENT)

    def do_limit_reset(self, _line):
        return Promise(DONE if self.store.limits and self.modes else ABSENT)

    def do_known_on(self, line):
        promise = self.changed()
        store = promise.store
        store.known = True
        store.remembers = {"remember": seconds(last(line, "remember")) if "remember" in line.options else
                                       store.remembers["remember"],
                           "capacity": int(last(line, "capacity", store.remembers["capacity"])),
                           "fpr": float(last(line, "fpr", store.remembers["fpr"]))}
        return promise

    def do_known_off(self, _line):
        promise = self.changed()
        promise.store.known = False
        return Promise(REFUSED) if self.store.known and self.store.policy == "allow-only" and \
            self.store.admits_known else promise

    def do_known_save(self, _line):
        return Promise(DONE if self.store.known else ABSENT)

    def do_known_test(self, _line):
        return Promise((0, 1) if self.store.known else ABSENT)

    def do_known_forget(self, line):
        return self.do_known_test(line)

    # --- interfaces ---------------------------------------------------------------------------------

    def mode_after(self, name, mode):
        """What an interface that is asked for gets."""
        if mode == "auto":
            return self.modes.get(name, "skb" if name == values.STUBBORN else "native")
        return mode

    def do_attach(self, line):
        promise, names = self.changed(), set(line.operands)
        mode = last(line, "mode", "auto")
        if names & {values.TAKEN, values.MISSING} or mode == "native" and values.STUBBORN in names:
            return Promise(SYSTEM)
        if "rollback" in line.options:
            attached = names & set(self.modes)
            if attached and (attached != names or any(mode not in ("auto", self.modes[name]) for name in names)):
                return Promise(REFUSED)
            if attached:
                return Promise()
        promise.modes = {**self.modes, **{name: self.mode_after(name, mode) for name in names}}
        for kinds in line.options.get("refuse", ()):
            promise.store.refused |= self.take_kinds(kinds.split(","))
        promise.store.interfaces.update({name: mode for name in names})
        return promise

    def do_detach(self, line):
        promise, names = self.changed(), set(line.operands)
        if "all" in line.options:
            names = set(self.modes)
            promise.codes = DONE if names else (0, 1)
        elif names - set(self.modes):
            return Promise(ABSENT)
        promise.modes = {name: mode for name, mode in self.modes.items() if name not in names}
        promise.store.interfaces = {name: mode for name, mode in self.store.interfaces.items() if name not in names}
        return promise

    # --- what needs bloomd ----------------------------------------------------------------------------

    def do_feeds(self, line):
        return Promise((3,) if line.operands else DONE)

    def do_fleet(self, line):
        word = line.operands[0] if line.operands else "status"
        if "limit" in line.options and word != "verify":
            return Promise(REFUSED)
        return Promise(DONE if word == "status" else (3,))


def quoted(word):
    """As a batch has it."""
    return word if word == shlex.quote(word) else '"%s"' % word
