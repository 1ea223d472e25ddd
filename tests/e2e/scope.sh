# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What tests of the scope of a list share. For sourcing behind lib.sh.

# scope_is LIST WORD
scope_is() { [[ $(ctl scope "$1") == "$2" ]] || fail "scope of $1: $(ctl scope "$1"), not $2"; }
