/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rulesets of nft. Their chains are judged (firewall.h): those of
 * type filter at the hooks through which packets for this machine come, whatever their priorities,
 * since a packet has to pass all of them. Other hooks and types are about others' packets.
 *
 * Who matches a rule is not always known: packets add elements to some sets. Such a rule becomes
 * two, one for all that may match it, which has a condition, and one for all that surely do.
 */
#include <errno.h>
#include <stdio.h>

#include "base/array.h"
#include "lists/line.h"
#include "lists/nftmatch.h"

#define PLACE 128 /* bytes of a text that says where a rule is */

/* --- the ruleset --- */

static const struct family {
	const char *name;
	unsigned int families; /* of packets that its chains see; 0: others' */
} known_families[] = {
	{"ip", XB_FAMILY4},	 {"ip6", XB_FAMILY6}, {"inet", XB_FAMILIES},
	{"netdev", XB_FAMILIES}, {"bridge", 0},	      {"arp", 0},
};

static const struct family *family_of(const json_t *object)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_families); i++)
		if (!strcmp(known_families[i].name, xb_nft_text(object, "family")))
			return &known_families[i];
	return NULL;
}

static unsigned int families_of(const json_t *object)
{
	const struct family *family = family_of(object);

	return family ? family->families : 0;
}

/* The value of the key, which is made if it is not there. NULL with a message. */
static json_t *need(json_t *in, const char *key, json_t *(*make)(void))
{
	json_t *value = json_object_get(in, key);

	if (value)
		return value;
	value = make();
	if (!value || json_object_set_new(in, key, value)) {
		xb_out_of_memory();
		return NULL;
	}
	return value;
}

/* What is known of the table, by name or that of a chain or set in it. */
static json_t *table_of(struct xb_nft_ruleset *rules, const json_t *object, const char *key)
{
	json_t *of_family = need(rules->tables, xb_nft_text(object, "family"), json_object);

	return of_family ? need(of_family, xb_nft_text(object, key), json_object) : NULL;
}

static bool is_live(struct xb_nft_ruleset *rules, const json_t *object)
{
	const json_t *table =
		json_object_get(json_object_get(rules->tables, xb_nft_text(object, "family")),
				xb_nft_text(object, "table"));

	return families_of(object) && !json_is_true(json_object_get(table, "asleep"));
}

/* The number of a chain or set of the object's table. */
bool xb_nft_find(const struct xb_nft_ruleset *rules, const json_t *object, const char *kind,
		 const char *name, uint32_t *number)
{
	const json_t *table =
		json_object_get(json_object_get(rules->tables, xb_nft_text(object, "family")),
				xb_nft_text(object, "table"));
	const json_t *found = json_object_get(json_object_get(table, kind), name);

	*number = (uint32_t)json_integer_value(found);
	return found;
}

static int add_number(struct xb_nft_ruleset *rules, const json_t *object, const char *kind,
		      uint32_t number)
{
	json_t *table = table_of(rules, object, "table"),
	       *names = table ? need(table, kind, json_object) : NULL;

	if (!names)
		return -EIO;
	if (json_object_get(names, xb_nft_text(object, "name")))
		return xb_input_error("a second %s '%s' in the table %s %s", kind,
				      XB_SHOW(xb_nft_text(object, "name")),
				      xb_nft_text(object, "family"),
				      XB_SHOW(xb_nft_text(object, "table")));
	return json_object_set_new(names, xb_nft_text(object, "name"), json_integer(number))
		       ? xb_out_of_memory()
		       : 0;
}

