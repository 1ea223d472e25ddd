# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for bloomd(8). What there is to offer comes from `bloomd --help`.

# The value that an option takes, as the help calls it: FILE, DIR, or nothing.
_bloomd_value()
{
	[[ $1 == --* ]] && bloomd --help 2>/dev/null | sed -n "s/^  $1 \([A-Z]*\)  *.*/\1/p"
}

_bloomd()
{
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local PATH=$PATH:/usr/local/sbin:/usr/sbin

	COMPREPLY=()
	# "--option=value" comes as three words.
	if [[ $current == '=' ]]; then
		current=""
	elif [[ $before == '=' ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $(_bloomd_value "$before") in
	FILE)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		;;
	DIR) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
	*)
		mapfile -t COMPREPLY < <(compgen -W "$(bloomd --help 2>/dev/null |
			sed -nE 's/^  (-., )?(--[a-z-]+) .*/\2/p')" -- "$current")
		;;
	esac
}

complete -F _bloomd bloomd
