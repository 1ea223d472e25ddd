/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists in which a line says whether it means a domain with all below it or one name alone: rule
 * sets of proxies, regular expressions, URLs. */
#include <strings.h>

#include "base/array.h"
#include "lists/format.h"
#include "lists/judge.h"
#include "lists/line.h"

/*
 * ruleset: `DOMAIN-SUFFIX,example.com`, `.example.com` and `+.example.com` are the domain and all
 * below it; `DOMAIN,example.com` and `example.com` that name alone. A line may be an item of a list
 * in YAML, as Clash writes them; there `.example.com` is what lies below the domain, and
 * `*.example.com` one label more. What Squid (dstdomain), RouteDNS (domain), Clash, mihomo, Surge
 * (DOMAIN-SET, RULE-SET), Shadowrocket, Loon and Quantumult X read.
 *
 * In a whole configuration a rule may end with a policy that does not reject. In most programs the
 * first rule that fits decides, in others the most specific one. So what such a rule names passes,
 * wherever it stands; and all behind one that is about something else may pass.
 */

enum meaning { WIDE, BELOW, EXACT, SOURCE, OTHER, COMPOUND };

/* IP-CIDR is not taken: it is about where a connection goes. */
static const struct rule {
	const char *name;
	enum meaning meaning;
} rules[] = {
	{"DOMAIN-SUFFIX", WIDE},   {"HOST-SUFFIX", WIDE},   {"DOMAIN", EXACT},
	{"HOST", EXACT},	   {"SRC-IP-CIDR", SOURCE}, {"SRC-IP", SOURCE},
	{"DOMAIN-KEYWORD", OTHER}, {"HOST-KEYWORD", OTHER}, {"DOMAIN-WILDCARD", OTHER},
	{"HOST-WILDCARD", OTHER},  {"DOMAIN-REGEX", OTHER}, {"URL-REGEX", OTHER},
	{"PROCESS-NAME", OTHER},   {"USER-AGENT", OTHER},   {"IP-CIDR", OTHER},
	{"IP-CIDR6", OTHER},	   {"IP6-CIDR", OTHER},	    {"IP-ASN", OTHER},
	{"GEOIP", OTHER},	   {"GEOSITE", OTHER},	    {"DST-PORT", OTHER},
	{"SRC-PORT", OTHER},	   {"AND", COMPOUND},	    {"OR", COMPOUND},
	{"NOT", COMPOUND},
};

enum says { RULE_REFUSES, RULE_PASSES };

static void judge_rules(const struct xb_said *own, const struct xb_said *below, enum xb_judged whom,
			struct xb_judgement *now)
{
	bool listed_below = whom == XB_JUDGED_BELOW && below->count[RULE_REFUSES];

	if (own->count[RULE_PASSES])
		now->verdict = XB_VERDICT_PASSES;
	else if (now->verdict != XB_VERDICT_PASSES && (own->count[RULE_REFUSES] || listed_below))
		now->verdict = XB_VERDICT_REFUSED;
	else
		return;
	now->by = now->verdict == XB_VERDICT_PASSES ? own->line[RULE_PASSES]
		  : own->count[RULE_REFUSES]	    ? own->line[RULE_REFUSES]
						    : below->line[RULE_REFUSES];
}

static const struct xb_judge rules_judge = {
	.judge = judge_rules,
	.plain = 1U << RULE_REFUSES,
	.lists = 1U << RULE_REFUSES,
	.excepts = 1U << RULE_PASSES,
};

static const struct rule *find_rule(const char *line)
{
	size_t size = strcspn(line, ",");

	for (size_t i = 0; line[size] && i < ARRAY_SIZE(rules); i++)
		if (strlen(rules[i].name) == size && !strncasecmp(rules[i].name, line, size))
			return &rules[i];
	return NULL;
}

/* `payload:` and its like, in front of the items. */
static bool is_key(const char *line)
{
	return !strcmp(line, "payload:") || !strcmp(line, "rules:") || !strcmp(line, "---");
}

