/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * adblock: the language of filters as AdGuard reads it for DNS. `||domain^` lists a domain and all
 * below it, `|domain^` and a bare name that name alone, `@@` in front lets pass. A rule with
 * `$important` comes before exceptions without it, whichever is more specific. A rule that blocks
 * some requests only, or in some programs only, is left out; an exception for some requests lets
 * the name pass.
 */
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "lists/format.h"
#include "lists/judge.h"

#define BIT(number) (1U << (number))

enum adblock_says {
	ADBLOCK_BLOCKS,
	ADBLOCK_IMPORTANT,
	ADBLOCK_HOST, /* as in a hosts file: `$badfilter` does not know it */
	ADBLOCK_PASSES,
	ADBLOCK_PASSES_IMPORTANT,
	ADBLOCK_PASSES_SOME, /* of some requests, or to another address */
	ADBLOCK_OFF,	     /* `$badfilter` */
	ADBLOCK_OFF_IMPORTANT,
};

/* Rules add up on the way to a name: what is said of the domains around it, and of itself. */
static void add_rules(struct xb_said *held, const struct xb_said *said)
{
	for (unsigned int i = 0; i < ADBLOCK_OFF; i++) {
		if (!said->count[i] || (i <= ADBLOCK_IMPORTANT && said->count[ADBLOCK_OFF + i]))
			continue;
		held->count[i] += said->count[i];
		held->line[i] = said->line[i];
	}
}

static void decide(struct xb_judgement *now, enum xb_verdict verdict, unsigned int saying)
{
	now->verdict = verdict;
	now->by = now->held.line[saying];
}

static void judge_adblock(const struct xb_said *own, const struct xb_said *below,
			  enum xb_judged whom, struct xb_judgement *now)
{
	struct xb_said *held = &now->held;

	add_rules(held, own);
	if (whom == XB_JUDGED_BELOW)
		add_rules(held, below);
	if (held->count[ADBLOCK_PASSES_SOME])
		decide(now, XB_VERDICT_PASSES, ADBLOCK_PASSES_SOME);
	else if (held->count[ADBLOCK_PASSES_IMPORTANT])
		decide(now, XB_VERDICT_PASSES, ADBLOCK_PASSES_IMPORTANT);
	else if (held->count[ADBLOCK_IMPORTANT])
		decide(now, XB_VERDICT_REFUSED, ADBLOCK_IMPORTANT);
	else if (held->count[ADBLOCK_PASSES])
		decide(now, XB_VERDICT_PASSES, ADBLOCK_PASSES);
	else if (held->count[ADBLOCK_BLOCKS])
		decide(now, XB_VERDICT_REFUSED, ADBLOCK_BLOCKS);
	else if (held->count[ADBLOCK_HOST])
		decide(now, XB_VERDICT_REFUSED, ADBLOCK_HOST);
	if (now->verdict == XB_VERDICT_OPEN)
		now->why = "is taken back by $badfilter";
}

static const struct xb_judge adblock_judge = {
	.judge = judge_adblock,
	.plain = BIT(ADBLOCK_BLOCKS) | BIT(ADBLOCK_IMPORTANT) | BIT(ADBLOCK_HOST),
	.lists = BIT(ADBLOCK_BLOCKS) | BIT(ADBLOCK_IMPORTANT) | BIT(ADBLOCK_HOST),
	.excepts = BIT(ADBLOCK_PASSES) | BIT(ADBLOCK_PASSES_IMPORTANT) | BIT(ADBLOCK_PASSES_SOME),
	.keeps = BIT(ADBLOCK_PASSES) | BIT(ADBLOCK_PASSES_IMPORTANT),
	.silent = BIT(ADBLOCK_PASSES_SOME) | BIT(ADBLOCK_OFF) | BIT(ADBLOCK_OFF_IMPORTANT),
};

static bool is_header(const char *line)
{
	return !strncasecmp(line, "[adblock", 8) || !strncasecmp(line, "[ublock", 7) ||
	       !strncasecmp(line, "[adguard", 8);
}

/* `|domain^`; with a scheme or a path it would be about URLs. */
static bool names_host(const char *line)
{
	return *line == '|' && xb_line_looks_like_domain(line + 1, strcspn(line + 1, "^"));
}

static bool detect_adblock(const char *line)
{
	return is_header(line) || !strncmp(line, "||", 2) || !strncmp(line, "@@|", 3) ||
	       names_host(line) || xb_line_is_cosmetic(line);
}

/* What a rule says, as far as names go. */
struct rule {
	char *domain;
	unsigned int how, below;
	bool passes, important, off; /* off: `$badfilter` */
	bool some;		     /* of some requests, or of other names as well */
	bool rewrites;
};

static void read_option(const char *option, struct rule *rule)
{
	if (!strcmp(option, "important"))
		rule->important = true;
	else if (!strcmp(option, "badfilter"))
		rule->off = true;
	else if (!strncmp(option, "dnsrewrite", 10))
		rule->rewrites = rule->some = true;
	else
		rule->some = true;
}

static void read_options(char *options, struct rule *rule)
{
	const char *option;

	while ((option = strsep(&options, ",")))
		read_option(option, rule);
}

/* Of a pattern that has other parts than a name: the domain that holds all that it can mean, behind
 * the last asterisk. */
static char *domain_behind(char *pattern)
{
	char *star = strrchr(pattern, '*'), *dot = star ? strchr(star, '.') : NULL;

	return !star ? pattern : dot ? dot + 1 : pattern + strlen(pattern);
}

