/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of domains that are configurations of forwarders: dnsmasq and smartdns. Queries for A and
 * for AAAA are answered each by the nearest line that speaks of them. A name is refused if both get
 * nothing, or addresses that lead nowhere. Many lists give it 0.0.0.0 alone, and some versions then
 * ask servers for AAAA; it is refused all the same, unless the file says more of AAAA.
 */
#include <errno.h>
#include <stdio.h>

#include "lists/format.h"
#include "lists/judge.h"

#define BIT(number) (1U << (number))

enum { FOR_A, FOR_AAAA, FAMILIES };

static const char only_a[] = "is refused to queries for A alone";
static const char only_aaaa[] = "is refused to queries for AAAA alone";

/* By what becomes of queries for both; the line of the first that passes, or else of A, decides.
 * alone: what refuses A means AAAA, too, of which nothing is said. */
static void judge_families(struct xb_judgement *now, const uint32_t verdict[FAMILIES],
			   const uint32_t line[FAMILIES], bool alone)
{
	bool a = verdict[FOR_A] == XB_VERDICT_REFUSED,
	     aaaa = verdict[FOR_AAAA] == XB_VERDICT_REFUSED;

	now->why = a == aaaa ? NULL : a ? only_a : only_aaaa;
	now->verdict = a && (aaaa || alone) ? XB_VERDICT_REFUSED : XB_VERDICT_OPEN;
	now->by = line[FOR_A];
	for (int family = FAMILIES - 1; family >= 0; family--) {
		if (verdict[family] != XB_VERDICT_PASSES)
			continue;
		*now = (struct xb_judgement){
			.held = now->held, .verdict = XB_VERDICT_PASSES, .by = line[family]};
	}
}

/* Of an address: which of the four it is, in the order in which formats number them. */
enum { NOWHERE_A, NOWHERE_AAAA, LEADS_A, LEADS_AAAA, NO_ADDRESS };

static unsigned int read_address(const char *text)
{
	struct xb_entry entry;

	if (strchr(text, '/') || xb_entry_parse(text, strlen(text), NULL, &entry, NULL)) {
		xb_error_clear();
		return NO_ADDRESS;
	}
	return (xb_line_is_nowhere(text) ? NOWHERE_A : LEADS_A) + xb_entry_is_ipv6(&entry);
}

/* Of a domain, without the dots in front: `*.` says below it, another `*` is a pattern. */
struct pattern {
	const char *domain; /* which holds all that is meant */
	bool below, partial;
};

static struct pattern read_pattern(const char *text)
{
	struct pattern pattern = {.domain = text + strspn(text, ".")};
	const char *dot;

	if (*pattern.domain != '*')
		return pattern;
	dot = strchr(pattern.domain, '.');
	pattern.below = true;
	pattern.partial = pattern.domain[1] != '.';
	pattern.domain = dot ? dot + 1 : "";
	return pattern;
}

/* What is listed elsewhere may pass, too: of nothing in the file can one be sure. */
static int refuse_other_file(struct xb_reading *reading, const char *line)
{
	reading->hopeless = true;
	return xb_input_error("'%s' takes more from another file, which may let pass what this one "
			      "lists: put them together, without this line",
			      XB_SHOW(line));
}

/*
 * dnsmasq: `address=/a/b/` and an address, or none; `server=/a/b/` and `local=/a/b/` without a
 * server to ask. More specific domains take precedence (dnsmasq(8)); at one domain addresses do,
 * then servers. Records of a name come before all that.
 */

enum dnsmasq_says {
	DNSMASQ_LOCAL,
	DNSMASQ_ZEROS, /* `#`: of both families */
	DNSMASQ_ADDRESS,
	DNSMASQ_SERVER = DNSMASQ_ADDRESS + NO_ADDRESS,
	DNSMASQ_RECORD,
};

static enum xb_verdict judge_dnsmasq_family(const struct xb_said *said, int family, uint32_t *line)
{
	const struct {
		unsigned int says;
		enum xb_verdict verdict;
	} order[] = {
		{DNSMASQ_RECORD, XB_VERDICT_PASSES},
		{DNSMASQ_SERVER, XB_VERDICT_PASSES},
		{DNSMASQ_ADDRESS + LEADS_A + (unsigned int)family, XB_VERDICT_PASSES},
		{DNSMASQ_ADDRESS + NOWHERE_A + (unsigned int)family, XB_VERDICT_REFUSED},
		{DNSMASQ_ZEROS, XB_VERDICT_REFUSED},
		{DNSMASQ_LOCAL, XB_VERDICT_REFUSED},
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!said->count[order[i].says])
			continue;
		*line = said->line[order[i].says];
		return order[i].verdict;
	}
	return XB_VERDICT_OPEN;
}

