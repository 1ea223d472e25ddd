# SPDX-License-Identifier: GPL-2.0-or-later
"""Values by what usage lines call them: some that are right, and some that must be refused."""
import ipaddress

ADDRESSES = ("45.33.7.7", "45.33.7.8", "192.0.2.1", "198.51.100.9", "203.0.113.7", "10.9.8.7",
             "2620:fe::9", "2001:db8::1", "2001:db8:1::5", "2a02:4780:1::1")
DOMAINS = ("example.com", "www.example.org", "other.net", "deep.www.example.org")
# The same in other words, prefixes, and such as need --force.
ENTRIES = ADDRESSES[:9] + (
    "45.33.7.0/24", "198.51.100.77/24", "192.0.0.0/10", "10.0.0.0/8", "2001:db8::/32", "2620:fe::/48", "2001:db8:1::/64",
    "::ffff:192.0.2.1", "EXAMPLE.com", "=www.example.org", "example.org", "other.net", "192.0.0.0/3", "2000::/3", "net",
    "0.0.0.0/0")
LISTS = ("default", "mine", "ads", "mail")
SERVICES = ("tcp/25", "udp/9,tcp/25", "icmp", "tcp", "tcp/20-30", "all")
PORTS = ("53", "5300", "5300,53", "443", "80,8080", "off")
NATIVE, STUBBORN, TAKEN = ("wan0", "wan1"), "lan0", "old0"
INTERFACES = NATIVE + (STUBBORN, TAKEN)
MISSING = "nosuch0"

NUMBERS = ("x", "-1", "1.5", "1x", "", "99999999999999999999", "0x10", "+1", " 1")
TIMES = ("x", "-1", "1.5h", "1y", "", "1h30m", "99999999999999999999", "h", " 1", "+1")
NAMES = ("a b", "x" * 65, ".x", "a/b", "", "ä", "x\n")
# Of each kind: right ones, wrong ones.
KINDS = {
    "ENTRY": (ENTRIES, ("192.0.2.256", "192.0.2.0/33", "2001:db8::/129", "2001:db8:::1", "exa mple.com", "a..b", "1.2.3",
                        "192.0.2.1/", "/24", "", "example.123", "=192.0.2.1", "x" * 64 + ".com", "192.0.2.1,192.0.2.2",
                        "192.0.2.0/24x", "*.example.com")),
    "NAME": (LISTS, NAMES),
    "LIST": (LISTS, NAMES),
    "TEXT": (("a comment", "x", "ein Wort für sich", "--force"), ("a\nb", "x" * 256, "\udcff", "\x1b[1m")),
    "SECONDS": (("1h", "3600", "2d", "90m", "7200s", "1w"), TIMES),
    "TIME": (("30d", "1d", "3600", "2w"), TIMES + ("0", "1", "59m", "11000d")),
    "SERVICE,...": (SERVICES[:-1], ("tcp/0", "tcp/65536", "tcp/25-20", "sctp/1", "icmp/8", "tcp/", "tcp/25,", "TCP/25",
                                    "tcp/25;udp/53", "", "25")),
    "SERVICE": (("tcp/25", "udp/53", "icmp"), ("tcp/0", "sctp/1", "tcp/", "", "25", "TCP/25")),
    "PORT,...": (PORTS[:-1], ("0", "65536", "x", "53,", "53,53", "1,2,3,4,5", "53 ", "-1", "")),
    "ANSWERS": (("1", "1000", "5000", "1000000"), NUMBERS + ("0", "1000001")),
    "NUMBER/TIME": (("100/s", "10/m", "5k/h", "1/h"), NUMBERS + ("1", "0/s", "1/d", "/s", "1.5/s", "1/s/s", "1 /s")),
    "AMOUNT": (("5", "20", "24"), NUMBERS + ("0", "2M", "1048577")),
    "BITS,...": (("32", "24", "64", "48", "24,48"), ("", "0", "16", "24,32", "48,64", "24,", "24,48,64", "x", "24;48", "24,name")),
    "KEYS": (("0", "1000", "20000"), NUMBERS + ("68719476736000",)),
    "SOURCES": (("1000", "5000"), NUMBERS + ("0", "10000000001")),
    "RATE": (("0.01", "0.001", "1e-5", "0.0001"), ("0", "1", "x", "-0.1", "1e-10", "0.001x", "", "nan", "inf")),
    "LENGTH": (("16", "24", "31", "48", "64"), NUMBERS + ("0", "15", "128", "/24", "24,64")),
    "NUMBER": (("1", "2", "7", "20", "1000"), NUMBERS),
    "MULTIPLE": (("1x", "2x", "10x", "1000x"), ("0x", "1001x", "10", "x", "1.5x", "-1x", "10X", "10xx", "", " 2x")),
    "TIME[..LONGEST]": (("1h", "3600", "10m..1d", "60..60s", "90m..1w"), TIMES + (
        "0", "366d", "1h..", "..1h", "1d..1h", "1h..2h..3h", "1h.2h", "1h..366d", "1h-2h")),
    "FACTOR": (("1.5", "2", "100"), ("0.5", "x", "-2", "", "2x", "nan", "inf")),
    "INTERFACE": (INTERFACES, (MISSING, "", "x" * 16, "wan0 ", "*", "wan", "wan0,wan1")),
    "ADDRESS": (("192.0.2.1", "2001:db8::1", "2001:db8:5::/64", "45.33.7.7"), (
        "192.0.2.0/24", "example.com", "2001:db8::/48", "", "x")),
    "DOMAIN": (("example.com", "rpz.example.net"), ("a..b", "=x.com", "", "x" * 64 + ".com")),
    "COLUMN": (("1", "ip"), ()),
    "COLUMN=VALUE,...": (("1=x",), ()),
    "PATH": (("prefixes[].ip_prefix",), ()),
    "CODE,...": (("AS", "NA,AF"), ("Germany", "D", "AS,")),
    "NUMBER,...": (("64500", "AS1,4294967295"), ("0", "AS", "4294967296")),
    "PATH=VALUE,...": (("country.iso_code=DE|AT", ".", "tags[]"), ("a..b", ".=1")),
    "LINE": (("# end", "45.33.7.8"), ()),
    "FEED": (("drop",), ("a b", "../x", "")),
    "KIND": ((), ("bogus", "SSH", "", "ssh,", "loop")),
    "KIND,...": ((), ("bogus", "SSH", "", "ssh,", "ssh,bogus", "loop")),
    "VERDICT": ((), ("bogus", "DROP", "", "dro")),
    "FORMAT": ((), ("bogus", "", "plai")),
    "COMMAND": ((), ("bogus", "", "ad")),
    "FILE": ((), ("/proc/nonexistent/file",)),
}
# Where a wrong value shows only at the machine.
NOT_OF_THE_LINE = ("INTERFACE", "FILE")


