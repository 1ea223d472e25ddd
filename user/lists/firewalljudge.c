/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goes through the rules for all sources at once. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/program.h"
#include "lists/firewallparts.h"
#include "lists/line.h"

#define MOST_DEPTH     128		   /* of chains that call each other */
#define MOST_WORK      ((uint64_t)1 << 30) /* stretches and rules that are looked at */
#define MOST_PIECES    10000000		   /* that what passes may cut a file into */
#define ASKED_TOGETHER 4000000		   /* about as many sources in one sweep */

/* --- what one rule does --- */

/* The match by which a rule names sources; NULL: it is for any, or for all but some. */
static const struct xb_firewall_match *naming_match(const struct xb_firewall *firewall,
						    const struct xb_firewall_rule *rule)
{
	for (unsigned int i = 0; i < rule->match_count; i++)
		if (!rule->matches[i].negated && !firewall->sets[rule->matches[i].set].is_any)
			return &rule->matches[i];
	return NULL;
}

static bool calls(const struct xb_firewall_rule *rule)
{
	return rule->verdict == XB_FIREWALL_JUMP || rule->verdict == XB_FIREWALL_GOTO;
}

/* Whether its chain does the same with all of its sources. */
static bool calls_uniform(const struct xb_firewall *firewall, const struct xb_firewall_rule *rule)
{
	const struct xb_firewall_chain *to = &firewall->chains[rule->chain];

	return to->uniform && !(rule->families & ~to->families);
}

/* Of the sources that it matches; a call must be of a uniform chain. */
static unsigned int effects_of(const struct xb_firewall *firewall,
			       const struct xb_firewall_rule *rule)
{
	unsigned int effects = rule->condition ? XB_GOES_ON : 0, called;

	switch (rule->verdict) {
	case XB_FIREWALL_CONTINUE:
		effects |= XB_GOES_ON;
		break;
	case XB_FIREWALL_ACCEPT:
		effects |= XB_PASSES;
		break;
	case XB_FIREWALL_DROP:
		effects |= XB_DROPS;
		break;
	case XB_FIREWALL_RETURN:
		effects |= XB_RETURNS;
		break;
	case XB_FIREWALL_JUMP:
		effects |= firewall->chains[rule->chain].effects;
		break;
	case XB_FIREWALL_GOTO:
		called = firewall->chains[rule->chain].effects;
		effects |= called & ~XB_GOES_ON;
		effects |= called & XB_GOES_ON ? XB_RETURNS : 0;
		break;
	}
	return effects;
}

/* Whether rules of the chain match any source, and what becomes of those then: PASSES, DROPS, and
 * GOES_ON if they come out of it; not both of the latter, for what drops some is told by itself.
 * Chains that it calls were looked at before. */
static void look_at_uniform(const struct xb_firewall *firewall, struct xb_firewall_chain *chain)
{
	bool more = true;

	chain->families = XB_FAMILIES;
	chain->effects = 0;
	for (uint32_t at = chain->first; at != XB_FIREWALL_NONE; at = firewall->rules[at].next) {
		const struct xb_firewall_rule *rule = &firewall->rules[at].is;
		unsigned int effects;

		if (rule->match_count || (calls(rule) && !calls_uniform(firewall, rule)))
			return;
		if (at != chain->first && rule->families != chain->families)
			return;
		chain->families = rule->families;
		effects = more ? effects_of(firewall, rule) : 0;
		chain->effects |= effects & (XB_PASSES | XB_DROPS);
		chain->effects |= effects & XB_RETURNS ? XB_GOES_ON : 0;
		more = more && effects & XB_GOES_ON;
	}
	chain->effects |= more ? XB_GOES_ON : 0;
	chain->uniform = (chain->effects & (XB_DROPS | XB_GOES_ON)) != (XB_DROPS | XB_GOES_ON);
}

