/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of lists of domains: a domain a line, and hosts files. */
#include <stdio.h>

#include "base/program.h"
#include "lists/format.h"
#include "lists/judge.h"

/* domains: a domain a line, which stands for all below it too, with or without `*.`, `.` or `+.` in
 * front. Addresses may be among them, and `=` in front is this name alone, as everywhere here. `!`
 * begins a comment in lists that others publish; with a domain behind it it is an exception, as
 * everywhere here, where somebody has named the format. */

#define WORD_END XB_BLANKS "#;"

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
	       (!*rest || strchr("#;", *rest)) && !xb_line_is_cosmetic(line);
}

static int parse_domains(struct xb_reading *reading, char *line)
{
	unsigned int how = xb_line_excepts(line) ? XB_LINE_ALLOW : 0;
	const char *comment, *word;
	size_t wide;

	if (xb_line_is_cosmetic(line))
		return XB_LINE_UNKNOWN;
	line += how != 0;
	comment = xb_line_comment(line, "#;");
	word = xb_line_word(&line);
	if (!word || xb_line_word(&line))
		return XB_LINE_UNKNOWN;
	if (xb_line_looks_like_address(word))
		return xb_line_keep_address(reading->file, word, comment);
	if (*word == '=')
		return xb_line_keep_domain(reading->file, word + 1, how | XB_LINE_EXACT, comment);
	wide = xb_line_wildcard(word);
	/* Where `.a.example` is written, `a.example` is mostly that name alone. */
	if (wide && *word != '*' && reading->recognized)
		return XB_LINE_UNKNOWN;
	return xb_line_keep_domain(reading->file, word + wide, how | (wide ? XB_LINE_MEANT : 0),
				   comment);
}

const struct xb_list_format xb_domains_format = {"domains",	detect_domains,
						 parse_domains, .comments = "#;!",
						 .loose = true, .excepts = true};

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
	       (xb_line_is_address(address) &&
		xb_line_looks_like_domain(name, strcspn(name, WORD_END)));
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
		if (xb_line_is_local(name))
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
		return xb_line_is_address(address) ? keep_mapping(reading, shown, line)
						   : XB_LINE_UNKNOWN;
	for (; !error && (name = xb_line_word(&line)); names++) {
		if (name[strlen(name) - 1] == '.')
			error = xb_line_unknown(reading->file, reading->file->lines,
						"'%s' is another name with its dot", XB_SHOW(name));
		else if (!xb_line_is_local(name))
			error = xb_names_keep(reading->file, name, how, HOSTS_NOWHERE, comment);
	}
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
