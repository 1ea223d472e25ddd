/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * iptables: what `iptables-save` writes and `iptables-restore` reads, what `iptables -S` writes,
 * and commands of iptables and ip6tables, several on a line. What the program would refuse is
 * refused, and so is a script that does anything else: what is in force then only the program can
 * tell.
 */
#include <arpa/inet.h>
#include <search.h>
#include <stdio.h>

#include "base/array.h"
#include "lists/addresstext.h"
#include "lists/iptablescommand.h"
#include "lists/line.h"

#define CHAIN_BYTES 32 /* of a name, NUL included */
#define TABLE_BYTES 16

/* A chain of a table; commands of ip6tables have tables of their own. */
struct chain {
	char name[CHAIN_BYTES], table[TABLE_BYTES];
	bool ipv6, built_in, gone;
	uint32_t number; /* in the firewall */
	struct chain *next;
};

struct xb_list_iptables {
	struct xb_firewall *firewall;
	void *by_name; /* a tree of the chains */
	struct chain *chains;
	char table[TABLE_BYTES];	       /* of lines behind "*filter"; "": none is open */
	bool in_file;			       /* there was such a line */
	bool is_script;			       /* there was a command with its program */
	enum { NO_FAMILY, IPV4, IPV6 } family; /* of the addresses in lines without a program */
};

/* --- chains --- */

static int compare_chains(const void *a, const void *b)
{
	const struct chain *one = a, *two = b;
	int order = strcmp(one->name, two->name);

	if (!order)
		order = strcmp(one->table, two->table);
	return order ? order : one->ipv6 - two->ipv6;
}

static void keep_node(void *node)
{
	(void)node;
}

void xb_listiptables_end(struct xb_reading *reading)
{
	struct xb_list_iptables *iptables = reading->iptables;
	struct chain *next;

	if (!iptables)
		return;
	tdestroy(iptables->by_name, keep_node);
	for (struct chain *chain = iptables->chains; chain; chain = next) {
		next = chain->next;
		free(chain);
	}
	xb_firewall_free(iptables->firewall);
	free(iptables);
	reading->iptables = NULL;
}

static int begin(struct xb_reading *reading)
{
	struct xb_list_iptables *iptables = reading->iptables;

	if (iptables)
		return 0;
	iptables = reading->iptables = calloc(1, sizeof(*iptables));
	if (!iptables)
		return xb_out_of_memory();
	iptables->firewall = xb_firewall_new(reading->file);
	return iptables->firewall ? 0 : -EIO;
}

static struct chain probe(const struct xb_iptables_command *command, const char *name)
{
	struct chain chain = {.ipv6 = command->by_program && command->ipv6};

	snprintf(chain.name, sizeof(chain.name), "%s", name);
	snprintf(chain.table, sizeof(chain.table), "%s", command->table);
	return chain;
}

/* Which chains each table has from the beginning; what comes to those in front of the bar is what
 * arrives here. The table nat decides nothing: its rules are passed over. */
static const struct table {
	const char *name, *chains;
} tables[] = {
	{"filter", "INPUT|FORWARD OUTPUT"},
	{"raw", "PREROUTING|OUTPUT"},
	{"mangle", "PREROUTING INPUT|FORWARD OUTPUT POSTROUTING"},
	{"security", "INPUT|FORWARD OUTPUT"},
	{"nat", "|PREROUTING INPUT OUTPUT POSTROUTING"},
};

static const struct table *find_table(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (!strcmp(tables[i].name, name))
			return &tables[i];
	return NULL;
}

/* *arrives: packets that come to it are for this machine. */
static bool is_built_in(const char *table, const char *name, bool *arrives)
{
	const struct table *of = find_table(table);
	const char *chains = of ? of->chains : "|", *at = strstr(chains, name);
	size_t size = strlen(name);

	*arrives = at && at < strchr(chains, '|');
	return at && (at == chains || strchr(" |", at[-1])) &&
	       (!at[size] || strchr(" |", at[size]));
}

static void set_policy(struct xb_iptables_command *command, const struct chain *chain, bool drops)
{
	struct xb_firewall_hook hook = {.families = XB_FAMILIES,
					.drops = drops,
					.line = command->reading->file->lines,
					.text = command->shown};

	if (command->by_program)
		hook.families = command->ipv6 ? XB_FAMILY6 : XB_FAMILY4;
	xb_firewall_set_hook(command->reading->iptables->firewall, chain->number, &hook);
}