static int look_at_chain(struct xb_firewall *firewall, uint32_t number, unsigned int depth)
{
	struct xb_firewall_chain *chain = &firewall->chains[number];
	int error = 0;

	if (chain->state == SEEN)
		return 0;
	if (depth > MOST_DEPTH)
		return xb_input_error("chains that call each other more than %d deep", MOST_DEPTH);
	chain->state = BEING_SEEN;
	for (uint32_t at = chain->first; !error && at != XB_FIREWALL_NONE;
	     at = firewall->rules[at].next) {
		const struct xb_firewall_rule *rule = &firewall->rules[at].is;

		if (calls(rule) && firewall->chains[rule->chain].state == BEING_SEEN)
			return xb_input_error("line %llu: '%s' leads back to where it came from",
					      (unsigned long long)rule->line, rule->text);
		error = calls(rule) ? look_at_chain(firewall, rule->chain, depth + 1) : 0;
	}
	chain->state = SEEN;
	look_at_uniform(firewall, chain);
	return error;
}

/* --- sets of addresses, at a bounded cost --- */

static int spend(struct xb_firewall *firewall, size_t work)
{
	firewall->work += work;
	return firewall->work <= MOST_WORK
		       ? 0
		       : xb_input_error("its chains call each other too often to be judged");
}

static int combine(struct xb_firewall *firewall, enum xb_sources_how how,
		   const struct xb_sources *a, const struct xb_sources *b, struct xb_sources *out)
{
	int error = spend(firewall, a->count + b->count + 1);

	return error ? error : xb_sources_combine(how, a, b, out);
}

static int change(struct xb_firewall *firewall, struct xb_sources *set, enum xb_sources_how how,
		  const struct xb_sources *other)
{
	return combine(firewall, how, set, other, set);
}

/* Of which addresses a set is; `lasting`: only of those that do not expire. */
static int make_set(struct xb_firewall *firewall, uint32_t set, bool lasting,
		    struct xb_sources *out)
{
	int error = 0;

	for (uint32_t at = firewall->sets[set].first; !error && at != XB_FIREWALL_NONE;
	     at = firewall->sources[at].next) {
		const struct xb_firewall_source *source = &firewall->sources[at];

		if (!lasting || !source->timeout)
			error = xb_sources_add(out, &source->span, 0);
	}
	xb_sources_settle(out);
	return error ? error : spend(firewall, out->count);
}

/* Who matches: with `surely` whatever expires and whatever else a packet says. Sets lose elements
 * and gain none. */
static int make_matching(struct xb_firewall *firewall, const struct xb_firewall_rule *rule,
			 bool surely, struct xb_sources *out)
{
	int error = surely && rule->condition ? 0 : xb_sources_of_families(rule->families, out);

	for (unsigned int i = 0; !error && out->count && i < rule->match_count; i++) {
		const struct xb_firewall_match *match = &rule->matches[i];
		struct xb_sources set = {0};

		error = make_set(firewall, match->set, surely != match->negated, &set);
		if (!error)
			error = change(firewall, out,
				       match->negated ? XB_IN_FIRST_ALONE : XB_IN_BOTH, &set);
		xb_sources_free(&set);
	}
	return error;
}

/* --- chains in steps --- */

static int ask(struct xb_firewall *firewall, struct xb_first_match *rules,
	       const struct xb_asked *asked)
{
	return spend(firewall, 1) ?: xb_first_match_add(rules, asked);
}

static int ask_all(struct xb_firewall *firewall, struct xb_first_match *rules,
		   struct xb_asked *asked, const struct xb_sources *sources)
{
	int error = 0;

	for (size_t i = 0; !error && i < sources->count; i++) {
		asked->span = sources->stretches[i].span;
		error = ask(firewall, rules, asked);
	}
	return error;
}

/* A rule with one match that names: as its sources come, without a set made of them. */
static int ask_sources(struct xb_firewall *firewall, struct xb_first_match *rules,
		       struct xb_asked *asked, const struct xb_firewall_rule *rule)
{
	unsigned int effects = asked->effects;
	int error = 0;

	for (uint32_t at = firewall->sets[rule->matches[0].set].first;
	     !error && at != XB_FIREWALL_NONE; at = firewall->sources[at].next) {
		const struct xb_firewall_source *source = &firewall->sources[at];

		if (!(rule->families & (source->span.ipv6 ? XB_FAMILY6 : XB_FAMILY4)))
			continue;
		asked->span = source->span;
		asked->effects = effects | (source->timeout ? XB_GOES_ON : 0);
		error = ask(firewall, rules, asked);
	}
	return error;
}

