# SPDX-License-Identifier: GPL-2.0-or-later
"""Program cost: what the shipped filter adds to a packet, beside its peers: of IPv4, of IPv6, and with addresses that are
listed for the ports of mail."""
import statistics

from rig import MILLION, Samples, amount_of, attempt, cost_over, goal, median, packets, quotient
from tables import cell, count, table

SIZES = (1000, MILLION // 10, MILLION, 10 * MILLION)
PREFIXES = 5000
PEERS = ("line_read", "bpf_bloom", "classic_bloom", "bpf_hash", "lpm_trie")


def at(report, hosts, key="program_cost"):
    """What was found at that size, or None."""
    return next((cost for cost in report.get(key, []) if cost["hosts"] == hosts), None)


def program_cost(scratch, hosts, rounds, repeats):
    """What a packet costs over parsing alone, in ns and in peers, by traffic and subject."""
    raw = packets(scratch, "cost", hosts, PREFIXES, rounds, repeats)
    clean = raw["ns"]["clean"]
    found = {
        "hosts": hosts, "prefixes": PREFIXES, "rounds": rounds, "repeats": repeats, "rate": raw["confirmed_rate"],
        "filters": raw["filters"], "peers": raw["peers"], "lpm_trie_max": raw["lpm_trie_max"], "read_bytes": raw["read_bytes"],
        "cost_ns": {}, "over": {peer: {} for peer in PEERS},
        # How far two programs that are alike are apart in a round.
        "noise_ns": statistics.median(abs(a - b) for a, b in zip(clean["bare-1e-4"], clean["bare-again"]))}
    for traffic, samples in raw["ns"].items():
        alone, costs = samples.pop("parse_only"), Samples()
        costs.of = {subject: [a - b for a, b in zip(values, alone)] for subject, values in samples.items()}
        told = {subject: cost_over(values, alone) for subject, values in samples.items()}
        found["cost_ns"][traffic] = told
        for peer in filter(samples.get, PEERS):
            found["over"][peer][traffic] = {
                subject: dict(costs.ratio(subject, peer), min=quotient(told[subject]["min"], told[peer]["min"]))
                for subject in samples if subject != peer}
    return found


def memory_per_host(cost):
    """Bytes of kernel memory an IPv4 host takes, of what ships and of the kernel's maps."""
    hosts, filters = cost["hosts"], cost["filters"]
    ships, many = filters["hosts"], filters["allow-many"]
    return {"hosts": hosts, "per_host": {"bits": ships["bits_bytes"] / hosts, "buckets": ships["buckets_bytes"] / hosts,
                     "sum": (ships["bits_bytes"] + ships["buckets_bytes"]) / hosts,
                     "sum_memlock": ships["memlock"] / hosts, "counters": ships["counters_bytes"] / hosts,
                     **{peer: memory / hosts for peer, memory in cost["peers"].items()}},
        "apart": {"prefix4": filters["hosts_and_prefixes"]["prefix4_bytes"], "gate": ships["gate_bytes"],
                  "allowed": many["allow"], "tries": many["tries_memlock"]}}


def measure(scratch, quick, report):
    report["program_cost"] = []
    if quick:
        report["skipped"].append("program cost at 1k, 100k and 10M hosts (--quick)")
    for hosts in (MILLION,) if quick else SIZES:
        cost = attempt(report, "program cost at %d hosts" % hosts, program_cost, scratch, hosts, 9 if quick else 54,
                       MILLION // (5 if quick else 4))
        if cost:
            report["program_cost"].append(cost)
            if hosts > cost["lpm_trie_max"]:
                report["skipped"].append("LPM trie at %d hosts: it takes one update for each, and gets slower as it grows" % hosts)
    cost = at(report, MILLION)
    report["memory"] = memory_per_host(cost) if cost else None
    measure6(scratch, quick, report)
    measure_countries(scratch, quick, report)


# Hosts, their name, peer, its name, subject, most it may cost of what the peer costs.
CLEAN_GOALS = (
    (MILLION, "1M", "line_read", "line reads", "hosts", 1.6),
    (10 * MILLION, "10M", "line_read", "line reads", "hosts", 1.25),
    (MILLION, "1M", "line_read", "line reads", "hosts_and_prefixes", 2.5),
    (MILLION, "1M", "bpf_bloom", "BPF bloom filters", "hosts", 0.25),
    (MILLION, "1M", "bpf_bloom", "BPF bloom filters", "hosts_and_prefixes", 0.4),
    (MILLION, "1M", "bpf_hash", "BPF hashes", "hosts", 0.06),
    (MILLION, "1M", "lpm_trie", "LPM tries", "hosts", 0.01))


def goals(report):
    found, cost = [], at(report, MILLION)
    for hosts, size, peer, name, subject, limit in CLEAN_GOALS:
        found.append(goal("clean at %s%s, in %s" % (size, ", with prefixes" if "prefixes" in subject else "", name), limit,
                          median(at(report, hosts), "over", peer, "clean", subject)))
    # What confirm and the allowlist may cost.
    for name, subject, other in (("confirm adds", "confirm-1e-4", "bare-1e-4"), ("10k allowed add", "allow-many", "allow-none")):
        clean = cost and cost["cost_ns"]["clean"]
        found.append(goal("clean packet at 1M, ns %s (noise)" % name, cost and cost["noise_ns"],
                          clean and clean[subject]["median"] - clean[other]["median"]))
    for name, subject in (("", "hosts"), (", 10k allowed", "allow-many")):
        found.append(goal("drop at 1M%s, in BPF hash look-ups" % name, 0.5,
                          median(cost, "over", "bpf_hash", "hit", subject)))
    for name, limit, hosts in (("1M", 3.9, MILLION), ("10M", 3.9, 10 * MILLION)):
        cost = at(report, hosts)
        found.append(goal("bits and buckets at %s, bytes per host" % name, limit,
                          cost and memory_per_host(cost)["per_host"]["sum"]))
    return found + goals6(report) + goals_countries(report)


# --- IPv6: hosts, /64 and prefixes of several lengths, beside IPv4 and the kernel's maps ---

SIZES6 = (1000, MILLION // 10, MILLION)
SHARE = 5           # as many hosts for each prefix, where lengths are mixed
# Subject, what it is called, what it may cost of IPv4's clean packet.
LISTED = (("hosts", "IPv4: %s addresses", None),
          ("hosts6", "%s addresses", 1.5),
          ("nets6", "%s /64", None),
          ("six_lengths6", "%s prefixes, 6 lengths", 2.5),
          ("all_lengths6", "%s prefixes, all lengths", None))
BLOOM, HASH, TRIE = "BPF_MAP_TYPE_BLOOM_FILTER, not confirmed", "BPF hash", "LPM trie"
# Of each subject, peers with the same list.
PEERS6 = {"hosts6": (("bpf_bloom6", BLOOM), ("bpf_hash6", HASH + ", 16-byte keys"), ("lpm_trie6", TRIE)),
          "nets6": (("bpf_hash_nets6", HASH + ", 8-byte keys"), ("lpm_trie_nets6", TRIE)),
          "six_lengths6": (("lpm_trie_six_lengths6", TRIE),),
          "all_lengths6": (("lpm_trie_all_lengths6", TRIE),)}
LINES6 = (("line_read", "one random line read of %s, IPv4's Bloom stage"),
          ("line_read6", "one random line read of %s, the Bloom stage of addresses"),
          ("table_read6", "one random line read of %s, their exact table"))
TRAFFIC6 = (("clean", "clean"), ("below", "below a listed /32"), ("hit", "listed"))


def listed_at(subject, hosts):
    """How many are listed."""
    return hosts // SHARE if "lengths" in subject else hosts


def named(text, subject, hosts):
    return text % amount_of(listed_at(subject, hosts))


def kibibytes(size):
    return "%.0f KiB" % (size / 2**10) if size < 2**20 else "%.1f MiB" % (size / 2**20)


def names6(found):
    """Subjects in the order they are told, and what they are called: what is read, then each with its peers."""
    told = [(name, text % kibibytes(found["read_bytes"][name])) for name, text in LINES6]
    for subject, text, _ in LISTED:
        text = named(text, subject, found["hosts"])
        told += [(subject, text)] + [(peer, "%s: %s" % (text, called)) for peer, called in PEERS6.get(subject, ())
                                     if peer in found["cost_ns"]["clean"]]
    return told


def costs_of6(samples):
    """Each over parsing its own family alone."""
    def alone(name):
        return samples["parse_only6" if name.endswith("6") else "parse_only"]

    return {name: cost_over(values, alone(name)) for name, values in samples.items()
            if not name.startswith("parse_only") and (name.endswith("6") or "parse_only" in samples)}


def program_cost6(scratch, hosts, rounds, repeats):
    raw = packets(scratch, "cost6", hosts, hosts // SHARE, rounds, repeats)
    return {"hosts": hosts, "rounds": rounds, "repeats": repeats, "filters": raw["filters"],
            "peers": raw["peers"], "read_bytes": raw["read_bytes"],
            "cost_ns": {traffic: costs_of6(raw["ns"][traffic]) for traffic, _ in TRAFFIC6}}


def measure6(scratch, quick, report):
    report["program_cost6"] = []
    if quick:
        report["skipped"].append("program cost of IPv6 at 1k and 100k hosts (--quick)")
    for hosts in (MILLION,) if quick else SIZES6:
        rounds, repeats = (5, MILLION // 10) if quick else (36 if hosts == MILLION else 18, MILLION // 4)
        found = attempt(report, "program cost of IPv6 at %d hosts" % hosts, program_cost6, scratch, hosts, rounds, repeats)
        report["program_cost6"] += [found] if found else []


def goals6(report):
    def times(subject, peer, traffic="clean"):
        """A cost at 1M as a multiple of another one's with the same traffic; None: not measured."""
        found = at(report, MILLION, "program_cost6")
        return quotient(*(median(found, "cost_ns", traffic, name) for name in (subject, peer)))

    return [goal("clean IPv6 at %s, times IPv4" % named(text, subject, MILLION), limit, times(subject, "hosts"))
            for subject, text, limit in LISTED if limit] + [
        goal("listed IPv6 at 1M addresses, times IPv4", 1.5, times("hosts6", "hosts", "hit")),
        goal("clean IPv6 at 1M addresses, in BPF hashes of 16-byte keys", 0.15, times("hosts6", "bpf_hash6")),
        goal("clean IPv6 at 1M addresses, in LPM tries", 0.05, times("hosts6", "lpm_trie6"))]


def memory6(found):
    """Bytes an entry of each list: bits, exact table, tables of lengths, and what its peers take in the kernel."""
    told = []
    for subject, text, _ in LISTED:
        sized, text = found["filters"][subject], named(text, subject, found["hosts"])
        told.append((text, *(sized[part] / sized["keys"] for part in ("bits_bytes", "buckets_bytes", "lengths_bytes"))))
        told += [("%s: %s" % (text, called), found["peers"][peer] / sized["keys"], None, None)
                 for peer, called in PEERS6.get(subject, ()) if peer in found["peers"]]
    return told


# --- prefixes of the shape of countries' lists, beside as many /32 in the same /16s and the kernel's trie ---

COUNTRIES = ((10000, "one country"), (75000, "all countries"))
COUNTRY = (("country", "%s"), ("country32", "as many /32"), ("lpm_trie_country", "%s, LPM trie"), ("lpm_trie_country32", "as many /32, LPM trie"))


def measure_countries(scratch, quick, report):
    report["countries"] = []
    for prefixes, name in COUNTRIES:
        raw = attempt(report, "prefixes of " + name, packets, scratch, "countries", prefixes, 0, 5 if quick else 36,
                      MILLION // (10 if quick else 4))
        if raw:
            report["countries"].append({"name": name, "filters": raw["filters"], "packet_ns": raw["ns"], "cost_ns": {
                traffic: {subject: cost_over(values, samples["parse_only6"]) for subject, values in samples.items()}
                for traffic, samples in raw["ns"].items()}})


def goals_countries(report):
    """Of whole runs beside /32s, of what is over parsing beside tries."""
    found = []
    for each in report.get("countries", []):
        def over(subject, peer, traffic, key="cost_ns", each=each):
            values = each[key][traffic]
            return quotient(*(statistics.median(values[name]) if key == "packet_ns" else values[name]["median"]
                              for name in (subject, peer)))

        found += [goal("clean packet, %s, run as long as with as many /32" % each["name"], 1.3,
                       over("country", "country32", "clean", "packet_ns"))] + [
                  goal("%s packet, %s, in LPM tries" % (text, each["name"]), limit, over("country", "lpm_trie_country", traffic))
                  for traffic, text, limit in (("clean", "clean", 0.5), ("below", "near", 1), ("hit", "listed", 1.2))]
    return found


def countries_chapter(data, _page):
    lines = []
    for each in data["countries"]:
        lines += table(["%s prefixes, ns a packet over parsing alone" % count(each["filters"]["country"]["keys"])] +
                       [text for _, text in TRAFFIC6],
                       [[text.replace("%s", each["name"])] + [cell(each["cost_ns"][traffic][name]) for traffic, _ in TRAFFIC6]
                        for name, text in COUNTRY])
    return lines


# --- addresses that are listed for the ports of mail, beside the same ones listed for everything ---

SCOPED = (("all", "no scoped list"),
          ("both_other", "and scoped ones, to another port"),
          ("both_mail", "and scoped ones, to a mail port"),
          ("scoped_other", "scoped ones alone, to another port"),
          ("scoped_mail", "scoped ones alone, to a mail port"))
FAMILIES = (("IPv4", "", ""), ("IPv6", "6", "_ipv6"))


def measure_scopes(scratch, quick, report):
    raw = attempt(report, "scopes", packets, scratch, "scopes", MILLION, 0, 3 if quick else 36, MILLION // 10)
    if raw:
        report["scopes"] = {"hosts": MILLION, **{traffic + end: scoped(samples, digit)
                                                 for traffic, samples in raw["ns"].items() for _, digit, end in FAMILIES}}


def scoped(samples, digit):
    """What each costs over parsing alone, and what a second stage adds, as medians of rounds."""
    samples = {name: samples[name + digit] for name in ("parse_only", "again", *dict(SCOPED))}
    costs = {name: cost_over(samples[name], samples["parse_only"]) for name, _ in SCOPED}

    def between(one, other):
        return statistics.median(a - b for a, b in zip(samples[one], samples[other]))

    return {"cost_ns": costs, "added_ns": between("both_other", "all"),
            "mail_over_all": costs["scoped_mail"]["median"] / costs["all"]["median"], "alike_ns": abs(between("again", "all"))}


def goals_scopes(report):
    found = []
    for family, _, end in FAMILIES:
        found += [goal("clean %s packet to another port at 1M, ns a scoped list adds" % family, 5,
                       median(report, "scopes", "clean" + end, "added_ns")),
                  goal("clean %s packet to a mail port at 1M, times one without scope" % family, 1.5,
                       median(report, "scopes", "clean" + end, "mail_over_all"))]
    return found


def scopes_chapter(data, _page):
    lines = []
    for family, _, end in FAMILIES:
        both = [data["scopes"][traffic + end] for traffic in ("clean", "hit")]
        lines += table(["1M %s addresses listed for mail or for everything; ns a packet over parsing alone" % family, "clean",
                        "listed"], [[text] + [cell(each["cost_ns"][name]) for each in both] for name, text in SCOPED] +
                       [["two that are alike differ by"] + [cell(each["alike_ns"]) for each in both]])
    return lines