static int add_chain(struct xb_iptables_command *command, const char *name, struct chain **added)
{
	struct xb_list_iptables *iptables = command->reading->iptables;
	struct chain *chain = calloc(1, sizeof(*chain));
	bool arrives;

	if (!chain)
		return xb_out_of_memory();
	*chain = probe(command, name);
	chain->built_in = is_built_in(command->table, name, &arrives);
	chain->next = iptables->chains;
	iptables->chains = chain;
	*added = chain;
	if (!tsearch(chain, &iptables->by_name, compare_chains))
		return xb_out_of_memory();
	if (xb_firewall_add_chain(iptables->firewall, &chain->number))
		return -EIO;
	if (chain->built_in && arrives)
		set_policy(command, chain, false);
	return 0;
}

/* NULL: there is none. */
static struct chain *find_chain(const struct xb_iptables_command *command, const char *name)
{
	struct chain like = probe(command, name);
	void *node = tfind(&like, &command->reading->iptables->by_name, compare_chains);
	struct chain *chain = node ? *(struct chain **)node : NULL;

	return chain && !chain->gone && strlen(name) < CHAIN_BYTES ? chain : NULL;
}

/* One that is there, or is from the beginning. */
static int need_chain(struct xb_iptables_command *command, const char *name, struct chain **chain)
{
	bool arrives;

	*chain = find_chain(command, name);
	if (*chain)
		return 0;
	if (is_built_in(command->table, name, &arrives))
		return add_chain(command, name, chain);
	return xb_input_error("there is no chain '%s' in the table %s" XB_IPTABLES_RUN_IT,
			      XB_SHOW(name), command->table);
}

static int make_chain(struct xb_iptables_command *command, const char *name)
{
	struct chain like = probe(command, name), *chain;
	void *node = tfind(&like, &command->reading->iptables->by_name, compare_chains);
	bool arrives;

	if (strlen(name) >= CHAIN_BYTES || is_built_in(command->table, name, &arrives) ||
	    find_chain(command, name))
		return xb_input_error("no chain can be made with the name '%s'", XB_SHOW(name));
	if (!node)
		return add_chain(command, name, &chain);
	chain = *(struct chain **)node;
	chain->gone = false;
	return xb_firewall_add_chain(command->reading->iptables->firewall, &chain->number);
}

static bool is_of_table(const struct xb_iptables_command *command, const struct chain *chain)
{
	return !strcmp(chain->table, command->table) &&
	       chain->ipv6 == (command->by_program && command->ipv6);
}

/* Takes the rules out of all chains of the table, or the chains that users made. */
static void empty_table(struct xb_iptables_command *command, bool rules, bool chains)
{
	struct xb_list_iptables *iptables = command->reading->iptables;

	for (struct chain *chain = iptables->chains; chain; chain = chain->next) {
		if (!is_of_table(command, chain))
			continue;
		if (rules)
			xb_firewall_remove_rule(iptables->firewall, chain->number, 0);
		chain->gone |= chains && !chain->built_in;
	}
}

/* --- sources --- */

/* An address of the family that others in the file have. */
static int check_family(struct xb_iptables_command *command, const char *text)
{
	struct xb_list_iptables *iptables = command->reading->iptables;
	bool ipv6 = strchr(text, ':');

	if (command->rule.families != XB_FAMILIES) {
		if (ipv6 == (command->rule.families == XB_FAMILY6))
			return 0;
		return xb_input_error("'%s' is of another family than the rule", XB_SHOW(text));
	}
	if (iptables->family && (iptables->family == IPV6) != ipv6)
		return xb_input_error(
			"'%s' is of another family than the addresses before it: what "
			"iptables-save and ip6tables-save write has to be a file each",
			XB_SHOW(text));
	iptables->family = ipv6 ? IPV6 : IPV4;
	return 0;
}

