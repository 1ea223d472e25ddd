#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whatever is wrong: one line on stderr, the right exit code, and nothing changed.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

begin()
{
	ctl attach x0
	ctl add 10.77.0.3 --list kept
	ctl save >"$T/before"
}

unchanged()
{
	ctl save >"$T/after"
	cmp "$T/before" "$T/after" || fail "the store has changed after: $*"
}

# refused CODE ARGUMENT...
refused()
{
	exits "$@"
	one_line
	unchanged "$@"
}

# refused_stdin CODE FILE ARGUMENT...
refused_stdin()
{
	local code=0

	ctl "${@:3}" <"$2" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq $1 ]] || fail "${*:3}: exit code $code, not $1: $(head -c 300 "$T/err")"
	one_line
	unchanged "${@:3}"
}

t_addresses()
{
	local one

	begin
	for one in '' ' ' 1.2.3 1.2.3.4.5 1.2.3.256 01.2.3.4 1.2.3.4/33 1.2.3.4/ 1.2.3.4/-1 1.2.3.4/a ::1/129 \
		::1::2 :: 1:2:3:4:5:6:7 12345::1 fe80::1%eth0 1.2.3.4:80 '[::1]' 0x7f.1 1.2.3.4/24/24 \
		-- '1.2.3.4 ' $'1.2.3.4\n' $'\x01\xff' 1.2.3.4,5.6.7.8 1.2.3.4-1.2.3.9 \
		"$(printf '1%.0s' {1..3000})"; do
		[[ $one != :: ]] || continue
		refused 2 add -- "$one"
		refused 2 test -- "$one"
		refused 2 del -- "$one"
	done
}

t_host_bits()
{
	begin
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
	complains 'first: 198.51.100.9/24, .*:2\)'
}

t_usage()
{
	local verb

	begin
	refused 2 frobnicate
	complains "unknown command 'frobnicate'"
	refused 2 --frobnicate status
	refused 2 add
	refused 2 del
	refused 2 test
	refused 2 attach
	refused 2 detach
	refused 2 detach --all x0
	refused 2 import
	refused 2 import "$T/before" "$T/before"
	refused 2 restore
	refused 2 batch
	refused 2 plan
	refused 2 plan --entries 0
	refused 2 plan --entries x
	refused 2 plan --entries 10 --fpr 2
	refused 2 rotate --fpr 0
	refused 2 rotate --fpr nan
	refused 2 rotate --capacity -1
	refused 2 rotate --capacity 99999999999999999999
	refused 2 add 192.0.2.1 --timeout 0
	refused 2 add 192.0.2.1 --timeout x
	refused 2 add 192.0.2.1 --timeout
	refused 2 add 192.0.2.1 --list
	refused 2 attach x0 --mode fast
	refused 2 status more
	refused 2 save more
	refused 2 up more
	for verb in attach detach add del list flush import rotate stats plan status up save test doctor \
		restore batch; do
		refused 2 $verb --frobnicate
	done
}

t_list_names()
{
	local one

	begin
	for one in '' 'two words' a/b ../x $'a\nb' "$(printf 'x%.0s' {1..300})"; do
		refused 2 add 192.0.2.1 --list "$one"
		refused 2 del 10.77.0.3 --list "$one"
		refused 2 import "$T/before" --list "$one"
	done
	refused 2 del 10.77.0.3 --list nosuch
	refused 2 list --list nosuch
	refused 2 flush --list nosuch --yes
	# U+009B begins a control sequence, and so may a byte that is no UTF-8.
	for one in $'\xc2\x9b31mred' $'\x9b31mred'; do
		refused 2 add 192.0.2.1 --list "$one"
		complains "invalid list name '[?]+31mred'"
		refused 2 allow del 10.77.0.3 --list "$one"
		complains "invalid list name '[?]+31mred'"
		refused 2 verdict "$one" drop
		complains "invalid list name '[?]+31mred'"
		refused 2 scope "$one" tcp/25
		complains "invalid list name '[?]+31mred'"
		refused 2 scope default "$one"
		complains "'[?]+31mred' is not a service"
		refused 2 list --list "$one"
		complains 'there is no list [?]+31mred$'
		refused 2 flush --list "$one" --yes
		complains "invalid list name '[?]+31mred'"
	done
}

t_comments()
{
	begin
	refused 2 add 192.0.2.1 --comment $'two\nlines'
	refused 2 add 192.0.2.1 --comment $'\xff\xfe'
	refused 2 add 192.0.2.1 --comment $'\xc2\x9b31mred'
	refused 2 add $'192.0.2.1/\x9b31m'
	complains "192.0.2.1/[?]31m'"
	refused 2 add 192.0.2.1 --comment "$(printf 'x%.0s' {1..5000})"
}

