# SPDX-License-Identifier: GPL-2.0-or-later
"""CrowdSec: decisions as cscli exports them, given to a local API (LAPI), which is then asked as bouncers ask it. Debian's,
as scripts/setup unpacks it in build/crowdsec."""
import csv
import io
import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import engine

PACKAGES = ()
NAMES = False
UNPACKED = os.path.join(engine.ROOT, "build/crowdsec")
HEADER = "id,source,ip,reason,action,country,as,events_count,expiration,simulated,alert_id".split(",")
LAPI = "http://127.0.0.1:8080/v1/"


def value(draw):
    """Scope and value: near each other, so that several decisions are about one address."""
    kind = draw.randrange(10)
    if kind < 4:
        return draw.choice(("Ip", "ip", "IP")), "5.9.0.%d" % draw.randrange(12)
    if kind < 5:
        return "Ip", "2a01:4f8::%x" % draw.randrange(8)
    if kind < 7:
        return draw.choice(("Range", "range")), "5.9.0.%d/%d" % (draw.randrange(12), draw.randint(28, 32))
    if kind < 8:
        return "Range", "2a01:4f8::%x/%d" % (draw.randrange(8), draw.randint(125, 128))
    return draw.choice((("Country", "DE"), ("AS", "64500"), ("Username", "root"), ("session", "5.9.0.1"), ("Ja4", "a:b")))


def decision(draw, number):
    scope, what = value(draw)
    return {"id": number, "origin": draw.choice(("cscli", "crowdsec", "CAPI")), "scope": scope, "value": what,
            "scenario": draw.choice(("manual", 'why, "so"', "a\nb", "crowdsecurity/ssh-bf")),
            "type": draw.choice(("ban", "ban", "ban", "captcha", "throttle")),
            "duration": draw.choice(("4h", "3h59m48.000000001s", "100h", "15m0s", "-1h", "-3.846959291s", "0s")),
            "simulated": draw.random() < 0.15}


def alert(decisions):
    return {"capacity": 0, "created_at": "2026-01-01T00:00:00Z", "decisions": decisions or None, "events": None,
            "events_count": 1, "leakspeed": "0", "message": "why", "scenario": "why", "scenario_hash": "",
            "scenario_version": "", "simulated": False, "source": {"scope": "Ip", "value": "5.9.0.1", "ip": "5.9.0.1"}}


def as_raw(decisions):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for one in decisions:
        writer.writerow([one["id"], one["origin"], one["scope"] + ":" + one["value"], one["scenario"], one["type"], "", "",
                         1, one["duration"], str(one["simulated"]).lower(), one["id"]])
    return out.getvalue()


def make(draw):
    decisions = [decision(draw, number) for number in range(1, draw.randint(2, 14))]
    form = draw.randrange(3)
    if form == 0:
        text = as_raw(decisions)
    elif form == 1:
        text = json.dumps(decisions)
    else:
        alerts, rest = [], list(decisions)
        while rest or not alerts:
            count = draw.randint(0, 3)
            alerts.append(alert(rest[:count]))
            rest = rest[count:]
        text = json.dumps(alerts, indent=draw.choice((None, 1)))
    questions = ["5.9.0.%d" % i for i in range(16)] + ["2a01:4f8::%x" % i for i in range(10)]
    return text, questions, draw.choice(({}, {"format": "crowdsec"}))


def decisions_of(text):
    if not text.startswith("id,"):
        found = json.loads(text)
        return [each for one in found for each in (one["decisions"] or [])] if "capacity" in found[0] else found
    rows = csv.DictReader(io.StringIO(text))
    return [{"origin": row["source"], "scope": row["ip"].split(":", 1)[0], "value": row["ip"].split(":", 1)[1],
             "scenario": row["reason"], "type": row["action"], "duration": row["expiration"],
             "simulated": row["simulated"] == "true"} for row in rows]


