/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats with named sets: of a file only one set is read, the one that was chosen or the only one.
 */
#include "lists/format.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/line.h"

#define SETS_TOLD 8 /* names of sets that a message has, if the chosen one is none of them */

struct xb_list_sets {
	const char *names[SETS_TOLD]; /* in the order of the file */
	struct xb_arena texts;
	size_t count;
	bool found; /* the chosen one */
};

void xb_listsets_end(struct xb_reading *reading)
{
	struct xb_list_sets *sets = reading->sets;

	if (sets)
		xb_arena_free(&sets->texts);
	free(sets);
	reading->sets = NULL;
	free(reading->set);
	reading->set = NULL;
}

static int note_set(struct xb_list_sets *sets, const char *name)
{
	for (size_t i = sets->count; i > 0; i--)
		if (!strcmp(sets->names[i - 1], name))
			return 0;
	if (sets->count == SETS_TOLD)
		return 0;
	sets->names[sets->count] = xb_arena_copy(&sets->texts, name, strlen(name) + 1);
	return sets->names[sets->count++] ? 0 : -ENOMEM;
}

static const char *chosen_set(const struct xb_reading *reading)
{
	return reading->choice ? reading->choice->set : NULL;
}

int xb_sets_take(struct xb_reading *reading, const char *name, bool *counts)
{
	const char *chosen = chosen_set(reading);
	int error;

	if (!reading->sets)
		reading->sets = calloc(1, sizeof(*reading->sets));
	if (!reading->sets)
		return xb_out_of_memory();
	error = note_set(reading->sets, name);
	if (error)
		return error;
	*counts = !strcmp(chosen ?: reading->sets->names[0], name);
	reading->sets->found |= *counts;
	if (chosen || *counts)
		return 0;
	reading->hopeless = true;
	return xb_input_error("a second %s, '%s' after '%s': one of them may hold sources that "
			      "pass; choose one%s",
			      reading->format->sets, XB_SHOW(name),
			      XB_SHOW(reading->sets->names[0]), xb_advice(XB_ADVICE_SET));
}

int xb_sets_check(const struct xb_reading *reading)
{
	const struct xb_list_sets *sets = reading->sets;
	const char *chosen = chosen_set(reading);
	char names[SETS_TOLD * (XB_SHOWN + sizeof(", '',"))];
	size_t used = 0;

	if (!chosen || !reading->format || (sets && sets->found))
		return 0;
	if (!reading->format->sets)
		return xb_input_error("the format %s has no sets to choose", reading->format->name);
	*names = '\0';
	for (size_t i = 0; sets && i < sets->count; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s'%s'",
					 i ? ", " : "; it has ", XB_SHOW(sets->names[i]));
	return xb_input_error("no %s '%s' in the file%s%s", reading->format->sets, XB_SHOW(chosen),
			      names, sets && sets->count == SETS_TOLD ? ", ..." : "");
}

/* One address, prefix or range of a set, or what it excepts. */
static int keep_member(struct xb_reading *reading, const char *text, struct xb_item *item,
		       bool excepted, const char *comment)
{
	struct xb_span span;
	int error;

	if (strchr(text, '-')) {
		error = xb_addresses_span(reading->file, text, &span);
		item->entry.kind = excepted ? XB_ALLOW4 : 0;
		return error ? error : xb_span_keep(reading->file, &span, item, comment);
	}
	error = xb_addresses_read(reading->file, text, &item->entry);
	if (!error && excepted)
		item->entry = xb_entry_allow(&item->entry);
	return error ? error : xb_line_keep_with_comment(reading->file, item, comment);
}

/* --- ipset: what `ipset save` writes and `ipset restore` reads --- */

#define WRITE_SET "; `ipset save NAME` writes a set as it is"

/* What a set says of all its entries. */
struct xb_list_set {
	uint32_t netmask, timeout; /* 0: none */
	bool created, ipv6;	   /* ipv6: if created */
	bool single;		   /* it has addresses, not networks: none is excepted */
};

static bool detect_ipset(const char *line)
{
	size_t verb = !strncmp(line, "create ", 7) ? 7 : !strncmp(line, "add ", 4) ? 4 : 0, name;

	if (!verb)
		return false;
	/* A type, or an address; nft has commands that begin with the same words. */
	name = verb + strcspn(line + verb, XB_BLANKS);
	name += strspn(line + name, XB_BLANKS);
	line += name;
	return !*line || line[strcspn(line, XB_BLANKS ".:")] == '.' ||
	       line[strcspn(line, XB_BLANKS ".:")] == ':';
}