/* What a list in YAML has in front of each item; quotes too. */
static const char *skip_item(const char *line)
{
	if (*line == '-' && line[1] && strchr(XB_BLANKS, line[1]))
		line += 1 + strspn(line + 1, XB_BLANKS);
	return line + (*line == '\'' || *line == '"');
}

/* Of an item behind a quote: nothing but a comment follows the other one, as columns would. */
static bool ends_quoted(const char *item)
{
	const char *end = strchr(item, item[-1]);

	return end && strchr(XB_BLANKS "#", end[1]);
}

static bool has_mark(const char *line)
{
	const char *word = skip_item(line);
	size_t wide = xb_line_wildcard(word);

	if (is_key(line) || find_rule(word))
		return true;
	if (word == line && *word == '*')
		return false;
	if (word > line && strchr("'\"", word[-1]) && !ends_quoted(word))
		return false;
	word += wide;
	return (wide || word > line) &&
	       xb_line_looks_like_name(word, strcspn(word, XB_BLANKS "'\"#;,"));
}

/* The item without quotes; a comment is cut off. */
static char *take_item(char *line, const char **comment)
{
	char *item, *end;

	*comment = xb_line_comment_apart(line, "#");
	if (!**comment)
		*comment = xb_line_comment_apart(line, "//");
	item = (char *)(uintptr_t)skip_item(xb_line_trim(line));
	end = item > line && strchr("'\"", item[-1]) ? strchr(item, item[-1]) : NULL;
	if (end)
		*end = '\0';
	return xb_line_trim(item);
}

/* Behind the value stand options, or in a whole configuration what becomes of the connection. */
static bool is_harmless(char *option)
{
	static const char *const names[] = {"no-resolve", "extended-matching", "pre-matching"};
	bool harmless;

	option = xb_line_trim(option);
	harmless = !strncasecmp(option, "REJECT", 6);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		harmless |= !strcasecmp(option, names[i]);
	return harmless;
}

static bool is_listed(enum meaning meaning)
{
	return meaning == WIDE || meaning == EXACT || meaning == SOURCE;
}

static int list(struct xb_reading *reading, enum meaning meaning, const char *value,
		const char *comment)
{
	unsigned int says = RULE_REFUSES;

	if (reading->opened)
		return xb_line_unknown(reading->file, reading->file->lines,
				       "'%s' may pass by line %llu", XB_SHOW(value),
				       (unsigned long long)reading->opened);
	if (meaning == SOURCE)
		return xb_line_keep_address(reading->file, value, comment);
	says |= meaning == BELOW ? XB_SAYS_BELOW : 0;
	return xb_names_keep(reading->file, value, meaning == EXACT ? XB_LINE_EXACT : XB_LINE_MEANT,
			     says, comment);
}

static int let_pass(struct xb_reading *reading, enum meaning meaning, const char *value)
{
	if (meaning == WIDE || meaning == EXACT)
		return xb_names_keep_around(reading->file, value,
					    meaning == EXACT ? XB_LINE_EXACT : 0, RULE_PASSES);
	reading->opened = reading->opened ?: reading->file->lines;
	return XB_LINE_UNKNOWN;
}

/* rest: behind the name of the rule. A value of rules in parentheses ends with them. */
static int take_rule(struct xb_reading *reading, enum meaning meaning, char *rest,
		     const char *comment)
{
	char *end = meaning == COMPOUND ? strrchr(rest, ')') : NULL;
	const char *value;

	if (end)
		rest = end;
	value = xb_line_trim(strsep(&rest, ","));
	if (!xb_line_knows_options(rest, is_harmless))
		return let_pass(reading, meaning, value);
	return is_listed(meaning) ? list(reading, meaning, value, comment) : XB_LINE_UNKNOWN;
}

