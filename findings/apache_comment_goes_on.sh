#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Apache 2.4.68 (Debian 12): does a comment in its configuration end with the line?
#
# Guessed: yes.
# Seen: not if the line ends with a backslash. The next line is then part of the comment: the `Deny from` behind `# see C:\`
# denies nobody, without a word in the log.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring bookworm apache2-bin=2.4.68-1~deb12u1
mkdir -p "$root/dev" "$root/etc" "$root/tmp/www"
mknod "$root/dev/null" c 1 3
mknod "$root/dev/urandom" c 1 9
echo www-data:x:33:33::/:/bin/sh >"$root/etc/passwd"
echo www-data:x:33: >"$root/etc/group"
echo hello >"$root/tmp/www/a"
cat >"$root/tmp/conf" <<-END
	ServerRoot /tmp
	ServerName x
	PidFile /tmp/pid
	ErrorLog /tmp/error
	DefaultRuntimeDir /tmp
	Listen 127.0.0.1:8080
	User www-data
	Group www-data
	DocumentRoot /tmp/www
	$(for module in mpm_event authz_core authz_host access_compat; do
		echo "LoadModule ${module}_module /usr/lib/apache2/modules/mod_$module.so"
	done)
	<Directory /tmp/www>
	AllowOverride All
	</Directory>
END
chmod -R a+rX "$root/tmp"

# shellcheck disable=SC2016 # the shell in the namespace expands it
said=$(unshare -n bash -c '
	ip link set lo up
	chroot "$1" /usr/sbin/apache2 -DFOREGROUND -f /tmp/conf >"$1/tmp/log" 2>&1 &
	trap "kill $!" EXIT
	until (: </dev/tcp/127.0.0.1/8080) 2>/dev/null; do sleep 0.1; done
	for comment in "# see C:" "# see C:\\"; do
		printf "%s\nDeny from 127.0.0.1\n" "$comment" >"$1/tmp/www/.htaccess"
		exec 3<>/dev/tcp/127.0.0.1/8080
		printf "GET /a HTTP/1.0\r\n\r\n" >&3
		cut -d " " -f 2 <&3 | head -n 1
	done' - "$root")
echo "$said"
[[ $said == "403
200" ]] || fail "it answers otherwise"