/* The prefix length of a netmask; -1: it is none, -2: it is one with holes. */
static int read_mask(const char *text)
{
	struct in6_addr mask = {0};
	int length = 0;

	if (inet_pton(strchr(text, ':') ? AF_INET6 : AF_INET, text, &mask) != 1)
		return -1;
	while (length < 128 && mask.s6_addr[length / 8] & 0x80 >> length % 8)
		length++;
	for (int i = length; i < 128; i++)
		if (mask.s6_addr[i / 8] & 0x80 >> i % 8)
			return -2;
	return length;
}

/* "ADDRESS", "ADDRESS/LENGTH", "ADDRESS/MASK". *holes: the mask has some; the span is all then. */
static int read_source(struct xb_iptables_command *command, const char *text, struct xb_span *span,
		       bool *holes)
{
	const char *slash = strchr(text, '/');
	char plain[XB_ENTRY_TEXT];
	int length = slash && slash[1 + strspn(slash + 1, XB_DIGITS)] ? read_mask(slash + 1) : -1;
	int error = check_family(command, text);

	*holes = length == -2;
	if (length == -2)
		snprintf(plain, sizeof(plain), "%s", strchr(text, ':') ? "::/0" : "0.0.0.0/0");
	else if (length >= 0)
		snprintf(plain, sizeof(plain), "%.*s/%d", (int)(slash - text), text, length);
	else
		snprintf(plain, sizeof(plain), "%s", text);
	if (error)
		return error;
	if (strchr(plain, '-') || !xb_line_looks_like_address(plain))
		return xb_input_error("'%s' is not an address or prefix; `iptables-save` writes "
				      "names as addresses",
				      XB_SHOW(text));
	return xb_addresses_span(command->reading->file, plain, span);
}

static int add_match(struct xb_iptables_command *command, bool negated, uint32_t *set)
{
	struct xb_firewall_rule *rule = &command->rule;
	int error = xb_firewall_add_set(command->reading->iptables->firewall, set);

	rule->matches[rule->match_count++] = (struct xb_firewall_match){*set, negated};
	return error;
}

static int add_to_set(struct xb_iptables_command *command, uint32_t set, const struct xb_span *span)
{
	struct xb_listfile *file = command->reading->file;
	struct xb_item like = {.entry.line = (uint32_t)file->lines};
	int error = xb_line_store_comment(file, &like, command->comment ?: "");

	return error ? error
		     : xb_firewall_add_source(command->reading->iptables->firewall, set, span,
					      &like);
}

/* "FIRST-LAST" or one address. One that ends before it begins has none in it. */
static int match_range(struct xb_iptables_command *command)
{
	char *dash = strchr(command->range, '-');
	struct xb_span first, last;
	uint32_t set;
	bool holes;
	int error = add_match(command, command->not_range, &set);

	if (dash)
		*dash = '\0';
	if (!error && strchr(command->range, '/'))
		return xb_input_error("'%s' is not an address", XB_SHOW(command->range));
	if (!error)
		error = read_source(command, command->range, &first, &holes);
	if (!error)
		error = read_source(command, dash ? dash + 1 : command->range, &last, &holes);
	if (error || first.first > last.last)
		return error;
	first.last = last.last;
	return add_to_set(command, set, &first);
}

static int match_source(struct xb_iptables_command *command, const char *text)
{
	struct xb_span span;
	uint32_t set;
	bool holes;
	int error = read_source(command, text, &span, &holes);

	if (error)
		return error;
	if (holes)
		xb_iptables_add_condition(command, "a mask with holes", false);
	if (holes || (!command->not_sources && !span.first && span.last == ~(xb_address)0))
		return 0;
	error = add_match(command, command->not_sources, &set);
	/* ::ffff:192.0.2.1 is an address that no packet has. */
	if (error || span.ipv6 != (strchr(text, ':') != NULL))
		return error;
	return add_to_set(command, set, &span);
}

/* --- targets --- */

static int jump(struct xb_iptables_command *command)
{
	struct chain *chain = find_chain(command, command->target);

	if (!chain || chain->built_in)
		return xb_input_error("'%s' is neither a chain in this file nor a known target; "
				      "`iptables-save` writes all chains",
				      XB_SHOW(command->target));
	command->rule.verdict = command->goes ? XB_FIREWALL_GOTO : XB_FIREWALL_JUMP;
	command->rule.chain = chain->number;
	return 0;
}

