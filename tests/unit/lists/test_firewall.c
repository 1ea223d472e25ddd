/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of packet filters by chance, of which every packet is judged one by one: what is listed
 * must never pass, and what is surely dropped by name must be listed. */
#include "lists/firewall.h"
#include "lists/firstmatch.h"
#include "lists/line.h"
#include "support/listlines.h"
#include "support/random.h"

#define ROUNDS	   4000
#define SOURCES	   24 /* 16 of IPv4, 8 of IPv6; of each family the last one is in no set */
#define IPV4	   16
#define SETS	   6
#define CHAINS	   6
#define RULES	   6 /* of a chain, at most */
#define CONDITIONS 3 /* a packet meets each or not */
#define BASE4	   0x0a000000U
#define NEVER	   UINT32_MAX

static const uint32_t timeouts[] = {100, 200};

struct element {
	unsigned int first, last; /* numbers of sources */
	uint32_t timeout;
};

struct made_set {
	struct element elements[4];
	unsigned int count;
	uint32_t number;
};

struct made_rule {
	struct xb_firewall_rule is;
	unsigned int condition; /* CONDITIONS: none */
};

struct made_chain {
	struct made_rule rules[RULES];
	unsigned int count;
	bool is_base;
	struct xb_firewall_hook hook;
};

static struct made_set sets[SETS];
static struct made_chain chains[CHAINS];

static unsigned int below(unsigned int most)
{
	return random_word() % most;
}

static unsigned int family_of(unsigned int source)
{
	return source < IPV4 ? XB_FAMILY4 : XB_FAMILY6;
}

static xb_address address_of(unsigned int source)
{
	return source < IPV4 ? (xb_address)(BASE4 + source) << 96
			     : ((xb_address)0x20010db8 << 96) + (source - IPV4);
}

static struct xb_span span_of(unsigned int first, unsigned int last)
{
	struct xb_span span = {address_of(first), address_of(last), first >= IPV4};

	if (first < IPV4)
		span.last |= ((xb_address)1 << 96) - 1;
	return span;
}

/* --- making --- */

static void make_set(struct xb_firewall *firewall, struct made_set *set, bool timed)
{
	set->count = below(4);
	assert_int_equal(xb_firewall_add_set(firewall, &set->number), 0);
	for (unsigned int i = 0; i < set->count; i++) {
		bool ipv6 = !below(3);
		unsigned int start = ipv6 ? IPV4 : 0, size = ipv6 ? SOURCES - IPV4 - 1 : IPV4 - 1;
		unsigned int first = start + below(size);
		unsigned int last = first + below(start + size - first);
		struct element element = {first, last, timed && below(2) ? timeouts[below(2)] : 0};
		struct xb_item like = {.timeout = element.timeout, .entry.line = 1};
		struct xb_span span = span_of(first, last);

		set->elements[i] = element;
		assert_int_equal(xb_firewall_add_source(firewall, set->number, &span, &like), 0);
	}
}

static void make_rule(struct xb_firewall *firewall, unsigned int chain)
{
	static const char *const conditions[] = {"one", "two", "three", NULL};
	struct made_chain *to = &chains[chain];
	unsigned int at = below(to->count + 1);
	struct made_rule *rule = &to->rules[at];
	unsigned int targets = 0, target;

	memmove(rule + 1, rule, (to->count - at) * sizeof(*rule));
	*rule = (struct made_rule){.is = {.verdict = below(6),
					  .families = below(4) ? XB_FAMILIES : 1 + below(2),
					  .match_count = below(4) ? 1 : 2 * below(2),
					  .line = 1,
					  .text = "rule"},
				   .condition = below(3) ? CONDITIONS : below(CONDITIONS)};
	rule->is.condition = conditions[rule->condition];
	for (unsigned int i = 0; i < rule->is.match_count; i++)
		rule->is.matches[i] =
			(struct xb_firewall_match){sets[below(SETS)].number, !below(4)};
	for (target = chain + 1; target < CHAINS; target++)
		targets += !chains[target].is_base;
	if (rule->is.verdict >= XB_FIREWALL_JUMP && !targets)
		rule->is.verdict = XB_FIREWALL_DROP;
	do
		target = below(CHAINS);
	while (targets && (target <= chain || chains[target].is_base));
	rule->is.chain = target;
	to->count++;
	assert_int_equal(
		xb_firewall_add_rule(firewall, chain, at + 1 == to->count ? 0 : at + 1, &rule->is),
		0);
}

