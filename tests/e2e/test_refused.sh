#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A refused command says why in one line and changes nothing: not the store, not the kernel, not a trial (I8), whichever
# verb it is and whatever is wrong with it. Faults of single options and operands are those of tests/commands.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# Everything there is, as text; not the time a trial has left, nor whether a packet has come.
world()
{
	ctl -j status | sed -E 's/"seconds_left":[0-9]*//g; s/"(packets_seen|no_packets_since)":[a-z0-9]*//g' || true
	# All that is listed, allowed and wanted, and every setting.
	sha256sum "$state/store.mdb"
	find "$state" "$pins" "$counters" | sort
	ip -n "$server" -d link show | grep -o 'prog/xdp id [0-9]*\|^[0-9]*: [^ ]*'
	# Without what is the time, and what stands in a file only since somebody looked.
	find "$counters" -name '*.counters' -exec head -c 64 {} + | sha256sum
	for one in "$pins"/gen-*/policy "$pins"/link/slot; do
		[[ ! -e $one ]] || bpftool map dump pinned "$one"
	done
} 2>&1

# Also when something is amiss.
seconds_left() { { ctl -j status || true; } | grep -o '"seconds_left":[0-9]*' | cut -d: -f2; }

# refused CODE COMMAND...: it ends with the code and one line, and writes nothing to the store.
refused()
{
	exits "$@"
	one_line
	[[ ! $state/store.mdb -nt $T/before ]] || fail "${*:2}: it is refused and writes to the store"
}

# unchanged: behind those that were refused, nothing is any different. Nothing that is done and undone looks as before:
# a change has a number in the store, each filter and each program one in the kernel.
unchanged()
{
	world >"$T/after"
	cmp -s "$T/before" "$T/after" ||
		fail "something is refused and changes $(diff "$T/before" "$T/after" | head -n 6 | cut -c 1-200)"
}

# refused_rows: of standard input, each "CODE COMMAND" or "CODE COMMAND | what it complains of".
refused_rows()
{
	local code line pattern

	while IFS='|' read -r line pattern; do
		read -r code line <<<"$line"
		# shellcheck disable=SC2086
		refused "$code" $line
		[[ -z $pattern ]] || complains "${pattern# }"
	done
}

# Files that are wrong in different ways, each with something good in front.
wrong_files()
{
	ctl save >"$T/good.json"
	head -c 300 "$T/good.json" >"$T/cut.json"
	sed 's/10\.77\.0\.3"/10.77.0.333"/' "$T/good.json" >"$T/entry.json"
	sed 's/"schema":[ ]*[0-9]*/"schema": 99/' "$T/good.json" >"$T/schema.json"
	sed 's/"policy":[ ]*"[a-z-]*"/"policy": "perhaps"/' "$T/good.json" >"$T/policy.json"
	head -c 100000 /dev/urandom >"$T/noise"
	printf '192.0.2.1\0\n' >"$T/zero"
	head -c 10000000 /dev/zero | tr '\0' 1 >"$T/line"
	: >"$T/empty"
	printf '# only\n; comments\n\n' >"$T/comments"
	echo 'nothing that is an entry, in any format' >"$T/words"
	printf '192.0.2.1\n192.0.2.2\n192.0.2.999\n' >"$T/third"
	printf '192.0.2.%d\n' {1..9} >"$T/list"
	printf 'add 192.0.2.50\ndel 10.77.0.3\nadd nonsense!\n' >"$T/batch-entry"
	printf 'add 192.0.2.50\nallow add 192.0.2.51\ndel 192.0.2.222\n' >"$T/batch-absent"
	printf 'add 192.0.2.50\nadd 10.77.0.3\n' >"$T/batch-again"
	printf 'add 192.0.2.50\nadd "192.0.2.51\n' >"$T/batch-quote"
	printf 'policy monitor\n' >"$T/batch-verb"
	printf 'add 192.0.2.50 --timeout x\n' >"$T/batch-option"
	mkdir "$T/directory"
}