CONFIG = """
common: {daemonize: false, log_media: stdout, log_level: error, working_dir: %(dir)s}
config_paths:
  config_dir: %(dir)s/
  data_dir: %(dir)s/
  simulation_path: %(dir)s/simulation.yaml
  hub_dir: %(dir)s/
  index_path: %(dir)s/.index.json
  notification_dir: %(dir)s/
  plugin_dir: %(dir)s/
crowdsec_service: {acquisition_path: %(dir)s/acquis.yaml, parser_routines: 1}
db_config: {log_level: error, type: sqlite, db_path: %(dir)s/db}
api:
  client: {insecure_skip_verify: true, credentials_path: %(dir)s/local.yaml}
  server: {log_level: error, listen_uri: 127.0.0.1:8080, profiles_path: %(dir)s/profiles.yaml}
prometheus: {enabled: false}
"""


class Lapi:
    def __init__(self, root):
        self.directory = root.file("lapi")      # in memory: each change of its database is synced
        os.mkdir(self.directory)
        for name, text in (("config.yaml", CONFIG % {"dir": self.directory}), (".index.json", "{}"), ("acquis.yaml", ""),
                           ("simulation.yaml", "simulation: false"), ("local.yaml", "url: http://127.0.0.1:8080")):
            with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
                file.write(text)
        shutil.copy(UNPACKED + "/etc/crowdsec/profiles.yaml", self.directory)
        self._cscli("machines", "add", "tests", "--password", "secret", "--force")
        self.key = self._cscli("bouncers", "add", "tests", "-o", "raw").strip()
        self.version = "crowdsec " + self._cscli("version").split("version: ", 1)[1].split("-", 1)[0]
        with open(os.path.join(self.directory, "log"), "wb") as log:
            self.server = subprocess.Popen([UNPACKED + "/usr/bin/crowdsec", "-c", self.directory + "/config.yaml",
                                            "-no-cs", "-no-capi"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        engine.wait_for("CrowdSec", self._answers, self.server)
        self.token = self._ask("POST", "watchers/login",
                               {"machine_id": "tests", "password": "secret", "scenarios": []})["token"]

    def _cscli(self, *words):
        return subprocess.run([UNPACKED + "/usr/bin/cscli", "-c", self.directory + "/config.yaml", *words], check=True,
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT).stdout

    def _ask(self, method, path, body=None, **headers):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "tests/1", **headers}
        request = urllib.request.Request(LAPI + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=engine.PATIENCE) as answer:
            return json.load(answer)

    def _answers(self):
        try:
            self._ask("GET", "decisions")
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def refused(self, text, questions):
        """What a bouncer is told to ban; of what is imported at this moment, so that time counts from then."""
        machine = {"Authorization": "Bearer " + self.token}
        self._ask("DELETE", "alerts", None, **machine)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        given = [{key: what for key, what in one.items() if key != "id"} for one in decisions_of(text)]
        self._ask("POST", "alerts", [{**alert([one]), "start_at": now, "stop_at": now, "events": [],
                                      "simulated": one["simulated"]} for one in given], **machine)
        found = set()
        for asked in questions:
            bans = self._ask("GET", "decisions?ip=" + urllib.parse.quote(asked), None, **{"X-Api-Key": self.key})
            if any(ban["type"].lower() == "ban" for ban in bans or []):
                found.add(asked)
        return found

    def close(self):
        engine.stop(self.server)
        shutil.rmtree(self.directory)


def engines(root):
    return [Lapi(root)] if root.release == "bookworm" and os.path.exists(UNPACKED) else []


def is_ban(one):
    return (one["type"] == "ban" and not one["simulated"] and not one["duration"].startswith(("-", "0")) and
            one["scope"].lower() in ("ip", "range"))


def is_left_out(_text, _asked, _reading):
    return False


def may_be_refused(text, reason):
    """If nothing is left to list, the file is an empty list."""
    return reason.endswith(": no entries") and not any(is_ban(one) for one in decisions_of(text))