static void judge_dnsmasq(const struct xb_said *own, const struct xb_said *below,
			  enum xb_judged whom, struct xb_judgement *now)
{
	for (int family = 0; family < FAMILIES; family++) {
		uint32_t line = 0;
		enum xb_verdict verdict = XB_VERDICT_OPEN;

		if (whom == XB_JUDGED_BELOW)
			verdict = judge_dnsmasq_family(below, family, &line);
		verdict = verdict ?: judge_dnsmasq_family(own, family, &line);
		if (!verdict)
			continue;
		now->held.count[family] = verdict;
		now->held.line[family] = line;
	}
	judge_families(now, now->held.count, now->held.line, true);
}

static const struct xb_judge dnsmasq_judge = {
	.judge = judge_dnsmasq,
	.plain = BIT(DNSMASQ_LOCAL) | BIT(DNSMASQ_ZEROS) | BIT(DNSMASQ_ADDRESS + NOWHERE_A),
	.lists = BIT(DNSMASQ_LOCAL) | BIT(DNSMASQ_ZEROS) | BIT(DNSMASQ_ADDRESS + NOWHERE_A) |
		 BIT(DNSMASQ_ADDRESS + NOWHERE_AAAA),
	.excepts = BIT(DNSMASQ_ADDRESS + LEADS_A) | BIT(DNSMASQ_ADDRESS + LEADS_AAAA) |
		   BIT(DNSMASQ_SERVER) | BIT(DNSMASQ_RECORD),
};

static bool detect_dnsmasq(const char *line)
{
	return !strncmp(line, "address=/", 9) || !strncmp(line, "server=/", 8) ||
	       !strncmp(line, "local=/", 7);
}

/* The word in front of an equals sign, with or without blanks; what is behind it goes to *value.
 * NULL: there is no such sign. */
static const char *split_option(char *line, char **value)
{
	char *equals = strchr(line, '=');

	if (!equals)
		return NULL;
	*equals = '\0';
	*value = xb_line_trim(equals + 1);
	return xb_line_trim(line);
}

static bool is_among(const char *word, const char *words)
{
	size_t size = strlen(word);

	for (; *words; words += strlen(words) + 1)
		if (strlen(words) == size && !memcmp(word, words, size))
			return true;
	return false;
}

/* Where the names of a line with records end: host-record has addresses among them, behind those of
 * cname are the one that they lead to and perhaps a time, and other records have one name. */
static char *find_names_end(const char *option, char *values)
{
	char *end = values + strlen(values), *last;

	if (!strcmp(option, "host-record"))
		return end;
	if (strcmp(option, "cname") != 0)
		return values + strcspn(values, ",");
	last = strrchr(values, ',');
	if (last && !last[1 + strspn(last + 1, XB_DIGITS)])
		*last = '\0';
	last = strrchr(values, ',');
	return last ?: end;
}

/* What a line with records gives names; only addresses that lead nowhere are no exception. */
static int keep_records(struct xb_listfile *file, const char *option, char *values)
{
	bool leads = strcmp(option, "host-record") != 0;
	char *names = values, *value;
	size_t count = 0;
	int error = XB_LINE_UNKNOWN;

	*find_names_end(option, values) = '\0';
	while ((value = strsep(&values, ","))) {
		unsigned int address = read_address(xb_line_trim(value));

		leads |= address == LEADS_A || address == LEADS_AAAA;
		count++;
	}
	for (size_t i = 0; leads && i < count; i++, names += strlen(names) + 1) {
		const char *name = names + strspn(names, XB_BLANKS);
		int kept = read_address(name) == NO_ADDRESS
				   ? xb_names_keep_around(file, name, XB_LINE_EXACT, DNSMASQ_RECORD)
				   : XB_LINE_UNKNOWN;

		if (kept < 0)
			return kept;
		error = kept ? error : 0;
	}
	return error;
}