/* A text that stays, as rules need it. NULL with a message. */
__attribute__((format(printf, 2, 3))) static const char *keep_text(struct xb_nft_ruleset *rules,
								   const char *format, ...)
{
	char text[PLACE], shown[PLACE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	xb_utf8_show(text, sizeof(text), shown, sizeof(shown));
	return xb_arena_copy(&rules->file->names, shown, strlen(shown) + 1);
}

/* --- tables, sets and chains --- */

/* nft 1.0.6 writes any text where it should say that a table is dormant. */
static bool may_be_dormant(const json_t *flags)
{
	const json_t *flag;
	size_t index;

	if (!flags || xb_nft_is(flags, "owner") || xb_nft_is(flags, "persist"))
		return false;
	json_array_foreach(flags, index, flag)
	{
		if (may_be_dormant(flag))
			return true;
	}
	return !json_is_array(flags);
}

static int take_table(struct xb_nft_ruleset *rules, const json_t *object)
{
	json_t *table = table_of(rules, object, "name");

	if (!table)
		return -EIO;
	if (!may_be_dormant(json_object_get(object, "flags")))
		return 0;
	if (json_object_set_new(table, "asleep", json_true()))
		return xb_out_of_memory();
	return xb_line_unknown(rules->file, rules->file->lines,
			       "the table '%s %s' is dormant: its chains decide nothing",
			       xb_nft_text(object, "family"), XB_SHOW(xb_nft_text(object, "name")));
}

static int take_set(struct xb_nft_ruleset *rules, const json_t *object)
{
	const json_t *flags = json_object_get(object, "flags"), *flag;
	int error = xb_array_grow(&rules->sets, &rules->set_room, rules->set_count + 1,
				  sizeof(*rules->sets));
	size_t index;

	if (error)
		return error;
	rules->sets[rules->set_count] = (struct xb_nft_set){.is = object};
	json_array_foreach(flags, index, flag)
	{
		rules->sets[rules->set_count].gains |= xb_nft_is(flag, "dynamic");
	}
	return add_number(rules, object, "set", (uint32_t)rules->set_count++);
}

static bool is_base(const json_t *chain)
{
	const char *hook = xb_nft_text(chain, "hook");

	return !strcmp(xb_nft_text(chain, "type"), "filter") &&
	       (!strcmp(hook, "ingress") || !strcmp(hook, "prerouting") || !strcmp(hook, "input"));
}

static int take_chain(struct xb_nft_ruleset *rules, const json_t *object)
{
	uint32_t number;
	int error = xb_array_grow(&rules->chains, &rules->chain_room, rules->chain_count + 1,
				  sizeof(json_t *));

	if (!error)
		error = xb_firewall_add_chain(rules->firewall, &number);
	if (error)
		return error;
	rules->chains[rules->chain_count++] = object;
	rules->has_nat |= xb_nft_is(json_object_get(object, "type"), "nat");
	return add_number(rules, object, "chain", number);
}

/* What is around rules, in front of them. */
static int take_object(void *context, const char *kind, const json_t *object)
{
	struct xb_nft_ruleset *rules = context;
	bool is_set = !strcmp(kind, "set") || !strcmp(kind, "map");

	if (!is_set && strcmp(kind, "table") != 0 && strcmp(kind, "chain") != 0 &&
	    strcmp(kind, "rule") != 0)
		return 0;
	if (!family_of(object))
		return xb_nft_refuse(rules->reading,
				     "an unknown family:", xb_nft_text(object, "family"));
	if (is_set)
		return take_set(rules, object);
	if (!strcmp(kind, "table"))
		return take_table(rules, object);
	return !strcmp(kind, "chain") ? take_chain(rules, object) : 0;
}

/* --- what a rule does --- */

struct verdict {
	enum xb_firewall_verdict does;
	uint32_t chain;
	bool unknown; /* then it may let pass */
};

static int read_verdict(struct xb_nft_ruleset *rules, const json_t *rule, const char *name,
			const json_t *value, struct verdict *verdict, bool *is_one)
{
	static const struct {
		const char *name;
		enum xb_firewall_verdict does;
	} verdicts[] = {
		{"accept", XB_FIREWALL_ACCEPT}, {"drop", XB_FIREWALL_DROP},
		{"return", XB_FIREWALL_RETURN}, {"continue", XB_FIREWALL_CONTINUE},
		{"jump", XB_FIREWALL_JUMP},	{"goto", XB_FIREWALL_GOTO},
	};

	*verdict = (struct verdict){0};
	*is_one = false;
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
		if (strcmp(name, verdicts[i].name) != 0)
			continue;
		*is_one = true;
		verdict->does = verdicts[i].does;
		if (verdict->does < XB_FIREWALL_JUMP)
			return 0;
		name = xb_nft_text(value, "target");
		return xb_nft_find(rules, rule, "chain", name, &verdict->chain)
			       ? 0
			       : xb_nft_refuse(rules->reading,
					       "a chain that is not in the file:", name);
	}
	return 0;
}

