#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How commands are typed: options anywhere, durations, words that are nearly right; how errors and
# broken pipes look to a script.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# verbs: those that help lists.
verbs() { ctl help | awk '/^$/ {n++; next} n == 1 {print $1}'; }

t_options_anywhere()
{
	exits 0 add --comment 'in front' 192.0.2.1 --list one
	exits 0 list -j --list one
	json 'd["entries"][0]["lists"][0]["comment"] == "in front"'
	exits 0 list --list=one --pretty
	json 'len(d["entries"]) == 1'
	exits 0 allow list -j
	json 'd["entries"] == []'
	exits 0 -q test 192.0.2.1
	[[ ! -s $T/out ]]
	exits 0 test 192.0.2.1 -q
	[[ ! -s $T/out ]]
	exits 0 add 192.0.2.2 --comment -j
	[[ ! -s $T/out ]] || fail "a value is taken as an option"
	exits 0 list
	says '192.0.2.2 .* comment "-j"$'
	exits 2 add -- -j
	in_server "$bloomctl" list --state "$state" --pin="$pins" --run "$counters" -j >"$T/out"
	json 'len(d["entries"]) == 2'
	exits 2 list --state
	one_line
}

t_durations()
{
	local text seconds before after

	while read -r text seconds; do
		before=$(date +%s)
		exits 0 -q add 192.0.2.1 --exist --timeout "$text"
		after=$(date +%s)
		exits 0 -j list
		json "$before <= __import__('calendar').timegm(__import__('time').strptime(
			d['entries'][0]['lists'][0]['expires'], '%Y-%m-%dT%H:%M:%SZ')) - $seconds <= $after"
	done <<-END
		90 90
		90s 90
		15m 900
		1h 3600
		30d 2592000
		2w 1209600
	END
	for text in 0 0s -1 1.5h 1y 1hh h 99999999999w 1h30m '1 h' 18446744073709551616s; do
		exits 2 add 192.0.2.2 --timeout "$text"
		one_line
		complains '90s, 15m, 1h, 30d, 2w'
	done
	exits 0 attach x0 --rollback 1m
	complains 'within 60 seconds'
	exits 0 commit
	exits 2 policy monitor --rollback 2d
	exits 0 --wait 1m status
}

t_did_you_mean()
{
	exits 2 adn 192.0.2.1
	one_line
	complains "^bloomctl: unknown command 'adn' \(did you mean 'add'\?\)"
	exits 2 imoprt x
	complains "did you mean 'import'"
	exits 2 frobnicate
	! grep -q 'did you mean' "$T/err" || fail "$(cat "$T/err")"
	exits 2 allow lits
	complains "unknown command 'allow lits' \(did you mean 'list'\?\)"
	exits 2 allow 192.0.2.1
	complains "did you mean 'allow add 192.0.2.1'"
	exits 2 add 192.0.2.1 --timout=5
	complains "unknown option '--timout=5' \(did you mean '--timeout'\?\); bloomctl help add lists them$"
	exits 2 add 192.0.2.1 --for 1d
	complains "^bloomctl: unknown option '--for' \(did you mean '--timeout'\?\); bloomctl help add lists them$"
	exits 2 allow add 192.0.2.1 --for 1d
	complains "^bloomctl: unknown option '--for' \(did you mean '--timeout'\?\); bloomctl help allow add lists them$"
	exits 2 add 192.0.2.1 --expires=1d
	complains "did you mean '--timeout'"
	exits 2 flush --y
	complains "unknown option '--y' \(did you mean '--yes'\?\)"
	exits 2 --quie list
	complains "unknown option '--quie' \(did you mean '--quiet'\?\)"
	exits 2 allow remove 192.0.2.1
	complains "unknown command 'allow remove' \(did you mean 'del'\?\)"
	exits 0 list
	[[ ! -s $T/out ]] || fail "something is listed: $(cat "$T/out")"
	exits 2 list --jsno
	complains "did you mean '--json'"
	exits 2 list --frob
	! grep -q 'did you mean' "$T/err" || fail "$(cat "$T/err")"
	exits 2 --quite list
	complains "did you mean '--quiet'"
	exits 2 help imprt
	complains "did you mean 'import'"
	exits 2 help allow x
	one_line
}

t_help_has_examples()
{
	local verb

	[[ $(verbs | wc -l) -gt 20 ]]
	for verb in $(verbs); do
		exits 0 help "$verb"
		[[ $(sed -n '/^examples:$/,/^$/p' "$T/out" | grep -c '^  bloomctl ') -eq 2 ]] ||
			fail "not two examples of $verb: $(cat "$T/out")"
	done
	exits 0 help allow add
	says '^usage: bloomctl allow add ENTRY'
	exits 0 help
	cp "$T/out" "$T/help"
	exits 0 --help
	cmp "$T/out" "$T/help"
}

# offered COMMAND...: a line each of the command, ":", and the options that completion offers for it.
offered()
{
	local COMP_WORDS COMP_CWORD COMPREPLY command

	# compgen fails when it has nothing to offer.
	trap - ERR
	set +e
	# shellcheck source=/dev/null
	. "$root/packaging/bloomctl.bash"
	bloomctl() { ctl "$@"; }
	for command; do
		# shellcheck disable=SC2206
		COMP_WORDS=(bloomctl $command -)
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_bloomctl
		echo "$command: ${COMPREPLY[*]}"
	done
}