/* Of one domain; those of dnsmasq that stand for all names, or for such without a dot, are unknown.
 */
static int keep_dnsmasq(struct xb_listfile *file, const char *domain, unsigned int says,
			const char *comment)
{
	struct pattern pattern = read_pattern(domain);
	bool lists = dnsmasq_judge.lists & BIT(says);
	unsigned int more = pattern.below ? XB_SAYS_BELOW : 0;

	if (!strcmp(domain, "#") || (lists && pattern.partial) || (!lists && !*domain))
		return XB_LINE_UNKNOWN;
	if (lists)
		return xb_names_keep(file, pattern.domain, pattern.below ? XB_LINE_MEANT : 0,
				     says | more, comment);
	return xb_names_keep_around(file, pattern.domain, 0,
				    (pattern.partial ? DNSMASQ_RECORD : says) | more);
}

/* Listings are kept as a whole or not at all, of exceptions each that can be. */
static int keep_dnsmasq_domains(struct xb_listfile *file, char *domains, unsigned int says,
				const char *comment)
{
	bool lists = dnsmasq_judge.lists & BIT(says);
	int error = 0, some = XB_LINE_UNKNOWN;
	const char *domain;

	while (error >= 0 && (domain = strsep(&domains, "/"))) {
		error = keep_dnsmasq(file, domain, says, comment);
		if (error && lists)
			return error;
		some = error ? some : 0;
	}
	return error < 0 ? error : some;
}

static int parse_dnsmasq(struct xb_reading *reading, char *line)
{
	/* `#` right behind the slash is no comment, but an address that says no. */
	const char *comment = xb_line_comment_apart(line, "#"), *option;
	char shown[XB_SHOWN + 1], *value = NULL, *target;
	unsigned int says = DNSMASQ_LOCAL;
	bool address;

	snprintf(shown, sizeof(shown), "%s", line);
	option = split_option(line, &value);
	if (!option)
		return XB_LINE_UNKNOWN;
	if (is_among(option,
		     "conf-file\0conf-dir\0conf-script\0servers-file\0addn-hosts\0hostsdir\0"))
		return refuse_other_file(reading, shown);
	if (is_among(option, "host-record\0cname\0mx-host\0txt-record\0srv-host\0ptr-record\0"
			     "naptr-record\0caa-record\0dns-rr\0interface-name\0dynamic-host\0"))
		return keep_records(reading->file, option, value);
	if (is_among(option, "domain\0auth-zone\0synth-domain\0"))
		return xb_names_keep_around(reading->file, strsep(&value, ","), 0, DNSMASQ_RECORD);
	address = !strcmp(option, "address");
	target = strrchr(value, '/');
	if ((!address && !is_among(option, "server\0local\0")) || *value != '/' || target == value)
		return XB_LINE_UNKNOWN;
	*target = '\0';
	target = xb_line_trim(target + 1);
	if (*target && !address)
		says = DNSMASQ_SERVER;
	else if (*target)
		says = !strcmp(target, "#") ? DNSMASQ_ZEROS
					    : DNSMASQ_ADDRESS + read_address(target);
	if (address && says == DNSMASQ_SERVER)
		return XB_LINE_UNKNOWN;
	if (says == DNSMASQ_ADDRESS + LEADS_AAAA && strstr(value, "/#")) {
		reading->hopeless = true;
		return xb_input_error("'%s' gives all names an address, also those that have "
				      "0.0.0.0 alone: leave it out, or give these an answer to "
				      "AAAA, too",
				      XB_SHOW(shown));
	}
	return keep_dnsmasq_domains(reading->file, value + 1, says, comment);
}

static int finish_dnsmasq(struct xb_reading *reading)
{
	return xb_names_judge(reading->file, &dnsmasq_judge);
}

const struct xb_list_format xb_dnsmasq_format = {"dnsmasq",	detect_dnsmasq,
						 parse_dnsmasq, .comments = "#",
						 .loose = true, .finish = finish_dnsmasq};

/*
 * smartdns: `address /domain/#`, with `-.` in front of the domain for the name alone and `*.` for
 * what is below it, and `domain-rules /domain/ -a #`. Addresses are inherited from the domain
 * around, and so are flags: `#`, `-`, and what else makes queries special; but a domain with any
 * flag inherits none. Versions differ; what counts here is what all of them refuse that know the
 * line.
 */