/* A rule that is being taken. */
struct place {
	const json_t *rule;
	uint32_t chain;
	const char *text; /* where it is, for messages */
	struct xb_nft_condition condition;
	bool done; /* nothing comes to what follows */
};

static void put_match(struct xb_firewall_rule *rule, uint32_t set, bool negated)
{
	rule->matches[rule->match_count++] = (struct xb_firewall_match){set, negated};
}

/* Of all that may match, or of all that surely do. False: nobody does. */
static bool make_rule(const struct xb_nft_condition *condition, bool surely,
		      struct xb_firewall_rule *rule)
{
	rule->match_count = 0;
	for (size_t i = 0; i < condition->count; i++) {
		const struct xb_nft_term *term = &condition->terms[i];
		bool least = surely != term->negated;

		if (term->are.open && !least && surely)
			return false;
		if (term->are.open && !least)
			continue;
		put_match(rule, least || !term->are.differs ? term->are.surely : term->are.perhaps,
			  term->negated);
	}
	return true;
}

static int emit(struct xb_nft_ruleset *rules, const struct place *place,
		const struct xb_nft_condition *condition, const struct verdict *verdict)
{
	struct xb_firewall_rule rule = {.verdict = verdict->does,
					.chain = verdict->chain,
					.families = condition->families,
					.line = rules->file->lines,
					.text = place->text,
					.for_service = condition->for_service};
	bool open = false, differs = false;
	int error = 0;

	for (size_t i = 0; i < condition->count; i++) {
		open |= condition->terms[i].are.open;
		differs |= condition->terms[i].are.differs;
	}
	if (!condition->families || verdict->does == XB_FIREWALL_CONTINUE)
		return 0;
	/* Of whom packets may add to a set, nobody has to be told that they may be dropped. */
	if (condition->also || differs || (open && verdict->does != XB_FIREWALL_DROP)) {
		rule.condition = condition->also ?: "what packets do to a set";
		make_rule(condition, false, &rule);
		error = xb_firewall_add_rule(rules->firewall, place->chain, 0, &rule);
	}
	rule.condition = NULL;
	if (error || condition->also || !make_rule(condition, true, &rule))
		return error;
	return xb_firewall_add_rule(rules->firewall, place->chain, 0, &rule);
}

/* Something that may let pass all that come to it. */
static int emit_perhaps(struct xb_nft_ruleset *rules, const struct place *place, const char *also)
{
	struct xb_nft_condition condition = place->condition;

	xb_nft_need_also(&condition, also, false);
	return emit(rules, place, &condition, &(struct verdict){.does = XB_FIREWALL_ACCEPT});
}

/* --- verdict maps --- */

/* The elements of a map by what becomes of them: "jump NAME" -> [verdict, key, key, ...]; "*",
 * which all others match, comes last. */
static int group_by_verdict(const json_t *pairs, json_t *groups)
{
	const json_t *pair;
	size_t index;

	json_array_foreach(pairs, index, pair)
	{
		json_t *key = json_array_get(pair, 0), *verdict = json_array_get(pair, 1), *group;
		void *at = json_object_iter(verdict);
		char name[2 * XB_NFT_NAME];

		snprintf(name, sizeof(name), "%s%s %s",
			 xb_nft_is(xb_nft_unwrap(key).value, "*") ? "* " : "",
			 at ? json_object_iter_key(at) : "",
			 at ? xb_nft_text(json_object_iter_value(at), "target") : "");
		group = need(groups, name, json_array);
		if (!group)
			return -EIO;
		if ((!json_array_size(group) && json_array_append(group, verdict)) ||
		    json_array_append(group, key))
			return xb_out_of_memory();
	}
	return 0;
}