static int ask_rule(struct xb_firewall *firewall, struct xb_first_match *rules, uint32_t number)
{
	const struct xb_firewall_rule *rule = &firewall->rules[number].is;
	struct xb_asked asked = {.rank = (uint32_t)rules->count,
				 .tag = number + 1,
				 .effects = effects_of(firewall, rule),
				 .named = naming_match(firewall, rule)};
	struct xb_sources surely = {0}, perhaps = {0};
	int error;

	/* What may go on is decided behind it, unless it may also do something else. */
	if (!(asked.effects & ~(XB_GOES_ON | XB_DROPS)) && asked.effects & XB_GOES_ON)
		return 0;
	if (asked.named && rule->match_count == 1)
		return ask_sources(firewall, rules, &asked, rule);
	error = make_matching(firewall, rule, true, &surely);
	if (!error)
		error = ask_all(firewall, rules, &asked, &surely);
	if (!error)
		error = make_matching(firewall, rule, false, &perhaps);
	asked.effects |= XB_GOES_ON;
	if (!error)
		error = change(firewall, &perhaps, XB_IN_FIRST_ALONE, &surely);
	if (!error)
		error = ask_all(firewall, rules, &asked, &perhaps);
	xb_sources_free(&surely);
	xb_sources_free(&perhaps);
	return error;
}

/* Whether the rule drops elements of a set until they expire, whatever else a packet says. */
static bool drops_expiring(const struct xb_firewall *firewall, const struct xb_firewall_rule *rule)
{
	return rule->match_count == 1 && !rule->matches[0].negated &&
	       firewall->sets[rule->matches[0].set].expires &&
	       effects_of(firewall, rule) == XB_DROPS;
}

static bool stands_alone(const struct xb_firewall *firewall, const struct xb_firewall_rule *rule)
{
	return (calls(rule) && !calls_uniform(firewall, rule)) || drops_expiring(firewall, rule);
}

static int make_call(struct xb_firewall *firewall, const struct xb_firewall_rule *rule,
		     struct xb_firewall_step *step)
{
	int error = make_matching(firewall, rule, true, &step->surely);

	step->calls = true;
	return error ? error : make_matching(firewall, rule, false, &step->perhaps);
}

/* From the rule step->rule on as many as can be asked together. */
static int make_batch(struct xb_firewall *firewall, struct xb_firewall_step *step)
{
	struct xb_first_match rules = {0};
	uint32_t at = step->rule;
	int error = 0;

	step->expires = drops_expiring(firewall, &firewall->rules[at].is);
	do {
		error = ask_rule(firewall, &rules, at);
		at = firewall->rules[at].next;
	} while (!error && at != XB_FIREWALL_NONE && rules.count < ASKED_TOGETHER &&
		 !step->expires && !stands_alone(firewall, &firewall->rules[at].is));
	step->end = at;
	if (!error)
		error = xb_first_match_resolve(&rules, &step->outcome);
	free(rules.asked);
	return error;
}

static int make_steps(struct xb_firewall *firewall, struct xb_firewall_chain *chain)
{
	uint32_t at = chain->first;
	int error = 0;

	while (!error && at != XB_FIREWALL_NONE) {
		const struct xb_firewall_rule *rule = &firewall->rules[at].is;
		struct xb_firewall_step *step;

		error = xb_array_grow(&chain->steps, &chain->step_room, chain->step_count + 1,
				      sizeof(*chain->steps));
		if (error)
			break;
		step = &chain->steps[chain->step_count++];
		*step = (struct xb_firewall_step){.rule = at, .end = firewall->rules[at].next};
		error = calls(rule) && !calls_uniform(firewall, rule)
				? make_call(firewall, rule, step)
				: make_batch(firewall, step);
		at = step->end;
	}
	return error;
}

/* --- going through chains --- */

/* A chain that is gone through. */
struct pass {
	const struct pass *caller;
	struct xb_firewall_chain *chain;
	struct xb_sources live,
		resumed; /* tags: the rule that may have sent them back, + 1; or 0 */
	bool surely;	 /* everything that comes to the base chain and is live gets here */
	uint32_t named;	 /* the set by which they were sent here; XB_FIREWALL_NONE: any */
};

