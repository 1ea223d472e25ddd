# SPDX-License-Identifier: GPL-2.0-or-later
"""What bloomd costs while nothing happens, with many addresses listed: memory, wake-ups, scrapes."""
import socket
import time

from bloomd import Agent
from command_peers import INTERFACE, Bloomctl, Ranges, add_interface
from rig import Failed, Samples, both, first_line, goal, row, run, say

MILLION = 1000000
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


class Idle:
    def __init__(self, scratch, hosts, seconds):
        self.hosts, self.seconds = hosts, seconds
        self.samples, self.bloomctl = Samples(), Bloomctl(scratch)

    def status(self, agent, name):
        return int(first_line("/proc/%d/status" % agent.process.pid, name).split()[0])

    def look(self, agent, web):
        agent.rest()
        time.sleep(2)
        wakeups, begun = self.status(agent, "voluntary_ctxt_switches"), time.monotonic()
        time.sleep(self.seconds)
        wakeups = self.status(agent, "voluntary_ctxt_switches") - wakeups
        found = {"hosts": self.hosts, "wakeups_per_second": wakeups / (time.monotonic() - begun)}
        for _ in range(SCRAPES):
            time.sleep(0.15)    # figures are kept for a tenth of a second
            self.samples.add("scrape", scrape(web))
        found["scrape_seconds"] = self.samples.summary("scrape")
        found["own_bytes"] = self.status(agent, "RssAnon") * 1024
        found["resident_bytes"] = self.status(agent, "VmRSS") * 1024
        return found

    def measure(self):
        add_interface(INTERFACE)
        agent, web = None, self.bloomctl.path("web.sock")
        try:
            self.bloomctl.begin()
            say("idle: %d addresses" % self.hosts)
            run(*self.bloomctl.base, "import", Ranges((0, self.hosts)).write(self.bloomctl.path("load")),
                "--include-bogons")
            with open(self.bloomctl.path("bloomd.conf"), "w") as out:
                out.write("[http]\nlisten = unix:%s\n" % web)
            agent = Agent(self.bloomctl.base, self.bloomctl.counters, self.bloomctl.path("bloomd.conf"))
            return self.look(agent, web)
        finally:
            if agent:
                agent.end()
            run("ip", "link", "del", INTERFACE)
            self.bloomctl.close()


def measure(scratch, quick, report):
    try:
        report["idle"] = Idle(scratch, MILLION if quick else 10 * MILLION, 10 if quick else 30).measure()
    except Failed as failure:
        report["failed"].append("the idle agent: %s" % failure)


def goals(report):
    found = report.get("idle")
    return [goal("bloomd idle, bytes of its own", 16 << 20, found and found["own_bytes"]),
            goal("bloomd idle, wake-ups a second", 1, found and found["wakeups_per_second"]),
            goal("a scrape, ms", 5, found and 1000 * found["scrape_seconds"]["median"])]


def print_text(report):
    found = report.get("idle")
    if not found:
        return
    print("\nbloomd idle, %d addresses listed" % found["hosts"])
    row("memory of its own, MiB", "%.1f" % (found["own_bytes"] / 1048576))
    row("resident, with mapped files, MiB", "%.1f" % (found["resident_bytes"] / 1048576))
    row("wake-ups a second", "%.2f" % found["wakeups_per_second"])
    row("a scrape, ms", both(found["scrape_seconds"], 1e3, 2))
