# SPDX-License-Identifier: GPL-2.0-or-later
"""What the store has, as `save` writes it, and as the model of the sweep keeps it."""
import copy
import json

KINDS = {"address", "peer", "gateway", "resolver", "loopback", "link-local", "ssh", "time", "dhcp"}
LATE = 20       # seconds that an expiry may differ by: a command takes its time
REMEMBERS = {"remember": 30 * 86400, "capacity": 200000, "fpr": 0.001}
ANY = ...       # a comment or an expiry that is not foretold


class Store:
    def __init__(self):
        self.rate, self.capacity, self.confirm, self.limit = 0, 0, True, 1000
        self.policy, self.admits_known = "enforce", False
        self.refused, self.ports = set(), {"dns": [53], "tls": [], "http": []}
        self.known, self.remembers = False, dict(REMEMBERS)     # the latter also while it is off
        self.interfaces = {}        # modes by name
        self.terms = {}             # verdict and scope, by list; only those that are not the default
        self.limits = {}            # by name, what `save` writes of each
        self.listed, self.allowed = {}, {}      # by entry and list: comment and expiry

    def copy(self):
        return copy.deepcopy(self)

    def side(self, allow):
        return self.allowed if allow else self.listed

    def lists(self):
        """Those that there are: with members, or with terms of their own."""
        return {name for _, name in [*self.listed, *self.allowed]} | set(self.terms)

    def verdict(self, name):
        return self.terms.get(name, ("drop", None))[0]

    def scope(self, name):
        return self.terms.get(name, ("drop", None))[1]

    def set_terms(self, name, verdict, scope):
        self.terms[name] = (verdict, scope)
        if self.terms[name] == ("drop", None):
            del self.terms[name]

    def admits(self):
        """Whether allow-only lets in somebody for being listed."""
        return any(":" in entry or entry[-1].isdigit() for entry, name in self.listed if self.verdict(name) != "count")


def read(text):
    """What `save` wrote."""
    store, lines = Store(), [json.loads(line) for line in text.splitlines()]
    head = lines[0]
    store.rate, store.capacity, store.confirm = head["fpr"], head["capacity"], head["confirm"]
    store.policy, store.admits_known = head["policy"], head.get("admits_known", False)
    store.refused, store.ports, store.limit = set(head["refused"]), head["ports"], head["answer_limit"]
    store.known = "known" in head
    store.remembers.update(head.get("known", {}))
    for line in lines[1:]:
        if "interface" in line:
            store.interfaces[line["interface"]] = line["mode"]
        elif "limit" in line:
            store.limits[line["limit"]] = line
        elif "verdict" in line:
            store.set_terms(line["list"], line["verdict"], line.get("scope"))
        else:
            side = store.allowed if "allow" in line else store.listed
            side[line.get("allow", line.get("entry")), line["list"]] = (line.get("comment"), line.get("expires"))
    return store


def same(foretold, found):
    """Of a comment or an expiry."""
    if foretold is ANY or foretold == found:
        return True
    return isinstance(foretold, int) and isinstance(found, int) and abs(foretold - found) <= LATE


def members_differ(what, foretold, found):
    for key in sorted({*foretold, *found}):
        if key not in found or key not in foretold:
            yield "%s in list %s is %s %s" % (*key, "not" if key not in found else "", what)
        elif not all(map(same, foretold[key], found[key])):
            yield "%s in list %s is %s with %s, not %s" % (*key, what, found[key], foretold[key])


def differences(foretold, found):
    """What is not as it should be, as lines of text."""
    said = []
    for name in ("rate", "capacity", "confirm", "limit", "policy", "admits_known", "refused", "ports", "known",
                 "interfaces", "terms", "limits", "remembers"):
        before, now = getattr(foretold, name), getattr(found, name)
        if name == "remembers" and not found.known:
            continue
        if before != now:
            said.append("%s is %s, not %s" % (name, now, before))
    said += members_differ("listed", foretold.listed, found.listed)
    said += members_differ("allowed", foretold.allowed, found.allowed)
    return said


def taken_over(foretold, found):
    """What was found, with what `save` does not tell."""
    store = found.copy()
    if not found.known:
        store.remembers = dict(foretold.remembers)
    return store
