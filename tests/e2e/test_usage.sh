#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How commands are typed: options anywhere, durations, words that are nearly right; how errors and
# broken pipes look to a script.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# verbs: those that help lists.
verbs() { ctl help | awk '/^$/ {n++; next} n == 1 && /^  / {print $1}'; }

t_options_anywhere()
{
	exits 0 add --comment 'in front' 192.0.2.1 --list one
	exits 0 list -j --list=one
	json 'd["entries"][0]["lists"][0]["comment"] == "in front"'
	exits 0 allow list --pretty
	json 'd["entries"] == []'
	for words in "-q test 192.0.2.1" "test 192.0.2.1 -q" "add 192.0.2.2 --comment -j"; do
		# shellcheck disable=SC2086
		exits 0 $words
		[[ ! -s $T/out ]] || fail "$words: $(cat "$T/out")"
	done
	exits 0 list
	says '192.0.2.2 .* comment "-j"$'
	exits 2 add -- -j
	in_server "$bloomctl" list --state "$state" --pin="$pins" --run "$counters" -j >"$T/out"
	json 'len(d["entries"]) == 2'
}

# What is nearly right, or another tool's word for it, is told; then nothing is done.
t_did_you_mean()
{
	local words pattern

	while IFS='|' read -r words pattern; do
		# shellcheck disable=SC2086
		exits 2 $words
		one_line
		complains "$pattern"
	done <<-'END'
		adn 192.0.2.1|^bloomctl: unknown command 'adn' \(did you mean 'add'\?\)
		allow lits|unknown command 'allow lits' \(did you mean 'list'\?\)
		allow remove 192.0.2.1|unknown command 'allow remove' \(did you mean 'del'\?\)
		allow 192.0.2.1|did you mean 'allow add 192.0.2.1'
		add 192.0.2.1 --timout=5|unknown option '--timout=5' \(did you mean '--timeout'\?\); bloomctl help add lists them$
		allow add 192.0.2.1 --for 1d|^bloomctl: unknown option '--for' \(did you mean '--timeout'\?\); bloomctl help allow add lists them$
		--quie list|unknown option '--quie' \(did you mean '--quiet'\?\)
		list --jsno|did you mean '--json'
		help imprt|did you mean 'import'
		help allow x|x
		frobnicate|unknown command 'frobnicate'[^?]*$
		list --frob|unknown option '--frob'; bloomctl help list lists them$
		add 192.0.2.1 --timeout 1h30m|90s, 15m, 1h, 30d, 2w
		add 192.0.2.2 --exist=yes|^bloomctl: option '--exist' takes no value$
	END
	exits 0 list
	[[ ! -s $T/out ]] || fail "something is listed: $(cat "$T/out")"
}

# Each command's own page; the options for it are taken wherever they stand, but not as the value of another one.
t_help()
{
	local verb words

	[[ $(verbs | wc -l) -gt 20 ]]
	for verb in $(verbs); do
		exits 0 help "$verb"
		cp "$T/out" "$T/help"
		says "^(usage: bloomctl|  bloomctl) $verb"
		[[ $(sed -n '/^examples:$/,/^$/p' "$T/out" | grep -c "^  bloomctl .*\b$verb\b") -eq 2 && ! -s $T/err ]] ||
			fail "not two examples of $verb: $(cat "$T/out")"
		exits 0 "$verb" --help
		cmp "$T/out" "$T/help"
	done
	exits 0 help allow add
	says '^usage: bloomctl allow add ENTRY'
	cp "$T/out" "$T/help"
	for words in "allow add 192.0.2.1 --comment text -h" "allow add --help"; do
		# shellcheck disable=SC2086
		exits 0 $words
		cmp "$T/out" "$T/help"
	done
	exits 0 help
	cp "$T/out" "$T/help"
	exits 0 --help
	cmp "$T/out" "$T/help"
	exits 0 policy monitor --rollback 5 -h
	exits 0 add 192.0.2.1 --comment --help
	exits 0 list
	says '^192.0.2.1 list default .*comment "--help"$'
	exits 2 add -- -h
	one_line
	exits 2 batch - <<<'add --help'
	one_line
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

# Usage lines, help, manual page and completion have the same options. That they are taken, tests/commands tries.
t_all_four_agree()
{
	local -a commands
	local verb

	"$root/scripts/synopses" --check "$bloomctl"
	mapfile -t commands < <(verbs | grep -vxE 'allow|known|limit')
	for verb in allow known limit; do
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
	def run(*words):
	    return subprocess.run([tool, "--state", scratch + "/none", *words], stdin=subprocess.DEVNULL,
	                          capture_output=True, text=True)
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
	for line in open(scratch + "/offered"):
	    command, options = line.rstrip("\n").split(": ", 1)
	    check(command, options.split())
	END
}

t_man_page_has_the_counters()
{
	python3 - "$root" <<-'END'
	import re, sys
	reasons = re.findall(r'X\(\w+, "(\w+)", (\w+),[\s\\]*"([^"]*)"\)',
	                     open(sys.argv[1] + "/include/xdp_bloom/reason.h").read())
	page = open(sys.argv[1] + "/packaging/bloomctl.8").read()
	section = page[page.index(".Sh COUNTERS\n"):page.index(".Sh FILES\n")]
	told = re.findall(r"^\.It Cm (\w+) Pq (\w+)\n(.*)\n", section, re.M)
	assert len(reasons) > 40 and told == [(n, v.lower(), m) for n, v, m in reasons]
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
	notes '1 line was left out' import "$T/list" --list one
	notes '1 line was left out' import "$T/list" --list one --dry-run
	notes '3 entries left out as bogons' import - --list two <<<$'203.0.113.1\n10.0.0.1\n198.18.0.1'
	seq 9500 | awk '{print "add 172.16." int($1 / 256) "." $1 % 256}' >"$T/batch"
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
	local verb code codes

	seq -f 'n%.0f.example' 20000 >"$T/list"
	exits 0 -q import "$T/list"
	for verb in list 'list -j' save; do
		# shellcheck disable=SC2086
		{ ctl $verb 2>"$T/err" || echo $? >"$T/code"; } | head -n 1 >"$T/out" || true
		[[ -s $T/out && ! -s $T/err ]] || fail "$verb: $(cat "$T/err")"
		codes=$(cat "$T/code")
		[[ $codes -eq 141 ]] || fail "$verb: exit code $codes"
	done
	for verb in list save; do
		code=0
		ctl $verb >/dev/full 2>"$T/err" || code=$?
		[[ $code -eq 3 ]] || fail "$verb: a full disk is no error: $code"
		complains 'cannot write the answer: No space left'
	done
}

# Nobody who says two things means both; the same twice is no contradiction, nor are other lines of a batch.
t_contradictions()
{
	exits 2 policy monitor --rollback 5 --rollback=6
	one_line
	complains "^bloomctl: --rollback is given twice, with '5' and '6'$"
	exits 2 rotate --no-confirm --fpr 0.01 --confirm
	one_line
	complains '^bloomctl: --no-confirm and --confirm exclude each other$'
	exits 0 -q add 192.0.2.2 --list a --list=a
	printf 'add 192.0.2.3 --list a\nadd 192.0.2.4 --list b\n' >"$T/batch"
	exits 0 -q batch "$T/batch"
	printf 'add 192.0.2.5 --list a --list b\n' >"$T/batch"
	exits 2 batch "$T/batch"
	complains 'batch:1: --list is given twice'
	exits 0 -q attach x0 --refuse gateway --refuse resolver
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