/* The elements of one verdict, each of which is matched for itself. */
static int take_group(struct xb_nft_ruleset *rules, struct place *place,
		      const struct xb_nft_operand *operand, const struct xb_nft_set *set,
		      const json_t *group)
{
	struct xb_nft_origin origin = {operand, set, xb_nft_text(place->rule, "comment")};
	struct xb_nft_condition condition = place->condition;
	void *at = json_object_iter(json_array_get(group, 0));
	struct verdict verdict = {0};
	struct xb_nft_sources sources = {0};
	unsigned int named = 0;
	bool is_one = false, others = false;
	int error = at ? read_verdict(rules, place->rule, json_object_iter_key(at),
				      json_object_iter_value(at), &verdict, &is_one)
		       : 0;
	json_t *keys = error ? NULL : json_copy((json_t *)(uintptr_t)group);

	if (!keys || json_array_remove(keys, 0)) {
		json_decref(keys);
		return error ? error : xb_out_of_memory();
	}
	others = xb_nft_is(xb_nft_unwrap(json_array_get(keys, 0)).value, "*");
	for (size_t i = 0; i < json_array_size(keys); i++) {
		const json_t *key = xb_nft_unwrap(json_array_get(keys, i)).value;

		named |= xb_nft_family_bit(key);
	}
	if (!is_one)
		xb_nft_need_also(&condition, "a verdict that is not known", false);
	if (operand->kind == XB_NFT_FAMILY && !others)
		condition.families &= named;
	else if (operand->kind == XB_NFT_SOURCE && !others) {
		error = xb_nft_make_sources(rules, &origin, keys, &sources);
		xb_nft_add_term(&condition, &sources, false);
	}
	if (operand->kind == XB_NFT_OTHER || operand->kind == XB_NFT_INTERFACE || operand->in_parts)
		xb_nft_need_also(&condition, operand->words, operand->for_service);
	json_decref(keys);
	return error ? error
		     : emit(rules, place, &condition,
			    is_one ? &verdict : &(struct verdict){.does = XB_FIREWALL_ACCEPT});
}

static int take_groups(struct xb_nft_ruleset *rules, struct place *place,
		       const struct xb_nft_operand *operand, const struct xb_nft_set *set,
		       json_t *groups)
{
	const char *name;
	json_t *group;
	int error = 0;

	for (int others = 0; !error && others < 2; others++)
		json_object_foreach(groups, name, group)
		{
			if (!error && (*name == '*') == others)
				error = take_group(rules, place, operand, set, group);
		}
	return error;
}

static int take_vmap(struct xb_nft_ruleset *rules, struct place *place, const json_t *vmap)
{
	struct xb_nft_operand operand = xb_nft_operand_of(json_object_get(vmap, "key"));
	const json_t *data = json_object_get(vmap, "data");
	const char *name = json_string_value(data);
	json_t *groups = json_object();
	struct xb_nft_set *set = NULL;
	int error = groups ? 0 : xb_out_of_memory();

	place->condition.families &= operand.families;
	if (!error && name && *name == '@') {
		set = xb_nft_find_set(rules, place->rule, name + 1);
		error = set ? 0 : -EINVAL;
	}
	if (!error)
		error = group_by_verdict(set ? json_object_get(set->is, "elem")
					     : json_object_get(data, "set"),
					 groups);
	if (!error)
		error = take_groups(rules, place, &operand, set, groups);
	json_decref(groups);
	xb_nft_need_also(&place->condition, "a verdict map", false);
	return error;
}

/* --- statements --- */

/* What lets a packet go on to the next statement always, or only sometimes. */
static const struct statement {
	const char *name, *words; /* words: only sometimes, for messages */
} statements[] = {
	{"log", NULL},
	{"notrack", NULL},
	{"last", NULL},
	{"ct helper", NULL},
	{"ct timeout", NULL},
	{"ct expectation", NULL},
	{"secmark", NULL},
	{"dup", NULL},
	{"limit", "a rate"},
	{"quota", "a quota"},
	{"ct count", "a number of connections"},
	{"set", "room in a set"},
	{"map", "room in a map"},
	{"meter", "a rate"},
	{"reset", "a header"},
	{"tproxy", "a socket"},
	{"flow", "a flow"},
};

static bool rewrites_source(const json_t *key)
{
	const json_t *payload = json_object_get(key, "payload");

	return json_object_get(payload, "base") || !strcmp(xb_nft_text(payload, "field"), "saddr");
}

/* Sets a field of the packet, or what the machine knows of it. */
static int take_mangle(struct xb_nft_ruleset *rules, struct place *place, const json_t *mangle)
{
	const json_t *key = json_object_get(mangle, "key");

	if (rewrites_source(key)) {
		rules->reading->hopeless = true;
		return xb_input_error("'%s' gives packets another source, so what the other rules "
				      "refuse cannot be judged; " XB_NFT_ONE_SET,
				      place->text);
	}
	if ((json_object_get(key, "meta") || json_object_get(key, "ct")) &&
	    !json_is_object(json_object_get(mangle, "value")))
		return 0;
	xb_nft_need_also(&place->condition, "a header", false);
	return 0;
}

