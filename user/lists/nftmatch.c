/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/nftmatch.h"

#include <errno.h>

#include "base/array.h"
#include "lists/line.h"

void xb_nft_need_also(struct xb_nft_condition *condition, const char *also, bool for_service)
{
	condition->for_service = for_service && (!condition->also || condition->for_service);
	condition->also = condition->also ?: also;
}

/* --- sources --- */

static struct xb_span whole(bool ipv6)
{
	return (struct xb_span){.last = ~(xb_address)0, .ipv6 = ipv6};
}

/* Of `saddr & mask == value`: false if no source can have it. */
static bool widen(struct xb_span *span, int mask)
{
	xb_address behind = mask >= 0 && mask < 128 ? ~(xb_address)0 >> mask : 0;

	if (mask < 0)
		return true;
	if (span->first & behind)
		return false;
	span->last = span->first | behind;
	return true;
}

/* The source that an element names. *known: which; otherwise it is none that can be. */
static int read_source(struct xb_nft_ruleset *rules, const struct xb_nft_operand *operand,
		       const json_t *value, struct xb_span *span, bool *known)
{
	bool ipv6 = operand->families == XB_FAMILY6, mapped;
	int error;

	*known = true;
	if (operand->in_parts)
		value = json_array_get(json_object_get(value, "concat"), operand->part);
	if (xb_nft_is(value, "*")) {
		*span = whole(ipv6);
		return 0;
	}
	error = xb_nft_value(rules->file, value, span, &mapped);
	if (error)
		return error;
	if (mapped && ipv6)
		*known = false;
	else if (span->ipv6 != ipv6)
		return xb_input_error("an address of another family");
	else
		*known = widen(span, operand->mask);
	return 0;
}

/* Puts the element into a set: with `surely` only what has no condition. */
static int add_source(struct xb_nft_ruleset *rules, const struct xb_nft_origin *origin,
		      const json_t *json, bool surely, struct xb_nft_sources *sources)
{
	struct xb_nft_element element = xb_nft_unwrap(json);
	struct xb_item like = {.timeout = element.timeout,
			       .entry.line = (uint32_t)rules->file->lines};
	struct xb_span span;
	bool known;
	int error = read_source(rules, origin->operand, element.value, &span, &known);

	if (error) {
		xb_error_clear();
		sources->open = true;
		return 0;
	}
	sources->differs |= element.conditional;
	if (!known || (surely && element.conditional))
		return 0;
	if (!element.timed && origin->set)
		like.timeout = xb_nft_seconds(json_object_get(origin->set->is, "timeout"));
	error = xb_line_store_comment(rules->file, &like,
				      *element.comment ? element.comment : origin->comment);
	if (error)
		return error;
	return xb_firewall_add_source(rules->firewall, surely ? sources->surely : sources->perhaps,
				      &span, &like);
}

static int add_sources(struct xb_nft_ruleset *rules, const struct xb_nft_origin *origin,
		       const json_t *elements, bool surely, struct xb_nft_sources *sources)
{
	const json_t *element;
	size_t index;
	int error = 0;

	if (!json_is_array(elements))
		return elements ? add_source(rules, origin, elements, surely, sources) : 0;
	json_array_foreach(elements, index, element)
	{
		error = add_source(rules, origin, element, surely, sources);
		if (error)
			return error;
	}
	return 0;
}

int xb_nft_make_sources(struct xb_nft_ruleset *rules, const struct xb_nft_origin *origin,
			const json_t *elements, struct xb_nft_sources *sources)
{
	int error = xb_firewall_add_set(rules->firewall, &sources->surely);

	sources->open |= origin->set && (origin->set->gains || origin->set->loses);
	if (!error && !(origin->set && origin->set->loses))
		error = add_sources(rules, origin, elements, true, sources);
	if (error || !sources->differs || sources->open)
		return error;
	error = xb_firewall_add_set(rules->firewall, &sources->perhaps);
	return error ? error : add_sources(rules, origin, elements, false, sources);
}

struct xb_nft_set *xb_nft_find_set(struct xb_nft_ruleset *rules, const json_t *rule,
				   const char *name)
{
	uint32_t number;

	if (xb_nft_find(rules, rule, "set", name, &number))
		return &rules->sets[number];
	xb_nft_refuse(rules->reading, "a set that is not in the file:", name);
	return NULL;
}

/* Those that stand on the right side. */
static int sources_of(struct xb_nft_ruleset *rules, const json_t *rule,
		      const struct xb_nft_operand *operand, const json_t *right,
		      struct xb_nft_sources *sources)
{
	struct xb_nft_origin origin = {operand, .comment = xb_nft_text(rule, "comment")};
	const char *name = json_string_value(right);
	bool ipv6 = operand->families == XB_FAMILY6,
	     plain = operand->mask < 0 && !operand->in_parts;
	struct xb_nft_set *set;
	int error = 0;

