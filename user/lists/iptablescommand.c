/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/iptablescommand.h"

#include <stdio.h>

#include "base/array.h"
#include "lists/line.h"

/* --- words --- */

int xb_iptables_refuse_script(const struct xb_iptables_command *command)
{
	return xb_input_error("'%s' is more than a command of iptables" XB_IPTABLES_RUN_IT,
			      command->shown);
}

/* Whether the shell does something else with the character than it stands for. */
static bool is_of_shell(char character, bool in_quotes)
{
	return strchr(in_quotes ? "$`" : "$`|&<>()*?[{~", character);
}

/* Takes a word to its end: quotes, and what a backslash stands in front of, are put together as the
 * program would see them. *end: the character behind it. */
static int take_word(struct xb_iptables_command *command, char **rest, char *end)
{
	bool shell = command->by_program;
	char *in = *rest, *out = in, quote = '\0';

	if (command->count == XB_IPTABLES_WORDS)
		return xb_input_error("more than %d words", XB_IPTABLES_WORDS);
	command->quoted[command->count] = strchr("\"'", *in);
	command->words[command->count++] = out;
	for (; *in && (quote || !strchr(shell ? XB_BLANKS ";" : XB_BLANKS, *in)); in++) {
		if (*in == '\\' && quote != '\'') {
			if (!*++in)
				return xb_input_error("the line ends with '\\'" XB_IPTABLES_RUN_IT);
			*out++ = *in;
		} else if (quote == *in) {
			quote = '\0';
		} else if (!quote && (*in == '"' || (*in == '\'' && shell))) {
			quote = *in;
		} else if (shell && quote != '\'' && is_of_shell(*in, quote)) {
			return xb_iptables_refuse_script(command);
		} else {
			*out++ = *in;
		}
	}
	if (quote)
		return xb_input_error("an open quote");
	*end = *in;
	*rest = in + (*in != '\0');
	*out = '\0';
	return 0;
}

/* The words of one command; *rest is behind it. */
int xb_iptables_take_words(struct xb_iptables_command *command, char **rest)
{
	bool shell = command->by_program;
	char end = ' ';
	int error = 0;

	while (!error) {
		*rest += strspn(*rest, XB_BLANKS);
		if (!**rest || (shell && (**rest == '#' || end == ';')))
			break;
		if (shell && (**rest == ';' || !strncmp(*rest, "&&", 2))) {
			*rest += **rest == ';' ? 1 : 2;
			break;
		}
		error = take_word(command, rest, &end);
	}
	if (shell && **rest == '#')
		*rest += strlen(*rest);
	return error;
}

/* The next word, unless it is an option; NULL: there is none. */
static char *take_value(struct xb_iptables_command *command)
{
	size_t at = command->at;

	if (at == command->count || (!command->quoted[at] && (*command->words[at] == '-' ||
							      !strcmp(command->words[at], "!"))))
		return NULL;
	return command->words[command->at++];
}

static char *take_number(struct xb_iptables_command *command)
{
	const char *word = command->at < command->count ? command->words[command->at] : "";

	return *word && !word[strspn(word, XB_DIGITS)] ? take_value(command) : NULL;
}

/* --- options --- */

/* Keeps what the rule asks for besides its source: the first that no scope can have, else the
 * first.
 */
void xb_iptables_add_condition(struct xb_iptables_command *command, const char *words,
			       bool for_service)
{
	struct xb_firewall_rule *rule = &command->rule;

	if (rule->condition && !rule->for_service)
		return;
	rule->condition = words;
	rule->for_service = for_service;
}

/* With a name in quotes; it lasts as long as the file. */
static int add_named_condition(struct xb_iptables_command *command, const char *before,
			       const char *name, const char *behind)
{
	char words[128];
	const char *kept;

	snprintf(words, sizeof(words), "%s'%s'%s", before, XB_SHOW(name), behind);
	kept = xb_arena_copy(&command->reading->file->names, words, strlen(words) + 1);
	if (!kept)
		return -EIO;
	xb_iptables_add_condition(command, kept, false);
	return 0;
}

static int take_match(struct xb_iptables_command *command, const char *name)
{
	/* Those that ask for nothing by themselves. */
	static const char *const silent[] = {"comment", "iprange", "set",	"tcp",	    "udp",
					     "icmp",	"icmp6",   "ipv6-icmp", "multiport"};
	static const struct {
		const char *name, *words;
	} known[] = {{"conntrack", "the state of a connection"},
		     {"state", "the state of a connection"},
		     {"limit", "a rate"},
		     {"hashlimit", "a rate"},
		     {"recent", "what was seen before"},
		     {"mark", "a mark"},
		     {"mac", "a hardware address"}};

	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		if (!strcmp(silent[i], name))
			return 0;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		xb_iptables_add_condition(command, known[i].words, false);
		return 0;
	}
	return add_named_condition(command, "the match ", name, "");
}