enum smartdns_says {
	SMARTDNS_NONE, /* `#` */
	SMARTDNS_NONE_A,
	SMARTDNS_NONE_AAAA,
	SMARTDNS_PASSES, /* `-` */
	SMARTDNS_FLAGS,	 /* others */
	SMARTDNS_ADDRESS,
	/* A line has `*.` in front of the domain, or, if said of what is below it, `-.`. */
	SMARTDNS_NARROWS = SMARTDNS_ADDRESS + NO_ADDRESS,
	SMARTDNS_NOTHING,
};

#define SMARTDNS_LISTS                                                                             \
	(BIT(SMARTDNS_NONE) | BIT(SMARTDNS_NONE_A) | BIT(SMARTDNS_NONE_AAAA) |                     \
	 BIT(SMARTDNS_ADDRESS + NOWHERE_A) | BIT(SMARTDNS_ADDRESS + NOWHERE_AAAA))

/* What is held of domains around: for each family what flags say, and what addresses say. */
enum { HELD_FLAGS, HELD_ADDRESS = HELD_FLAGS + FAMILIES };

static void hold(struct xb_said *held, int place, enum xb_verdict verdict, uint32_t line)
{
	held->count[place] = verdict;
	held->line[place] = line;
}

static void hold_smartdns(struct xb_said *held, const struct xb_said *said, int family)
{
	int flags = HELD_FLAGS + family, address = HELD_ADDRESS + family;
	unsigned int one = SMARTDNS_NONE_A + (unsigned int)family,
		     leads = SMARTDNS_ADDRESS + LEADS_A + (unsigned int)family,
		     nowhere = SMARTDNS_ADDRESS + NOWHERE_A + (unsigned int)family;

	if (said->count[SMARTDNS_PASSES])
		hold(held, flags, XB_VERDICT_PASSES, said->line[SMARTDNS_PASSES]);
	else if (said->count[SMARTDNS_NONE] || said->count[one])
		hold(held, flags, XB_VERDICT_REFUSED,
		     said->line[said->count[SMARTDNS_NONE] ? SMARTDNS_NONE : one]);
	else if (said->count[SMARTDNS_NONE_A] || said->count[SMARTDNS_NONE_AAAA] ||
		 said->count[SMARTDNS_FLAGS])
		hold(held, flags, XB_VERDICT_OPEN, said->line[SMARTDNS_FLAGS]);
	if (said->count[SMARTDNS_PASSES]) /* takes the addresses away, too */
		hold(held, address, XB_VERDICT_OPEN, 0);
	else if (said->count[leads])
		hold(held, address, XB_VERDICT_PASSES, said->line[leads]);
	else if (said->count[nowhere])
		hold(held, address, XB_VERDICT_REFUSED, said->line[nowhere]);
}

static bool says_anything(const struct xb_said *said)
{
	for (int i = 0; i < SMARTDNS_NARROWS; i++)
		if (said->count[i])
			return true;
	return false;
}

/* What lines say of a domain they say together, whatever stands in front of it. */
static struct xb_said put_together(const struct xb_said *own, const struct xb_said *below)
{
	struct xb_said all = *own;

	for (int i = 0; i < XB_SAYINGS; i++) {
		all.count[i] += below->count[i];
		if (!own->count[i])
			all.line[i] = below->line[i];
	}
	return all;
}

/* `*.` and `-.` hold for all that is said of the domain in release 46: who is not meant then is
 * judged by what others say, so it passes here. */
static bool is_narrowed(const struct xb_said *own, const struct xb_said *below, enum xb_judged whom)
{
	if (whom == XB_JUDGED_ITSELF)
		return own->count[SMARTDNS_NARROWS] && says_anything(own);
	return whom == XB_JUDGED_BELOW && below->count[SMARTDNS_NARROWS] &&
	       (says_anything(own) || says_anything(below));
}

static void judge_smartdns(const struct xb_said *own, const struct xb_said *below,
			   enum xb_judged whom, struct xb_judgement *now)
{
	uint32_t verdict[FAMILIES], line[FAMILIES];
	struct xb_said said = whom == XB_JUDGED_BELOW ? put_together(own, below) : *own;

