/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of domains that are configurations of resolvers: dnsmasq and Unbound. Both cover a domain
 * and all below it. */
#include "listformat.h"
#include "listline.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* dnsmasq: `address=/a/b/` and an address, or none; `server=/a/b/` and `local=/a/b/` without a
 * server to ask. */

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

/* A comment has a blank before it: `#` right behind the slash is an address that says no. */
static const char *cut_comment(char *line)
{
	for (char *mark = strchr(line, '#'); mark; mark = strchr(mark + 1, '#')) {
		if (mark > line && strchr(XB_BLANKS, mark[-1])) {
			*mark = '\0';
			return xb_line_trim(mark + 1);
		}
	}
	return "";
}

static int parse_dnsmasq(struct xb_reading *reading, char *line)
{
	const char *comment = cut_comment(line), *domain;
	char *address = value_of(line, "address"), *domains = address, *target;
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
		return XB_LINE_UNKNOWN;
	while (!error && (domain = strsep(&domains, "/")))
		error = xb_line_keep_domain(reading->file, domain, 0, comment);
	return error;
}

const struct xb_list_format xb_dnsmasq_format = {"dnsmasq", detect_dnsmasq, parse_dnsmasq,
						 .comments = "#", .loose = true};

/* unbound: `local-zone: "d" TYPE`. What the types answer: unbound.conf(5). */

static const char *const blocking[] = {
	"always_nxdomain", "always_refuse", "always_deny",    "always_null",
	"always_nodata",   "refuse",	    "deny",	      "static",
	"redirect",	   "inform_deny",   "inform_redirect"};
static const char *const passing[] = {"transparent", "typetransparent", "always_transparent"};

static bool is_among(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static bool detect_unbound(const char *line)
{
	return !strncmp(line, "server:", 7) || !strncmp(line, "local-zone:", 11) ||
	       !strncmp(line, "local-data:", 11);
}

/* A word, perhaps in quotes; NULL: none, or an open quote. */
static char *take_quoted(char **rest)
{
	char *start = *rest + strspn(*rest, XB_BLANKS), *end;

	if (*start != '"')
		return xb_line_word(rest);
	end = strchr(start + 1, '"');
	if (!end)
		return NULL;
	*end = '\0';
	*rest = end + 1;
	return start + 1;
}

static int parse_unbound(struct xb_reading *reading, char *line)
{
	const char *comment = xb_line_comment(line, "#"), *domain, *type;
	bool allow;

	if (!strcmp(xb_line_trim(line), "server:"))
		return 0;
	if (strncmp(line, "local-zone:", 11))
		return XB_LINE_UNKNOWN;
	line += 11;
	domain = take_quoted(&line);
	type = domain ? take_quoted(&line) : NULL;
	if (!type || xb_line_word(&line))
		return XB_LINE_UNKNOWN;
	allow = is_among(type, passing, ARRAY_SIZE(passing));
	if (!allow && !is_among(type, blocking, ARRAY_SIZE(blocking)))
		return XB_LINE_UNKNOWN;
	return xb_line_keep_domain(reading->file, domain, allow ? XB_LINE_ALLOW : 0, comment);
}

const struct xb_list_format xb_unbound_format = {"unbound", detect_unbound, parse_unbound,
						 .comments = "#", .loose = true};
