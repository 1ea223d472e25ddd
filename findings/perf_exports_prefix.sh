#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perf of Linux 6.12, GNU make 4.4.1: where does `perf stat make install` install, if the Makefile has PREFIX ?= /usr/local?
#
# Guessed: where `make install` does; what perf runs has the environment of perf's caller.
# Seen: perf sets PREFIX=/usr for what it runs, whatever the caller had there, and `?=` takes a variable of the environment.
# So a build that is profiled with its installation puts files among those of the distribution's packages, and a
# `make uninstall` without perf looks for them elsewhere.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring trixie linux-perf=6.12.118-1 make=4.4.1-2 busybox-static=1:1.37.0-6+b9
for applet in sh echo; do ln -s busybox "$root/usr/bin/$applet"; done
# shellcheck disable=SC2016 # make expands it
printf 'PREFIX ?= /usr/local\ninstall:\n\t@echo to $(PREFIX)\n' >"$root/tmp/Makefile"
mkdir -p "$root/dev"
mknod "$root/dev/null" c 1 3

inside() { env -i PATH=/usr/bin:/usr/sbin "$@"; }
makes() { inside "$@" /usr/sbin/chroot "$root" /usr/bin/make -sC /tmp install; }
profiles()
{
	inside "$@" /usr/sbin/chroot "$root" /usr/bin/perf stat -o /dev/null -e duration_time /usr/bin/make -sC /tmp install
}

inside /usr/sbin/chroot "$root" /usr/bin/perf --version
said="make: $(makes), $(makes PREFIX=/opt); perf stat make: $(profiles), $(profiles PREFIX=/opt)"
echo "$said"
[[ $said == "make: to /usr/local, to /opt; perf stat make: to /usr, to /usr" ]] || fail "it installs elsewhere"