def parts(name):
    """"SERVICE,...|all": what may stand there, a word in small letters for itself."""
    return [part.removesuffix("...") if not part.endswith(",...") else part for part in name.split("|")]


def is_word(part):
    return part[:1].islower() or part == "-"


def right(name, offers, dice):
    """A right value, or None if this kind is not known here."""
    some = ["allow"] if "<lists>" in offers else []
    for part in parts(name):
        known = KINDS.get(part, ((), ()))[0]
        if is_word(part):
            some.append(part)
        elif known:
            some += known
        elif offers and not offers[0].startswith("<"):
            some += [word for word in offers if word not in name.split("|")]
    return dice.choice(some) if some else None


def wrong(name, offers, dice):
    """A value that is refused, with whether the line alone shows that; None: nobody knows one."""
    words = [part for part in parts(name) if is_word(part)]
    kinds = [part for part in parts(name) if not is_word(part)]
    if not kinds:
        some = [word[:-1] for word in words if word[:-1] not in words] + [word + "x" for word in words] + \
            [words[0].upper(), ""]
        return dice.choice(some), True
    some = [value for value in KINDS.get(kinds[0], ((), ()))[1] if value not in words]
    if "<lists-to-fill>" in offers:
        some += ["allow", "auto:ssh"]
    return (dice.choice(some), kinds[0] not in NOT_OF_THE_LINE) if some else None


def canonical(entry):
    """As the store writes it."""
    exact = "=" if entry.startswith("=") else ""
    try:
        network = ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return exact + entry.removeprefix("=").lower()
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped and network.prefixlen >= 96:
        network = ipaddress.ip_network((mapped, network.prefixlen - 96))
    return str(network.network_address) if network.prefixlen == network.max_prefixlen else str(network)


def is_name(entry):
    return ":" not in entry and not entry[-1].isdigit()


def is_inside(entry, outer):
    """canonical: whether the entry lies in the other one, or is it."""
    if is_name(entry) != is_name(outer):
        return False
    if is_name(entry):
        name = entry.removeprefix("!").removeprefix("=")
        return entry == outer or not outer.startswith("=") and ("." + name).endswith("." + outer)
    inner, network = ipaddress.ip_network(entry), ipaddress.ip_network(outer)
    return inner.version == network.version and inner.subnet_of(network)


def is_too_wide(entry):
    """canonical: what needs --force."""
    if is_name(entry):
        return "." not in entry
    network = ipaddress.ip_network(entry)
    return network.prefixlen < (8 if network.version == 4 else 16)


SPECIAL = tuple(ipaddress.ip_network(text) for text in (
    "10.0.0.0/8", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))


def is_bogon(entry):
    """What import leaves out."""
    if is_name(entry) or is_too_wide(entry):
        return is_too_wide(entry)
    network = ipaddress.ip_network(entry)
    return any(network.version == other.version and network.subnet_of(other) for other in SPECIAL)


def scope(text):
    """As the store writes it; None: every packet."""
    if text == "all":
        return None
    order = ("tcp", "udp", "icmp")
    return ",".join(sorted(set(text.split(",")), key=lambda one: (order.index(one.split("/")[0]), one)))
