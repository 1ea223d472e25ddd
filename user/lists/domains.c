/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of lists of domains: a domain a line, hosts files, Adblock rules. */
#include <stdio.h>
#include <strings.h>

#include "base/program.h"
#include "lists/format.h"
#include "lists/judge.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* domains: a domain a line, which stands for all below it too, with or without `*.`, `.` or `+.` in
 * front. Addresses may be among them, and `=` in front is this name alone, as everywhere here. */

#define WORD_END XB_BLANKS "#;"

#define COSMETIC "#@?$%" /* behind the first `#` of a rule */

/* A rule of which parts of pages browsers hide: names, then `##`, `#@#`, `#?#`, `#$#` or `#%#`. No
 * name in it is one to block, and what is behind it is no comment. */
static bool is_cosmetic(const char *line)
{
	size_t size = strcspn(line, XB_BLANKS "=/:#");

	return size && line[size] == '#' && line[size + 1] && strchr(COSMETIC, line[size + 1]);
}

static bool detect_domains(const char *line)
{
	bool wide = !strncmp(line, "*.", 2);
	const char *rest;
	size_t size;

	line += *line == '=' ? 1 : wide ? 2 : 0;
	size = strcspn(line, WORD_END);
	rest = line + size + strspn(line + size, XB_BLANKS);
	return (wide ? xb_line_looks_like_name(line, size)
		     : xb_line_looks_like_domain(line, size)) &&
	       (!*rest || strchr("#;", *rest)) && !is_cosmetic(line);
}

static int parse_domains(struct xb_reading *reading, char *line)
{
	const char *comment, *word;
	size_t wide;

	if (is_cosmetic(line))
		return XB_LINE_UNKNOWN;
	comment = xb_line_comment(line, "#;");
	word = xb_line_word(&line);
	if (!word || xb_line_word(&line))
		return XB_LINE_UNKNOWN;
	if (xb_line_looks_like_address(word))
		return xb_line_keep_address(reading->file, word, comment);
	if (*word == '=')
		return xb_line_keep_domain(reading->file, word + 1, XB_LINE_EXACT, comment);
	wide = xb_line_wildcard(word);
	/* Where `.a.example` is written, `a.example` is mostly that name alone. */
	if (wide && *word != '*' && reading->recognized)
		return XB_LINE_UNKNOWN;
	return xb_line_keep_domain(reading->file, word + wide, wide ? XB_LINE_MEANT : 0, comment);
}

const struct xb_list_format xb_domains_format = {"domains", detect_domains, parse_domains,
						 .comments = "#;!", .loose = true};

/*
 * hosts: an address and names. A name is blocked that leads nowhere; one with a real address is a
 * mapping, also if another line says nowhere: resolvers answer both. All programs that own such
 * files take each name alone; with below, all names below it are listed, too, but for mappings.
 */

enum hosts_says { HOSTS_NOWHERE, HOSTS_LEADS };

static void judge_hosts(const struct xb_said *own, const struct xb_said *below, enum xb_judged whom,
			struct xb_judgement *now)
{
	(void)below;
	(void)whom;
	if (own->count[HOSTS_NOWHERE])
		now->verdict = XB_VERDICT_REFUSED;
	if (!own->count[HOSTS_LEADS])
		return;
	now->verdict = XB_VERDICT_PASSES;
	now->by = own->line[HOSTS_LEADS];
}

static const struct xb_judge hosts_judge = {
	.judge = judge_hosts,
	.plain = 1U << HOSTS_NOWHERE,
	.lists = 1U << HOSTS_NOWHERE,
	.excepts = 1U << HOSTS_LEADS,
	.silent = 1U << HOSTS_LEADS,
};

static bool is_address(const char *text)
{
	struct xb_entry entry;

	if (!xb_entry_parse(text, strlen(text), NULL, &entry, NULL))
		return !strchr(text, '/');
	xb_error_clear();
	return false;
}

static bool detect_hosts(const char *line)
{
	size_t size = strcspn(line, XB_BLANKS);
	const char *name = line + size + strspn(line + size, XB_BLANKS);
	char address[XB_SHOWN + 1];

	if (size > XB_SHOWN || !*name || strchr("#;", *name))
		return false;
	memcpy(address, line, size);
	address[size] = '\0';
	return xb_line_is_nowhere(address) ||
	       (is_address(address) && xb_line_looks_like_domain(name, strcspn(name, WORD_END)));
}