t_list_files()
{
	local verb

	begin
	: >"$T/empty"
	printf '# only\n; comments\n\n' >"$T/comments"
	head -c 100000 /dev/urandom >"$T/binary"
	printf '192.0.2.1\0\n' >"$T/zero"
	head -c 10000000 /dev/zero | tr '\0' 1 >"$T/line"
	printf '192.0.2.1\n192.0.2.2\n192.0.2.999\n' >"$T/third"
	mkdir "$T/directory"
	for verb in import batch restore; do
		refused 2 $verb "$T/binary"
		refused_stdin 2 "$T/binary" $verb -
		refused 2 $verb "$T/zero"
		refused 2 $verb "$T/line"
		refused_stdin 2 "$T/line" $verb -
		refused 2 $verb "$T/nosuch"
		complains 'nosuch'
		refused 2 $verb "$T/third"
		# A directory is no list: 2 where it is told apart, 3 where reading fails.
		code=0
		ctl $verb "$T/directory" >"$T/out" 2>"$T/err" || code=$?
		[[ $code -eq 2 || $code -eq 3 ]] || fail "$verb DIRECTORY: exit code $code"
		one_line
		unchanged $verb directory
	done
	refused 2 import "$T/empty"
	refused_stdin 2 "$T/empty" import -
	refused 2 restore "$T/empty"
	refused 2 import "$T/comments"
	refused 2 import "$T/third"
	complains 'third:3: .*192.0.2.999'
	refused 2 import "$T/third" --format nosuch
	complains 'known: plain'
	# Without an opened file there is nothing to read.
	code=0
	ctl import - <&- >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 || $code -eq 2 ]] || fail "import - without stdin: exit code $code"
	one_line
	unchanged import without stdin
}

t_restore_files()
{
	local name

	begin
	sed 's/"schema":1/"schema":9/' "$T/before" >"$T/later"
	refused 2 restore "$T/later"
	(cat "$T/before"; echo '{"entry":"1.2.3.4/99","list":"a","added":1}') >"$T/last"
	refused 2 restore "$T/last"
	complains "last:$(wc -l <"$T/last"): "
	(cat "$T/before"; echo '{"entry":') >"$T/cut"
	refused 2 restore "$T/cut"
	(cat "$T/before"; echo '{"entry":"1.2.3.4","list":"../a","added":1}') >"$T/name"
	refused 2 restore "$T/name"
	for name in '' . .. a/b ../../a a:b 'a b' '\u001b[1m' sixteen-letters-; do
		(cat "$T/before"; echo "{\"interface\":\"$name\",\"mode\":\"auto\"}") >"$T/name"
		refused 2 restore "$T/name"
		complains 'is not a valid interface name'
	done
	for name in '"comment":7' '"comment":null' '"allow":"1.2.3.5"' '"added":"1"'; do
		(cat "$T/before"; echo "{\"entry\":\"1.2.3.4\",\"list\":\"a\",$name}") >"$T/type"
		refused 2 restore "$T/type"
	done
	for name in '"fpr":"1e-2"' '"confirm":0' '"policy":[]' '"refused":"ssh"'; do
		echo "{\"schema\":1,\"saved\":\"xdp-bloom\",$name}" >"$T/type"
		refused 2 restore "$T/type"
	done
	blocked 10.77.0.3
}

# Lines of 128 bytes: what fits into a page of a full disk would be a whole text.
t_restore_has_no_room_for_a_copy()
{
	local hold=/run/xbt-hold-$$

	begin
	head -n 1 "$T/before" >"$T/long"
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
	refused_stdin 3 "$T/long" restore -
	complains 'cannot keep a copy of standard input: No space left on device'
	rmdir "$hold"
	blocked 10.77.0.3
}

# Root reads everything, so somebody else asks.
t_unreadable_file()
{
	begin
	echo 192.0.2.1 >"$T/secret"
	chmod 0600 "$T/secret"
	code=0
	chmod 0711 "$T"
	install -d -o nobody "$T/nobody"
	setpriv --reuid nobody --clear-groups "$bloomctl" --state "$T/nobody/state" --pin "$pins" \
		--run "$counters" import "$T/secret" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "exit code $code: $(cat "$T/err")"
	one_line
	complains 'secret: Permission denied'
	unchanged
}