static uint64_t count_sources(const struct xb_firewall *firewall, uint32_t set)
{
	uint64_t count = 0;

	for (uint32_t at = firewall->sets[set].first; at != XB_FIREWALL_NONE;
	     at = firewall->sources[at].next)
		count++;
	return count;
}

__attribute__((format(printf, 3, 4))) static int
tell(struct xb_firewall *firewall, struct xb_firewall_kept *rule, const char *format, ...)
{
	char text[XB_UNKNOWN_TEXT];
	va_list arguments;

	if (rule->told)
		return 0;
	rule->told = true;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return xb_line_unknown(firewall->file, rule->is.line, "'%s' %s", rule->is.text, text);
}

static const char *advice_for(const struct xb_firewall_rule *rule)
{
	return rule->for_service ? xb_advice(XB_ADVICE_SCOPE) : "";
}

#define REFUSES_OTHERS "'%s' refuses all that are not named; a list of sources cannot say so%s"

/* Of a rule that drops, where only some packets come. */
static void leave_out(struct xb_firewall *firewall, uint32_t set)
{
	if (set == XB_FIREWALL_NONE)
		firewall->leaves_others = true;
	else
		firewall->left_out += count_sources(firewall, set);
}

/* Of what the rules drop: which sets are listed, and who is told. */
static int look_at_drops(struct xb_firewall *firewall, const struct pass *pass,
			 const struct xb_firewall_step *step)
{
	int error = 0;

	for (uint32_t at = step->rule; !error && at != step->end; at = firewall->rules[at].next) {
		struct xb_firewall_kept *rule = &firewall->rules[at];
		const struct xb_firewall_match *match = naming_match(firewall, &rule->is);
		uint32_t set = match ? match->set : pass->named;

		rule->reached = true;
		if (!(effects_of(firewall, &rule->is) & XB_DROPS))
			continue;
		if (!pass->surely && !rule->is.again)
			leave_out(firewall, set);
		if (!pass->surely)
			continue;
		if (rule->is.condition)
			error = tell(firewall, rule, "refuses only under a condition, %s%s",
				     rule->is.condition, advice_for(&rule->is));
		else if (set != XB_FIREWALL_NONE)
			firewall->sets[set].listed = true;
	}
	return error;
}

/* Elements that expire are dropped until then, if none of their packets passed or returned before.
 */
static int keep_expiring(struct xb_firewall *firewall, const struct pass *pass,
			 const struct xb_firewall_step *step)
{
	const struct xb_firewall_rule *rule = &firewall->rules[step->rule].is;
	struct xb_firewall_expiring expiring = {.set = rule->matches[0].set};
	uint32_t number;
	int error = make_matching(firewall, rule, false, &expiring.dropped);

	if (!error)
		error = change(firewall, &expiring.dropped, XB_IN_BOTH, &pass->live);
	if (!error)
		error = change(firewall, &expiring.dropped, XB_IN_FIRST_ALONE, &firewall->passed);
	for (const struct pass *at = pass; !error && at; at = at->caller)
		error = change(firewall, &expiring.dropped, XB_IN_FIRST_ALONE, &at->resumed);
	if (!error)
		error = xb_firewall_grow(firewall, &firewall->expiring, &firewall->expiring_count,
					 &firewall->expiring_room, sizeof(expiring), &number);
	if (error)
		xb_sources_free(&expiring.dropped);
	else
		firewall->expiring[number] = expiring;
	return error;
}

/* Puts what `from` and the live sources have in common into the set. */
static int collect(struct xb_firewall *firewall, const struct xb_sources *from,
		   const struct xb_sources *live, struct xb_sources *set)
{
	struct xb_sources both = {0};
	int error = from->count ? combine(firewall, XB_IN_BOTH, from, live, &both) : 0;

	if (!error && both.count)
		error = change(firewall, set, XB_IN_EITHER, &both);
	xb_sources_free(&both);
	return error;
}