# What the words or the files alone show, before the machine is looked at.
bad_words()
{
	refused_rows <<-END
		2 nonsense | unknown command 'nonsense'
		2 --nonsense status
		2 attach x0 --rollback 0
		2 attach x0 --rollback 86401
		2 add 192.0.2.50 nonsense!
		2 add 192.0.2.50 192.0.2.300
		2 add 192.0.2.50 nodot
		2 add 192.0.2.50 --timeout 0
		2 del 10.77.0.3 nonsense!
		2 del 10.77.0.3 --list a/b
		2 allow
		2 allow add 192.0.2.50 nonsense!
		2 allow refuse ssh nobody
		2 policy --rollback 5
		2 verdict one --rollback 5
		2 verdict nosuch
		2 scope one --rollback 5
		2 scope nosuch
		2 scope allow tcp/25
		2 list --list nosuch
		2 plan
		2 plan --limit 0
		2 plan --limit 5 --entries 5
		2 plan --limit 5 --fpr 0.1 | --entries
		2 rotate --capacity 99999999999999999999
		2 import $T/list $T/list
		2 import $T/list --min-entries 10
		2 import $T/list --expect-end nothing
		2 import $T/list --dry-run --rollback 5
		2 import $T/list --format nonsense | known: plain
		2 import $T/third | third:3: .*192.0.2.999
		2 import $T/empty --list one --replace
		2 batch $T/batch-entry
		2 batch $T/batch-quote
		2 batch $T/batch-verb
		2 batch $T/batch-option
	END
	refused 2 add 192.0.2.50 --comment $'a\nb'
	refused 2 add 192.0.2.50 --comment "$(printf 'x%.0s' {1..256})"
	refused 2 add 192.0.2.50 --comment $'\xff'
	bad_letters
}

# U+009B begins a control sequence, and so may a byte that is no UTF-8: no terminal gets them.
bad_letters()
{
	local one

	for one in $'\xc2\x9b31mred' $'\x9b31mred'; do
		for words in "add 192.0.2.1 --list" "allow del 10.77.0.3 --list" "flush --yes --list"; do
			# shellcheck disable=SC2086
			refused 2 $words "$one"
			complains "invalid list name '[?]+31mred'"
		done
		refused 2 verdict "$one" drop
		complains "invalid list name '[?]+31mred'"
		refused 2 scope "$one" tcp/25
		complains "invalid list name '[?]+31mred'"
		refused 2 scope default "$one"
		complains "'[?]+31mred' is not a service"
		refused 2 list --list "$one"
		complains 'there is no list [?]+31mred$'
		refused 2 add "192.0.2.1/$one"
		complains "192.0.2.1/[?]+31mred'"
		refused 2 add 192.0.2.1 --comment "$one"
	done
}

bad_files()
{
	local verb file

	for verb in import batch restore; do
		for file in noise zero line third nosuch empty comments words; do
			# A batch of nothing is done.
			[[ $verb:$file == batch:empty || $verb:$file == batch:comments ]] || refused 2 $verb "$T/$file"
			[[ $file != nosuch ]] || complains nosuch
		done
		for file in noise line; do
			refused 2 $verb - <"$T/$file"
		done
		# By its kind, or when it cannot be read.
		refused "$([[ $verb == import ]] && echo 2 || echo 3)" $verb "$T/directory"
		refused 3 $verb - <&-
	done
}

# What can only be refused when the world has been looked at.
bad_change()
{
	local one

	refused_rows <<-END
		2 attach nosuch0 | nosuch0: no such interface
		2 attach x0 nosuch0
		2 attach nosuch0 --rollback 5
		2 attach x0/../x0
		2 attach x0 --mode skb --rollback 5
		1 detach nosuch0
		1 detach x0 nosuch0
		2 add 10.77.0.3
		2 add 192.0.2.50 10.77.0.3
		1 del 192.0.2.222
		1 del 10.77.0.3 192.0.2.222
		1 del 10.77.0.3 --list two
		2 del 10.77.0.3 --list nosuch
		2 flush --list nosuch --yes
		2 flush
		2 allow add 198.51.100.7
		1 allow del 192.0.2.222
		2 batch $T/batch-again
		1 batch $T/batch-absent
		2 import $T/list --list many --replace
		3 rotate --capacity 9000000000
		3 rotate --capacity 9000000000 --rollback 5
	END
	for one in empty noise cut.json entry.json policy.json schema.json; do
		refused 2 restore "$T/$one"
	done
}

begin()
{
	ctl add 10.77.0.3 fd77::3 198.51.100.0/24
	ctl add 10.77.0.4 bad.example --list one
	ctl add worse.example --list two --comment "two's" --timeout 80000
	printf '172.16.%s\n' {0..11}.{0..249} >"$T/many"
	ctl -q import "$T/many" --list many --include-bogons
	ctl allow add 198.51.100.7
	ctl verdict two count
	ctl -q attach x0
	ctl -q up
	wrong_files
}