t_not_root()
{
	begin
	chmod 0711 "$T"
	install -d -o nobody "$T/nobody"
	code=0
	in_server setpriv --reuid nobody --clear-groups "$bloomctl" --state "$T/nobody/state" \
		--pin "$pins" --run "$counters" attach x0 >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "exit code $code: $(cat "$T/err")"
	one_line
	unchanged
	exits 0 status
}

t_no_bpffs()
{
	begin
	exits 0 detach x0
	ctl save >"$T/before"
	pins=$T/no-bpffs
	refused 3 attach x0
	complains 'bpf'
	pins=$T/no-bpffs/deeper/still
	refused 3 attach x0
}

t_missing_interface()
{
	begin
	refused 2 attach nosuch0
	complains 'nosuch0: no such interface'
	refused 1 detach nosuch0
	refused 2 attach "$(printf 'x%.0s' {1..40})"
	refused 2 attach ''
	refused 2 attach x0/../x0
}

# The kernel takes such a name, JSON does not.
t_interface_that_is_no_text()
{
	local name=$'\xff\x9b31m'

	begin
	ip -n "$server" link add "$name" type veth peer name y1 || skip "ip does not make one"
	refused 2 attach "$name"
	complains "'[?]+31m' is not a valid interface name"
}

t_full_disk()
{
	local number code=0

	mkdir "$T/disk"
	mount -t tmpfs -o size=1m xbt "$T/disk"
	state=$T/disk/state
	begin
	head -c 2000000 /dev/zero >"$T/disk/filler" 2>/dev/null || true
	python3 -c '
for i in range(40000):
    print("172.%d.%d.%d" % (16 + (i >> 16), i >> 8 & 255, i & 255))' >"$T/list"
	refused 3 import "$T/list" --include-bogons
	complains 'no space left'
	blocked 10.77.0.3
	for ((number = 1; number <= 40 && code == 0; number++)); do
		ctl save >"$T/before"
		ctl add "192.0.2.$number" --comment "$(printf 'x%.0s' {1..200})" >"$T/out" 2>"$T/err" || code=$?
	done
	[[ $code -eq 0 || $code -eq 3 ]] || fail "exit code $code"
	[[ $code -eq 0 ]] || one_line
	unchanged "add on a full disk"
	blocked 10.77.0.3
	rm "$T/disk/filler"
	exits 0 add 10.77.0.4
	blocked 10.77.0.3 10.77.0.4
	exits 0 status
}

t_state_is_a_file()
{
	local kept=$state

	begin
	echo hello >"$T/file"
	state=$T/file
	exits 2 add 192.0.2.1
	one_line
	complains 'not a directory'
	! ctl status >"$T/out" 2>"$T/err" || fail "status finds nothing wrong"
	[[ $(cat "$T/file") == hello ]]
	state=$T/file/below
	code=0
	ctl add 192.0.2.1 >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 2 || $code -eq 3 ]] || fail "exit code $code"
	one_line
	state=$kept
	unchanged
}

t_damaged_store()
{
	local file

	begin
	file=$(find "$state" -name '*.mdb' ! -name '*lock*' | sed -n 1p)
	[[ -n $file ]] || file=$(find "$state" -type f -size +4k | sed -n 1p)
	cp "$file" "$T/good"
	head -c "$(stat -c %s "$file")" /dev/urandom >"$T/junk"
	cat "$T/junk" >"$file"
	exits 3 add 192.0.2.1
	one_line
	exits 3 status
	[[ $(wc -l <"$T/err") -eq 1 ]]
	exits 3 save
	blocked 10.77.0.3
	: >"$file" # as good as none: a new store begins, what is in force goes on
	exits 3 add 192.0.2.1
	one_line
	exits 3 status
	blocked 10.77.0.3
	cat "$T/good" >"$file"
	unchanged
	exits 0 status
	exits 0 add 10.77.0.4
	blocked 10.77.0.3 10.77.0.4
}

# An emptied store is a new one; what the lost one listed stays enforced, and status tells.
t_emptied_store()
{
	local file

	begin
	file=$(find "$state" -name '*.mdb' ! -name '*lock*' | sed -n 1p)
	[[ -n $file ]] || file=$(find "$state" -type f -size +4k | sed -n 1p)
	: >"$file"
	ctl add 192.0.2.1 >"$T/out" 2>"$T/err" || true
	[[ -s $T/err ]] || fail "not a word of it"
	blocked 10.77.0.3
	exits 3 status
}

t_stdout_is_full()
{
	local code=0

	begin
	ctl save >/dev/full 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "exit code $code"
	complains 'cannot write the answer'
}

run_tests