static bool is_among(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int set_verdict(struct xb_iptables_command *command)
{
	/* What these do, they do to a packet that goes on. */
	static const char *const going_on[] = {
		"AUDIT",       "CHECKSUM", "CLASSIFY", "CONNMARK",  "CONNSECMARK", "CT",     "DSCP",
		"ECN",	       "HL",	   "HMARK",    "IDLETIMER", "LED",	   "LOG",    "MARK",
		"NFLOG",       "NOTRACK",  "RATEEST",  "SECMARK",   "SET",	   "TCPMSS", "TEE",
		"TCPOPTSTRIP", "TOS",	   "TRACE",    "TTL",	    "ULOG"};
	/* These may let it pass, or answer it. */
	static const char *const perhaps[] = {"NFQUEUE", "QUEUE",  "SYNPROXY", "TPROXY",
					      "TARPIT",	 "DELUDE", "CHAOS",    "STEAL"};
	const char *target = command->target;
	struct xb_firewall_rule *rule = &command->rule;

	if (!target)
		return 0;
	if (command->goes || find_chain(command, target))
		return jump(command);
	if (!strcmp(target, "ACCEPT"))
		rule->verdict = XB_FIREWALL_ACCEPT;
	else if (!strcmp(target, "DROP"))
		rule->verdict = XB_FIREWALL_DROP;
	else if (!strcmp(target, "RETURN"))
		rule->verdict = XB_FIREWALL_RETURN;
	else if (is_among(perhaps, ARRAY_SIZE(perhaps), target))
		rule->verdict = XB_FIREWALL_ACCEPT;
	else if (!strcmp(target, "REJECT") && strcmp(command->table, "filter") != 0)
		return xb_input_error("REJECT outside of the table filter");
	else if (!strcmp(target, "REJECT") && command->resets && !command->has_protocol)
		return xb_input_error("a reset for other packets than those of TCP");
	else if (!strcmp(target, "REJECT"))
		rule->verdict = XB_FIREWALL_DROP;
	else if (!is_among(going_on, ARRAY_SIZE(going_on), target))
		return jump(command);
	if (is_among(perhaps, ARRAY_SIZE(perhaps), target))
		xb_iptables_add_condition(command, "what the target does", false);
	return 0;
}

/* --- commands --- */

/* In front of the rule that has that number, for 'A' behind all. */
static int put_rule(struct xb_iptables_command *command, const struct chain *chain, uint32_t number)
{
	struct xb_firewall *firewall = command->reading->iptables->firewall;
	int error = 0;

	for (size_t i = 0; !error && i < (command->destinations ?: 1); i++)
		error = xb_firewall_add_rule(firewall, chain->number, number, &command->rule);
	if (error == -ENOENT)
		return xb_input_error("the chain '%s' has no place %u for a rule", chain->name,
				      number);
	return error;
}

/* Of several sources, each makes a rule. */
static int put_rules(struct xb_iptables_command *command, const struct chain *chain,
		     uint32_t number)
{
	const struct xb_firewall_rule plain = command->rule;
	char *source;
	int error = 0;

	if (!command->sources)
		return put_rule(command, chain, number);
	while (!error && (source = strsep(&command->sources, ","))) {
		command->rule = plain;
		error = match_source(command, source);
		if (!error)
			error = put_rule(command, chain, number);
	}
	return error;
}

/* A rule of packets that do not arrive keeps its place, for the numbers of others. */
static int run_rule(struct xb_iptables_command *command, const struct chain *chain, uint32_t number)
{
	struct xb_firewall_rule *rule = &command->rule;
	bool several =
		command->destinations > 1 || (command->sources && strchr(command->sources, ','));
	int error = set_verdict(command);

	if (several && (command->not_sources || command->not_destinations))
		return xb_input_error("'!' in a rule of several addresses");
	rule->line = command->reading->file->lines;
	rule->text = command->shown;
	if (!error && command->range)
		error = match_range(command);
	if (command->never) {
		rule->verdict = XB_FIREWALL_CONTINUE;
		rule->condition = NULL;
	}
	return error ? error : put_rules(command, chain, number);
}

static int remove_rule(struct xb_iptables_command *command, const struct chain *chain,
		       uint32_t number)
{
	struct xb_firewall *firewall = command->reading->iptables->firewall;

	if (!command->number)
		return xb_input_error(
			"a rule is deleted by what it says, not by its number" XB_IPTABLES_RUN_IT);
	if (!number || xb_firewall_remove_rule(firewall, chain->number, number))
		return xb_input_error("the chain '%s' has no rule %u", chain->name, number);
	return 0;
}

static int run_policy(struct xb_iptables_command *command, const struct chain *chain)
{
	bool drops = command->policy && !strcmp(command->policy, "DROP"), arrives;

	if (!chain->built_in || !command->policy ||
	    (!drops && strcmp(command->policy, "ACCEPT") != 0))
		return xb_input_error("'%s' is not a policy of '%s'",
				      XB_SHOW(command->policy ?: ""), chain->name);
	is_built_in(command->table, chain->name, &arrives);
	if (arrives)
		set_policy(command, chain, drops);
	return 0;
}

static int run_on_chain(struct xb_iptables_command *command)
{
	uint32_t number = command->number ? (uint32_t)strtoul(command->number, NULL, 10) : 0;
	struct chain *chain;
	int error = need_chain(command, command->chain, &chain);

	if (error)
		return error;
	switch (command->verb) {
	case 'A':
		return run_rule(command, chain, 0);
	case 'I':
		if (command->number && !number)
			return xb_input_error("rules are numbered from 1");
		return run_rule(command, chain, command->number ? number : 1);
	case 'R':
		if (command->sources && strchr(command->sources, ','))
			return xb_input_error("several rules in the place of one");
		error = remove_rule(command, chain, number);
		return error ? error : run_rule(command, chain, number);
	case 'D':
		return remove_rule(command, chain, number);
	case 'F':
		return xb_firewall_remove_rule(command->reading->iptables->firewall, chain->number,
					       0);
	case 'P':
		return run_policy(command, chain);
	case 'X':
		chain->gone = !chain->built_in;
		return chain->gone ? 0 : xb_input_error("'%s' cannot be deleted", chain->name);
	default:
		return 0;
	}
}

static int run(struct xb_iptables_command *command)
{
	const struct table *table;
	int error = xb_iptables_take_options(command);

	if (error)
		return error;
	table = find_table(command->table);
	if (!table)
		return xb_input_error("'%s' is not a table", XB_SHOW(command->table));
	if (!command->verb)
		return xb_input_error("'%s' has no command such as -A", command->shown);
	if (!strcmp(command->table, "nat"))
		return 0;
	if (command->verb == 'N')
		return make_chain(command, command->chain);
	if (command->chain)
		return run_on_chain(command);
	empty_table(command, command->verb == 'F', command->verb == 'X');
	return 0;
}

/* --- lines --- */

static int begin_command(struct xb_reading *reading, const char *line,
			 struct xb_iptables_command *command)
{
	const char *shown = XB_SHOW(line);

	*command = (struct xb_iptables_command){
		.reading = reading,
		.table = *reading->iptables->table ? reading->iptables->table : "filter",
		.rule.families = XB_FAMILIES};
	command->shown = xb_arena_copy(&reading->file->names, shown, strlen(shown) + 1);
	return command->shown ? 0 : -EIO;
}

/* Whether the word is a program that takes commands; *ipv6: which. */
static bool is_program(const char *word, size_t size, bool *ipv6)
{
	static const char *const names[] = {"iptables",	 "iptables-nft",  "iptables-legacy",
					    "ip6tables", "ip6tables-nft", "ip6tables-legacy"};
	const char *name = memrchr(word, '/', size);

	name = name ? name + 1 : word;
	size -= (size_t)(name - word);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) != size || strncmp(names[i], name, size) != 0)
			continue;
		*ipv6 = i > 2;
		return true;
	}
	return false;
}

