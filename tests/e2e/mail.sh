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

	said=$(in_client "$root/tests/e2e/mailer.py" "$1" "$(to "$1")" "${@:3}" | tr '\n' ' ')
	[[ $said == "$2"* ]] || fail "mail from $1: '$said', not '$2'"
}
