# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# A real Postfix and a real rspamd, unpacked by scripts/setup, as if their packages were installed: their files lie
# over /usr and /etc, and /var has directories of its own, all in the mounts of this test alone. For sourcing behind
# lib.sh.

# lay PACKAGE...
lay()
{
	local one usr="" etc=""

	for one; do
		[[ -d $root/build/$one/usr ]] || skip "$one is not unpacked"
		usr+=$root/build/$one/usr: etc+=$root/build/$one/etc:
	done
	mkdir "$T/disk"
	mount -t tmpfs xbt "$T/disk"
	mkdir -p "$T"/disk/{etc,work,spool,lib,log}
	trap lift EXIT
	mount -t overlay overlay -o "lowerdir=$usr/usr" /usr 2>/dev/null || skip "no overlay file system"
	mount -t overlay overlay -o "lowerdir=$etc/etc,upperdir=$T/disk/etc,workdir=$T/disk/work" /etc
	for one in spool lib log; do
		mount --bind "$T/disk/$one" /var/$one
	done
	rm -f /etc/resolv.conf
	echo "nameserver 127.0.0.1" >/etc/resolv.conf
	chmod 755 "$T"
}

lift()
{
	local one

	for one in /run/xdp-bloom /var/log /var/lib /var/spool /etc /usr; do
		umount -l $one 2>/dev/null || true
	done
}

# account NAME NUMBER: a user and a group that the package would make.
account()
{
	echo "$1:x:$2:" >>/etc/group
	echo "$1:x:$2:$2::/nonexistent:/usr/sbin/nologin" >>/etc/passwd
}

# As the package configures it, chrooted as it does; mail goes to /var/spool/mail, and nobody is asked for names.
install_postfix()
{
	account postfix 970
	account postdrop 971
	account reader 972
	mkdir -p /var/spool/postfix /var/lib/postfix
	rm -f /var/spool/mail
	mkdir -m 1777 /var/spool/mail
	chown postfix:postfix /var/lib/postfix
	cp /usr/share/postfix/main.cf.debian /etc/postfix/main.cf
	sed 's/^smtp  *inet /25 inet /' /usr/share/postfix/master.cf.dist >/etc/postfix/master.cf
	: >/etc/postfix/dynamicmaps.cf
	postconf -e maillog_file=/dev/stdout myhostname=mail.example mydestination=mail.example mynetworks=127.0.0.0/8 \
		inet_interfaces=all alias_maps= local_recipient_maps= mail_spool_directory=/var/spool/mail/ \
		smtpd_peername_lookup=no smtpd_relay_restrictions=reject_unauth_destination
}

# start_postfix: in the foreground; its log is $T/postfix.log.
start_postfix()
{
	in_server postfix start-fg >"$T/postfix.log" 2>&1 &
	wait_for "Postfix" grep -q "daemon started" "$T/postfix.log"
}

# mail SOURCE WANTED [SENDER [PORT]]: what Postfix says to a mail from this source begins with the text.
mail()
{
	local said

	said=$(in_client python3 -S -E "$root/tests/e2e/mailer.py" "$1" "$(to "$1")" "${@:3}" | tr '\n' ' ')
	[[ $said == "$2"* ]] || fail "mail from $1: '$said', not '$2'"
}

# As the package leaves it, without names to ask for, and of its modules only those that ask bloomd: the others and their
# rules cost seconds with each start. Log on stdout.
install_rspamd()
{
	local one

	account _rspamd 973
	mkdir -p /var/lib/rspamd /run/rspamd
	chown _rspamd /var/lib/rspamd /run/rspamd
	echo 'type = "console";' >/etc/rspamd/local.d/logging.inc
	# Of the thousands of suffixes, and of the languages, that it knows, it makes a table with each start.
	printf '%s\n' org example >/etc/rspamd/suffixes
	mkdir /etc/rspamd/languages
	echo '{}' >/etc/rspamd/languages/stop_words
	cp /usr/share/rspamd/languages/en.json /etc/rspamd/languages
	echo 'lang_detection { languages = "/etc/rspamd/languages"; }' >/etc/rspamd/rspamd.conf.local
	printf '%s\n' 'dns { timeout = 0.1s; retransmits = 1; }' 'url_tld = "/etc/rspamd/suffixes";' \
		'disable_hyperscan = true;' 'filters = "";' >/etc/rspamd/local.d/options.inc
	for one in /etc/rspamd/modules.d/*.conf; do
		[[ $one == */multimap.conf ]] || echo 'enabled = false;' >"/etc/rspamd/local.d/${one##*/}"
	done
	echo 'count = 1;' >/etc/rspamd/local.d/worker-normal.inc
	echo 'enabled = false;' >/etc/rspamd/local.d/worker-proxy.inc
}

# start_rspamd: in the foreground. It compiles its rules first.
start_rspamd()
{
	in_server rspamd -f -u _rspamd -g _rspamd >"$T/rspamd.log" 2>&1 &
	# shellcheck disable=SC2030,SC2031 # of this wait alone
	(patience=$((2 * patience)) && wait_for "rspamd" in_server rspamc -t 1 stat) || fail "rspamd: $(tail -n 3 "$T/rspamd.log")"
}

# scan WANTED ADDRESS SENDER [TEXT]: the symbols of ours with their scores in a mail, in order.
scan()
{
	local said

	printf 'From: <%s>\nTo: b@mail.example\nSubject: a test\n\n%s\n' "$3" "${4:-}" >"$T/mail.eml"
	in_server rspamc -t 60 --ip "$2" --from "$3" "$T/mail.eml" >"$T/out" 2>&1 || fail "rspamc: $(cat "$T/out")"
	grep -q '^Score:' "$T/out" || fail "rspamc: $(cat "$T/out")"
	said=$(sed -nE 's/^Symbol: ([A-Z_]*LISTED[A-Z_]*) \(([-0-9.]*)\).*/\1=\2/p' "$T/out" | sort | tr '\n' ' ')
	[[ ${said% } == "$1" ]] || fail "rspamd of $2, $3, ${4:-no text}: '$said', not '$1': $(cat "$T/out")"
}