/* Commands of the programs, to the end of the line. */
static int take_commands(struct xb_reading *reading, char *rest)
{
	struct xb_iptables_command command;
	int error = 0;

	reading->iptables->is_script = true;
	for (rest += strspn(rest, XB_BLANKS); !error && *rest; rest += strspn(rest, XB_BLANKS)) {
		size_t size = strcspn(rest, XB_BLANKS ";");
		bool ipv6;

		error = begin_command(reading, rest, &command);
		if (!error && !is_program(rest, size, &ipv6))
			return xb_iptables_refuse_script(&command);
		if (error)
			return error;
		rest += size;
		command.by_program = true;
		command.ipv6 = ipv6;
		command.rule.families = ipv6 ? XB_FAMILY6 : XB_FAMILY4;
		error = xb_iptables_take_words(&command, &rest) ?: run(&command);
	}
	return error;
}

static int open_table(struct xb_reading *reading, const char *name)
{
	struct xb_list_iptables *iptables = reading->iptables;
	struct xb_iptables_command command;
	int error;

	if (!find_table(name))
		return xb_input_error("'%s' is not a table", XB_SHOW(name));
	if (*iptables->table)
		return xb_input_error("the table %s has no COMMIT", iptables->table);
	snprintf(iptables->table, sizeof(iptables->table), "%s", name);
	iptables->in_file = true;
	error = begin_command(reading, name, &command);
	if (!error)
		empty_table(&command, true, true);
	return error;
}

