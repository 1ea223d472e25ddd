# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for bloomset(1). What there is to offer comes from `bloomset help --completion`.

# _bloomset_offer OFFERS: fills COMPREPLY with what begins like the current word.
_bloomset_offer()
{
	case $1 in
	'<files>')
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		;;
	'<directories>') mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current") ;;
	esac
}

_bloomset()
{
	local current=${COMP_WORDS[COMP_CWORD]} command="" given=0 waiting="" word key i
	local -A offers=() options=()

	COMPREPLY=()
	while IFS=';' read -r key word i; do
		offers["$key;$word"]=$i
		[[ $word == -* ]] && options["$key;"]+="${word%=} "
	done < <(bloomset help --completion 2>/dev/null)

	# "--option=value" comes as three words.
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ -n $waiting ]]; then
			[[ $word == '=' ]] && continue
			waiting=""
		elif [[ $word == -* ]]; then
			for key in "$command;$word=" ";$word="; do
				[[ -n ${offers[$key]+is there} ]] && waiting=$key && break
			done
		elif [[ -z $command ]]; then
			command=$word
		else
			given=$((given + 1))
		fi
	done

	if [[ -n $waiting ]]; then
		[[ $current == '=' ]] && current=""
		_bloomset_offer "${offers[$waiting]}"
	elif [[ $current == -* ]]; then
		_bloomset_offer "${options["$command;"]-}"
	else
		key="$command;$((given + 1))"
		[[ -n ${offers[$key]+is there} ]] || key="$command;*"
		_bloomset_offer "${offers[$key]-}"
	fi
}

complete -F _bloomset bloomset
