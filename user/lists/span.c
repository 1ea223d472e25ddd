/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "lists/line.h"
#include "model/bogon.h"

/* The lengths of the widest prefixes that somebody may have. */
#define MOST_OF_IPV4 4
#define MOST_OF_IPV6 12

#define MOST_PIECES 10000000 /* that exceptions may cut a file into */

/* The comment is kept once for all. */
int xb_span_keep(struct xb_listfile *file, const struct xb_span *span, const struct xb_item *item,
		 const char *comment)
{
	bool allows = item->entry.kind && xb_entry_is_allow(&item->entry);
	struct xb_span rest = *span;
	struct xb_item piece = *item;
	int error = 0;

	for (bool begun = false, more = true; more && !error; begun = true) {
		struct xb_entry prefix;

		more = xb_span_next(&rest, &prefix);
		piece.entry = allows ? xb_entry_allow(&prefix) : prefix;
		error = begun ? xb_line_keep(file, &piece)
			      : xb_line_keep_with_comment(file, &piece, comment);
	}
	return error;
}

/* The bits within the widest piece. */
static xb_address widest(bool ipv6)
{
	return xb_address_behind(ipv6 ? XB_WIDEST6 : XB_WIDEST4);
}

int xb_span_keep_narrow(struct xb_listfile *file, const struct xb_span *span,
			const struct xb_item *item)
{
	struct xb_span piece = *span;
	int error = 0;

	if (span->last - span->first > xb_address_behind(span->ipv6 ? MOST_OF_IPV6 : MOST_OF_IPV4))
		return xb_span_keep(file, span, item, "");
	for (bool more = true; more && !error; piece.first = piece.last + 1) {
		piece.last = piece.first | widest(span->ipv6);
		more = piece.last < span->last;
		if (!more)
			piece.last = span->last;
		error = xb_span_keep(file, &piece, item, "");
	}
	return error;
}

static bool goes_on(const struct xb_span *span, const struct xb_span *next)
{
	return span->ipv6 == next->ipv6 && span->last + 1 == next->first &&
	       next->first & widest(next->ipv6);
}

int xb_span_join(struct xb_listfile *file, struct xb_span_run *run, const struct xb_span *next)
{
	const struct xb_item item = {0};
	int error = 0;

	if (run->any && next && goes_on(&run->span, next)) {
		run->span.last = next->last;
		return 0;
	}
	if (run->any)
		error = xb_span_keep_narrow(file, &run->span, &item);
	run->any = next;
	if (next)
		run->span = *next;
	return error;
}

/* --- exceptions --- */

/* A line that decides about a span. Spans are prefixes: of two, one lies in the other, or they have
 * nothing in common. */
struct rule {
	struct xb_span span;
	const struct xb_item *item;
	uint32_t rank; /* the highest decides */
	bool excepted;
};

/* A rule that holds where the sweep is, and those around it. */
struct frame {
	const struct rule *rule, *decides;
	xb_address next; /* what lies before it was written already */
	bool cut;	 /* something was */
	bool over;	 /* nothing is left to write, or a wider one writes it */
};

struct sweep {
	struct frame frames[2 * 129]; /* of each length one that lists, and one that does not */
	size_t depth;
	struct xb_item *items; /* what comes out of it */
	size_t count, room;
	enum xb_precedence precedence;
};

static uint32_t rank_of(const struct xb_item *item, enum xb_precedence precedence)
{
	switch (precedence) {
	case XB_LATEST:
		return item->entry.line;
	case XB_LONGEST_OCTET:
		return item->entry.length <= 8 ? 1 : (item->entry.length + 7U) / 8;
	case XB_LONGEST:
	case XB_LONGEST_FIRST:
	case XB_LONGEST_LAST:
		break;
	}
	return item->entry.length;
}

/* Whether it decides where the other one, which is as long or longer, would have so far. */
static bool outranks(const struct rule *rule, const struct rule *other,
		     enum xb_precedence precedence)
{
	if (rule->rank != other->rank)
		return rule->rank > other->rank;
	if (precedence == XB_LONGEST_FIRST)
		return rule->item->entry.line < other->item->entry.line;
	return rule->excepted;
}

static int compare_rules(const void *a, const void *b)
{
	const struct rule *one = a, *two = b;

	if (one->span.ipv6 != two->span.ipv6)
		return one->span.ipv6 - two->span.ipv6;
	if (one->span.first != two->span.first)
		return one->span.first < two->span.first ? -1 : 1;
	if (one->span.last != two->span.last)
		return one->span.last > two->span.last ? -1 : 1;
	return (one->item->entry.line > two->item->entry.line) -
	       (one->item->entry.line < two->item->entry.line);
}

static int write_item(struct sweep *sweep, const struct xb_item *item)
{
	int error = xb_array_grow(&sweep->items, &sweep->room, sweep->count + 1, sizeof(*item));

	if (!error)
		sweep->items[sweep->count++] = *item;
	return error;
}

/* A part of what the rule lists. */
static int write_part(struct sweep *sweep, const struct rule *rule, xb_address first,
		      xb_address last)
{
	struct xb_span rest = {first, last, rule->span.ipv6};
	struct xb_item piece = *rule->item;
	int error = 0;

	for (bool more = true; more && !error;) {
		uint32_t line = rule->item->entry.line;

		more = xb_span_next(&rest, &piece.entry);
		piece.entry.line = line;
		error = write_item(sweep, &piece);
		if (sweep->count > MOST_PIECES)
			return xb_input_error("the exceptions cut what is listed into more than %d "
					      "prefixes",
					      MOST_PIECES);
	}
	return error;
}