/* Rules that drop others than those whom the file names. */
static int note_others(struct xb_firewall *firewall, const struct xb_sources *others,
		       const struct xb_sources *live)
{
	struct xb_sources both = {0};
	int error = others->count ? combine(firewall, XB_IN_BOTH, others, live, &both) : 0;

	for (size_t i = 0; !error && i < both.count; i++) {
		const struct xb_firewall_rule *rule =
			&firewall->rules[both.stretches[i].tag - 1].is;

		error = xb_line_note(firewall->file, rule->line, REFUSES_OTHERS, rule->text,
				     xb_advice(XB_ADVICE_ALLOW_ONLY));
	}
	xb_sources_free(&both);
	return error;
}

static int go_through_batch(struct xb_firewall *firewall, struct pass *pass,
			    const struct xb_firewall_step *step)
{
	const struct xb_outcome *outcome = &step->outcome;
	struct xb_sources *live = &pass->live;
	int error = look_at_drops(firewall, pass, step);

	if (!error)
		error = collect(firewall, &outcome->passes, live, &firewall->passed);
	if (!error)
		error = collect(firewall, &outcome->returns, live, &pass->resumed);
	if (!error && pass->surely && step->expires)
		error = keep_expiring(firewall, pass, step);
	if (!error && pass->surely)
		error = collect(firewall, &outcome->dropped, live, &firewall->dropped);
	if (!error && pass->surely && pass->named != XB_FIREWALL_NONE)
		error = collect(firewall, &outcome->others, live, &firewall->dropped);
	else if (!error && pass->surely)
		error = note_others(firewall, &outcome->others, live);
	if (!error && outcome->ended.count)
		error = change(firewall, live, XB_IN_FIRST_ALONE, &outcome->ended);
	return error;
}

static int go_through(struct xb_firewall *firewall, struct pass *pass);

/* What comes out of the chain that the step calls for the sources among the live ones. */
static int call(struct xb_firewall *firewall, const struct pass *pass,
		const struct xb_firewall_step *step, const struct xb_sources *sources, bool surely,
		struct xb_sources *out)
{
	const struct xb_firewall_rule *rule = &firewall->rules[step->rule].is;
	const struct xb_firewall_match *match = naming_match(firewall, rule);
	struct pass inside = {.caller = pass,
			      .chain = &firewall->chains[rule->chain],
			      .surely = surely,
			      .named = match ? match->set : pass->named};
	int error = combine(firewall, XB_IN_BOTH, &pass->live, sources, &inside.live);

	if (!error && inside.live.count)
		error = go_through(firewall, &inside);
	if (!error)
		error = combine(firewall, XB_IN_EITHER, &inside.resumed, &inside.live, out);
	xb_sources_free(&inside.live);
	xb_sources_free(&inside.resumed);
	return error;
}

/* Sends on what came out of a chain, behind the call or to the caller. */
static int resume(struct xb_firewall *firewall, struct pass *pass,
		  const struct xb_firewall_step *step, const struct xb_sources *out)
{
	bool goes = firewall->rules[step->rule].is.verdict == XB_FIREWALL_GOTO;

	return change(firewall, goes ? &pass->resumed : &pass->live, XB_IN_EITHER, out);
}

#define LEADS "leads to what is refused only under a condition, %s"

/* Those that the call matches only perhaps stay live as well. */
static int call_perhaps(struct xb_firewall *firewall, struct pass *pass,
			const struct xb_firewall_step *step)
{
	struct xb_firewall_kept *rule = &firewall->rules[step->rule];
	const char *condition = rule->is.condition ? rule->is.condition : "sources that expire";
	struct xb_sources perhaps = {0}, out = {0};
	uint64_t before = firewall->left_out;
	int error = combine(firewall, XB_IN_FIRST_ALONE, &step->perhaps, &step->surely, &perhaps);

	firewall->leaves_others &= !pass->surely;
	if (!error && perhaps.count)
		error = call(firewall, pass, step, &perhaps, false, &out);
	if (!error && out.count && rule->is.verdict == XB_FIREWALL_GOTO)
		error = resume(firewall, pass, step, &out);
	if (!error && pass->surely && firewall->left_out > before)
		error = tell(firewall, rule, LEADS " (entries left out: %llu)%s", condition,
			     (unsigned long long)(firewall->left_out - before),
			     advice_for(&rule->is));
	else if (!error && pass->surely && firewall->leaves_others)
		error = tell(firewall, rule, LEADS, condition);
	xb_sources_free(&perhaps);
	xb_sources_free(&out);
	return error;
}