static int take_reject(struct xb_nft_ruleset *rules, struct place *place, const json_t *reject)
{
	const char *type = xb_nft_text(reject, "type");

	/* nft leaves out the protocol that it looks at first. */
	if (!strcmp(type, "tcp reset"))
		xb_nft_need_also(&place->condition, "a port or protocol", true);
	else if (!strcmp(type, "icmp"))
		place->condition.families &= XB_FAMILY4;
	else if (!strcmp(type, "icmpv6"))
		place->condition.families &= XB_FAMILY6;
	place->done = true;
	return emit(rules, place, &place->condition, &(struct verdict){.does = XB_FIREWALL_DROP});
}

/* What iptables-nft has put there, of which nft only knows the name. */
static int take_extension(struct xb_nft_ruleset *rules, struct place *place,
			  const json_t *extension)
{
	const char *type = xb_nft_text(extension, "type"), *name = xb_nft_text(extension, "name");

	if (!strcmp(type, "match")) {
		if (strcmp(name, "comment") != 0)
			xb_nft_need_also(&place->condition,
					 "a match of iptables; see iptables-save", false);
		return 0;
	}
	if (!strcmp(name, "LOG") || !strcmp(name, "NFLOG"))
		return 0;
	if (!strcmp(name, "REJECT"))
		return take_reject(rules, place, NULL);
	return emit_perhaps(rules, place, "a target of iptables; see iptables-save");
}

static bool is_plain_counter(const json_t *counter)
{
	return !json_object_get(counter, "map");
}

static int take_other(struct xb_nft_ruleset *rules, struct place *place, const char *name,
		      const json_t *value)
{
	int error;

	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		if (strcmp(name, statements[i].name) != 0)
			continue;
		if (statements[i].words)
			xb_nft_need_also(&place->condition, statements[i].words, false);
		return 0;
	}
	if (!strcmp(name, "counter") && is_plain_counter(value))
		return 0;
	if (!strcmp(name, "mangle"))
		return take_mangle(rules, place, value);
	if (!strcmp(name, "reject"))
		return take_reject(rules, place, value);
	if (!strcmp(name, "xt") && json_is_object(value))
		return take_extension(rules, place, value);
	place->done = !strcmp(name, "queue");
	error = emit_perhaps(rules, place,
			     place->done ? "another program decides"
					 : "a statement that is not known");
	xb_nft_need_also(&place->condition, "a statement that is not known", false);
	return error;
}

static int take_statement(struct xb_nft_ruleset *rules, struct place *place,
			  const json_t *statement)
{
	void *at = json_object_iter((json_t *)(uintptr_t)statement);
	const char *name = at ? json_object_iter_key(at) : "";
	const json_t *value = at ? json_object_iter_value(at) : NULL;
	struct verdict verdict;
	bool is_one;
	int error;

	if (!strcmp(name, "match"))
		return xb_nft_take_match(rules, place->rule, value, &place->condition);
	if (!strcmp(name, "vmap"))
		return take_vmap(rules, place, value);
	error = read_verdict(rules, place->rule, name, value, &verdict, &is_one);
	if (error || !is_one)
		return error ? error : take_other(rules, place, name, value);
	place->done = verdict.does != XB_FIREWALL_CONTINUE;
	return emit(rules, place, &place->condition, &verdict);
}

static int take_rule(void *context, const char *kind, const json_t *rule)
{
	struct xb_nft_ruleset *rules = context;
	struct place place = {.rule = rule, .condition.families = XB_FAMILIES};
	const json_t *expressions = json_object_get(rule, "expr"), *statement;
	size_t index;
	int error = 0;

	if (strcmp(kind, "rule") != 0 || !is_live(rules, rule))
		return 0;
	if (!xb_nft_find(rules, rule, "chain", xb_nft_text(rule, "chain"), &place.chain))
		return xb_nft_refuse(rules->reading, "a rule of a chain that is not in the file:",
				     xb_nft_text(rule, "chain"));
	if (*xb_nft_text(rules->chains[place.chain], "hook") &&
	    !is_base(rules->chains[place.chain]))
		return 0;
	place.text = keep_text(rules, "%s %s %s handle %lld", xb_nft_text(rule, "family"),
			       xb_nft_text(rule, "table"), xb_nft_text(rule, "chain"),
			       (long long)json_integer_value(json_object_get(rule, "handle")));
	if (!place.text)
		return -EIO;
	json_array_foreach(expressions, index, statement)
	{
		if (error || place.done)
			break;
		error = take_statement(rules, &place, statement);
	}
	return error;
}

