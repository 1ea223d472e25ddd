#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Networks by country and AS, out of databases and of files whose rows say it: by import, and by feeds. What is taken of which
# database: unit/lists/test_mmdb, and of which row: unit/lists/test_rows/places.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/imports.sh"
. "$(dirname "$0")/feeds.sh"

# database FILE NETWORK=CODE...
database()
{
	local network

	for network in "${@:2}"; do
		printf '%s\n' "$network"
	done | python3 -c 'import json, sys
print(json.dumps({line.split("=")[0]: {"country": {"iso_code": line.strip().split("=")[1]}} for line in sys.stdin}))' |
		python3 "$root/tests/support/mmdbfile.py" "$1" GeoLite2-Country
}

some_database() { database "$T/db.mmdb" 5.9.0.0/17=DE 5.9.128.0/17=DE 5.10.0.0/16=FR 2a01:4f8::/32=DE 5.11.0.0/16=ZZ; }

t_import_of_a_database()
{
	local way

	some_database
	gzip -k "$T/db.mmdb"
	mkdir "$T/GeoLite2-Country_20261101"
	cp "$T/db.mmdb" "$T/GeoLite2-Country_20261101/GeoLite2-Country.mmdb"
	echo 'Creative Commons' >"$T/GeoLite2-Country_20261101/LICENSE.txt"
	tar -C "$T" -czf "$T/db.tar.gz" GeoLite2-Country_20261101
	for way in "$T/db.mmdb" "$T/db.mmdb.gz" "$T/db.tar.gz" -; do
		exits 0 import "$way" --list de --country DE --replace --force <"$T/db.mmdb"
		has de "2a01:4f8::/32 5.9.0.0/16"
		says '^2 entries \(mmdb\) '
	done
	exits 0 -j import "$T/db.mmdb" --list de --country FR --dry-run
	[[ $(of_json 'd["entries"], d["added"]' <"$T/out") == "(1, 1)" ]] || fail "$(cat "$T/out")"
	exits 0 import "$T/db.mmdb" --list others --not-country DE
	has others 5.10.0.0/16
	complains '^bloomctl: .*db.mmdb: 1 network without a country is not listed'
	exits 0 attach x0
	# On trial: what is stored of the request is the choice, too.
	exits 0 import "$T/db.mmdb" --list trial --country FR --rollback 60
	exits 0 commit
	has trial 5.10.0.0/16
	# Another choice is another list, although the file is the same.
	exits 0 import "$T/db.mmdb" --list de --country FR --replace --force
	has de 5.10.0.0/16
}

t_what_is_refused()
{
	some_database
	head -c 1000 "$T/db.mmdb" >"$T/cut.mmdb"
	head -c 400 /dev/zero >"$T/zeros"
	tar -C "$T" -cf "$T/other.tar" zeros
	tar -C "$T" -cf "$T/two.tar" db.mmdb cut.mmdb
	head -c 1600 "$T/two.tar" >"$T/short.tar"
	while IFS='~' read -r words reason; do
		# shellcheck disable=SC2086
		refused import $words --list x
		complains "$reason"
	done <<-END
		$T/db.mmdb~which networks .* has to be said \\(--country, .*'GeoLite2-Country', its first record has country.iso_code=DE\$
		$T/db.mmdb --asn 64500~none of its networks has an AS; .*country.iso_code=DE\$
		$T/db.mmdb --country AT~none of its networks is among those that were asked for
		$T/db.mmdb --country Germany~a country is its code of two letters \\(ISO 3166\\), such as DE, not 'Germany'
		$T/db.mmdb --country DE --not-country FR~these countries, or all but some: not both
		$T/db.mmdb --country DE --format hosts~the format hosts does not say that
		$T/cut.mmdb --country DE~neither a list nor a whole MMDB database
		$T/zeros~neither a list nor a whole MMDB database
		$T/other.tar --country DE~a tar archive without a .mmdb file: unpack it first
		$T/two.tar --country DE~a tar archive with several .mmdb files: unpack it first
		$T/short.tar --country DE~a damaged tar archive: it may have been cut off
		/bin/true --country DE~neither a list nor a whole MMDB database
	END
}

t_rows()
{
	list '2|ripencc|20260420|2|19830101|20260419|+0000' 'ripencc|DE|ipv4|5.9.0.0|65536|20060814|allocated' \
		'ripencc|DE|ipv6|2a01:4f8::|32|20060814|allocated' 'ripencc|FR|ipv4|5.10.0.0|65536|20060814|allocated'
	exits 0 import "$T/list" --list rir --country DE
	has rir "2a01:4f8::/32 5.9.0.0/16"
	refused import "$T/list" --list x
	complains 'list:1: rows that say where networks are: which are meant has to be said \(--country'
	list 5.9.0.0/16,DE,DE-BE,Berlin, 5.9.1.0/24,FR,,,
	exits 0 import "$T/list" --list feed --country FR
	has feed 5.9.1.0/24
	list 5.9.0.0,5.9.255.255,DE 5.10.0.0,5.10.0.255,FR
	exits 0 import "$T/list" --list dbip --country FR
	has dbip 5.10.0.0/24
}

# is_dropped ADDRESS...
is_dropped() { ctl test "$@" >"$T/test" 2>&1; }

# The updater of the publisher puts another file in its place.
t_a_feed_of_a_file()
{
	some_database
	printf '[feed de]\nurl = file://%s/db.mmdb\nevery = 1d\ncountry = DE\n' "$T" >"$T/bloomd.conf"
	agent
	wait_for "the country" is_dropped 5.9.0.1 2a01:4f8::1
	! is_dropped 5.10.0.1 || fail "another country is listed"
	database "$T/new.mmdb" 5.10.0.0/16=DE 5.9.0.0/16=FR
	mv "$T/new.mmdb" "$T/db.mmdb"
	wait_for "the newer database" is_dropped 5.10.0.1
	! is_dropped 5.9.0.1 || fail "what the newer database does not have is listed"
	# Another choice is another list, although the server says that nothing has changed.
	sed -i 's/country = DE/not-country = DE/' "$T/bloomd.conf"
	agent_reloads
	wait_for "the other country" is_dropped 5.9.0.1
	# A country is as wide as the guard allows.
	database "$T/new.mmdb" 5.0.0.0/8=FR 8.0.0.0/8=FR 9.0.0.0/8=FR 11.0.0.0/8=FR 12.0.0.0/8=FR 13.0.0.0/8=FR 14.0.0.0/8=FR \
		15.0.0.0/8=FR 16.0.0.0/8=FR 17.0.0.0/8=FR 18.0.0.0/8=FR 19.0.0.0/8=FR 20.0.0.0/8=FR
	mv "$T/new.mmdb" "$T/db.mmdb"
	wait_for "the guard" has_outcome de refused max-share
	is_dropped 5.9.0.1 || fail "a refused list changed the one in force"
	sed -i 's/^every.*/&\nmax-share = 20%/' "$T/bloomd.conf"
	agent_reloads
	exits 0 feeds update de
	wait_for "the wide country" is_dropped 20.0.0.1
}

run_tests