t_every_verb()
{
	begin
	world >"$T/before"
	bad_words
	bad_files
	bad_change
	refused 1 commit
	unchanged
	blocked 10.77.0.3
}

# trial_goes_on SECONDS-BEFORE START
trial_goes_on()
{
	local now

	now=$(seconds_left)
	[[ $now -le $1 && $now -ge $(($1 - (SECONDS - $2) - 2)) ]] ||
		fail "the trial had $1 s, has $now $((SECONDS - $2)) s later"
}

# During a trial, too; and then nothing else is let in.
t_during_a_trial()
{
	local started=$SECONDS left

	begin
	ctl -q policy monitor --rollback 600 2>/dev/null
	left=$(seconds_left)
	world >"$T/before"
	bad_words
	for one in "add 192.0.2.50" "del 10.77.0.3" "allow add 192.0.2.50" "policy enforce" \
		"policy allow-only --rollback 5" "verdict one count" "scope one tcp/25" "ports dns off" "flush --yes" \
		"import $T/list" "restore $T/good.json" "batch $T/batch-again" "rotate" "up" "attach x0"; do
		# shellcheck disable=SC2086
		refused 3 --wait 0 $one
	done
	# detach does not wait for a trial, it ends it: if it detaches anything.
	refused 1 --wait 0 detach nosuch0
	refused 1 --wait 0 detach nosuch0 nosuch1
	refused 1 --wait 0 detach x0 nosuch0
	unchanged
	trial_goes_on "$left" $started
	passes 10.77.0.3
}

t_during_a_trial_of_an_interface()
{
	local started=$SECONDS left

	begin
	join x1 1
	ctl -q attach x1 --rollback 600 2>/dev/null
	left=$(seconds_left)
	world >"$T/before"
	bad_change
	refused 2 attach x1
	refused 2 attach x0 --rollback 5
	refused 2 attach x1 --rollback 5
	refused 3 policy monitor --rollback 5
	unchanged
	trial_goes_on "$left" $started
}

t_lines_of_a_saved_store()
{
	local head='{"schema":1,"saved":"xdp-bloom"' entry='{"entry":"192.0.2.1","list":"a"' line

	ctl -q attach x0
	ctl -q add 10.77.0.3
	world >"$T/before"
	for line in '"fpr":"1e-2"' '"confirm":0' '"policy":[]' '"refused":"ssh"' '"capacitty":5'; do
		echo "$head,$line}" >"$T/text"
		refused 2 restore "$T/text"
		complains "$T/text:1: "
	done
	complains 'unknown key "capacitty"'
	for line in "$entry,"'"comment":7}' "$entry,"'"comment":null}' "$entry,"'"added":"1"}' "$entry,"'"allow":"1.2.3.5"}' \
		'{"entry":"1.2.3.4","list":"../a"}'; do
		printf '%s}\n%s\n' "$head" "$line" >"$T/text"
		refused 2 restore "$T/text"
		complains "$T/text:2: "
	done
	for line in "$entry,"'"expirse":1}' "$entry,"'"interface":"x0"}' "$entry,"'"verdict":"drop"}' \
		"$entry,"'"Comment":"x"}' "$entry,"'"":1}' '{"interface":"x0","mode":"auto","list":"a"}' \
		'{"list":"a","verdict":"refused","comment":"x"}'; do
		printf '%s}\n%s\n' "$head" "$line" >"$T/text"
		refused 2 restore "$T/text"
		complains "$T/text:2: unknown key"
	done
	for line in '' .. a/b '\u001b[1m' sixteen-letters-; do
		printf '%s}\n{"interface":"%s","mode":"auto"}\n' "$head" "$line" >"$T/text"
		refused 2 restore "$T/text"
		complains "$T/text:2: .*is not a valid interface name"
	done
	unchanged
}

t_host_bits()
{
	ctl attach x0
	exits 0 add 192.0.2.77/24
	complains '192.0.2.77/24 has host bits set; taken as 192.0.2.0/24'
	exits 0 test 192.0.2.5
	exits 0 add 2001:db8::5/32
	complains 'taken as 2001:db8::/32'
	# Nothing is taken.
	exits 2 add 198.51.100.77/24 /24
	one_line
	exits 2 add 192.0.2.78/24
	one_line
	printf 'add 198.51.100.77/24\nadd /24\n' >"$T/batch"
	exits 2 batch "$T/batch"
	one_line
	printf 'add 198.51.100.77/25\n' >"$T/batch"
	exits 0 batch "$T/batch"
	complains 'taken as 198.51.100.0/25'
	printf '# list\n198.51.100.9/24\n' >"$T/list"
	exits 0 import "$T/list" --include-bogons
	[[ $(wc -l <"$T/err") -eq 1 ]]
	complains ':2: 1 prefix has host bits set .*first: 198.51.100.9/24\)'
}