static void make_chains(struct xb_firewall *firewall)
{
	uint32_t number;

	for (unsigned int i = 0; i < CHAINS; i++) {
		struct made_chain *chain = &chains[i];

		*chain = (struct made_chain){.is_base = !i || !below(3)};
		assert_int_equal(xb_firewall_add_chain(firewall, &number), 0);
		assert_int_equal(number, i);
		if (!chain->is_base)
			continue;
		chain->hook =
			(struct xb_firewall_hook){.families = below(3) ? XB_FAMILIES : 1 + below(2),
						  .drops = !below(3),
						  .line = 1,
						  .text = "policy",
						  .only_for = below(8) ? NULL : "an interface"};
		xb_firewall_set_hook(firewall, i, &chain->hook);
	}
	for (unsigned int i = 0; i < CHAINS; i++)
		for (unsigned int count = below(RULES + 1); count; count--)
			make_rule(firewall, i);
}

/* --- judging one packet --- */

struct packet {
	unsigned int source, conditions, time;
};

static bool has(const struct made_set *set, const struct packet *packet)
{
	static const uint32_t times[] = {0, 150, 300};

	for (unsigned int i = 0; i < set->count; i++) {
		const struct element *element = &set->elements[i];

		if (packet->source >= element->first && packet->source <= element->last &&
		    (!element->timeout || element->timeout > times[packet->time]))
			return true;
	}
	return false;
}

static bool matches_source(const struct made_rule *rule, const struct packet *packet)
{
	if (!(rule->is.families & family_of(packet->source)))
		return false;
	for (unsigned int i = 0; i < rule->is.match_count; i++)
		if (has(&sets[rule->is.matches[i].set], packet) == rule->is.matches[i].negated)
			return false;
	return true;
}

enum result {
	PASSED,
	DROPPED,
	CAME_OUT,
};

static enum result walk(const struct made_chain *chain, const struct packet *packet)
{
	for (unsigned int i = 0; i < chain->count; i++) {
		const struct made_rule *rule = &chain->rules[i];
		enum result inside;

		if (!matches_source(rule, packet) ||
		    (rule->is.condition && !(packet->conditions & 1U << rule->condition)))
			continue;
		switch (rule->is.verdict) {
		case XB_FIREWALL_CONTINUE:
			break;
		case XB_FIREWALL_ACCEPT:
			return PASSED;
		case XB_FIREWALL_DROP:
			return DROPPED;
		case XB_FIREWALL_RETURN:
			return CAME_OUT;
		case XB_FIREWALL_JUMP:
		case XB_FIREWALL_GOTO:
			inside = walk(&chains[rule->is.chain], packet);
			if (inside != CAME_OUT || rule->is.verdict == XB_FIREWALL_GOTO)
				return inside;
		}
	}
	return CAME_OUT;
}

/* Through all base chains, but for those that judge only what comes from elsewhere. */
static bool passes_all(const struct packet *packet)
{
	for (unsigned int i = 0; i < CHAINS; i++) {
		const struct made_chain *chain = &chains[i];
		enum result result;

		if (!chain->is_base || chain->hook.only_for ||
		    !(chain->hook.families & family_of(packet->source)))
			continue;
		result = walk(chain, packet);
		if (result == DROPPED || (result == CAME_OUT && chain->hook.drops))
			return false;
	}
	return true;
}

static bool some_pass(unsigned int source, unsigned int time)
{
	for (unsigned int conditions = 0; conditions < 1U << CONDITIONS; conditions++)
		if (passes_all(&(struct packet){source, conditions, time}))
			return true;
	return false;
}