static int go_through_call(struct xb_firewall *firewall, struct pass *pass,
			   const struct xb_firewall_step *step)
{
	struct xb_sources out = {0};
	int error = call_perhaps(firewall, pass, step);

	firewall->rules[step->rule].reached = true;
	if (error || !step->surely.count)
		return error;
	error = call(firewall, pass, step, &step->surely, pass->surely, &out);
	if (!error)
		error = change(firewall, &pass->live, XB_IN_FIRST_ALONE, &step->surely);
	if (!error)
		error = resume(firewall, pass, step, &out);
	xb_sources_free(&out);
	return error;
}

static int go_through(struct xb_firewall *firewall, struct pass *pass)
{
	struct xb_firewall_chain *chain = pass->chain;
	int error = chain->step_count ? 0 : make_steps(firewall, chain);

	for (size_t i = 0; !error && i < chain->step_count && pass->live.count; i++) {
		const struct xb_firewall_step *step = &chain->steps[i];

		error = step->calls ? go_through_call(firewall, pass, step)
				    : go_through_batch(firewall, pass, step);
	}
	return error;
}

/* --- base chains --- */

/* What comes to the end of the chain. */
static int apply_policy(struct xb_firewall *firewall, const struct pass *pass)
{
	const struct xb_firewall_hook *hook = &pass->chain->hook;
	struct xb_sources out = {0};
	int error = combine(firewall, XB_IN_EITHER, &pass->resumed, &pass->live, &out);

	if (!error && !hook->drops)
		error = change(firewall, &firewall->passed, XB_IN_EITHER, &out);
	else if (!error && out.count && pass->surely)
		error = xb_line_note(firewall->file, hook->line, REFUSES_OTHERS, hook->text,
				     xb_advice(XB_ADVICE_ALLOW_ONLY));
	xb_sources_free(&out);
	return error;
}

/* What it drops is refused, but for what passes somewhere in it. */
static int conclude(struct xb_firewall *firewall)
{
	struct xb_sources spared = {0};
	int error = combine(firewall, XB_IN_BOTH, &firewall->passed, &firewall->dropped, &spared);

	if (!error)
		error = change(firewall, &firewall->spared, XB_IN_EITHER, &spared);
	if (!error)
		error = change(firewall, &firewall->dropped, XB_IN_FIRST_ALONE, &spared);
	for (size_t i = 0; i < firewall->dropped.count; i++)
		firewall->dropped.stretches[i].tag = 0;
	if (!error)
		error = change(firewall, &firewall->refused, XB_IN_EITHER, &firewall->dropped);
	xb_sources_free(&spared);
	xb_sources_free(&firewall->passed);
	xb_sources_free(&firewall->dropped);
	return error;
}

static int judge_base(struct xb_firewall *firewall, struct xb_firewall_chain *chain)
{
	struct pass pass = {
		.chain = chain, .surely = !chain->hook.only_for, .named = XB_FIREWALL_NONE};
	uint64_t before = firewall->left_out;
	int error = xb_sources_of_families(chain->hook.families, &pass.live);

	if (!error)
		error = go_through(firewall, &pass);
	if (!error)
		error = apply_policy(firewall, &pass);
	if (!error && firewall->left_out > before && !pass.surely)
		error = xb_line_unknown(firewall->file, chain->hook.line,
					"'%s' refuses only under a condition, %s", chain->hook.text,
					chain->hook.only_for);
	if (!error)
		error = conclude(firewall);
	xb_sources_free(&pass.live);
	xb_sources_free(&pass.resumed);
	return error;
}

/* --- what is listed --- */

/* Keeps what of the source is refused. *whole: all is. */
static int keep_refused(struct xb_firewall *firewall, const struct xb_firewall_source *source,
			const struct xb_sources *refused, bool *whole)
{
	struct xb_item item = {.timeout = source->timeout, .comment = source->comment & 0x3fffffff};
	struct xb_listfile *file = firewall->file;
	uint64_t lines = file->lines;
	int error = 0;

	*whole = false;
	file->lines = source->line;
	for (size_t i = xb_sources_find(refused, &source->span);
	     !error && i < refused->count &&
	     !xb_span_is_before(&source->span, &refused->stretches[i].span);
	     i++) {
		struct xb_span part = refused->stretches[i].span;

		if (part.first < source->span.first)
			part.first = source->span.first;
		if (part.last > source->span.last)
			part.last = source->span.last;
		*whole = part.first == source->span.first && part.last == source->span.last;
		error = spend(firewall, 1) ?: xb_span_keep(file, &part, &item, "");
	}
	file->lines = lines;
	if (!error && file->count > firewall->source_count + MOST_PIECES)
		error = xb_input_error(
			"what passes cuts what is refused into more than %d prefixes", MOST_PIECES);
	return error;
}