/* The next word, perhaps in quotes; NULL: none is left, or a quote is open, which stays. */
static char *next_word(char **rest)
{
	char *word, *end;

	do {
		*rest += strspn(*rest, XB_BLANKS);
		if (**rest == '"') {
			end = strchr(*rest + 1, '"');
			if (!end || (end[1] && !strchr(XB_BLANKS, end[1])))
				return NULL;
			*end = '\0';
			word = *rest + 1;
			*rest = end + 1;
			return word;
		}
		word = xb_line_word(rest);
	} while (word && (!strcmp(word, "-exist") || !strcmp(word, "-!")));
	return word;
}

/* The set of the file. NULL in *set: the line is about one that does not count. */
static int find_set(struct xb_reading *reading, const char *name, struct xb_list_set **set)
{
	bool counts;
	int error = xb_sets_take(reading, name, &counts);

	*set = NULL;
	if (error || !counts)
		return error;
	if (!reading->set)
		reading->set = calloc(1, sizeof(*reading->set));
	*set = reading->set;
	return *set ? 0 : xb_out_of_memory();
}

static int take_number(const char *what, char **rest, uint32_t most, uint32_t *number)
{
	const char *word = next_word(rest);
	size_t digits = word ? strspn(word, XB_DIGITS) : 0;
	unsigned long long value = digits ? strtoull(word, NULL, 10) : 0;

	if (!digits || word[digits] || value > most)
		return xb_input_error("%s '%s' is not a number from 0 to %u", what,
				      XB_SHOW(word ? word : ""), most);
	*number = (uint32_t)value;
	return 0;
}

int xb_set_check_type(const char *type)
{
	if (!strcmp(type, "hash:net") || !strcmp(type, "hash:ip") || !strcmp(type, "bitmap:ip"))
		return 0;
	if (!strcmp(type, "list:set"))
		return xb_input_error("a set of type list:set has other sets, not addresses; "
				      "`ipset save NAME` writes one of them");
	if (strchr(type, ','))
		return xb_input_error("a set of type %s matches by more than the source; to list "
				      "its addresses for every packet, choose the format extract%s",
				      XB_SHOW(type), xb_advice(XB_ADVICE_FORMAT));
	return xb_input_error("cannot read sets of type %s, only hash:ip, hash:net and bitmap:ip",
			      XB_SHOW(type));
}

static int parse_create(struct xb_reading *reading, char *rest)
{
	const char *name = next_word(&rest), *type = next_word(&rest), *option;
	struct xb_list_set *set;
	int error;

	if (!name || !type)
		return xb_input_error("'create' needs a name and a type");
	error = find_set(reading, name, &set);
	if (error || !set)
		return error;
	set->created = true;
	set->single = strcmp(type, "hash:net") != 0;
	error = xb_set_check_type(type);
	while (!error && (option = next_word(&rest))) {
		if (!strcmp(option, "netmask"))
			error = take_number(option, &rest, 128, &set->netmask);
		else if (!strcmp(option, "timeout"))
			error = take_number(option, &rest, UINT32_MAX, &set->timeout);
		else if (!strcmp(option, "family"))
			set->ipv6 = !strcmp(next_word(&rest) ?: "", "inet6");
		else if (!strcmp(option, "bitmask"))
			error = xb_input_error(
				"the set has a bitmask, which prefixes cannot express");
	}
	return error;
}

/* What an entry has beside its addresses. */
struct extras {
	struct xb_item item;
	const char *comment;
	bool excepted;
};

static int take_add_option(const char *option, char **rest, struct extras *extras)
{
	static const char *const unused[] = {"packets", "bytes", "skbmark", "skbprio", "skbqueue"};

	if (!strcmp(option, "timeout"))
		return take_number(option, rest, UINT32_MAX, &extras->item.timeout);
	if (!strcmp(option, "comment")) {
		extras->comment = next_word(rest);
		return extras->comment ? 0 : xb_input_error("'comment' without a text");
	}
	if (!strcmp(option, "nomatch")) {
		extras->excepted = true;
		return 0;
	}
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++)
		if (!strcmp(option, unused[i]))
			return next_word(rest) ? 0 : xb_input_error("'%s' without a value", option);
	return xb_input_error("'%s' is not an option of an entry", XB_SHOW(option));
}

/* A set with a netmask holds networks, and ipset prints their addresses only. */
static void widen(struct xb_listfile *file, size_t from, uint32_t netmask)
{
	for (size_t i = from; i < file->count; i++) {
		struct xb_entry *kept = &file->items[i].entry;
		uint32_t line = kept->line;

		if (netmask < kept->length)
			*kept = xb_entry_covering(kept, (uint8_t)netmask);
		kept->line = line;
	}
}

static int add_member(struct xb_reading *reading, const struct xb_list_set *set, const char *text,
		      struct extras *extras)
{
	size_t before = reading->file->count;
	int error;