# Usage lines, help, manual page and completion have the same options, and the parser takes them.
t_all_four_agree()
{
	local -a commands
	local verb

	"$root/scripts/synopses" --check "$bloomctl"
	mapfile -t commands < <(verbs | grep -vxE 'allow|known')
	for verb in allow known; do
		mapfile -t -O ${#commands[@]} commands < <(ctl help $verb |
			awk '/^commands:/ {on = 1} on && $2 {print $2, $3}')
	done
	[[ ${#commands[@]} -gt 28 ]] || fail "too few commands: ${commands[*]}"
	(offered "${commands[@]}") >"$T/offered"
	python3 - "$root" "$bloomctl" "$T" <<-'END' || fail "they differ"
	import re, subprocess, sys
	root, tool, scratch = sys.argv[1:]
	page = open(root + "/packaging/bloomctl.8").read()
	page = page[page.index(".Sh COMMANDS"):page.index(".Sh LIFELINES")]
	everywhere = {"--json", "--pretty", "--quiet", "--verbose", "--help", "--version", "--state", "--pin", "--run", "--wait"}
	def run(*words):
	    return subprocess.run([tool, "--state", scratch + "/none", *words], stdin=subprocess.DEVNULL,
	                          capture_output=True, text=True)
	def complaint(*words):
	    done = run(*words)
	    assert done.returncode == 2, (words, done)
	    return done.stderr
	def options_in(usage):
	    """Name to whether it takes a value."""
	    return {name: bool(value) for name, value in re.findall(r"(--[a-z-]+)( [A-Za-z])?", usage)}
	def check(command, completed):
	    words = command.split()
	    usage, rest = run("help", *words).stdout.split("\n", 1)
	    wanted = options_in(usage)
	    listed = rest.partition("options:\n")[2].partition("\n\n")[0]
	    helped = {}
	    for line in listed.splitlines():
	        typed, told = re.fullmatch(r"  (\S+(?: \S+)?)  +(\S.*)", line).groups()
	        helped.update(options_in(typed))
	        assert len(line) < 100 and len(told) > 2, line
	    assert helped == wanted, "help of %s: %s, not %s" % (command, helped, wanted)
	    assert set(completed) == set(wanted), "completion of %s: %s" % (command, completed)
	    lines = re.findall(r"^\.It Cm %s\b.*" % command, page, re.M)
	    told = {"--" + name: bool(value) for line in lines
	            for name, value in re.findall(r"Fl -([a-z-]+)( (?:Ar|Cm))?", line)}
	    assert len(lines) == 1 and told == wanted, "manual page of %s: %s" % (command, told)
	    for name, value in wanted.items():
	        if value:
	            assert "option '%s' needs a value" % name in complaint(*words, name), (command, name)
	        else:
	            assert "unknown option '--frob'" in complaint(*words, name, "--frob"), (command, name)
	        for begun in {name[:5], name[:-1]} - set(wanted) - everywhere:
	            assert complaint(*words, begun, "1").startswith("bloomctl: unknown option '%s'" % begun), (command, begun)
	for line in open(scratch + "/offered"):
	    command, options = line.rstrip("\n").split(": ", 1)
	    check(command, options.split())
	END
}

t_errors_as_json()
{
	exits 2 -j add 192.0.2.300
	[[ ! -s $T/out && $(wc -l <"$T/err") -eq 1 ]]
	cp "$T/err" "$T/out"
	json 'd["error"]["class"] == "input" and "192.0.2.300" in d["error"]["message"]'
	printf 'add 192.0.2.1\ndel 192.0.2.9\n' >"$T/batch"
	exits 1 -j batch "$T/batch"
	cp "$T/err" "$T/out"
	json '"batch:2: 192.0.2.9 is not listed" in d["error"]["message"]'
	printf 'add x y\n' >"$T/batch"
	exits 2 -j batch "$T/batch"
	cp "$T/err" "$T/out"
	json 'd["error"]["line"] == 1 and d["error"]["file"].endswith("/batch")'
	exits 2 -j frobnicate
	cp "$T/err" "$T/out"
	json 'd["error"]["class"] == "input"'
	ctl -j list >/dev/full 2>"$T/out" && fail "a full disk is no error"
	json 'd["error"]["class"] == "system"'
}

# notes TEXT COMMAND...: in JSON its only note is an object with this text.
notes()
{
	local text=$1

	shift
	exits 0 -j "$@"
	[[ $(wc -l <"$T/err") -eq 1 ]] || fail "$*: $(cat "$T/err")"
	cp "$T/err" "$T/out"
	json "'$text' in d['note']"
}

t_notes_as_json()
{
	ctl attach x0
	notes 'has host bits set; taken as 203.0.114.0/24' add 203.0.114.7/24
	notes '10.77.0.1 will not be dropped: it is on the allowlist' add 10.77.0.1
	ctl add 203.0.114.1
	notes '203.0.114.1 has no entry of its own any more' del 203.0.114.1
	printf 'a.example\nb..example\n' >"$T/list"
	notes '1 lines were not understood' import "$T/list" --list one
	notes '1 lines were not understood' import "$T/list" --list one --dry-run
	notes '3 entries left out as bogons' import - --list two <<<$'203.0.113.1\n10.0.0.1\n198.18.0.1'
	seq 9000 | awk '{print "add 172.16." int($1 / 256) "." $1 % 256}' >"$T/batch"
	notes 'the filter was full; it now has room for ' batch "$T/batch"
	notes 'within 60 seconds keeps it' policy monitor --rollback 60
	exits 0 -q commit
	notes 'replies to connections' policy allow-only
	exits 0 -q -j policy allow-only
	[[ ! -s $T/err ]] || fail "$(cat "$T/err")"
}

# The reader has what it wanted.
t_closed_pipe_is_no_error()
{
	local verb codes

	seq -f 'n%.0f.example' 20000 >"$T/list"
	exits 0 -q import "$T/list"
	for verb in list 'list -j' save; do
		# shellcheck disable=SC2086
		{ ctl $verb 2>"$T/err" || echo $? >"$T/code"; } | head -n 1 >"$T/out" || true
		[[ -s $T/out && ! -s $T/err ]] || fail "$verb: $(cat "$T/err")"
		codes=$(cat "$T/code")
		[[ $codes -eq 141 ]] || fail "$verb: exit code $codes"
	done
	ctl list >/dev/full 2>"$T/err" && fail "a full disk is no error"
	complains 'cannot write the answer: No space left'
}

# Nobody who says two things means both.
t_contradictions_are_refused()
{
	local line

	exits 0 -q add 192.0.2.1
	ctl save >"$T/before"
	while read -r line; do
		# shellcheck disable=SC2086
		exits 2 $line
		one_line
		complains '(is given twice, with|exclude each other)'
	done <<-END
		rotate --confirm --no-confirm
		rotate --no-confirm --fpr 0.01 --confirm
		attach x0 --mode skb --mode native
		add 192.0.2.2 --list a --list b
		add 192.0.2.2 --timeout 5 --list a --timeout 6
		allow add 192.0.2.2 --comment a --comment b
		flush --list a --yes --list b
		policy monitor --rollback 5 --rollback=6
		add 192.0.2.2 --state $T/other
		list --within 10.0.0.0/8 --within 11.0.0.0/8
	END
	ctl save | cmp - "$T/before" || fail "something changed"
	exits 0 -q add 192.0.2.2 --list a --list=a
	printf 'add 192.0.2.3 --list a\nadd 192.0.2.4 --list b\n' >"$T/batch"
	exits 0 -q batch "$T/batch"
	printf 'add 192.0.2.5 --list a --list b\n' >"$T/batch"
	exits 2 batch "$T/batch"
	complains 'batch:1: --list is given twice'
	exits 0 -q attach x0 --refuse gateway --refuse resolver
	exits 2 add 192.0.2.2 --exist=yes
	complains "^bloomctl: option '--exist' takes no value$"
}

t_what_is_wrong_is_named()
{
	local long

	# Of the command that is meant, not of the one above it.
	exits 2 known forget 192.0.2.1 --pin
	one_line
	complains "option '--pin' needs a value; usage: bloomctl known forget "
	exits 0 -q add 192.0.2.1 --list mail
	long=$(printf 'a%.0s' {1..65})
	exits 2 add 192.0.2.2 --list "$long"
	complains 'is too long: it has 65 characters, and 64 are the most'
	exits 0 -q add 192.0.2.2 --list "${long:1}"
	exits 2 scope mail tcp/65536
	complains "'tcp/65536' is not a service: a port is a number from 1 to 65535$"
	exits 2 scope mail tcp/25,tcp/587-25
	complains "'tcp/587-25' is not a service: the range ends before it begins$"
	exits 2 scope mail tcp/smtp
	complains "'tcp/smtp' is not a service: use tcp/PORT"
	printf '\xef\xbb\xbfadd 192.0.2.7\nadd 192.0.2.8\n' >"$T/batch"
	exits 0 -q batch "$T/batch"
	exits 0 test 192.0.2.7 192.0.2.8
	printf 'add 192.0.2.9\n\xef\xbb\xbfadd 192.0.2.10\n' >"$T/batch"
	exits 2 batch "$T/batch"
}

# The store is ahead of the filter for a moment, or for as long as a dead writer leaves it so.
t_dropped_and_not_listed()
{
	exits 0 -q attach x0
	exits 0 -q add 10.77.0.3 bad.example
	stands_at commit-after del 10.77.0.3 bad.example
	exits 1 test 10.77.0.3
	says '^10.77.0.3 is dropped now: not listed, but the filter in force has it still; `bloomctl up` brings that up to date$'
	exits 1 test bad.example
	says 'is dropped now: not listed, but the filter in force has it still'
	goes_on 0
	exits 1 test 10.77.0.3
	says '^10.77.0.3 passes now: not listed$'
}

run_tests