/* Whom a condition lets pass. */
static void count_spared(struct xb_firewall *firewall, const struct xb_firewall_source *source)
{
	const struct xb_sources *spared = &firewall->spared;
	uint32_t counted = 0;

	for (size_t i = xb_sources_find(spared, &source->span);
	     i < spared->count && !xb_span_is_before(&source->span, &spared->stretches[i].span);
	     i++) {
		uint32_t tag = spared->stretches[i].tag;

		if (tag && tag != counted)
			firewall->rules[tag - 1].spared++;
		counted = tag;
	}
}

static int keep_lasting(struct xb_firewall *firewall, const struct xb_firewall_set *set)
{
	int error = 0;

	for (uint32_t at = set->first; !error && at != XB_FIREWALL_NONE;
	     at = firewall->sources[at].next) {
		const struct xb_firewall_source *source = &firewall->sources[at];
		bool whole;

		if (source->timeout)
			continue;
		error = keep_refused(firewall, source, &firewall->refused, &whole);
		if (!whole)
			count_spared(firewall, source);
	}
	return error;
}

static int keep_timed(struct xb_firewall *firewall, const struct xb_firewall_expiring *expiring)
{
	int error = 0;

	for (uint32_t at = firewall->sets[expiring->set].first; !error && at != XB_FIREWALL_NONE;
	     at = firewall->sources[at].next) {
		const struct xb_firewall_source *source = &firewall->sources[at];
		bool whole;

		if (source->timeout)
			error = keep_refused(firewall, source, &expiring->dropped, &whole);
	}
	return error;
}

static int tell_spared(struct xb_firewall *firewall)
{
	int error = 0;

	for (size_t i = 0; !error && i < firewall->rule_count; i++) {
		struct xb_firewall_kept *rule = &firewall->rules[i];

		if (rule->spared)
			error = tell(firewall, rule,
				     "may let pass what other rules drop (entries not listed, or "
				     "not as a "
				     "whole: %llu)",
				     (unsigned long long)rule->spared);
		else if (!rule->reached && rule->is.verdict == XB_FIREWALL_DROP &&
			 naming_match(firewall, &rule->is))
			error = tell(firewall, rule,
				     "is a rule that no packet to this machine reaches");
	}
	return error;
}

static int keep_all(struct xb_firewall *firewall)
{
	struct xb_listfile *file = firewall->file;
	int error = 0;

	for (size_t i = 0; !error && i < firewall->set_count; i++)
		if (firewall->sets[i].listed)
			error = keep_lasting(firewall, &firewall->sets[i]);
	for (size_t i = 0; !error && i < firewall->expiring_count; i++)
		error = keep_timed(firewall, &firewall->expiring[i]);
	if (!error)
		error = tell_spared(firewall);
	if (!error)
		error = xb_listfile_may_grow(file, file->count * sizeof(*file->items));
	if (!error)
		error = xb_entry_sort(&file->items, file->count, sizeof(*file->items));
	file->room = file->count;
	xb_line_sort_unknown(file);
	return error;
}

int xb_firewall_judge(struct xb_firewall *firewall)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < firewall->chain_count; i++)
		error = look_at_chain(firewall, i, 0);
	for (uint32_t i = 0; !error && i < firewall->chain_count; i++)
		if (firewall->chains[i].is_base)
			error = judge_base(firewall, &firewall->chains[i]);
	if (!error)
		error = keep_all(firewall);
	if (!error && !firewall->file->count && !firewall->file->unknown && firewall->file->noted)
		return xb_input_error("line %llu: %s",
				      (unsigned long long)firewall->file->notes[0].line,
				      firewall->file->notes[0].text);
	return error;
}