/* --- what has to be listed: each condition may hold or not, wherever it is asked for --- */

struct fate {
	bool passed, dropped;
};

static bool is_named(const struct made_rule *rule)
{
	for (unsigned int i = 0; i < rule->is.match_count; i++)
		if (!rule->is.matches[i].negated)
			return true;
	return false;
}

/* Whether some packets come out of the chain. */
static bool flow(const struct made_chain *chain, unsigned int source, bool surely, bool named,
		 struct fate *fate)
{
	const struct packet packet = {source, 0, 0};
	bool live = true, resumed = false, out;

	for (unsigned int i = 0; live && i < chain->count; i++) {
		const struct made_rule *rule = &chain->rules[i];
		bool perhaps = rule->is.condition, here = surely && !perhaps;
		bool by_name = named || is_named(rule);

		if (!matches_source(rule, &packet))
			continue;
		switch (rule->is.verdict) {
		case XB_FIREWALL_CONTINUE:
			continue;
		case XB_FIREWALL_ACCEPT:
			fate->passed = true;
			break;
		case XB_FIREWALL_DROP:
			fate->dropped |= here && by_name;
			break;
		case XB_FIREWALL_RETURN:
			resumed = true;
			break;
		case XB_FIREWALL_JUMP:
			out = flow(&chains[rule->is.chain], source, here, by_name, fate);
			live = perhaps || out;
			continue;
		case XB_FIREWALL_GOTO:
			resumed |= flow(&chains[rule->is.chain], source, here, by_name, fate);
			break;
		}
		live = perhaps;
	}
	return live || resumed;
}

static bool has_to_be_listed(unsigned int source)
{
	for (unsigned int i = 0; i < CHAINS; i++) {
		const struct made_chain *chain = &chains[i];
		struct fate fate = {0};

		if (!chain->is_base || chain->hook.only_for ||
		    !(chain->hook.families & family_of(source)))
			continue;
		if (flow(chain, source, true, false, &fate) && !chain->hook.drops)
			fate.passed = true;
		if (fate.dropped && !fate.passed)
			return true;
	}
	return false;
}

/* --- comparing --- */

/* The longest time for which an item has the source listed; 0: none does. */
static uint32_t listed_for(unsigned int source)
{
	uint32_t longest = 0;

	for (size_t i = 0; i < file.count; i++) {
		struct xb_span span = xb_span_of(&file.items[i].entry);
		uint32_t lasts = file.items[i].timeout ?: NEVER;

		if (span.ipv6 == (source >= IPV4) && address_of(source) >= span.first &&
		    address_of(source) <= span.last && lasts > longest)
			longest = lasts;
	}
	return longest;
}

static void compare_all(bool timed)
{
	for (unsigned int source = 0; source < SOURCES; source++) {
		uint32_t lasts = listed_for(source);
		unsigned int times = lasts == NEVER ? 3 : lasts > 150 ? 2 : lasts > 0;

		for (unsigned int time = 0; time < times; time++)
			if (some_pass(source, time))
				fail_msg("source %u is listed for %u, and passes", source, lasts);
		if (!timed && (lasts != 0) != has_to_be_listed(source))
			fail_msg("source %u is%s listed", source, lasts ? "" : " not");
	}
}

static void compare_once(bool timed)
{
	struct xb_firewall *firewall = xb_firewall_new(&file);

	assert_non_null(firewall);
	for (unsigned int i = 0; i < SETS; i++)
		make_set(firewall, &sets[i], timed);
	make_chains(firewall);
	if (xb_firewall_judge(firewall) && (file.count || !file.noted))
		fail_msg("%s", xb_error_message());
	compare_all(timed);
	xb_firewall_free(firewall);
	xb_listfile_free(&file);
}

TEST(as_each_packet)
{
	random_begin();
	for (unsigned int i = 0; i < ROUNDS; i++)
		compare_once(i % 2);
}

EACH_TEST(begin_reading, end_reading);
