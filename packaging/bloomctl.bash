# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for bloomctl(8). What there is to offer comes from `bloomctl help --completion`.

_bloomctl_interfaces()
{
	local path

	for path in /sys/class/net/*; do
		[[ -e $path ]] && printf '%s\n' "${path##*/}"
	done
}

# What `status` says under a key ("lists" or "interfaces"): the names in that array. $2...: --state
# and the like, as typed.
_bloomctl_status_names()
{
	local key=$1

	shift
	bloomctl -j "$@" status 2>/dev/null |
		sed -n "s/.*\"$key\":\[\([^]]*\)\].*/\1/p" |
		grep -o '"name":"[^"]*"' | cut -d '"' -f 4
}

# The feeds that bloomd has fetched, or has tried to. $1...: --state and the like, as typed.
_bloomctl_feeds()
{
	bloomctl -j "$@" feeds 2>/dev/null | grep -o '"name":"[^"]*"' | cut -d '"' -f 4
}

# $1...: --state and the like, as typed.
_bloomctl_limits()
{
	bloomctl -j "$@" limit list 2>/dev/null | grep -o '"name":"[^"]*"' | cut -d '"' -f 4
}

# Fills COMPREPLY with those of the words that begin like the current one. (compgen -W would run what
# stands in them, and an interface may have almost any name.)
_bloomctl_match()
{
	local word quoted

	while read -r word; do
		printf -v quoted '%q' "$word"
		[[ -n $word && $quoted == "$current"* ]] && COMPREPLY+=("$quoted")
	done < <(tr ' ' '\n' <<<"$1")
}

# _bloomctl_offer OFFERS [OPTION...]: fills COMPREPLY with what begins like the current word.
_bloomctl_offer()
{
	local words=$1

	shift
	case $words in
	'<files>')
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	'<directories>')
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	'<interfaces>') words=$(_bloomctl_interfaces) ;;
	'<attached>')
		words=$(_bloomctl_status_names interfaces "$@")
		[[ -n $words ]] || words=$(_bloomctl_interfaces)
		;;
	'<lists>') words=$(_bloomctl_status_names lists "$@") ;;
	'<feeds>') words=$(_bloomctl_feeds "$@") ;;
	'<limits>') words=$(_bloomctl_limits "$@") ;;
	# The allowlist's own is none to fill with what is to be dropped.
	'<lists-to-fill>') words=$(_bloomctl_status_names lists "$@" | grep -vx allow) ;;
	esac
	_bloomctl_match "$words"
}

_bloomctl()
{
	local current=${COMP_WORDS[COMP_CWORD]} command="" given=0 waiting="" word key i
	local -A offers=() options=()
	local -a places=()
	local PATH=$PATH:/usr/local/sbin:/usr/sbin

	COMPREPLY=()
	while IFS=';' read -r key word i; do
		offers["$key;$word"]=$i
		[[ $word == -* ]] && options["$key;"]+="${word%=} "
	done < <(bloomctl help --completion 2>/dev/null)

	# "--option=value" comes as three words.
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ -n $waiting ]]; then
			[[ $word == '=' ]] && continue
			[[ $waiting =~ ^\;--(state|pin|run)=$ ]] && places+=("${waiting:1}$word")
			waiting=""
		elif [[ $word == -* ]]; then
			for key in "$command;$word=" ";$word="; do
				[[ -n ${offers[$key]+is there} ]] && waiting=$key && break
			done
		elif [[ -z $command ]]; then
			command=$word
		elif [[ -n ${offers["$command $word;"]+is there} ]]; then
			command+=" $word"
		else
			given=$((given + 1))
		fi
	done

	if [[ -n $waiting ]]; then
		[[ $current == '=' ]] && current=""
		_bloomctl_offer "${offers[$waiting]}" "${places[@]}"
	elif [[ $current == -* ]]; then
		_bloomctl_offer "${options["$command;"]-}"
	else
		key="$command;$((given + 1))"
		[[ -n ${offers[$key]+is there} ]] || key="$command;*"
		_bloomctl_offer "${offers[$key]-}" "${places[@]}"
	fi
}

complete -F _bloomctl bloomctl
