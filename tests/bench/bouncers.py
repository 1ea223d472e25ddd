# SPDX-License-Identifier: GPL-2.0-or-later
"""bloomd as a bouncer of CrowdSec, beside Debian's crowdsec-firewall-bouncer with ipset: the time until all
decisions are enforced, memory and processor. Both ask the same local API, one after the other, once."""
import json
import os
import subprocess
import time

from bloomd import first
from rig import BUILD, ROOT, Failed, first_line, run, say

UNPACKED = os.path.join(ROOT, "build", "crowdsec")
SETS = {"crowdsec-blacklists": "inet", "crowdsec6-blacklists": "inet6"}
MOST = 180      # seconds for either
QUIET = 25      # seconds in which nothing changes
NAMES = {"bloomd": "bloomd", "ipset": "crowdsec-firewall-bouncer 0.0.25, ipset"}

CONFIG = """
common: {{daemonize: false, log_media: stdout, log_level: error, working_dir: {0}}}
config_paths: {{config_dir: {0}/, data_dir: {0}/data/, simulation_path: {0}/simulation.yaml, hub_dir: {0}/hub/,
  index_path: {0}/hub/.index.json, notification_dir: {0}/notifications/, plugin_dir: {0}/plugins/}}
crowdsec_service: {{acquisition_path: {0}/acquis.yaml, parser_routines: 1}}
cscli: {{output: human, color: no}}
db_config: {{log_level: error, type: sqlite, db_path: {0}/data/crowdsec.db, flush: {{max_items: 500000, max_age: 7d}}}}
api:
  client: {{insecure_skip_verify: false, credentials_path: {0}/local_api_credentials.yaml}}
  server: {{log_level: error, listen_uri: "127.0.0.1:8080", profiles_path: {0}/profiles.yaml,
    online_client: {{credentials_path: {0}/online_api_credentials.yaml}}}}
prometheus: {{enabled: false}}
"""

PEER = """
mode: ipset
pid_dir: {0}
update_frequency: 10s
daemonize: false
log_mode: stdout
log_level: error
api_url: http://127.0.0.1:8080/
api_key: {1}
disable_ipv6: false
deny_action: DROP
supported_decisions_types: [ban]
blacklists_ipv4: crowdsec-blacklists
blacklists_ipv6: crowdsec6-blacklists
ipset_type: nethash
iptables_chains: [INPUT]
prometheus: {{enabled: false}}
"""


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