# Lines of 128 bytes: what fits into a page of a full disk would be a whole text.
t_restore_has_no_room_for_a_copy()
{
	local hold=/run/xbt-hold-$$

	ctl add 10.77.0.3 --list kept
	ctl attach x0
	ctl save >"$T/saved"
	head -n 1 "$T/saved" >"$T/long"
	python3 -c '
for i in range(4000):
    line = "{\"entry\":\"198.18.%d.%d\",\"list\":\"long\",\"added\":1}" % (i >> 8, i & 255)
    print(line.ljust(127))' >>"$T/long"
	# All but what the test has is without room.
	bloomctl=$T/without_room
	cat >"$bloomctl" <<-END
		#!/bin/bash
		exec unshare --mount bash -ec 'mkdir -p $hold; mount --rbind $XB_TEST_DIR $hold
		mount -t tmpfs -o size=128k xbt /tmp
		mkdir -p $XB_TEST_DIR; mount --rbind $hold $XB_TEST_DIR; exec "\$@"' \
			-- $XB_TEST_DIR/bin/bloomctl "\$@"
	END
	chmod 755 "$bloomctl"
	exits 3 restore - <"$T/long"
	one_line
	complains 'cannot keep a copy of standard input: No space left on device'
	rmdir "$hold"
	ctl save | cmp - "$T/saved"
	blocked 10.77.0.3
}

# Root reads everything, so somebody else asks.
t_unreadable_file()
{
	local code=0

	ctl add 10.77.0.3
	echo 192.0.2.1 >"$T/secret"
	chmod 0600 "$T/secret"
	chmod 0711 "$T"
	install -d -o nobody "$T/nobody"
	setpriv --reuid nobody --clear-groups "$bloomctl" --state "$T/nobody/state" --pin "$pins" \
		--run "$counters" import "$T/secret" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "exit code $code: $(cat "$T/err")"
	one_line
	complains 'secret: Permission denied'
}

t_no_bpffs()
{
	ctl add 10.77.0.3
	ctl save >"$T/before"
	for pins in "$T/no-bpffs" "$T/no-bpffs/deeper/still"; do
		exits 3 attach x0
		one_line
		complains 'bpf'
	done
	ctl save | cmp - "$T/before"
}

# The kernel takes such a name, JSON does not.
t_interface_that_is_no_text()
{
	local name=$'\xff\x9b31m'

	ip -n "$server" link add "$name" type veth peer name y1 || skip "ip does not make one"
	exits 2 attach "$name"
	one_line
	complains "'[?]+31m' is not a valid interface name"
}

t_state_is_a_file()
{
	local code=0

	echo hello >"$T/file"
	state=$T/file
	exits 2 add 192.0.2.1
	one_line
	complains 'not a directory'
	! ctl status >"$T/out" 2>"$T/err" || fail "status finds nothing wrong"
	[[ $(cat "$T/file") == hello ]]
	state=$T/file/below
	ctl add 192.0.2.1 >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 2 || $code -eq 3 ]] || fail "exit code $code"
	one_line
}

# An emptied store is a new one; what the lost one listed stays enforced, and status tells.
t_damaged_store()
{
	local file=$state/store.mdb

	ctl attach x0
	ctl add 10.77.0.3 --list kept
	ctl save >"$T/saved"
	cp "$file" "$T/good"
	head -c "$(stat -c %s "$file")" /dev/urandom >"$T/junk"
	for bad in "$T/junk" /dev/null; do
		cat "$bad" >"$file"
		exits 3 add 192.0.2.1
		one_line
		exits 3 status
		[[ $bad == /dev/null || $(wc -l <"$T/err") -eq 1 ]] || fail "$(cat "$T/err")"
		[[ $bad == /dev/null ]] || exits 3 save
		blocked 10.77.0.3
	done
	cat "$T/good" >"$file"
	ctl save | cmp - "$T/saved"
	exits 0 status
	exits 0 add 10.77.0.4
	blocked 10.77.0.3 10.77.0.4
}

run_tests