static int take_protocol(struct xb_iptables_command *command, const char *name)
{
	static const char *const services[] = {"tcp",	"udp", "icmp", "ipv6-icmp", "icmpv6",
					       "icmp6", "6",   "17",   "1",	    "58"};
	bool service = false;

	command->has_protocol = true;
	if (!strcmp(name, "all") || !strcmp(name, "0")) {
		if (command->negated)
			return xb_input_error("no protocol at all");
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		service |= !strcmp(services[i], name);
	xb_iptables_add_condition(command, "a protocol", service && !command->negated);
	return 0;
}

/* What arrives from others does not come over the interface by which a machine speaks to itself. */
static void take_interface(struct xb_iptables_command *command, const char *name)
{
	if (strcmp(name, "lo") != 0 && (strcmp(name, "+") != 0 || command->negated))
		xb_iptables_add_condition(command, "an interface", false);
	command->never |= !strcmp(name, "lo") && !command->negated;
}

enum kind {
	VERB, /* first of all, so that zero is one */
	TABLE,
	SOURCE,
	RANGE,
	JUMP,
	GOTO,
	COMMENT,
	MATCH,
	SET,
	INTERFACE,
	PROTOCOL,
	DESTINATION,
	REJECT_WITH,
	FAMILY4,
	FAMILY6,
	PORT,	       /* a condition that a scope can have */
	AROUND,	       /* says nothing of packets; and so many values */
	AROUND_NUMBER, /* the same, with a number that may be missing */
	OTHER,
};

static const struct option {
	const char *name;
	char letter;
	enum kind kind;
	unsigned int values;
	bool negatable;
} options[] = {
	{"append", 'A', VERB, 0, false},
	{"insert", 'I', VERB, 0, false},
	{"replace", 'R', VERB, 0, false},
	{"delete", 'D', VERB, 0, false},
	{"flush", 'F', VERB, 0, false},
	{"delete-chain", 'X', VERB, 0, false},
	{"new-chain", 'N', VERB, 0, false},
	{"policy", 'P', VERB, 0, false},
	{"zero", 'Z', VERB, 0, false},
	{"table", 't', TABLE, 1, false},
	{"source", 's', SOURCE, 1, true},
	{"src", 0, SOURCE, 1, true},
	{"src-range", 0, RANGE, 1, true},
	{"jump", 'j', JUMP, 1, false},
	{"goto", 'g', GOTO, 1, false},
	{"comment", 0, COMMENT, 1, false},
	{"match", 'm', MATCH, 1, false},
	{"match-set", 0, SET, 2, true},
	{"in-interface", 'i', INTERFACE, 1, true},
	{"protocol", 'p', PROTOCOL, 1, true},
	{"proto", 0, PROTOCOL, 1, true},
	{"destination", 'd', DESTINATION, 1, true},
	{"dst", 0, DESTINATION, 1, true},
	{"dport", 0, PORT, 1, true},
	{"dports", 0, PORT, 1, true},
	{"destination-port", 0, PORT, 1, true},
	{"destination-ports", 0, PORT, 1, true},
	{"ipv4", '4', FAMILY4, 0, false},
	{"ipv6", '6', FAMILY6, 0, false},
	{"reject-with", 0, REJECT_WITH, 1, false},
	{"log-prefix", 0, AROUND, 1, false},
	{"nflog-prefix", 0, AROUND, 1, false},
	{"log-level", 0, AROUND, 1, false},
	{"set-counters", 'c', AROUND, 2, false},
	{"verbose", 'v', AROUND, 0, false},
	{"numeric", 'n', AROUND, 0, false},
	{"wait", 'w', AROUND_NUMBER, 0, false},
	{"wait-interval", 'W', AROUND, 1, false},
	{"set", 0, OTHER, 0, false},
	{"pol", 0, OTHER, 0, false},
};

/* NULL: none of those. Long ones may be cut short, as for getopt_long(3); some that are whole begin
 * others. */
static const struct option *find_option(const char *word)
{
	size_t size = strlen(word + 2);

	for (size_t i = 0; word[1] != '-' && i < ARRAY_SIZE(options); i++)
		if (options[i].letter == word[1] && !word[2])
			return &options[i];
	for (size_t i = 0; word[1] == '-' && i < ARRAY_SIZE(options); i++)
		if (!strcmp(options[i].name, word + 2))
			return &options[i];
	for (size_t i = 0; word[1] == '-' && size > 1 && i < ARRAY_SIZE(options); i++)
		if (!strncmp(options[i].name, word + 2, size))
			return &options[i];
	return NULL;
}

/* -A CHAIN, -I CHAIN [NUMBER], -P CHAIN TARGET, ... */
static int take_verb(struct xb_iptables_command *command, char letter)
{
	if (command->verb)
		return xb_input_error("two commands at once");
	command->verb = letter;
	command->chain = take_value(command);
	if (command->chain && strchr("IRD", letter))
		command->number = take_number(command);
	if (command->chain && letter == 'P')
		command->policy = take_value(command);
	if (!command->chain && !strchr("FXZ", letter))
		return xb_input_error("'-%c' without a chain", letter);
	return 0;
}

static int set_text(const char **text, const char *value)
{
	if (*text)
		return xb_input_error("'%s' and '%s' in one rule", XB_SHOW(*text), XB_SHOW(value));
	*text = value;
	return 0;
}

static int take_sources(struct xb_iptables_command *command, char *value)
{
	if (command->sources)
		return xb_input_error("two sources, '%s' and '%s', in one rule",
				      XB_SHOW(command->sources), XB_SHOW(value));
	command->sources = value;
	command->not_sources = command->negated;
	return 0;
}

/* Each of several is a rule, and so is each source for it. */
static void take_destinations(struct xb_iptables_command *command, const char *value)
{
	command->destinations = 1;
	command->not_destinations = command->negated;
	for (; *value; value++)
		command->destinations += *value == ',';
	xb_iptables_add_condition(command, "a destination", false);
}

/* One that has no value, or does not say how many. */
static int take_bare(struct xb_iptables_command *command, const struct option *option,
		     const char *word)
{
	switch (option->kind) {
	case VERB:
		return take_verb(command, option->letter);
	case FAMILY4:
	case FAMILY6:
		command->rule.families = option->kind == FAMILY4 ? XB_FAMILY4 : XB_FAMILY6;
		return 0;
	case AROUND_NUMBER:
		take_number(command);
		return 0;
	case OTHER:
		while (take_value(command))
			;
		return add_named_condition(command, "", word, "");
	default:
		return 0;
	}
}

/* value: the first. */
static int take_with_value(struct xb_iptables_command *command, enum kind kind, char *value)
{
	switch (kind) {
	case TABLE:
		command->table = value;
		return command->by_program ? 0 : xb_input_error("a table in a line of one");
	case SOURCE:
		return take_sources(command, value);
	case RANGE:
		command->not_range = command->negated;
		return set_text(&command->range, value);
	case JUMP:
	case GOTO:
		command->goes = kind == GOTO;
		return set_text(&command->target, value);
	case COMMENT:
		return set_text(&command->comment, value);
	case MATCH:
		return take_match(command, value);
	case SET:
		return add_named_condition(command, "the set ", value,
					   ", which is not in the file (`ipset save` writes it)");
	case INTERFACE:
		take_interface(command, value);
		return 0;
	case PROTOCOL:
		return take_protocol(command, value);
	case DESTINATION:
		take_destinations(command, value);
		return 0;
	case REJECT_WITH:
		command->resets = !strcmp(value, "tcp-reset") || !strcmp(value, "tcp-rst");
		return 0;
	case PORT:
		xb_iptables_add_condition(command, "a port", !command->negated);
		return 0;
	default:
		return 0;
	}
}

static int take_option(struct xb_iptables_command *command, const char *word)
{
	static const struct option other = {.kind = OTHER};
	const struct option *option = find_option(word) ?: &other;
	char **values = command->words + command->at;

	if (command->negated && option->kind != OTHER && !option->negatable)
		return xb_input_error("'!' in front of '%s'", XB_SHOW(word));
	if (!option->values)
		return take_bare(command, option, word);
	if (command->count - command->at < option->values)
		return xb_input_error("'%s' without its value", XB_SHOW(word));
	command->at += option->values;
	return take_with_value(command, option->kind, values[0]);
}

int xb_iptables_take_options(struct xb_iptables_command *command)
{
	int error = 0;

	while (!error && command->at < command->count) {
		const char *word = command->words[command->at];

		if (command->quoted[command->at] || !strcmp(word, "-") ||
		    (*word != '-' && strcmp(word, "!") != 0))
			return xb_input_error("'%s' belongs to no option", XB_SHOW(word));
		command->at++;
		if (*word == '!') {
			command->negated = true;
			continue;
		}
		error = take_option(command, word);
		command->negated = false;
	}
	return error;
}