static int end_frame(struct sweep *sweep)
{
	const struct frame *frame = &sweep->frames[--sweep->depth];

	if (frame->over || frame->rule->excepted || frame->decides->excepted)
		return 0;
	if (!frame->cut)
		return write_item(sweep, frame->rule->item);
	return write_part(sweep, frame->rule, frame->next, frame->rule->span.last);
}

/* Of the listed ones around the exception, up to another exception, the widest is cut, and writes
 * what those inside it would. */
static int cut(struct sweep *sweep, const struct xb_span *hole)
{
	struct frame *widest = NULL;
	int error = 0;

	for (size_t i = sweep->depth; i > 0 && !sweep->frames[i - 1].decides->excepted; i--) {
		if (widest)
			widest->over = true;
		widest = &sweep->frames[i - 1];
	}
	if (!widest || widest->over)
		return 0;
	if (widest->next < hole->first)
		error = write_part(sweep, widest->rule, widest->next, hole->first - 1);
	widest->cut = true;
	widest->over = hole->last == widest->rule->span.last;
	widest->next = hole->last + 1;
	return error;
}

static bool is_inside(const struct sweep *sweep, const struct xb_span *span)
{
	const struct xb_span *top = &sweep->frames[sweep->depth - 1].rule->span;

	return top->ipv6 == span->ipv6 && span->last <= top->last && span->first >= top->first;
}

static int take_rule(struct sweep *sweep, const struct rule *rule)
{
	struct frame frame = {.rule = rule, .decides = rule, .next = rule->span.first};
	int error = 0;

	while (sweep->depth && !error && !is_inside(sweep, &rule->span))
		error = end_frame(sweep);
	if (error)
		return error;
	if (sweep->depth) {
		const struct frame *around = &sweep->frames[sweep->depth - 1];
		bool same = around->rule->span.last == rule->span.last &&
			    around->rule->span.first == rule->span.first;

		if (!outranks(rule, around->decides, sweep->precedence))
			frame.decides = around->decides;
		/* Another line of the same prefix: what decides is listed once, or not at all. */
		if (same && (frame.decides == around->decides || !rule->excepted) &&
		    frame.decides->excepted == around->decides->excepted)
			return 0;
	}
	if (frame.decides->excepted)
		error = cut(sweep, &rule->span);
	sweep->frames[sweep->depth++] = frame;
	return error;
}

/* Of the rules for one span, the last alone counts where a later line wins. */
static size_t drop_overruled(struct rule *rules, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct xb_span *span = &rules[i].span,
				     *next = i + 1 < count ? &rules[i + 1].span : NULL;

		if (!next || next->ipv6 != span->ipv6 || next->first != span->first ||
		    next->last != span->last)
			rules[kept++] = rules[i];
	}
	return kept;
}

static struct rule *make_rules(const struct xb_listfile *file, enum xb_precedence precedence,
			       size_t *count)
{
	struct rule *rules = xb_array_alloc(file->count, sizeof(*rules));

	*count = 0;
	if (!rules) {
		xb_out_of_memory();
		return NULL;
	}
	for (size_t i = 0; i < file->count; i++) {
		const struct xb_item *item = &file->items[i];

		if (!xb_entry_is_name(&item->entry))
			rules[(*count)++] =
				(struct rule){.span = xb_span_of(&item->entry),
					      .item = item,
					      .rank = rank_of(item, precedence),
					      .excepted = xb_entry_is_allow(&item->entry)};
	}
	qsort(rules, *count, sizeof(*rules), compare_rules);
	if (precedence == XB_LONGEST_LAST || precedence == XB_LATEST)
		*count = drop_overruled(rules, *count);
	return rules;
}

static int sweep_rules(struct sweep *sweep, const struct xb_listfile *file)
{
	size_t count;
	struct rule *rules = make_rules(file, sweep->precedence, &count);
	int error = rules ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !error; i++)
		error = take_rule(sweep, &rules[i]);
	while (sweep->depth && !error)
		error = end_frame(sweep);
	for (size_t i = 0; i < file->count && !error; i++)
		if (xb_entry_is_name(&file->items[i].entry))
			error = write_item(sweep, &file->items[i]);
	free(rules);
	return error;
}

static bool has_exceptions(const struct xb_listfile *file)
{
	for (size_t i = 0; i < file->count; i++)
		if (file->items[i].entry.kind == XB_ALLOW4 ||
		    file->items[i].entry.kind == XB_ALLOW6)
			return true;
	return false;
}

int xb_span_except(struct xb_listfile *file, enum xb_precedence precedence)
{
	struct sweep *sweep;
	int error;

	if (!has_exceptions(file))
		return 0;
	sweep = calloc(1, sizeof(*sweep));
	if (!sweep)
		return xb_out_of_memory();
	sweep->precedence = precedence;
	error = sweep_rules(sweep, file);
	if (error) {
		free(sweep->items);
	} else {
		free(file->items);
		file->items = sweep->items;
		file->count = sweep->count;
		file->room = sweep->room;
		error = xb_entry_sort(&file->items, file->count, sizeof(*file->items));
		file->room = file->count;
	}
	free(sweep);
	return error;
}
