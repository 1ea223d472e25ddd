#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""listoracle.py FILES SEED BLOOMCTL ARGUMENT...: random lists of addresses in every format, imported and
compared with what an independent reading of them lists. (BLOOMCTL with its first arguments is the command.)"""
import csv
import gzip
import io
import ipaddress
import json
import os
import random
import subprocess
import sys
import tempfile

COMMAND = sys.argv[3:]
RANDOM = random.Random(int(sys.argv[2]))


def address(ipv6=False):
    """One that is no bogon; often near others, so that ranges end anywhere."""
    if ipv6:
        return ipaddress.IPv6Address((0x2600 << 112) | RANDOM.getrandbits(RANDOM.choice((4, 16, 64))))
    return ipaddress.IPv4Address((8 << 24) | RANDOM.getrandbits(RANDOM.choice((4, 12, 24))))


def span():
    """A first and a last address."""
    ipv6 = RANDOM.random() < 0.3
    first = address(ipv6)
    return first, first + RANDOM.getrandbits(RANDOM.choice((0, 2, 7, 12)))


def nets(first, last):
    return set(ipaddress.summarize_address_range(first, last))


def network(ipv6=False):
    one = address(ipv6)
    length = RANDOM.randint(12 if not ipv6 else 32, one.max_prefixlen)
    return ipaddress.ip_network("%s/%d" % (one, length), strict=False)


def one():
    """A text as a list may have it, and the networks that it means."""
    kind = RANDOM.randrange(7)
    single = address(RANDOM.random() < 0.3)
    net = network(RANDOM.random() < 0.3)
    if kind == 0:
        return str(single), {ipaddress.ip_network(single)}
    if kind == 1:
        return str(net), {net}
    if kind == 2:
        first, last = span()
        return RANDOM.choice(("%s-%s", "%s - %s")) % (first, last), nets(first, last)
    if kind == 3:
        net = network()
        return net.with_netmask, {net}
    if kind == 4:
        form = "[%s]:%d" if single.version == 6 else "%s:%d"
        return form % (single, RANDOM.randint(1, 65535)), {ipaddress.ip_network(single)}
    if kind == 5:
        return "Ip:%s" % single, {ipaddress.ip_network(single)}
    return "Range:%s" % net, {net}


def several():
    return [one() for _ in range(RANDOM.randint(1, 12))]


def meant(entries):
    return set().union(*(networks for _, networks in entries))


def noise():
    return RANDOM.choice(("a", "b c", "", "x,y", 'say "so"', "two\nlines", "a;b|c", "17", "é"))


def plain():
    entries = several()
    lines = [text + RANDOM.choice(("", " # why", " ; a", " // b", "\r")) for text, _ in entries]
    for line in ("# head", "// head", "", " "):
        lines.insert(RANDOM.randint(0, len(lines)), line)
    return "\n".join(lines) + "\n", meant(entries), ["--format", "plain"]


def columns():
    """CSV as Python writes it, by number or name, with lines that a condition leaves out."""
    separator, quoting = RANDOM.choice(",;\t|"), RANDOM.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    out, entries, at = io.StringIO(), several(), RANDOM.randint(0, 3)
    name = RANDOM.choice(("ip", "source ip", "dst_ip"))
    writer = csv.writer(out, delimiter=separator, quoting=quoting, lineterminator=RANDOM.choice(("\n", "\r\n")))
    header, listed = RANDOM.random() < 0.5, set()
    if header:
        writer.writerow(["c%d" % i for i in range(at)] + [name, "kind"])
    for text, networks in entries:
        kind = RANDOM.choice(("ban", "a, b|c", "pass"))
        writer.writerow([noise() for _ in range(at)] + [text, kind])
        listed |= networks if kind != "pass" else set()
    form = {",": "csv", ";": "semicolons", "\t": "tsv", "|": "pipes"}[separator]
    if not header:
        return out.getvalue(), listed, ["--format", form, "--column", str(at + 1), "--where", "%d!=pass" % (at + 2)]
    return out.getvalue(), listed, ["--format", form, "--column", name, "--where", 'kind=ban|"a, b|c"']


def two_columns():
    lines, listed, kind = [], set(), RANDOM.choice(("..", "/", "/mask", "/wild", "+"))
    for _ in range(RANDOM.randint(1, 12)):
        if kind == "..":
            first, last = span()
            second, networks = str(last), nets(first, last)
        elif kind == "+":
            first, count = address(), RANDOM.randint(1, 5000)
            second, networks = str(count), nets(first, first + count - 1)
        else:
            net = network()
            first, networks = net.network_address, {net}
            second = {"/mask": net.netmask, "/wild": net.hostmask, "/": net.prefixlen}[kind]
        lines.append(RANDOM.choice(("%s %s x", " %s\t%s", "%s   %s")) % (first, second))
        listed |= networks
    return "\n".join(lines), listed, ["--format", "table", "--column", "1%s2" % (kind if kind == ".." else kind[0])]


def peers():
    lines, listed = [], set()
    pad = RANDOM.random() < 0.5
    for _ in range(RANDOM.randint(1, 12)):
        first, last = address(), None
        last = first + RANDOM.getrandbits(6)
        texts = [".".join("%03d" % part for part in end.packed) if pad else str(end) for end in (first, last)]
        lines.append("Org %d: x:%s-%s" % (RANDOM.randint(0, 9), *texts))
        listed |= nets(first, last)
    return "\n".join(lines) + "\n", listed, []


def levels():
    lines, listed = [], set()
    for _ in range(RANDOM.randint(1, 12)):
        first, level = address(), RANDOM.randint(0, 255)
        last = first + RANDOM.getrandbits(6)
        texts = [".".join("%03d" % part for part in end.packed) for end in (first, last)]
        lines.append("%s - %s , %03d , why, %s" % (*texts, level, first))
        listed |= nets(first, last) if level < 128 else set()
    return "\n".join(lines) + "\n", listed, []


def document():
    entries = several()
    listed, rows = set(), []
    for text, networks in entries:
        kind = RANDOM.choice(("ban", "pass"))
        rows.append({"x": noise(), "a b": {"ip": text if RANDOM.random() < 0.9 else None}, "t": kind})
        listed |= networks if kind == "ban" and rows[-1]["a b"]["ip"] else set()
    path = '[t=ban]."a b".ip'
    if RANDOM.random() < 0.3:
        # One behind the other: there is nothing to choose among.
        listed = set().union(*(n for (_, n), row in zip(entries, rows) if row["a b"]["ip"]))
        return "\n".join(json.dumps(row) for row in rows), listed, ["--json-path", '"a b".ip']
    if RANDOM.random() < 0.5:
        return json.dumps({"data": rows}, indent=RANDOM.choice((None, 2))), listed, ["--json-path", "data" + path]
    return json.dumps(rows), listed, ["--json-path", path]


def pairs():
    """What two keys say together, of the elements with a number that is large enough."""
    kind, rows, listed = RANDOM.choice(("..", "/", "+")), [], set()
    for _ in range(RANDOM.randint(1, 12)):
        score = RANDOM.choice((49, 49.5, 50, 50.0, 51, "50", "49", None))
        if kind == "..":
            first, last = span()
            second, networks = str(last), nets(first, last)
        elif kind == "+":
            first, count = address(), RANDOM.randint(1, 5000)
            second, networks = count, nets(first, first + count - 1)
        else:
            net = network()
            first, networks = net.network_address, {net}
            second = RANDOM.choice((net.prefixlen, str(net.netmask), str(net.hostmask), str(net.prefixlen)))
        rows.append({"of": {"score": score}, "a.b": str(first), "b": {"c": second}})
        listed |= networks if score is not None and float(score) >= 50 else set()
    return json.dumps({"x": rows}), listed, ["--json-path", 'x[of.score>=50]."a.b"%sb.c' % kind]


def words():
    entries = [entry for entry in several() if " " not in entry[0]]
    text = "".join(word + RANDOM.choice((" ", ",", "\n", "\t", ", ")) for word, _ in entries)
    return text + "\n# end\n", meant(entries) if entries else set(), ["--format", "words"]


def text():
    out, listed = [], set()
    for _ in range(RANDOM.randint(1, 20)):
        what = RANDOM.randrange(4)
        single, net = address(RANDOM.random() < 0.3), network(RANDOM.random() < 0.3)
        if what == 0:
            out.append(RANDOM.choice(("%s", "(%s)", "src=%s", "%s,", '"%s"', "<%s>", "%s;")) % single)
            listed.add(ipaddress.ip_network(single))
        elif what == 1:
            out.append(RANDOM.choice(("%s", "[%s]", "%s;")) % net)
            listed.add(net)
        elif what == 2:
            out.append(RANDOM.choice(("v8.%d.3.4", "8.%d.1.2.3", "x8.8.%d.8y", "openssl-8.1.%d.1", "8.8.%d")) %
                       RANDOM.randint(0, 255))
        else:
            out.append(RANDOM.choice(("12:30:01", "std::string", "::", "a::b::c", "00:11:22:33:44:55", "word")))
    return "".join(part + RANDOM.choice((" ", "\n", " \t")) for part in out), listed, ["--format", "extract"]


def pack(content):
    """Perhaps packed, perhaps UTF-16."""
    if RANDOM.random() < 0.2:
        content = content.encode("utf-16")
    else:
        content = content.encode()
    how = RANDOM.random()
    if how < 0.2:
        return gzip.compress(content)
    if how < 0.4:
        return subprocess.run(["zstd", "-q", "-c"], input=content, stdout=subprocess.PIPE, check=True).stdout
    return content


def run(*words_, **more):
    return subprocess.run([*COMMAND, *words_], capture_output=True, check=False, **more)


def check(number, path):
    maker = RANDOM.choice((plain, columns, two_columns, peers, levels, document, pairs, words, text))
    content, listed, options = maker()
    with open(path, "wb") as file:
        file.write(pack(content))
    done = run("-q", "import", path, "--list", "o", "--replace", "--force", *options)
    found = set()
    if done.returncode == 0 and listed:
        answer = json.loads(run("-j", "list", "--list", "o").stdout)
        found = {ipaddress.ip_network(entry["entry"]) for entry in answer["entries"]}
    if done.returncode or found != listed:
        sys.exit("%s %d, %s: %s\nmissing %s\ntoo many %s\n%s" % (
            maker.__name__, number, options, done.stderr.decode().strip(), sorted(map(str, listed - found)),
            sorted(map(str, found - listed)), content))


with tempfile.TemporaryDirectory() as directory:
    for count in range(int(sys.argv[1])):
        check(count, os.path.join(directory, "list"))