class Server:
    """The local API, in the foreground."""

    def __init__(self, directory):
        self.top, self.config = directory, os.path.join(directory, "config.yaml")
        for name in ("data", "hub", "notifications", "plugins"):
            os.makedirs(os.path.join(directory, name))
        for name, text in (("hub/.index.json", "{}"), ("simulation.yaml", "simulation: false\n"), ("acquis.yaml", ""),
                           ("online_api_credentials.yaml", "# none\n"),
                           ("local_api_credentials.yaml", "url: http://127.0.0.1:8080\n"),
                           ("profiles.yaml", first_text(os.path.join(UNPACKED, "etc/crowdsec/profiles.yaml"))),
                           ("config.yaml", CONFIG.format(directory))):
            write(os.path.join(directory, name), text)
        self.cscli("machines", "add", "-a", "--force")
        self.process = subprocess.Popen([os.path.join(UNPACKED, "usr/bin/crowdsec"), "-c", self.config, "-no-cs", "-no-capi"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            if not subprocess.run(["curl", "-s", "-o", "/dev/null", "http://127.0.0.1:8080/v1/decisions"],
                                  check=False).returncode:
                return
            time.sleep(0.05)
        raise Failed("CrowdSec does not start")

    def cscli(self, *words):
        return run(os.path.join(UNPACKED, "usr/bin/cscli"), "-c", self.config, *words)

    def key(self, name):
        return self.cscli("bouncers", "add", name, "-o", "raw").strip()

    def fill(self, count):
        path = os.path.join(self.top, "import.csv")
        write(path, "duration,scope,value\n" + "".join(
            "24h,ip,%d.%d.%d.%d\n" % (5 + (n >> 16), n * 7 >> 8 & 255, n >> 8 & 255, n & 255) for n in range(count)))
        self.cscli("decisions", "import", "-i", path)

    def seconds(self, key):
        """One answer with all decisions, as any bouncer has to wait for it."""
        start = time.perf_counter()
        run("curl", "-sf", "-o", "/dev/null", "-H", "X-Api-Key: " + key,
            "http://127.0.0.1:8080/v1/decisions/stream?startup=true&scopes=ip,range&dedup=false")
        return time.perf_counter() - start

    def end(self):
        self.process.terminate()
        self.process.wait()


def first_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Watched:
    """A process and those that it starts: their memory at most, and their time of the processor."""

    def __init__(self, process):
        self.pid, self.peak = process.pid, 0

    def look(self):
        pids = [self.pid] + [int(word) for word in first("/proc/%d/task/%d/children" % (self.pid, self.pid)).split()]
        # Of pages that a child shares with its parent each has its part.
        parts = [first_line("/proc/%d/smaps_rollup" % pid, "Pss:") for pid in pids]
        self.peak = max(self.peak, 1024 * sum(int(part.split()[0]) for part in parts if part))

    def seconds(self):
        """Of children, those that have ended."""
        with open("/proc/%d/stat" % self.pid, encoding="ascii") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


class Ours:
    """bloomd, with a filter on an interface, so that what is listed is enforced."""

    def __init__(self, scratch, key):
        options = []
        for option in ("state", "pin", "run"):
            options += ["--" + option, scratch.make("bouncer-" + option) if option != "pin"
                        else os.path.join(scratch.pins, "bouncer")]
        self.state = os.path.join(options[1], "feeds", "crowdsec.json")
        self.ctl = [os.path.join(BUILD, "bloomctl"), *options]
        run("ip", "link", "add", "bouncer0", "type", "veth", "peer", "name", "bouncer1")
        run(*self.ctl, "-q", "attach", "bouncer0")
        keyfile, config = scratch.path("crowdsec.key"), scratch.path("bouncer.conf")
        write(keyfile, key + "\n")
        os.chmod(keyfile, 0o600)
        write(config, "[api]\nenabled = no\n[crowdsec]\nurl = http://127.0.0.1:8080/\nkey-file = %s\n" % keyfile)
        self.command = [os.path.join(BUILD, "bloomd"), *options, "--config", config]

    def entries(self):
        try:
            with open(self.state, encoding="ascii") as file:
                return json.load(file)["entries"]
        except (OSError, ValueError):
            return 0

    def kernel_bytes(self):
        text = run(*self.ctl, "metrics")
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if line.startswith("xdp_bloom_memory_bytes"))

    def close(self):
        run(*self.ctl, "-q", "detach", "--all")
        run("ip", "link", "del", "bouncer0")


class Peer:
    """The packaged bouncer, which fills sets that are there."""

    def __init__(self, scratch, key):
        config = scratch.path("peer.yaml")
        write(config, PEER.format(scratch.top, key))
        for name, family in SETS.items():
            run("ipset", "create", name, "hash:net", "family", family, "timeout", "300", "maxelem", "1000000")
        self.command = [os.path.join(UNPACKED, "usr/bin/crowdsec-firewall-bouncer"), "-c", config]

    @staticmethod
    def figure(label):
        return int(next(line.split(":")[1] for line in run("ipset", "list", "-t", "crowdsec-blacklists").splitlines()
                        if line.startswith(label)))

    def entries(self):
        return self.figure("Number of entries")

    def kernel_bytes(self):
        return self.figure("Size in memory")

    @staticmethod
    def close():
        for name in SETS:
            subprocess.run(["ipset", "destroy", name], check=False, stderr=subprocess.DEVNULL)


def measure_one(bouncer, count):
    """All at once, and then nothing new."""
    start = time.perf_counter()
    process = subprocess.Popen(bouncer.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    watched = Watched(process)
    try:
        while bouncer.entries() < count and time.perf_counter() - start < MOST:
            if process.poll() is not None:
                raise Failed("%s ends" % bouncer.command[0])
            watched.look()
            time.sleep(0.02)
        found = {"seconds": time.perf_counter() - start, "entries": bouncer.entries(),
                 "processor_seconds": watched.seconds(), "peak_bytes": watched.peak,
                 "kernel_bytes": bouncer.kernel_bytes()}
        time.sleep(2)
        before = watched.seconds()
        time.sleep(QUIET)
        found["quiet_processor_share"] = (watched.seconds() - before) / QUIET
        watched.peak = 0
        watched.look()
        found["quiet_bytes"] = watched.peak
        return found
    finally:
        process.terminate()
        process.wait()


def measure(scratch, quick, report):
    count = 10000 if quick else 100000
    if not os.path.exists(os.path.join(UNPACKED, "usr/bin/crowdsec")):
        report["skipped"].append("bouncers of CrowdSec: scripts/setup has not unpacked it")
        return
    server = None
    try:
        server = Server(scratch.make("lapi"))
        say("bouncers: filling CrowdSec")
        server.fill(count)
        found = {"decisions": count, "answer_seconds": server.seconds(server.key("curl"))}
        for name, kind in (("bloomd", Ours), ("ipset", Peer)):
            say("bouncers: " + name)
            bouncer = kind(scratch, server.key(name))
            try:
                found[name] = measure_one(bouncer, count)
            finally:
                bouncer.close()
        report["bouncers"] = found
    except Failed as failure:
        report["failed"].append("bouncers of CrowdSec: %s" % failure)
    finally:
        if server:
            server.end()


def print_text(report):
    found = report.get("bouncers")
    if not found:
        return
    print("\nBouncers of CrowdSec, %d decisions, one run each; LAPI answers in %.1f s" % (
        found["decisions"], found["answer_seconds"]))
    form = "%-42s" + "%11s" * 7
    print(form % ("", "enforced", "seconds", "CPU s", "peak MiB", "then MiB", "kernel MiB", "then CPU"))
    for name, text in NAMES.items():
        one = found[name]
        sizes = ["%.1f" % (one[key] / 2**20) for key in ("peak_bytes", "quiet_bytes", "kernel_bytes")]
        print(form % (text, one["entries"], "%.1f" % one["seconds"], "%.1f" % one["processor_seconds"],
                      *sizes, "%.2f %%" % (100 * one["quiet_processor_share"])))
