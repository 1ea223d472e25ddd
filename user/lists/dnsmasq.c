/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of domains that are configurations of forwarders: dnsmasq and smartdns. Both cover a domain
 * and all below it. */
#include "lists/format.h"
#include "lists/line.h"

/*
 * dnsmasq: `address=/a/b/` and an address, or none; `server=/a/b/` and `local=/a/b/` without a
 * server to ask. More specific domains take precedence (dnsmasq(8)), so below what the file lists,
 * an address that leads somewhere and a server to ask are exceptions; elsewhere they are a
 * resolver's own business.
 */

/* What stands behind `word` and an equals sign, with or without blanks; NULL: something else. */
static char *value_of(char *line, const char *word)
{
	size_t size = strlen(word);

	if (strncmp(line, word, size))
		return NULL;
	line += size + strspn(line + size, XB_BLANKS);
	return *line == '=' ? line + 1 + strspn(line + 1, XB_BLANKS) : NULL;
}

static bool detect_dnsmasq(const char *line)
{
	return !strncmp(line, "address=/", 9) || !strncmp(line, "server=/", 8) ||
	       !strncmp(line, "local=/", 7);
}

static int parse_dnsmasq(struct xb_reading *reading, char *line)
{
	/* `#` right behind the slash is no comment, but an address that says no. */
	const char *comment = xb_line_comment_apart(line, "#"), *domain;
	char *address = value_of(line, "address"), *domains = address, *target;
	unsigned int how = 0;
	int error = 0;

	domains = domains ? domains : value_of(line, "server");
	domains = domains ? domains : value_of(line, "local");
	if (!domains || *domains != '/')
		return XB_LINE_UNKNOWN;
	domains++;
	target = strrchr(domains, '/');
	if (!target)
		return XB_LINE_UNKNOWN;
	*target = '\0';
	target = xb_line_trim(target + 1);
	if (*target && !(address && (!strcmp(target, "#") || xb_line_is_nowhere(target))))
		how = XB_LINE_ALLOW | XB_LINE_DOUBTFUL;
	while (!error && (domain = strsep(&domains, "/")))
		error = xb_line_keep_domain(reading->file, domain, how, comment);
	return error;
}

static int finish_dnsmasq(struct xb_reading *reading)
{
	struct xb_listfile *file = reading->file;
	int error;

	for (size_t i = 0; i < file->count; i++) {
		struct xb_item *item = &file->items[i];

		if (item->doubtful)
			item->doubtful = !xb_line_is_listed(file, &item->entry, false);
	}
	error = xb_line_settle(file, "is not an exception: the file lists nothing wider");
	return error ? error : xb_line_narrower_wins(file);
}

const struct xb_list_format xb_dnsmasq_format = {"dnsmasq",	detect_dnsmasq,
						 parse_dnsmasq, .comments = "#",
						 .loose = true, .finish = finish_dnsmasq};

/*
 * smartdns: `address /domain/#`, with `-.` in front of the domain for the name alone, and
 * `domain-rules /domain/ -a #`. Where the domain has a real address, or `-`, or a server to ask, it
 * is an exception, as in dnsmasq.
 */

/* The domain between slashes behind the word; *rest: what stands behind it. */
static char *smartdns_domain(char *line, const char *word, char **rest)
{
	size_t size = strlen(word);
	char *end;

	if (strncmp(line, word, size) || !line[size] || !strchr(XB_BLANKS, line[size]))
		return NULL;
	line += size + strspn(line + size, XB_BLANKS);
	end = *line == '/' ? strchr(line + 1, '/') : NULL;
	if (!end)
		return NULL;
	*end = '\0';
	*rest = xb_line_trim(end + 1);
	return line + 1;
}

static bool detect_smartdns(const char *line)
{
	return !strncmp(line, "address /", 9) || !strncmp(line, "domain-rules /", 14) ||
	       !strncmp(line, "nameserver /", 12) || !strncmp(line, "domain-set -", 12);
}

/* The value of `-a` or `-address` if it is the only option; NULL: there are others. */
static const char *only_address(char *rest)
{
	const char *option = xb_line_word(&rest), *value = option ? xb_line_word(&rest) : NULL;

	if (!value || (strcmp(option, "-a") && strcmp(option, "-address")) || xb_line_word(&rest))
		return NULL;
	return value;
}

/* Into *how. False: it is for one family of addresses only, or something else. */
static bool read_smartdns_target(const char *target, unsigned int *how)
{
	if (!strcmp(target, "#") || xb_line_is_nowhere(target))
		*how = 0;
	else if (*target && target[strspn(target, XB_DIGITS "abcdefABCDEF.:,-")] == '\0')
		*how = XB_LINE_ALLOW | XB_LINE_DOUBTFUL;
	else
		return false;
	return true;
}

static int parse_smartdns(struct xb_reading *reading, char *line)
{
	const char *target;
	unsigned int how = XB_LINE_ALLOW | XB_LINE_DOUBTFUL;
	char *rest, *domain = smartdns_domain(line, "nameserver", &rest);

	if (!domain) {
		domain = smartdns_domain(line, "address", &rest);
		target = domain ? rest : NULL;
		if (!domain)
			domain = smartdns_domain(line, "domain-rules", &rest);
		target = target ? target : domain ? only_address(rest) : NULL;
		if (!target || !read_smartdns_target(target, &how))
			return XB_LINE_UNKNOWN;
	} else if (*rest == '#') {
		return XB_LINE_UNKNOWN;
	}
	if (!strncmp(domain, "-.", 2))
		return xb_line_keep_domain(reading->file, domain + 2, how | XB_LINE_EXACT, "");
	if (!strncmp(domain, "*.", 2))
		return xb_line_keep_domain(reading->file, domain + 2, how | XB_LINE_MEANT, "");
	return xb_line_keep_domain(reading->file, domain, how, "");
}

const struct xb_list_format xb_smartdns_format = {"smartdns",	  detect_smartdns,
						  parse_smartdns, .comments = "#",
						  .loose = true,  .finish = finish_dnsmasq};