/* ":CHAIN POLICY [COUNTERS]" */
static int declare_chain(struct xb_reading *reading, char *line)
{
	struct xb_iptables_command command;
	int error = begin_command(reading, line, &command);
	char *rest = line + 1;
	const char *name = xb_line_word(&rest), *policy = xb_line_word(&rest);
	struct chain *chain;

	if (error)
		return error;
	if (!name || !policy || line[1] == ' ')
		return xb_input_error("a chain without its policy");
	if (!strcmp(command.table, "nat"))
		return 0;
	if (!strcmp(policy, "-"))
		return make_chain(&command, name);
	command.policy = policy;
	error = need_chain(&command, name, &chain);
	return error ? error : run_policy(&command, chain);
}

/* A line of a table, or of `iptables -S`. */
static int take_line(struct xb_reading *reading, char *line)
{
	struct xb_iptables_command command;
	int error = begin_command(reading, line, &command);

	if (!error && *line == '[' && strchr(line, ']'))
		line = strchr(line, ']') + 1;
	if (!error)
		error = xb_iptables_take_words(&command, &line);
	return error ? error : run(&command);
}

static int parse_iptables(struct xb_reading *reading, char *line)
{
	int error = begin(reading);
	bool ipv6;

	if (error)
		return error;
	if (is_program(line, strcspn(line, XB_BLANKS ";"), &ipv6))
		return reading->iptables->in_file ? xb_input_error("a command in a file of tables")
						  : take_commands(reading, line);
	if (reading->iptables->is_script)
		return xb_iptables_refuse_script(
			&(struct xb_iptables_command){.shown = XB_SHOW(line)});
	if (*line == '*')
		return open_table(reading, line + 1);
	if (reading->iptables->in_file && !*reading->iptables->table)
		return xb_input_error("'%s' is in no table", XB_SHOW(line));
	if (*line == ':' && *reading->iptables->table)
		return declare_chain(reading, line);
	if (!strcmp(line, "COMMIT") && *reading->iptables->table) {
		*reading->iptables->table = '\0';
		return 0;
	}
	return take_line(reading, line);
}

static bool detect_iptables(const char *line)
{
	static const char *const verbs[] = {"-A ", "-I ", "-P ", "-N ", "-D ", "-R "};
	bool ipv6;

	if (*line == '*')
		return find_table(line + 1);
	if (*line == '[' && strchr(line, ']')) {
		line = strchr(line, ']') + 1;
		line += strspn(line, XB_BLANKS);
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strncmp(line, verbs[i], strlen(verbs[i])))
			return true;
	return is_program(line, strcspn(line, XB_BLANKS ";"), &ipv6);
}

static int finish_iptables(struct xb_reading *reading)
{
	struct xb_list_iptables *iptables = reading->iptables;

	if (!iptables)
		return 0;
	if (*iptables->table)
		return xb_input_error("the table %s has no COMMIT: the file may have been cut off",
				      iptables->table);
	return xb_firewall_judge(iptables->firewall);
}

const struct xb_list_format xb_iptables_format = {"iptables",	  detect_iptables,
						  parse_iptables, .comments = "#",
						  .strict = true, .finish = finish_iptables};
