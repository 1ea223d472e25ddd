#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the shell offers to complete the commands of bloomctl and bloomd.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# begin PROGRAM: from now on its words are completed. compgen fails when it has nothing to offer.
begin()
{
	trap - ERR
	set +e
	# shellcheck source=/dev/null
	. "$root/packaging/$1.bash"
	completed=$1
	bloomctl() { ctl "$@"; }
	bloomd() { "$bloomd" "$@"; }
}

# completes WANTED WORD...: what is offered for the last word.
completes()
{
	COMP_WORDS=("$completed" "${@:2}")
	COMP_CWORD=$(($# - 1))
	"_$completed"
	[[ "${COMPREPLY[*]}" == "$1" ]] || fail "${*:2}: '${COMPREPLY[*]}', not '$1'"
}

t_completion()
{
	begin bloomctl
	ctl add example.com --list ads
	ctl allow add 198.51.100.1
	completes ads add 192.0.2.1 --list ''
	completes ads import file --list ''
	completes 'ads allow' allow add 192.0.2.1 --list ''
	completes 'enforce monitor allow-only' policy ''
	completes 'enforce monitor allow-only' policy --force ''
	completes 'enforce monitor allow-only' policy --rollback 60 ''
	completes 'enforce monitor allow-only' policy --rollback = 60 ''
	completes monitor -q policy mon
	completes '' policy monitor ''
	completes '' policy monitor --force ''
	completes '--known --force --rollback' policy monitor --
	completes ads verdict ''
	completes ads verdict --rollback 60 ''
	completes 'drop refused nxdomain truncate count' verdict ads ''
	completes '' verdict ads drop ''
	completes '' verdict ads drop --rollback 60 ''
	completes ads scope ''
	completes all scope ads ''
	completes '' scope ads all ''
	completes 'add list del reset answers' limit ''
	completes off limit answers ''
	completes '' limit answers off ''
	ctl limit add dns --to udp/53 --rate 10/s
	completes dns limit del ''
	completes 'packets bytes connections queries' limit add web --of ''
	completes 'drop count truncate' limit add web --over ''
	completes 'name' limit add web --per ''
	completes all limit add web --to ''
	completes 'dns tls http' ports ''
	completes off ports tls ''
	completes '' ports tls off ''
	completes 'add del list test refuse accept' allow ''
	completes "$(ctl help | awk '/^$/ {n++; next} n == 1 && /^  / {printf "%s%s", sep, $1; sep = " "}')" ''
	completes 'auto native skb' attach --mode ''
	completes native attach --mode = n
	completes 'auto native skb' attach --mode =
	completes '' add --comment ''
	completes dhcp allow refuse ssh dh
	echo >"$T/listed"
	completes "$T/listed" import "$T/lis"
	completes "$T" list --state "$T"
	# What is typed is not run.
	completes '' list "\$(touch $T/run)" "a[\$(touch $T/run)]" ''
	[[ ! -e $T/run ]] || fail "completion runs what is typed"
}

# The kernel takes almost any byte in the name of an interface.
t_completion_runs_no_name()
{
	begin bloomctl
	cd "$T" || exit 1
	ip -n "$server" link add '$(id>ran)' type veth peer name peer
	exits 0 -q attach x0 '$(id>ran)'
	completes '\$\(id\>ran\) x0' detach ''
	completes x0 detach x
	[[ ! -e ran ]] || fail "completion runs the name of an interface"
}

t_completion_of_feeds()
{
	local feed

	begin bloomctl
	completes update feeds ''
	completes '' feeds update ''
	printf '[feed %s]\nurl = file:///none\n' drop dshield >"$T/bloomd.conf"
	agent
	for feed in drop dshield; do
		wait_for "the state of $feed" test -e "$state/feeds/$feed.json"
	done
	completes 'drop dshield' feeds update ''
	completes dshield feeds update ds
	completes '' feeds update drop ''
	agent_ends
}

# Usage line, help, man page and parser of bloomd have the same options; completion is below.
t_options_of_bloomd()
{
	python3 - "$root" "$bloomd" <<-'END' || fail "they differ"
	import re, subprocess, sys
	root, program = sys.argv[1:]
	def options_in(text, value):
	    return {name: bool(found) for name, found in re.findall("(--[a-z]+)( %s)?" % value, text)}
	def complaint(*words):
	    done = subprocess.run([program, *words], capture_output=True, text=True)
	    assert done.returncode == 2, (words, done)
	    return done.stderr
	helped = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
	usage, _summary, lines = helped.split("\n\n")
	wanted = options_in(usage, "[A-Z]+")
	assert len(wanted) == 7, usage
	assert options_in(re.sub("  [a-z].*", "", lines), "[A-Z]+") == wanted, lines
	page = open(root + "/packaging/bloomd.8").read()
	for part in (page.split(".Sh SYNOPSIS")[1].split(".Sh")[0], page.split(".Sh OPTIONS")[1].split(".Sh")[0]):
	    told = "\n".join(line.replace("Fl -", "--") for line in part.splitlines() if line.startswith((".Op", ".It")))
	    assert options_in(told, "Ar") == wanted, told
	for name, value in wanted.items():
	    if value:
	        assert "option '%s' needs a value" % name in complaint(name), name
	    elif name == "--check":
	        assert "unknown option '--frob'" in complaint(name, "--frob")
	    else:
	        short = "-" + name[2].upper() if name == "--version" else "-" + name[2]
	        said = [subprocess.check_output([program, word]) for word in (name, short)]
	        assert said[0] == said[1] and said[0], name
	END
}

t_completion_of_bloomd()
{
	local all='--config --state --pin --run --check --help --version'

	begin bloomd
	echo >"$T/written"
	mkdir "$T/made"
	completes "$all" ''
	completes "$all" --check ''
	completes '--config --check' --c
	completes "$T/written" --config "$T/wr"
	completes "$T/written" --config = "$T/wr"
	completes "$T/made" --check --state "$T/ma"
	completes '' --run "$T/wr"
	completes "$all" --pin "$T/made" ''
	completes '' nonsense
	# What is typed is not run.
	completes '' "\$(touch $T/run)" "a[\$(touch $T/run)]"
	[[ ! -e $T/run ]] || fail "completion runs what is typed"
}

run_tests