/* The pattern between the bars and the options. */
static void read_pattern(char *pattern, struct rule *rule)
{
	size_t size;

	if (!strncmp(pattern, "||", 2)) {
		pattern += 2;
	} else {
		rule->how = XB_LINE_EXACT;
		pattern += *pattern == '|';
		if (strstr(pattern, "://")) {
			rule->some = true;
			pattern = strstr(pattern, "://") + 3;
		}
	}
	if (!rule->how && !strncmp(pattern, "*.", 2)) {
		rule->how = XB_LINE_MEANT;
		rule->below = XB_SAYS_BELOW;
		pattern += 2;
	}
	size = strcspn(pattern, "^/:?|");
	/* A name that may go on is at least that name, with all below it. */
	rule->some |= pattern[size] && strcmp(pattern + size, "^") != 0;
	rule->some |= !pattern[size] && rule->how == XB_LINE_EXACT;
	pattern[size] = '\0';
	rule->some |= !size || pattern[size - 1] == '.' || strchr(pattern, '*');
	rule->domain = domain_behind(pattern);
}

/* What blocks under `!#if` does so in some programs. */
static int keep_rule(struct xb_reading *reading, const struct rule *rule)
{
	unsigned int says = rule->off	   ? ADBLOCK_OFF + rule->important
			    : rule->passes ? ADBLOCK_PASSES + rule->important
					   : ADBLOCK_BLOCKS + rule->important;

	if (reading->conditions && !rule->off && !rule->passes)
		return XB_LINE_UNKNOWN;
	return xb_names_keep(reading->file, rule->domain, rule->how, says | rule->below, "");
}

static int refuse_exception(struct xb_reading *reading, const char *line)
{
	reading->hopeless = true;
	return xb_input_error("'%s' may let pass any name that the file lists; leave it out "
			      "of the file if it is to be read",
			      XB_SHOW(line));
}

/* An exception, or another address; of a whole domain if nobody can say of what in it. */
static int keep_some(struct xb_reading *reading, const struct rule *rule, const char *line)
{
	if (!rule->passes && !rule->rewrites)
		return XB_LINE_UNKNOWN;
	if (rule->off)
		return XB_LINE_UNKNOWN;
	if (!*rule->domain)
		return refuse_exception(reading, line);
	return xb_names_keep_around(reading->file, rule->domain, rule->how & XB_LINE_EXACT,
				    ADBLOCK_PASSES_SOME);
}

static int parse_rule(struct xb_reading *reading, char *line, const char *shown)
{
	struct rule rule = {0};
	char *options;

	rule.passes = !strncmp(line, "@@", 2);
	line += rule.passes ? 2 : 0;
	options = strchr(line, '$');
	if (options)
		*options++ = '\0';
	read_options(options, &rule);
	read_pattern(line, &rule);
	if (options && !*options)
		return XB_LINE_UNKNOWN;
	if (rule.some || (rule.passes && rule.off))
		return keep_some(reading, &rule, shown);
	return keep_rule(reading, &rule);
}

/* A bare name, or an address and names: what hosts files have. */
static int parse_host(struct xb_reading *reading, char *line)
{
	const char *comment = xb_line_comment_apart(line, "#"), *name = xb_line_word(&line);
	bool nowhere = true;
	int error = XB_LINE_UNKNOWN;

	if (name && line[strspn(line, XB_BLANKS)]) {
		error = 0;
		nowhere = xb_line_is_nowhere(name);
		if (!nowhere && !xb_line_is_address(name))
			return XB_LINE_UNKNOWN;
		name = xb_line_word(&line);
	}
	if (nowhere && reading->conditions)
		return XB_LINE_UNKNOWN;
	for (; name; name = xb_line_word(&line)) {
		if (xb_line_is_local(name))
			continue;
		error = nowhere ? xb_names_keep(reading->file, name, XB_LINE_EXACT, ADBLOCK_HOST,
						comment)
				: xb_names_keep_around(reading->file, name, XB_LINE_EXACT,
						       ADBLOCK_PASSES_SOME);
		if (error)
			return error;
	}
	return error;
}

/* Exceptions for patterns of paths and parts of names: those that may be a name. */
static bool is_expression(const char *line)
{
	const char *end = strrchr(line, '/');

	return *line == '/' && end > line && (!end[1] || end[1] == '$');
}

static int parse_adblock(struct xb_reading *reading, char *line)
{
	bool passes = !strncmp(line, "@@", 2);
	char shown[XB_SHOWN + 1];

	/* `#` begins a comment, but for cosmetic rules of all pages. */
	if (is_header(line) || (*line == '#' && !xb_line_hides_parts(line)))
		return 0;
	snprintf(shown, sizeof(shown), "%s", line);
	if (xb_line_is_cosmetic(line) || xb_line_hides_parts(line))
		return XB_LINE_UNKNOWN;
	if (line[2 * passes] == '|')
		return parse_rule(reading, line, shown);
	if (passes && is_expression(line + 2))
		return refuse_exception(reading, shown);
	if (passes && xb_line_looks_like_domain(line + 2, strcspn(line + 2, "^$/")))
		return parse_rule(reading, line, shown);
	return passes ? XB_LINE_UNKNOWN : parse_host(reading, line);
}

static int finish_adblock(struct xb_reading *reading)
{
	return xb_names_judge(reading->file, &adblock_judge);
}

const struct xb_list_format xb_adblock_format = {"adblock",	detect_adblock,
						 parse_adblock, .comments = "!",
						 .loose = true, .finish = finish_adblock};