	*sources = (struct xb_nft_sources){0};
	if (!name || *name != '@')
		return xb_nft_make_sources(rules, &origin, json_object_get(right, "set") ?: right,
					   sources);
	set = xb_nft_find_set(rules, rule, name + 1);
	if (!set)
		return -EINVAL;
	origin.set = set;
	origin.comment = "";
	if (!plain)
		return xb_nft_make_sources(rules, &origin, json_object_get(set->is, "elem"),
					   sources);
	if (!set->made[ipv6])
		error = xb_nft_make_sources(rules, &origin, json_object_get(set->is, "elem"),
					    &set->of[ipv6]);
	set->made[ipv6] = true;
	*sources = set->of[ipv6];
	return error;
}

void xb_nft_add_term(struct xb_nft_condition *condition, const struct xb_nft_sources *sources,
		     bool negated)
{
	if (condition->count == ARRAY_SIZE(condition->terms))
		xb_nft_need_also(condition, "more than two sets", false);
	else
		condition->terms[condition->count++] = (struct xb_nft_term){*sources, negated};
}

/* --- matches --- */

unsigned int xb_nft_family_bit(const json_t *value)
{
	static const struct {
		const char *name;
		json_int_t numbers[2];
		unsigned int family;
	} names[] = {{"ip", {2, 0x0800}, XB_FAMILY4}, {"ip6", {10, 0x86dd}, XB_FAMILY6}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (xb_nft_is(value, names[i].name) || xb_nft_is(value, i ? "ipv6" : "ipv4") ||
		    (json_is_integer(value) && (json_integer_value(value) == names[i].numbers[0] ||
						json_integer_value(value) == names[i].numbers[1])))
			return names[i].family;
	return 0;
}

static void match_family(struct xb_nft_condition *condition, const json_t *right, bool negated)
{
	const json_t *members = json_object_get(right, "set"), *member;
	unsigned int named = xb_nft_family_bit(right);
	size_t index;

	json_array_foreach(members, index, member)
	{
		named |= xb_nft_family_bit(member);
	}
	/* What is not known, such as a set that has a name. */
	if (!members && !named)
		xb_nft_need_also(condition, "what else its packets say", false);
	else
		condition->families &= negated ? ~named : named;
}

/* Packets that come from this machine itself, over lo, are not looked at. */
static void match_interface(struct xb_nft_condition *condition, const json_t *right, bool negated)
{
	if (!xb_nft_is(right, "lo"))
		xb_nft_need_also(condition, "an interface", false);
	else if (!negated)
		condition->families = 0;
}

/* `saddr < 10.0.0.0`, which are the addresses from 0.0.0.0 on. */
static int match_order(struct xb_nft_ruleset *rules, const json_t *rule,
		       const struct xb_nft_operand *operand, const char *op, const json_t *right,
		       struct xb_nft_condition *condition)
{
	struct xb_item like = {.entry.line = (uint32_t)rules->file->lines};
	struct xb_span span, range = whole(operand->families == XB_FAMILY6);
	struct xb_nft_sources sources = {0};
	bool known;
	int error = xb_firewall_add_set(rules->firewall, &sources.surely);

	if (error)
		return error;
	if (operand->mask >= 0 || !json_is_string(right) ||
	    read_source(rules, operand, right, &span, &known) || !known) {
		xb_error_clear();
		xb_nft_need_also(condition, "an order of addresses", false);
		return 0;
	}
	if (*op == '<')
		range.last = op[1] ? span.last : span.first - 1;
	else
		range.first = op[1] ? span.first : span.last + 1;
	if ((*op == '<' && !op[1] && !span.first) || (*op == '>' && !op[1] && !(span.last + 1)))
		condition->families = 0;
	else
		error = xb_line_store_comment(rules->file, &like, xb_nft_text(rule, "comment"))
				?: xb_firewall_add_source(rules->firewall, sources.surely, &range,
							  &like);
	xb_nft_add_term(condition, &sources, false);
	return error;
}

int xb_nft_take_match(struct xb_nft_ruleset *rules, const json_t *rule, const json_t *match,
		      struct xb_nft_condition *condition)
{
	const json_t *left = json_object_get(match, "left"),
		     *right = json_object_get(match, "right");
	struct xb_nft_operand operand = xb_nft_operand_of(left);
	const char *op = xb_nft_text(match, "op");
	bool equal = !strcmp(op, "=="), unequal = !strcmp(op, "!=");
	struct xb_nft_sources sources;
	int error;

	condition->families &= operand.families;
	if (operand.kind == XB_NFT_SOURCE && !operand.in_parts && strspn(op, "<>") == 1)
		return match_order(rules, rule, &operand, op, right, condition);
	if (!equal && !unequal)
		operand.kind = XB_NFT_OTHER;
	if (operand.kind == XB_NFT_FAMILY)
		match_family(condition, right, unequal);
	else if (operand.kind == XB_NFT_INTERFACE)
		match_interface(condition, right, unequal);
	else if (operand.kind == XB_NFT_OTHER || operand.in_parts)
		xb_nft_need_also(condition, operand.words, operand.for_service);
	if (operand.kind != XB_NFT_SOURCE || (operand.in_parts && unequal))
		return 0;
	if (json_is_array(right)) {
		xb_nft_need_also(condition, operand.words, false);
		return 0;
	}
	error = sources_of(rules, rule, &operand, right, &sources);
	xb_nft_add_term(condition, &sources, unequal);
	return error;
}