	if (is_narrowed(own, below, whom) && !said.count[SMARTDNS_PASSES]++)
		said.line[SMARTDNS_PASSES] = said.line[SMARTDNS_NARROWS];
	for (int family = 0; family < FAMILIES; family++) {
		int at = HELD_FLAGS + family;

		/* What the lines of a name alone say, they say beside those of the domain. */
		if (whom != XB_JUDGED_ALONE || now->held.count[at] != XB_VERDICT_PASSES)
			hold_smartdns(&now->held, &said, family);
		/* Release 46 prefers addresses of the domain around to `#`, 40 does not. */
		if (now->held.count[at] != XB_VERDICT_PASSES &&
		    now->held.count[HELD_ADDRESS + family])
			at = HELD_ADDRESS + family;
		verdict[family] = now->held.count[at];
		line[family] = now->held.line[at];
	}
	judge_families(now, verdict, line,
		       now->held.count[HELD_ADDRESS] == XB_VERDICT_REFUSED &&
			       now->held.count[HELD_FLAGS] != XB_VERDICT_REFUSED);
}

static const struct xb_judge smartdns_judge = {
	.judge = judge_smartdns,
	.plain = BIT(SMARTDNS_NONE) | BIT(SMARTDNS_ADDRESS + NOWHERE_A),
	.lists = SMARTDNS_LISTS,
	.excepts = BIT(SMARTDNS_NARROWS) | BIT(SMARTDNS_PASSES) | BIT(SMARTDNS_FLAGS) |
		   BIT(SMARTDNS_ADDRESS + LEADS_A) | BIT(SMARTDNS_ADDRESS + LEADS_AAAA),
	.silent = BIT(SMARTDNS_FLAGS) | BIT(SMARTDNS_NARROWS),
};

static bool detect_smartdns(const char *line)
{
	return !strncmp(line, "address /", 9) || !strncmp(line, "domain-rules /", 14) ||
	       !strncmp(line, "nameserver /", 12) || !strncmp(line, "domain-set -", 12);
}

/* The domain between slashes; *rest: what stands behind it. NULL: there is none. */
static char *smartdns_domain(char *text, char **rest)
{
	char *end = *text == '/' ? strchr(text + 1, '/') : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	*rest = end + 1;
	return text + 1;
}

/* What a value of `address` says. */
static unsigned int read_target(const char *target)
{
	unsigned int address;

	if (*target == '#')
		return !target[1]	       ? SMARTDNS_NONE
		       : !strcmp(target, "#4") ? SMARTDNS_NONE_A
		       : !strcmp(target, "#6") ? SMARTDNS_NONE_AAAA
					       : SMARTDNS_FLAGS;
	address = read_address(target);
	if (*target == '-')
		return SMARTDNS_PASSES;
	return address == NO_ADDRESS ? SMARTDNS_NOTHING : SMARTDNS_ADDRESS + address;
}

struct smartdns_line {
	struct xb_reading *reading;
	const char *domain; /* NULL: those of another file */
	unsigned int how, more;
	bool partial;
};

static int refuse_partial(struct xb_reading *reading, const char *domain)
{
	reading->hopeless = true;
	return xb_input_error("'%s': a pattern within a label decides about names of other lines; "
			      "leave it out of the file if it is to be read",
			      XB_SHOW(domain));
}

static int keep_smartdns(const struct smartdns_line *line, unsigned int says)
{
	struct xb_listfile *file = line->reading->file;
	bool lists = SMARTDNS_LISTS & BIT(says);

	if (says == SMARTDNS_NOTHING || (!line->domain && lists) ||
	    (line->partial && says == SMARTDNS_NONE))
		return XB_LINE_UNKNOWN;
	if (!line->domain)
		return refuse_other_file(line->reading, "domain-set:");
	if (line->partial)
		return refuse_partial(line->reading, line->domain);
	return lists ? xb_names_keep(file, line->domain, line->how, says | line->more, "")
		     : xb_names_keep_around(file, line->domain, line->how, says | line->more);
}

/* Several addresses have commas between them. */
static int keep_targets(const struct smartdns_line *line, char *targets)
{
	int error = 0, some = XB_LINE_UNKNOWN;
	char *target;

	while (error >= 0 && (target = strsep(&targets, ","))) {
		error = keep_smartdns(line, read_target(xb_line_trim(target)));
		some = error ? some : 0;
	}
	return error < 0 ? error : some;
}

