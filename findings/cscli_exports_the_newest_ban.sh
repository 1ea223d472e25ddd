#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# CrowdSec 1.4.6: an address is banned for nine hours, and later for one: how long is it banned by the exports of cscli?
#
# Guessed: nine hours by each of them, or both bans are there.
# Seen: `cscli decisions list` writes the newest of the bans of an address alone, also with -o json and -o raw: an hour, and
# says nothing of what it left out. Bouncers are told nine hours. `cscli alerts list -o json` has both bans. So who fills a
# firewall from the first export lets in again whom CrowdSec still bans.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring bookworm crowdsec=1.4.6-6~deb12u1+b1

cat >"$work/config.yaml" <<END
common: {daemonize: false, log_media: stdout, log_level: error, working_dir: $work}
config_paths: {config_dir: $work/, data_dir: $work/, simulation_path: $work/simulation.yaml, hub_dir: $work/,
  index_path: $work/.index.json, notification_dir: $work/, plugin_dir: $work/}
crowdsec_service: {acquisition_path: $work/acquis.yaml, parser_routines: 1}
db_config: {log_level: error, type: sqlite, db_path: $work/db}
api:
  client: {insecure_skip_verify: true, credentials_path: $work/local.yaml}
  server: {log_level: error, listen_uri: 127.0.0.1:8080, profiles_path: $work/profiles.yaml}
prometheus: {enabled: false}
END
echo '{}' >"$work/.index.json"
echo 'simulation: false' >"$work/simulation.yaml"
echo 'url: http://127.0.0.1:8080' >"$work/local.yaml"
: >"$work/acquis.yaml"
cp "$root/etc/crowdsec/profiles.yaml" "$work"

cat >"$work/inside" <<'END'
set -euo pipefail
work=$1 root=$2
cscli() { "$root/usr/bin/cscli" -c "$work/config.yaml" "$@" 2>/dev/null; }
hours() { grep -oE '[0-9]+h?[0-9]*m[0-9.]+s' | sed -E 's/h.*/ h/; s/m.*/ min/' | sort -n | paste -sd, ; }
ip link set lo up
cscli machines add tests --password secret --force >/dev/null
key=$(cscli bouncers add tests -o raw)
"$root/usr/bin/crowdsec" -c "$work/config.yaml" -no-cs -no-capi >"$work/log" 2>&1 &
for _ in $(seq 300); do curl -s -o /dev/null http://127.0.0.1:8080/v1/decisions && break; sleep 0.1; done
cscli decisions add --ip 192.0.2.1 --duration 9h
sleep 1
cscli decisions add --ip 192.0.2.1 --duration 1h
echo "json: $(cscli decisions list -o json | hours)"
echo "raw: $(cscli decisions list -o raw | hours)"
echo "alerts: $(cscli alerts list -o json | hours)"
echo "bouncer: $(curl -s -H "X-Api-Key: $key" 'http://127.0.0.1:8080/v1/decisions/stream?startup=true' | hours)"
kill %1
END
said=$(unshare -n bash "$work/inside" "$work" "$root" 2>&1 | paste -sd ';')
echo "$said"
[[ $said == "json: 59 min;raw: 59 min;alerts: 8 h,59 min;bouncer: 8 h" ]] || fail "other bans are exported"
