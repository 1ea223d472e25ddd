# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for bloomctl(8)

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

# The lists that a verb can name: the allowlist's own is none to fill with what is to be dropped.
_bloomctl_lists()
{
	local verb=$1

	shift
	_bloomctl_status_names lists "$@" |
		if [[ $verb =~ ^(add|import|verdict)$ ]]; then grep -vx allow; else cat; fi
}

_bloomctl()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local verbs='attach detach up status doctor add del test list allow policy verdict ports limit commit expire flush import save
		restore batch rotate stats watch plan help'
	local kinds='address gateway resolver loopback link-local ssh time dhcp all'
	local verb="" below="" words="" given=0 i
	local -a places=()

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--state | --pin | --run)
			# The last one may still be waiting for its directory.
			((i + 1 < COMP_CWORD)) && places+=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}")
			((i++))
			;;
		--wait) ((i++)) ;;
		-*) ;;
		*)
			[[ -n $verb ]] && below=${COMP_WORDS[i]} && break
			verb=${COMP_WORDS[i]}
			[[ $verb == allow ]] || break
			;;
		esac
	done

	# Words behind the verb that are no options.
	for ((i++; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--rollback)
			[[ ${COMP_WORDS[i + 1]} == '=' ]] && ((i++))
			((i++))
			;;
		-*) ;;
		*) given=$((given + 1)) ;;
		esac
	done

	case $previous in
	--state | --pin | --run)
		if [[ -z $verb ]]; then
			mapfile -t COMPREPLY < <(compgen -d -- "$current")
			return
		fi
		;;
	--wait) [[ -n $verb ]] || return ;;
	esac
	if [[ -z $verb ]]; then
		if [[ $current == -* ]]; then
			words='-j --json -p --pretty -q --quiet -v --verbose -h --help -V --version
				--state --pin --run --wait'
		else
			words=$verbs
		fi
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
		return
	fi

	case $previous in
	--mode) words='auto native skb' ;;
	--format) words='plain netset spamhaus spamhaus-json ipsum ipset hosts adblock dnsmasq unbound
		rpz domains' ;;
	--list) words=$(_bloomctl_lists "$verb" "${places[@]}") ;;
	--verdict) words='drop refused nxdomain truncate count' ;;
	--refuse) words=$kinds ;;
	--fpr) words='0.01 0.001 0.0001 0.00001' ;;
	--comment | --timeout | --capacity | --entries | --rate | --count | --rollback | \
		--max-change | --min-entries | --min-bytes | --expect-end) return ;;
	esac
	if [[ -n $words || $previous == --list ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
		return
	fi

	if [[ $current == -* ]]; then
		case ${below:-$verb} in
		attach) words='--mode --refuse --rollback' ;;
		detach) words='--all' ;;
		add) words='--list --comment --timeout --exist --force' ;;
		del) words='--list --exist' ;;
		list) words='--list' ;;
		flush) words='--list --yes' ;;
		import) words='--list --verdict --format --replace --max-change --min-entries --min-bytes
			--expect-end --include-bogons --force --dry-run --rollback' ;;
		policy) words='--force --rollback' ;;
		verdict) words='--rollback' ;;
		restore) words='--interfaces --rollback' ;;
		rotate) words='--fpr --capacity --confirm --no-confirm --rollback' ;;
		stats) words='--watch --names' ;;
		watch) words='--rate --count' ;;
		plan) words='--entries --fpr --no-confirm' ;;
		esac
	else
		case ${below:-$verb} in
		attach) words=$(_bloomctl_interfaces) ;;
		help) ((given)) || words=$verbs ;;
		allow) words='add del list test refuse accept' ;;
		refuse | accept) words=$kinds ;;
		policy) ((given)) || words='enforce monitor allow-only' ;;
		verdict)
			case $given in
			0) words=$(_bloomctl_lists verdict "${places[@]}") ;;
			1) words='drop refused nxdomain truncate count' ;;
			esac
			;;
		ports)
			case $given in
			0) words='dns tls http' ;;
			1) words='off' ;;
			esac
			;;
		limit) ((given)) || words='off' ;;
		detach)
			words=$(_bloomctl_status_names interfaces "${places[@]}")
			[[ -n $words ]] || words=$(_bloomctl_interfaces)
			;;
		import | restore | batch)
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
			return
			;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _bloomctl bloomctl
