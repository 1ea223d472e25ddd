#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Published lists, in the form in which their publishers describe or give them, with other addresses: the options of
# docs/lists.md read each.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# published NAME FILE ENTRY...: by the command that the page shows for this list, the file gives these entries.
published()
{
	local found row words

	row=$(grep -F "| $1 | \`bloomctl import " "$root/docs/lists.md") || fail "the page does not have $1"
	row=${row#*\`} row=${row%%\`*}
	eval "words=(${row#bloomctl import })"
	exits 0 import "$T/$2" --list a --replace --force "${words[@]:1}"
	found=$(entries_of a)
	[[ $found == "$(printf '%s\n' "${@:3}" | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')" ]] ||
		fail "$1 gives '$found', not '${*:3}'"
}

t_clouds()
{
	cat >"$T/aws" <<-'END'
		{
		  "syncToken": "1700000000",
		  "createDate": "2023-11-14-22-13-20",
		  "prefixes": [
		    {
		      "ip_prefix": "5.4.0.0/22",
		      "region": "eu-west-1",
		      "service": "AMAZON",
		      "network_border_group": "eu-west-1"
		    }
		  ],
		  "ipv6_prefixes": [
		    {
		      "ipv6_prefix": "2a05:d07a::/36",
		      "region": "eu-west-1",
		      "service": "AMAZON",
		      "network_border_group": "eu-west-1"
		    }
		  ]
		}
	END
	published "AWS ip-ranges" aws 5.4.0.0/22 2a05:d07a::/36
	cat >"$T/google" <<-'END'
		{
		  "syncToken": "1700000000000",
		  "creationTime": "2023-11-14T22:13:20.00000",
		  "prefixes": [{
		    "ipv4Prefix": "5.4.0.0/20",
		    "service": "Google Cloud",
		    "scope": "africa-south1"
		  }, {
		    "ipv6Prefix": "2a00:1450:8000::/44",
		    "service": "Google Cloud",
		    "scope": "africa-south1"
		  }]
		}
	END
	published "Google goog.json, cloud.json" google 5.4.0.0/20 2a00:1450:8000::/44
	printf '{"addresses":["5.4.3.0/20","5.5.0.0/17"],"ipv6_addresses":["2a04:4e40::/32"]}' >"$T/fastly"
	published "Fastly public-ip-list" fastly 5.4.0.0/20 5.5.0.0/17 2a04:4e40::/32
}

t_reports()
{
	local -a all

	cat >"$T/abuseipdb" <<-'END'
		{"meta":{"generatedAt":"2026-09-26T15:51:22+00:00"},"data":[
		{"ipAddress":"5.4.3.2","countryCode":"ID","abuseConfidenceScore":100,"lastReportedAt":"2026-09-26T15:17:01+00:00"},
		{"ipAddress":"2a01:4f8::7","countryCode":null,"abuseConfidenceScore":99,"lastReportedAt":"2026-09-26T15:17:01+00:00"}]}
	END
	published "AbuseIPDB blacklist, JSON" abuseipdb 5.4.3.2 2a01:4f8::7
	printf '%s\r\n' '################################################################' \
		'# abuse.ch Feodo Tracker Botnet C2 IP Blocklist (CSV)          #' \
		'# Last updated: 2021-08-17 15:00:42 UTC                        #' \
		'################################################################' '#' \
		'"first_seen_utc","dst_ip","dst_port","c2_status","last_online","malware"' \
		'"2021-01-17 07:30:05","5.4.3.2","443","offline","2021-08-18","Dridex"' \
		'"2021-01-17 07:44:46","5.4.3.3","4643","online","2021-08-18","Dridex"' '# END 2 entries' >"$T/feodo"
	published "Feodo Tracker, CSV" feodo 5.4.3.2 5.4.3.3
	printf '%s\n' '"5.4.3.2","1","2013-12-03 14:07:00"' '"2a02:4780:8:d::","17","2020-09-11 21:50:10"' >"$T/sfs"
	published "StopForumSpam, with counts" sfs 5.4.3.2 2a02:4780:8:d::
	mapfile -t all < <(seq -f '5.4.%.0f.1' 0 255; seq -f '5.5.%.0f.1' 0 255)
	(IFS=, && printf '%s' "${all[*]}") >"$T/banned"
	published "StopForumSpam, all in one line" banned "${all[@]}"
}

t_misp()
{
	cat >"$T/warning" <<-'END'
		{
		  "description": "Networks of a scanner",
		  "list": [
		    "5.4.3.0/24",
		    "2a01:4f8::/48"
		  ],
		  "matching_attributes": ["ip-src", "ip-dst", "domain|ip"],
		  "name": "List of a scanner",
		  "type": "cidr",
		  "version": 20260101
		}
	END
	published "MISP warning list" warning 5.4.3.0/24 2a01:4f8::/48
	cat >"$T/event" <<-'END'
		{"Event": {"uuid": "2b6a5a4e-0000-4000-8000-000000000000", "info": "a campaign", "Attribute": [
		  {"type": "ip-src", "category": "Network activity", "value": "5.4.3.2", "to_ids": true},
		  {"type": "domain", "category": "Network activity", "value": "evil.example", "to_ids": true}],
		 "Object": [{"name": "ip-port", "meta-category": "network", "Attribute": [
		  {"type": "ip-src", "object_relation": "ip", "value": "5.4.3.3"},
		  {"type": "ip-src|port", "object_relation": "ip", "value": "5.4.3.4|443"},
		  {"type": "ip-src|port", "object_relation": "ip", "value": "2a01:4f8::7|443"},
		  {"type": "port", "object_relation": "dst-port", "value": "443"}]}]}}
	END
	published "MISP event" event 5.4.3.2 5.4.3.3
	exits 0 import "$T/event" --list b --json-path 'Event.Object[].Attribute[type=ip-src|port].value'
	exits 0 -j list --list b
	json '[one["entry"] for one in d["entries"]] == ["5.4.3.4", "2a01:4f8::7"]'
	exits 2 import "$T/event" --list c --json-path 'Event.Attribute[].value'
	complains "'evil.example' is not an address or prefix \(--skip-bad NUMBER"
}

t_countries()
{
	cat >"$T/geolite" <<-'END'
		network,geoname_id,registered_country_geoname_id,represented_country_geoname_id,is_anonymous_proxy,is_satellite_provider,is_anycast
		5.4.0.0/24,2077456,2077456,,0,0,
		5.4.1.0/24,1814991,1814991,,0,0,
		5.4.2.0/23,,1814991,,0,0,1
	END
	published "MaxMind GeoLite2, a country" geolite 5.4.1.0/24
	cat >"$T/dbip" <<-'END'
		0.0.0.0,0.255.255.255,ZZ
		5.4.0.0,5.4.0.255,AU
		5.4.1.0,5.4.3.255,CN
		2a00:600::,2a00:6ff:ffff:ffff:ffff:ffff:ffff:ffff,CN
	END
	published "DB-IP, a country" dbip 5.4.1.0/24 5.4.2.0/23 2a00:600::/24
	cat >"$T/rir" <<-'END'
		2|ripencc|1790287199|6|19700101|20260924|+0200
		ripencc|*|ipv4|*|3|summary
		ripencc|*|asn|*|1|summary
		ripencc|*|ipv6|*|2|summary
		ripencc|DE|asn|64500|1|19930901|allocated|12a581c1
		ripencc|DE|ipv4|5.4.0.0|768|20100712|allocated|12a581c1
		ripencc|SE|ipv4|5.4.4.0|256|20100712|assigned|9a489e65
		ripencc||ipv4|5.4.8.0|256|||available
		ripencc|DE|ipv6|2a01:4f8::|29|20070801|allocated|12a581c1
		ripencc|SE|ipv6|2a00:1450::|32|20090813|allocated|9a489e65
	END
	published "RIR delegations, IPv4 of a country" rir 5.4.0.0/23 5.4.2.0/24
	published "RIR delegations, IPv6 of a country" rir 2a01:4f8::/29
}

run_tests
