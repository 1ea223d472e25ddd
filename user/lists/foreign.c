/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/foreign.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/program.h"
#include "lists/line.h"

/* What a file is, and what its owner or reader does to get a list. */
struct foreign {
	const char *what, *way;
	bool by_format; /* the way ends with a format to choose */
};

static const struct foreign
	web_page = {"a web page",
		    "fetch the file that it links to; to take each address in the page, "
		    "choose the format extract",
		    true},
	ipset_list = {"what `ipset list` shows", "`ipset save NAME` writes a set that can be read",
		      false},
	iptables_list = {"what `iptables -L` shows",
			 "`iptables-save` writes rules that can be read", false},
	script = {"a script that calls iptables",
		  "`iptables-save` writes the rules that it has made", false},
	router = {"a configuration of a router, whose rules permit and deny in their order",
		  "to list what some of its lines deny, give these lines alone, in the format "
		  "extract",
		  true},
	junos = {"a configuration of Junos",
		 "to list all prefixes of a prefix-list, give its lines alone, in the format "
		 "extract",
		 true},
	wrappers = {"a hosts.deny, whose rules are for some services each",
		    "to list their addresses for every packet, choose the format extract", true},
	pf_rules = {"a pf.conf, whose rules block and pass in their order",
		    "`pfctl -t TABLE -T show` writes a table, for the format pf", true};

/* Daemons that hosts.deny is mostly about, each with the mark behind it. */
#define WRAPPED(mark)                                                                              \
	"all" mark "|sshd" mark "|vsftpd" mark "|proftpd" mark "|portmap" mark "|rpcbind" mark     \
	"|in.ftpd" mark "|in.telnetd" mark "|in.tftpd" mark "|ftpd" mark "|sendmail" mark          \
	"|exim4" mark "|mountd" mark "|slapd" mark "|snmpd" mark

/*
 * How the first line of such a file begins, word by word in either case: `|` separates words that
 * may stand there, `*` is the rest of a word, `#` a number, and behind `$` the line has ended.
 */
static const struct {
	const char *shape;
	const struct foreign *foreign;
} shapes[] = {
	{"<!doctype html*", &web_page},
	{"<html*|<head*|<body*|<meta*|<title*|<script*|<div*|<p>*|<h1*|<!--*|<style*|<link*",
	 &web_page},
	{"<a|<table*|<ul*|<pre*|<span*|<center*|<form*|<br*|<h2*", &web_page},
	{"name: * $", &ipset_list},
	{"<ipsets>", &ipset_list},
	{"chain * (policy", &iptables_list},
	{"chain * (# references)", &iptables_list},
	{"accept|drop|reject|return|log all|tcp|udp|icmp|# --", &iptables_list},
	{"sudo|doas iptables|ip6tables|/sbin/iptables|/usr/sbin/iptables", &script},
	{"no|ip|ipv6 prefix-list|access-list|ip|ipv6", &router},
	{"access-list|object-group|access-group *", &router},
	{"object network|service", &router},
	{"# permit|deny", &router},
	{"permit|deny ip|ipv6|tcp|udp|icmp|any|host", &router},
	{"set policy-options|firewall|groups", &junos},
	{"policy-options|firewall {", &junos},
	{"prefix-list|policy-statement|route-filter|route-filter-list *", &junos},
	{WRAPPED(":*"), &wrappers},
	{WRAPPED(",") " " WRAPPED(":*"), &wrappers},
	{WRAPPED("") " :|except", &wrappers},
	{"table <*", &pf_rules},
	{"block|pass|match in|out|drop|return|quick|all|log|on|inet|inet6", &pf_rules},
};

static bool is_number(const char *word, size_t size)
{
	return size && strspn(word, XB_DIGITS "(") >= size;
}

/* shape: of one word, up to a bar. */
static bool fits_word(const char *shape, size_t shaped, const char *word, size_t size)
{
	if (*shape == '#' || !strncmp(shape, "(#", 2))
		return is_number(word, size);
	if (shape[shaped - 1] == '*')
		return size >= shaped - 1 && !strncasecmp(shape, word, shaped - 1);
	return size == shaped && !strncasecmp(shape, word, size);
}

static bool fits_any(const char *shape, size_t shaped, const char *word, size_t size)
{
	while (shaped) {
		const char *bar = memchr(shape, '|', shaped);
		size_t one = bar ? (size_t)(bar - shape) : shaped;

		if (fits_word(shape, one, word, size))
			return true;
		shaped -= one + (bar != NULL);
		shape += one + (bar != NULL);
	}
	return false;
}

static bool fits(const char *shape, const char *line)
{
	for (; *shape; shape += strspn(shape, " ")) {
		size_t shaped = strcspn(shape, " "), size;

		line += strspn(line, XB_BLANKS);
		size = strcspn(line, XB_BLANKS "\n");
		if (*shape == '$')
			return !*line || *line == '\n';
		if (!size || !fits_any(shape, shaped, line, size))
			return false;
		shape += shaped;
		line += size;
	}
	return true;
}

int xb_list_check_foreign(const char *line)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct foreign *foreign = shapes[i].foreign;

		if (fits(shapes[i].shape, line))
			return xb_input_error(
				"this is %s, not a list: %s%s", foreign->what, foreign->way,
				foreign->by_format ? xb_advice(XB_ADVICE_FORMAT) : "");
	}
	return 0;
}
