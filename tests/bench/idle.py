# SPDX-License-Identifier: GPL-2.0-or-later
"""What bloomd costs while nothing happens, with many addresses listed: memory, wake-ups, scrapes."""
import socket
import time

from bloomd import Installed
from rig import MILLION, Failed, Samples, attempt, first_line, goal, say
from tables import cell, table

SCRAPES = 50


def scrape(path):
    """Seconds of a GET /metrics with all of its answer."""
    start = time.perf_counter()
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
        link.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        answer = b""
        while (more := link.recv(1 << 20)):
            answer += more
    if b" 200 " not in answer[:20] or b"xdp_bloom_entries" not in answer:
        raise Failed("GET /metrics: %s" % answer[:100])
    return time.perf_counter() - start


def measured(scratch, hosts, seconds):
    say("idle: %d addresses" % hosts)
    samples = Samples()
    with Installed(scratch, hosts, "[http]\nlisten = unix:%s/web.sock\n") as installed:
        def status(name):
            return int(first_line("/proc/%d/status" % installed.agent.process.pid, name).split()[0])

        installed.agent.rest()
        time.sleep(2)
        wakeups, begun = status("voluntary_ctxt_switches"), time.monotonic()
        time.sleep(seconds)
        wakeups = (status("voluntary_ctxt_switches") - wakeups) / (time.monotonic() - begun)
        for _ in range(SCRAPES):
            time.sleep(0.15)    # figures are kept for a tenth of a second
            samples.add("scrape", scrape(installed.bloomctl.path("web.sock")))
        return {"hosts": hosts, "wakeups_per_second": wakeups, "scrape_seconds": samples.summary("scrape"),
                "own_bytes": status("RssAnon") * 1024, "resident_bytes": status("VmRSS") * 1024}


def measure(scratch, quick, report):
    report["idle"] = attempt(report, "the idle agent", measured, scratch, MILLION if quick else 10 * MILLION, 10 if quick else 30)


def goals(report):
    found = report.get("idle")
    return [goal("bloomd idle, bytes of its own", 16 << 20, found and found["own_bytes"]),
            goal("bloomd idle, wake-ups a second", 1, found and found["wakeups_per_second"]),
            goal("a scrape, ms", 5, found and 1000 * found["scrape_seconds"]["median"])]


def chapter(data, _page):
    found = data["idle"]
    return table(["%d addresses listed" % found["hosts"], ""], [["memory of its own, MiB", cell(found["own_bytes"] / 2**20)],
                  ["resident, with mapped files, MiB", cell(found["resident_bytes"] / 2**20)],
                  ["wake-ups a second", cell(found["wakeups_per_second"], digits=2)],
                  ["a scrape, ms", cell(found["scrape_seconds"], 1e3, 2)]])