/* A rule that is not in the table: all of them are written like that. */
static bool begins_rule(const char *item)
{
	return item[strspn(item, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")] == ',';
}

static int parse_ruleset(struct xb_reading *reading, char *line)
{
	const struct rule *rule;
	const char *comment;
	size_t wide;
	char *item;

	if (is_key(line) || !strncmp(line, "//", 2))
		return 0;
	item = take_item(line, &comment);
	rule = find_rule(item);
	if (rule || begins_rule(item))
		return take_rule(reading, rule ? rule->meaning : OTHER, strchr(item, ',') + 1,
				 comment);
	if (!*item || item[strcspn(item, XB_BLANKS ",")])
		return XB_LINE_UNKNOWN;
	if (xb_line_looks_like_address(item))
		return list(reading, SOURCE, item, comment);
	wide = xb_line_wildcard(item);
	if (*line == '-' && *item == '*')
		return XB_LINE_UNKNOWN;
	return list(reading,
		    !wide			   ? EXACT
		    : *line == '-' && *item == '.' ? BELOW
						   : WIDE,
		    item + wide, comment);
}

static int finish_ruleset(struct xb_reading *reading)
{
	return xb_names_judge(reading->file, &rules_judge);
}

const struct xb_list_format xb_ruleset_format = {"ruleset",	    has_mark,
						 parse_ruleset,	    .comments = "#;",
						 .loose = true,	    .passes_for = "domains",
						 .marks = has_mark, .finish = finish_ruleset};

/* regex: of the regular expressions that Pi-hole takes, those that mean a domain and all below it:
 * `(\.|^)example\.com$`, or with `^` first. */

static const char *expression_body(const char *line)
{
	return !strncmp(line, "(\\.|^)", 6) || !strncmp(line, "(^|\\.)", 6) ? line + 6 : NULL;
}

/* Takes the backslashes away; false: the expression means something else. */
static bool read_body(const char *body, char domain[XB_NAME_TEXT])
{
	size_t used = 0;

	for (; *body && strcmp(body, "$") != 0; body++) {
		bool dot = body[0] == '\\' && body[1] == '.';

		body += dot;
		if ((!dot && !strchr(XB_LABEL_CHARS, *body)) || used == XB_NAME_TEXT - 1)
			return false;
		domain[used++] = *body;
	}
	domain[used] = '\0';
	return *body && used;
}

static bool detect_regex(const char *line)
{
	const char *body = expression_body(line);
	char domain[XB_NAME_TEXT];

	return body && read_body(body, domain);
}

static int parse_regex(struct xb_reading *reading, char *line)
{
	const char *body = expression_body(line);
	char domain[XB_NAME_TEXT];

	if (!body || !read_body(body, domain))
		return XB_LINE_UNKNOWN;
	return xb_line_keep_domain(reading->file, domain, 0, "");
}

const struct xb_list_format xb_regex_format = {"regex", detect_regex, parse_regex, .comments = "#",
					       .loose = true};

/* urls: of each URL the host, a name that stands for itself alone, or an address. It has to be
 * asked for: whoever lists a host lists all its pages, and all who share it. */

static char *find_host(char *line)
{
	char *host = strstr(line, "://");

	if (!host || host == line || line[strspn(line, XB_LABEL_CHARS "+.")] != ':')
		return NULL;
	return host + 3;
}

static int parse_urls(struct xb_reading *reading, char *line)
{
	char *host = find_host(line), *at;

	if (!host)
		return XB_LINE_UNKNOWN;
	host[strcspn(host, "/?#\\" XB_BLANKS)] = '\0';
	at = strrchr(host, '@');
	host = at ? at + 1 : host;
	if (*host == '[') {
		host++;
		if (!host[strcspn(host, "]")])
			return XB_LINE_UNKNOWN;
		host[strcspn(host, "]")] = '\0';
		return xb_line_keep_address(reading->file, host, "");
	}
	host[strcspn(host, ":")] = '\0';
	if (!*host)
		return XB_LINE_UNKNOWN;
	if (xb_line_looks_like_address(host))
		return xb_line_keep_address(reading->file, host, "");
	return xb_line_keep_domain(reading->file, host, XB_LINE_EXACT, "");
}

const struct xb_list_format xb_urls_format = {"urls", NULL, parse_urls, .comments = "#",
					      .loose = true};