/* Single labels, addresses, and what else hosts files call the machine itself: no business of a
 * list. */
static bool is_local(const char *name)
{
	static const char *const local[] = {"localhost.localdomain", "localhost4.localdomain4",
					    "localhost6.localdomain6"};
	size_t label = strspn(name, XB_LABEL_CHARS);

	if (label && !name[label + (name[label] == '.')])
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		if (!strcasecmp(name, local[i]))
			return true;
	return is_address(name);
}

static bool is_below(const struct xb_reading *reading)
{
	return reading->choice && reading->choice->below;
}

/* Names that lead somewhere are kept beside the note that the line is left out. */
static int keep_mapping(struct xb_reading *reading, const char *shown, char *names)
{
	struct xb_listfile *file = reading->file;
	bool told = false;
	const char *name;
	int error = 0;

	while (error >= 0 && (name = xb_line_word(&names))) {
		if (is_local(name))
			continue;
		error = told ? 0 : xb_line_unknown(file, file->lines, "'%s'", XB_SHOW(shown));
		told = true;
		if (!error)
			error = xb_names_keep_around(file, name, XB_LINE_EXACT, HOSTS_LEADS);
	}
	return error < 0 ? error : 0;
}

static int parse_hosts(struct xb_reading *reading, char *line)
{
	unsigned int how = is_below(reading) ? 0 : XB_LINE_EXACT;
	const char *comment = xb_line_comment(line, "#"), *address, *name;
	char shown[XB_SHOWN + 1];
	size_t names = 0;
	int error = 0;

	snprintf(shown, sizeof(shown), "%s", line);
	address = xb_line_word(&line);
	if (!address || !line[strspn(line, XB_BLANKS)])
		return XB_LINE_UNKNOWN;
	if (!xb_line_is_nowhere(address))
		return is_address(address) ? keep_mapping(reading, shown, line) : XB_LINE_UNKNOWN;
	for (; !error && (name = xb_line_word(&line)); names++)
		if (!is_local(name))
			error = xb_names_keep(reading->file, name, how, HOSTS_NOWHERE, comment);
	return names ? error : XB_LINE_UNKNOWN;
}

static int finish_hosts(struct xb_reading *reading)
{
	int error = xb_names_judge(reading->file, &hosts_judge);

	if (error || is_below(reading) || !reading->file->count)
		return error;
	return xb_line_note(reading->file, 0, "its names stand for themselves alone%s",
			    xb_advice(XB_ADVICE_BELOW));
}

const struct xb_list_format xb_hosts_format = {"hosts",	      detect_hosts,
					       parse_hosts,   .comments = "#;!",
					       .loose = true, .finish = finish_hosts};

/*
 * adblock: `||domain^` lists a domain and all below it, `|domain^` that name alone, `@@` in front
 * allows it. Options that leave it at that may follow; all else that this language can say is for
 * browsers.
 */

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
	       names_host(line) || is_cosmetic(line);
}

/* `document` is not among them: it means pages of the domain, not what other pages load of it. */
static bool is_for_all(char *option)
{
	return !strcmp(option, "important") || !strcmp(option, "all");
}

static int parse_adblock(struct xb_reading *reading, char *line)
{
	unsigned int how = strncmp(line, "@@", 2) ? 0 : XB_LINE_ALLOW;
	char *domain, *end;

	/* `#` begins a comment, but for cosmetic rules of all pages. */
	if (is_header(line) || (*line == '#' && !(line[1] && strchr(COSMETIC, line[1]))))
		return 0;
	line += how ? 2 : 0;
	end = strchr(line, '^');
	if (!end || (end[1] && (end[1] != '$' || !xb_line_knows_options(end + 2, is_for_all))))
		return XB_LINE_UNKNOWN;
	if (strncmp(line, "||", 2)) {
		if (!names_host(line))
			return XB_LINE_UNKNOWN;
		how |= XB_LINE_EXACT;
	}
	*end = '\0';
	domain = line + (how & XB_LINE_EXACT ? 1 : 2);
	if (!(how & XB_LINE_EXACT) && !strncmp(domain, "*.", 2)) {
		how |= XB_LINE_MEANT;
		domain += 2;
	}
	return xb_line_keep_domain(reading->file, domain, how, "");
}

const struct xb_list_format xb_adblock_format = {"adblock", detect_adblock, parse_adblock,
						 .comments = "!", .loose = true};
