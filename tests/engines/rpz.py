# SPDX-License-Identifier: GPL-2.0-or-later
"""rpz: response policy zones, which BIND, Unbound, PowerDNS Recursor and Knot Resolver load."""
import zones

PACKAGES = ("bind9", "unbound", "pdns-recursor", "knot-resolver")
NAMES = True
AT_ONCE = True
HEAD = ("$TTL 60\n@ IN SOA a. b. 1 2 3 4 5\n@ NS a.\n", "@ 60 SOA a. b. ( 1 ; serial\n 2 3\n 4 5 )\n\tNS a.\n",
        "$ORIGIN rpz.test.\n$TTL 1h\nrpz.test. SOA a. b. 1 2 3 4 5\n NS a.\n")
REFUSING = ("CNAME .", "CNAME .", "CNAME *.", "CNAME rpz-drop.", "A 0.0.0.0", "AAAA ::", "A 127.0.0.1")
PASSING = ("CNAME rpz-passthru.", "CNAME rpz-tcp-only.", "A 192.0.2.9", "CNAME garden.test.", "TXT \"a ; b\"",
           "MX 1 mail.test.", "AAAA 2001:db8::7")
LABELS = ("a", "b", "c")


def name(draw, most=4):
    return ".".join([draw.choice(LABELS) for _ in range(draw.randrange(most))] + [draw.choice(("x.org", "y.org"))])


def written(draw, owner, data, in_full):
    """A record, in one of the ways in which the same can be written."""
    kind, value = data.split(" ", 1)
    owner = owner.upper() if draw.random() < 0.1 else owner
    if draw.random() < 0.1 and owner.endswith("g"):
        owner = owner[:-1] + "\\103"
    if in_full and draw.random() < 0.4:
        owner += ".rpz.test."
    between = draw.choice((" ", "\t", " 60 ", " IN ", " 60 IN "))
    how = draw.randrange(8)
    if how == 0:
        return "%s%s%s ( %s )" % (owner, between, kind, value)
    if how == 1:
        return "%s%s%s (\n\t%s ; why\n )" % (owner, between, kind, value)
    return "%s%s%s %s%s" % (owner, between, kind, value, draw.choice(("", "", " ; why")))


def records(draw):
    """One name has a CNAME record, or other data."""
    chosen = {}
    for _ in range(draw.randint(1, 9)):
        owner = draw.choice(("", "*.")) + name(draw)
        one = draw.choice(REFUSING if draw.random() < 0.6 else PASSING)
        if draw.random() < 0.05 and not owner.startswith("*"):
            one = "CNAME " + owner
        if owner in chosen and ("CNAME" in one or "CNAME" in chosen[owner][0]):
            continue
        if one not in chosen.setdefault(owner, []):
            chosen[owner].append(one)
    return chosen


def make(draw):
    chosen = records(draw)
    # Some of these programs know of the name of the zone only by the file.
    head = draw.choice(HEAD)
    in_full = "$ORIGIN" in head
    lines = []
    for owner, several in chosen.items():
        for number, one in enumerate(several):
            if number and draw.random() < 0.5:
                lines[-1] += "\n" + written(draw, "", one, False)
            else:
                lines.append(written(draw, owner, one, in_full))
    draw.shuffle(lines)
    questions = {name(draw, 5) for _ in range(20)} | {"x.org", "y.org", "elsewhere.org"}
    for owner in chosen:
        bare = owner.replace("*.", "")
        questions |= {bare, "b." + bare, "0." + bare, "z.y." + bare, bare.split(".", 1)[1]}
    text = head + "\n".join(lines) + "\n"
    return text, sorted(questions), {"format": "rpz"}


# The last line of a zone, which says that it has been read: some answer before.
PROBE = "probe CNAME .\n"


class Bind(zones.Resolver):
    def start(self, zone):
        conf = self.put("conf", """options { directory "/lists"; listen-on port %d { 127.0.0.1; }; listen-on-v6 { none; };
            pid-file none; session-keyfile none; managed-keys-directory "/lists/%s"; recursion yes; forward only;
            forwarders { %s; }; dnssec-validation no; empty-zones-enable no; max-cache-size 4M;
            response-policy { zone "rpz.test"; } qname-wait-recurse no; };
            controls { }; zone "rpz.test" { type primary; file "%s"; };\n""" %
                        (self.port, self.package, zones.UPSTREAM, zone))
        return self.root.start("named", "-g", "-n", "1", "-c", conf, "-u", "root")


class Unbound(zones.Resolver):
    def start(self, zone):
        conf = self.put("conf", """server:
            module-config: "respip iterator"\n interface: 127.0.0.1@%d\n do-daemonize: no\n chroot: ""\n username: ""
            directory: "/lists"\n pidfile: ""\n use-syslog: no\n do-not-query-localhost: no\n do-ip6: no\n num-threads: 1
            rpz:\n name: rpz.test\n zonefile: %s
            forward-zone:\n name: .\n forward-addr: %s\n""" % (self.port, zone, zones.UPSTREAM))
        return self.root.start("unbound", "-d", "-c", conf)


class Recursor(zones.Resolver):
    def start(self, zone):
        rules = self.put("rules", 'rpzFile("%s", {policyName="rpz.test"})\n' % zone)
        self.put("recursor.conf", """local-address=127.0.0.1\nlocal-port=%d\nforward-zones-recurse=.=%s\nlua-config-file=%s
socket-dir=/lists/%s\ndaemon=no\ndisable-syslog=yes\nthreads=1\npdns-distributes-queries=no\ndnssec=off\nsetuid=root
setgid=root\nsecurity-poll-suffix=\ndont-query=\nexport-etc-hosts=no\nallow-from=127.0.0.0/8\n""" %
                 (self.port, zones.UPSTREAM, rules, self.package))
        words = ["pdns_recursor", "--config-dir=/lists/" + self.package]
        return self.root.start(*words, *["--enable-old-settings"] * (self.root.release != "bookworm"))


class Knot(zones.Resolver):
    """It refuses by a failure whom others give no answer. What a zone lets pass ends its policies, and with them the one
    that forwards: so both are one."""

    def __init__(self, *words):
        super().__init__(*words)
        self.fails_as_refusal = True

    def start(self, zone):
        conf = self.put("conf", """net.listen('127.0.0.1', %d, {kind = 'dns'})\nnet.ipv6 = false
for _, name in ipairs({'ta_signal_query', 'ta_update', 'priming', 'detect_time_skew', 'detect_time_jump'}) do
    modules.unload(name)\nend\nmodules = {'policy'}\ntrust_anchors.remove('.')\ncache.size = 4 * MB
local zone, forward = policy.rpz(policy.DENY, '%s', false), policy.FORWARD('%s@53')
policy.add(function(state, query)
    local action = zone(state, query)
    return (action == nil or action == policy.PASS) and forward or action
end)\n""" % (self.port, zone, zones.UPSTREAM))
        return self.root.start("kresd", "-n", "-c", conf, "/lists/" + self.package)


def engines(root):
    made = [kind(root, package, 5301 + number, PROBE) for number, (kind, package) in
            enumerate(zip((Bind, Unbound, Recursor, Knot), PACKAGES))]
    return [zones.First(made[0]), *made[1:]]


def is_left_out(_text, _asked, _reading):
    return False


def may_be_refused(_text, reason):
    """There is a zone in which all passes."""
    return "no line could be read" in reason or "no entries" in reason