/* Those that are no flags, unless their value begins with a dash. */
static bool is_flagless(const char *option)
{
	return is_among(option + strspn(option, "-"),
			"c\0speed-check-mode\0p\0ipset\0t\0nftset\0n\0nameserver\0");
}

static int keep_rules(const struct smartdns_line *line, char *rest)
{
	int error = 0, some = XB_LINE_UNKNOWN;
	const char *option;

	while (error >= 0 && (option = xb_line_word(&rest))) {
		char *value = rest + strspn(rest, XB_BLANKS);
		bool address = is_among(option + strspn(option, "-"), "a\0address\0"),
		     flagless = is_flagless(option);

		if (*option != '-')
			continue;

		value = address || flagless || *value != '-' ? xb_line_word(&rest) : NULL;
		if (address && value)
			error = keep_targets(line, value);
		else if (!flagless || (value && *value == '-'))
			error = keep_smartdns(line, SMARTDNS_FLAGS);
		else
			continue;
		some = error ? some : 0;
	}
	return error < 0 ? error : some;
}

static void read_smartdns_domain(char *domain, struct smartdns_line *line)
{
	struct pattern pattern;

	if (!strncmp(domain, "domain-set:", 11))
		return;
	if (!strncmp(domain, "-.", 2)) {
		line->how = XB_LINE_EXACT;
		line->domain = domain + 2;
		return;
	}
	pattern = read_pattern(domain);
	line->domain = pattern.domain;
	line->how = pattern.below ? XB_LINE_MEANT : 0;
	line->more = pattern.below ? XB_SAYS_BELOW : 0;
	line->partial = pattern.partial;
}

/* What a line says of other matters may still narrow what is meant. */
static int keep_narrowing(const struct smartdns_line *line)
{
	bool alone = line->how & XB_LINE_EXACT;

	if (!line->domain || line->partial || !(alone || line->more))
		return XB_LINE_UNKNOWN;
	return xb_names_keep_around(line->reading->file, line->domain, 0,
				    SMARTDNS_NARROWS | (alone ? XB_SAYS_BELOW : 0));
}

static int keep_line(const struct smartdns_line *line, const char *word, char *rest)
{
	if (!strcmp(word, "address"))
		return keep_targets(line, rest);
	if (!strcmp(word, "domain-rules"))
		return keep_rules(line, rest);
	if (!strcmp(word, "cname"))
		return keep_smartdns(line, SMARTDNS_PASSES);
	if (is_among(word, "nameserver\0ipset\0nftset\0server\0") && *rest != '-')
		return XB_LINE_UNKNOWN;
	return keep_smartdns(line, SMARTDNS_FLAGS);
}

static int parse_smartdns(struct xb_reading *reading, char *text)
{
	struct smartdns_line line = {.reading = reading};
	char shown[XB_SHOWN + 1], *rest = text, *domain;
	const char *word;
	int error, narrows;

	snprintf(shown, sizeof(shown), "%s", text);
	word = xb_line_word(&rest);
	if (is_among(word, "group-begin\0client-rules\0")) {
		reading->hopeless = true;
		return xb_input_error("'%s': some lines hold for some clients only; the file may "
				      "only have those that hold for all",
				      XB_SHOW(shown));
	}
	if (is_among(word, "conf-file\0hosts-file\0"))
		return refuse_other_file(reading, shown);
	domain = smartdns_domain(rest + strspn(rest, XB_BLANKS), &rest);
	if (!domain)
		return XB_LINE_UNKNOWN;
	read_smartdns_domain(domain, &line);
	/* All behind the next blank is a comment, but for rules. */
	if (strcmp(word, "domain-rules") != 0)
		rest[strcspn(rest, XB_BLANKS)] = '\0';
	error = keep_line(&line, word, rest);
	narrows = error >= 0 ? keep_narrowing(&line) : error;
	return narrows == XB_LINE_UNKNOWN ? error : narrows;
}

static int finish_smartdns(struct xb_reading *reading)
{
	return xb_names_judge(reading->file, &smartdns_judge);
}

const struct xb_list_format xb_smartdns_format = {"smartdns",	  detect_smartdns,
						  parse_smartdns, .comments = "#",
						  .loose = true,  .finish = finish_smartdns};