/* --- what packets do to sets, and where they come from --- */

/* {"set": {"op": "add", "elem": ..., "set": "@name"}}, and the same of maps. */
static void see_change(struct xb_nft_ruleset *rules, const json_t *rule, const json_t *change)
{
	const char *name =
		json_string_value(json_object_get(change, "set") ?: json_object_get(change, "map"));
	uint32_t number;

	if (!name || *name != '@' || !xb_nft_find(rules, rule, "set", name + 1, &number))
		return;
	if (!strcmp(xb_nft_text(change, "op"), "delete"))
		rules->sets[number].loses = true;
	else
		rules->sets[number].gains = true;
}

static int see_rule(void *context, const char *kind, const json_t *rule)
{
	struct xb_nft_ruleset *rules = context;
	const json_t *statement;
	size_t index;

	if (strcmp(kind, "rule") != 0)
		return 0;
	json_array_foreach(json_object_get(rule, "expr"), index, statement)
	{
		see_change(rules, rule, json_object_get(statement, "set"));
		see_change(rules, rule, json_object_get(statement, "map"));
	}
	return 0;
}

#define SRCNAT                                                                                     \
	100 /* the priority from which on packets for this machine have the source that nat gives  \
	     */

/* What the packets that a base chain sees have in common; NULL: it sees all, as they came. */
static const char *limit_of(const struct xb_nft_ruleset *rules, const json_t *chain)
{
	bool is_late = json_integer_value(json_object_get(chain, "prio")) >= SRCNAT;

	if (!strcmp(xb_nft_text(chain, "hook"), "ingress"))
		return "an interface";
	if (!strcmp(xb_nft_text(chain, "hook"), "input") && is_late && rules->has_nat)
		return "a source that nat leaves as it is";
	return NULL;
}

static int set_hook(void *context, const char *kind, const json_t *chain)
{
	struct xb_nft_ruleset *rules = context;
	struct xb_firewall_hook hook = {.line = rules->file->lines};
	uint32_t number;

	if (strcmp(kind, "chain") != 0 || !is_base(chain) || !is_live(rules, chain))
		return 0;
	hook.families = families_of(chain);
	hook.drops = !strcmp(xb_nft_text(chain, "policy"), "drop");
	hook.text = keep_text(rules, "%s %s %s policy %s", xb_nft_text(chain, "family"),
			      xb_nft_text(chain, "table"), xb_nft_text(chain, "name"),
			      xb_nft_text(chain, "policy"));
	hook.only_for = limit_of(rules, chain);
	if (!hook.text)
		return -EIO;
	xb_nft_find(rules, chain, "chain", xb_nft_text(chain, "name"), &number);
	xb_firewall_set_hook(rules->firewall, number, &hook);
	return 0;
}

static int take_all(struct xb_nft_ruleset *rules, const json_t *objects)
{
	static int (*const passes[])(void *context, const char *kind, const json_t *object) = {
		take_object, see_rule, take_rule, set_hook};
	int error = 0;

	for (size_t i = 0; !error && i < ARRAY_SIZE(passes); i++)
		error = xb_nft_for_each(rules->reading, objects, rules, passes[i]);
	return error;
}

int xb_nft_judge(struct xb_reading *reading, const json_t *objects)
{
	struct xb_nft_ruleset rules = {.reading = reading,
				       .file = reading->file,
				       .tables = json_object(),
				       .firewall = xb_firewall_new(reading->file)};
	int error = rules.tables && rules.firewall ? 0 : xb_out_of_memory();

	if (!error && reading->choice && reading->choice->set) {
		reading->hopeless = true;
		error = xb_input_error("the file has rules, which decide, so no set of it can be "
				       "chosen; " XB_NFT_ONE_SET);
	}
	if (!error)
		error = take_all(&rules, objects);
	if (!error)
		error = xb_firewall_judge(rules.firewall);
	xb_firewall_free(rules.firewall);
	json_decref(rules.tables);
	free(rules.sets);
	free(rules.chains);
	return error;
}