	if (extras->excepted && set->single)
		return xb_input_error("'nomatch' is not an option of an entry of its type");
	error = keep_member(reading, text, &extras->item, extras->excepted, extras->comment);
	if (!error && set->created &&
	    xb_entry_is_ipv6(&reading->file->items[before].entry) != set->ipv6)
		error = xb_input_error("'%s' is not of the family of its set", XB_SHOW(text));
	if (!error && set->netmask)
		widen(reading->file, before, set->netmask);
	return error;
}

static int parse_add(struct xb_reading *reading, char *rest)
{
	const char *name = next_word(&rest), *text = next_word(&rest), *option;
	struct extras extras = {.comment = ""};
	struct xb_list_set *set;
	int error;

	if (!name || !text)
		return xb_input_error("'add' needs a set and an entry");
	error = find_set(reading, name, &set);
	if (error || !set)
		return error;
	extras.item.timeout = set->timeout;
	while (!error && (option = next_word(&rest)))
		error = take_add_option(option, &rest, &extras);
	if (!error && *rest)
		error = xb_input_error("a quote is not closed");
	return error ? error : add_member(reading, set, text, &extras);
}

static int parse_flush(struct xb_reading *reading, char *rest)
{
	const char *name = next_word(&rest);
	struct xb_list_set *set = reading->set;
	int error = name ? find_set(reading, name, &set) : 0;

	if (!error && set)
		reading->file->count = 0;
	return error;
}

static int parse_ipset(struct xb_reading *reading, char *line)
{
	const char *verb = next_word(&line) ?: "";

	if (!strcmp(verb, "create"))
		return parse_create(reading, line);
	if (!strcmp(verb, "add"))
		return parse_add(reading, line);
	if (!strcmp(verb, "flush"))
		return parse_flush(reading, line);
	return xb_input_error("'%s' is neither 'create' nor 'add'" WRITE_SET, XB_SHOW(verb));
}

/* Added again, an entry is as it was added last. */
static int finish_ipset(struct xb_reading *reading)
{
	return xb_span_except(reading->file, XB_LONGEST_LAST);
}

const struct xb_list_format xb_ipset_format = {
	"ipset",	detect_ipset,		parse_ipset,  .comments = "#",
	.strict = true, .finish = finish_ipset, .sets = "set"};

/* --- pf: a table, as `pfctl -t TABLE -T show` writes it and pf loads it from a file --- */

static int take_pf_word(struct xb_reading *reading, char *word)
{
	bool excepted = *word == '!';
	struct xb_item item = {0};
	int error;

	word += excepted;
	if (isalpha((unsigned char)*word) && !strchr(word, ':'))
		error = xb_input_error("pf looks up '%s' when it loads the table", XB_SHOW(word));
	else if (strchr(word, '-'))
		error = xb_input_error("'%s' is not an address or prefix", XB_SHOW(word));
	else
		error = keep_member(reading, word, &item, excepted, "");
	/* Of what passes nothing is left out: too much would be listed. */
	reading->hopeless |= error && excepted;
	return error;
}

static int parse_pf(struct xb_reading *reading, char *line)
{
	char *word;
	int error = 0;

	xb_line_comment(line, "#");
	while (!error && (word = xb_line_word(&line)))
		error = take_pf_word(reading, word);
	return error;
}

static int finish_pf(struct xb_reading *reading)
{
	return xb_span_except(reading->file, XB_LONGEST);
}

static bool marks_pf(const char *line)
{
	size_t size = *line == '!' ? strspn(line + 1, XB_DIGITS "abcdefABCDEF.:/") : 0;

	return size && strpbrk(line + 1, ".:") && strpbrk(line + 1, ".:") <= line + size &&
	       strchr(XB_BLANKS "#", line[1 + size]);
}

const struct xb_list_format xb_pf_format = {"pf",
					    NULL,
					    parse_pf,
					    .comments = "#",
					    .loose = true,
					    .finish = finish_pf,
					    .passes_for = "plain",
					    .marks = marks_pf};

/* --- csf: csf.deny of ConfigServer Firewall: addresses, conditions, and other files --- */

static bool marks_csf(const char *line)
{
	static const char *const starts[] = {"tcp|", "udp|", "icmp|", "tcp/udp|", "Include /"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(line, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static int parse_csf(struct xb_reading *reading, char *line)
{
	const char *comment = xb_line_comment(line, "#"), *word;
	struct xb_item item = {0};

	word = xb_line_word(&line);
	if (!word)
		return 0;
	if (!strcasecmp(word, "Include"))
		return xb_input_error("what '%s' has is not read", XB_SHOW(line));
	if (strchr(word, '|'))
		return xb_input_error("'%s' depends on more than the source", XB_SHOW(word));
	if (*line)
		return XB_LINE_UNKNOWN;
	return keep_member(reading, word, &item, false, comment);
}

const struct xb_list_format xb_csf_format = {"csf",
					     marks_csf,
					     parse_csf,
					     .comments = "#",
					     .loose = true,
					     .passes_for = "plain",
					     .marks = marks_csf};
