/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deny: rules of nginx (`deny 192.0.2.1;`) and of Apache 2.4 (`Order`, `Deny from`, `Require not
 * ip`) about who may ask. A section, such as `location` or `<Files>`, holds for some requests
 * alone; what it lets pass is not listed, and what it refuses is left out.
 */
#include <stdio.h>
#include <strings.h>

#include "base/array.h"
#include "lists/addresstext.h"
#include "lists/line.h"
#include "lists/webservers.h"

#define MOST_ADDING 16 /* sections whose rules hold together with those around them */

static const struct xb_web_section outermost = {.parent = XB_WEB_NONE,
						.first = XB_WEB_NONE,
						.last = XB_WEB_NONE,
						.root = XB_WEB_NONE,
						.group = XB_WEB_NONE,
						.line = 1,
						.text = "the file"};

void xb_listweb_end(struct xb_reading *reading)
{
	struct xb_list_web *web = reading->web;

	if (!web)
		return;
	for (size_t i = 0; i < web->node_count; i++)
		xb_sources_free(&web->nodes[i].sources);
	xb_firewall_free(web->firewall);
	free(web->sections);
	free(web->access);
	free(web->nodes);
	free(web);
	reading->web = NULL;
}

static int add_section(struct xb_list_web *web, const struct xb_web_section *section)
{
	int error = xb_array_grow(&web->sections, &web->section_room, web->section_count + 1,
				  sizeof(*section));

	if (!error)
		web->sections[web->section_count++] = *section;
	return error;
}

static int begin(struct xb_reading *reading)
{
	struct xb_list_web *web = reading->web;

	if (web)
		return 0;
	web = reading->web = calloc(1, sizeof(*web));
	if (!web)
		return xb_out_of_memory();
	web->firewall = xb_firewall_new(reading->file);
	return web->firewall ? add_section(web, &outermost) : -EIO;
}

struct xb_web_section *xb_web_current(struct xb_list_web *web)
{
	return &web->sections[web->sections[web->current].self];
}

const char *xb_web_show(struct xb_reading *reading, const char *text)
{
	const char *shown = XB_SHOW(text);

	return xb_arena_copy(&reading->file->names, shown, strlen(shown) + 1);
}

int xb_web_open_section(struct xb_reading *reading, const char *condition, const char *text)
{
	struct xb_list_web *web = reading->web;
	const struct xb_web_section *parent = &web->sections[web->current];
	struct xb_web_section section = outermost;
	int error;

	section.parent = web->current;
	section.self = condition ? (uint32_t)web->section_count : parent->self;
	section.condition = condition;
	section.depth = parent->depth + 1;
	section.skipped = parent->skipped;
	section.line = reading->file->lines;
	section.text = xb_web_show(reading, text);
	if (!section.text)
		return -EIO;
	if (section.depth == XB_WEB_DEPTH)
		return xb_input_error("more than %d sections in each other", XB_WEB_DEPTH);
	error = add_section(web, &section);
	if (!error)
		web->current = (uint32_t)web->section_count - 1;
	return error;
}

int xb_web_let_pass(struct xb_reading *reading, const char *condition, const char *text)
{
	struct xb_web_section *section = xb_web_current(reading->web);

	section->passes = (struct xb_web_access){.condition = condition,
						 .line = reading->file->lines,
						 .text = xb_web_show(reading, text)};
	return section->passes.text ? 0 : -EIO;
}

#define STRETCHES 17 /* of a node, for which an array has room at first */

int xb_web_may_grow(const struct xb_reading *reading, bool full)
{
	const struct xb_list_web *web = reading->web;

	return full ? xb_listfile_may_grow(reading->file,
					   2 * web->access_room * sizeof(*web->access) +
						   2 * web->node_room *
							   (sizeof(*web->nodes) +
							    STRETCHES * sizeof(struct xb_stretch)))
		    : 0;
}

int xb_web_add_access(struct xb_reading *reading, const struct xb_web_access *access)
{
	struct xb_list_web *web = reading->web;
	struct xb_web_section *section = xb_web_current(web);
	uint32_t number = (uint32_t)web->access_count;
	int error = xb_web_may_grow(reading, web->access_count == web->access_room);

	if (!error)
		error = xb_array_grow(&web->access, &web->access_room, web->access_count + 1,
				      sizeof(*access));
	if (error)
		return error;
	web->access[web->access_count++] = *access;
	if (section->first == XB_WEB_NONE)
		section->first = number;
	else
		web->access[section->last].next = number;
	section->last = number;
	return 0;
}

int xb_web_add_source(struct xb_reading *reading, uint32_t set, const struct xb_span *span,
		      const char *comment)
{
	struct xb_item like = {.entry.line = (uint32_t)reading->file->lines};
	int error = xb_line_store_comment(reading->file, &like, comment);

	return error ? error : xb_firewall_add_source(reading->web->firewall, set, span, &like);
}

int xb_web_add_address(struct xb_reading *reading, struct xb_web_access *access,
		       const struct xb_span *span, const char *comment)
{
	int error = xb_firewall_add_set(reading->web->firewall, &access->set);

	if (!error)
		error = xb_web_add_source(reading, access->set, span, comment);
	return error ? error : xb_web_add_access(reading, access);
}

int xb_web_close_section(struct xb_reading *reading)
{
	struct xb_list_web *web = reading->web;

	if (!web->current)
		return xb_input_error("the end of a block that has no beginning");
	web->current = web->sections[web->current].parent;
	return 0;
}

/* --- what is refused --- */

static int add_rule(struct xb_list_web *web, uint32_t chain, struct xb_firewall_rule *rule)
{
	rule->families = XB_FAMILIES;
	return xb_firewall_add_rule(web->firewall, chain, 0, rule);
}

static int add_for_all(struct xb_list_web *web, uint32_t chain, bool allows, const char *condition,
		       const struct xb_web_section *section)
{
	struct xb_firewall_rule rule = {.verdict = allows ? XB_FIREWALL_ACCEPT : XB_FIREWALL_DROP,
					.condition = condition,
					.line = section->line,
					.text = section->text};

	if (condition) {
		rule.line = section->passes.line;
		rule.text = section->passes.text;
	}
	return add_rule(web, chain, &rule);
}

/* Which of a section's rules. */
enum which {
	ALLOWING = 1,
	DENYING = 2,
	AGAIN = 4, /* they are told where they stand first */
};

/* The rules of the section, under the condition, if there is one. */
static int put_access(struct xb_list_web *web, const struct xb_web_section *section, uint32_t chain,
		      const char *condition, enum which which)
{
	int error = 0;

	for (uint32_t at = section->first; !error && at != XB_WEB_NONE; at = web->access[at].next) {
		const struct xb_web_access *access = &web->access[at];
		struct xb_firewall_rule rule = {.verdict = access->allows ? XB_FIREWALL_ACCEPT
									  : XB_FIREWALL_DROP,
						.matches[0].set = access->set,
						.match_count = access->set != XB_WEB_NONE,
						.condition = condition ?: access->condition,
						.again = which & AGAIN,
						.line = access->line,
						.text = access->text};

		if (which & (access->allows ? ALLOWING : DENYING))
			error = add_rule(web, chain, &rule);
	}
	return error;
}

static bool has_access(const struct xb_web_section *section)
{
	return section->first != XB_WEB_NONE || section->has_order;
}

/* The section with whose rules those of this one hold together; itself, if there is none. */
static const struct xb_web_section *around(const struct xb_list_web *web,
					   const struct xb_web_section *section)
{
	while (section->adds)
		section = &web->sections[web->sections[section->parent].self];
	return section;
}

/* Apache asks those of one kind, then of the other, in whatever order the lines are. */
static int put_ordered(struct xb_list_web *web, const struct xb_web_section *section,
		       uint32_t chain)
{
	int error = 0;

	for (int turn = 0; !error && turn < 2; turn++) {
		bool allowing = turn ? section->deny_last : !section->deny_last;

		error = put_access(web, section, chain, NULL, allowing ? ALLOWING : DENYING);
	}
	return error ? error : add_for_all(web, chain, !section->deny_last, NULL, section);
}

/*
 * Of sections that hold together with what is around them, such as <Limit>, several may be for one
 * request, and the last `Order` of all counts. So whoever is allowed in any of them may pass,
 * unless what is denied always comes last; and everybody whom the rules around them do not deny.
 */
static int put_added(struct xb_list_web *web, const struct xb_web_section *section, uint32_t chain)
{
	const struct xb_web_section *outer = around(web, section);
	bool deny_last = outer->deny_last;
	int error = 0;

	for (size_t i = 0; i < web->section_count; i++)
		if (around(web, &web->sections[i]) == outer && web->sections[i].has_order)
			deny_last &= web->sections[i].deny_last;
	for (size_t i = 0; !error && !deny_last && i < web->section_count; i++)
		if (around(web, &web->sections[i]) == outer)
			error = put_access(web, &web->sections[i], chain, NULL, ALLOWING);
	if (!error)
		error = put_access(web, section, chain, section->condition, DENYING);
	if (!error)
		error = put_access(web, outer, chain, NULL, DENYING | AGAIN);
	return error ? error : add_for_all(web, chain, true, NULL, section);
}

static int put_section_access(struct xb_list_web *web, const struct xb_web_section *section)
{
	uint32_t chain = section->chains[0];
	int error = 0;

	if (section->passes.condition)
		error = add_for_all(web, chain, true, section->passes.condition, section);
	if (error || !has_access(section))
		return error;
	if (web->server == APACHE)
		return section->adds ? put_added(web, section, chain)
				     : put_ordered(web, section, chain);
	error = put_access(web, section, chain, NULL, ALLOWING | DENYING);
	return error ? error : add_for_all(web, chain, true, NULL, section);
}

/* --- what Apache requires: of a node, who may be let in, who surely is not, who surely is --- */

struct required {
	struct xb_sources may, refused, granted;
	const struct xb_web_node
		*condition; /* one that asks for something else than the source; NULL: none */
};

static int find_required(const struct xb_list_web *web, const struct xb_web_node *node,
			 struct required *required);

static void free_required(struct required *required)
{
	xb_sources_free(&required->may);
	xb_sources_free(&required->refused);
	xb_sources_free(&required->granted);
}

static int complement(const struct xb_sources *set, struct xb_sources *out)
{
	struct xb_sources all = {0};
	int error = xb_sources_of_families(XB_FAMILIES, &all);

	if (!error)
		error = xb_sources_combine(XB_IN_FIRST_ALONE, &all, set, out);
	xb_sources_free(&all);
	return error;
}

static int add_all(struct xb_sources *to, const struct xb_sources *from)
{
	int error = 0;

	for (size_t i = 0; !error && i < from->count; i++)
		error = xb_sources_add(to, &from->stretches[i].span, 0);
	return error;
}

/* Of a `Require` alone. */
static int find_leaf(const struct xb_web_node *node, struct required *required)
{
	struct xb_sources set = {0};
	int error = 0;

	if (node->kind == SOMETHING) {
		required->condition = node;
		return node->negated ? 0 : xb_sources_of_families(XB_FAMILIES, &required->may);
	}
	if (node->kind == GRANTED)
		error = xb_sources_of_families(XB_FAMILIES, &set);
	else if (node->kind == ADDRESSES)
		error = add_all(&set, &node->sources);
	xb_sources_settle(&set);
	if (!error && node->negated)
		error = add_all(&required->refused, &set);
	if (!error && !node->negated)
		error = add_all(&required->may, &set) ?: add_all(&required->granted, &set) ?:
			complement(&set, &required->refused);
	xb_sources_free(&set);
	return error;
}

/* What its parts say, in no order. */
static int find_parts(const struct xb_list_web *web, const struct xb_web_node *node,
		      struct required *sum)
{
	int error = 0;

	for (uint32_t at = node->first; !error && at != XB_WEB_NONE; at = web->nodes[at].next) {
		struct required part = {0};

		error = find_required(web, &web->nodes[at], &part);
		if (!error)
			error = add_all(&sum->may, &part.may) ?:
				add_all(&sum->refused, &part.refused) ?:
				add_all(&sum->granted, &part.granted);
		sum->condition = sum->condition ?: part.condition;
		free_required(&part);
	}
	xb_sources_settle(&sum->may);
	xb_sources_settle(&sum->refused);
	xb_sources_settle(&sum->granted);
	return error;
}

static int find_required(const struct xb_list_web *web, const struct xb_web_node *node,
			 struct required *required)
{
	int error;

	if (node->kind < ALL)
		return find_leaf(node, required);
	error = find_parts(web, node, required);
	if (error)
		return error;
	if (node->kind == ALL) {
		xb_sources_free(&required->granted);
		return xb_sources_change(&required->may, XB_IN_FIRST_ALONE, &required->refused);
	}
	xb_sources_free(&required->refused);
	if (node->kind == ANY)
		return complement(&required->may, &required->refused);
	required->refused = required->granted;
	required->granted = (struct xb_sources){0};
	xb_sources_free(&required->may);
	return 0;
}

/* Those whom the lines name that keep somebody out. */
static int put_named(struct xb_list_web *web, uint32_t chain, const struct xb_web_node *node,
		     bool neither)
{
	struct xb_firewall_rule rule = {.verdict = XB_FIREWALL_DROP,
					.matches[0].set = node->set,
					.match_count = 1,
					.line = node->line,
					.text = node->text};
	int error = 0;

	if (node->kind == ADDRESSES && node->negated != neither)
		return add_rule(web, chain, &rule);
	for (uint32_t at = node->first; node->kind >= ALL && !error && at != XB_WEB_NONE;
	     at = web->nodes[at].next)
		error = put_named(web, chain, &web->nodes[at], node->kind == NEITHER);
	return error;
}

/* What is required may be required, or not: everybody may pass, and some may be refused. */
static int put_perhaps(struct xb_list_web *web, uint32_t chain,
		       const struct xb_web_section *section)
{
	struct xb_firewall_rule rule = {.verdict = XB_FIREWALL_DROP,
					.condition = section->condition,
					.line = section->line,
					.text = section->text};
	int error = add_rule(web, chain, &rule);

	return error ? error : add_for_all(web, chain, true, NULL, section);
}

static int put_section_required(struct xb_list_web *web, const struct xb_web_section *section)
{
	const struct xb_web_node *root =
		section->root == XB_WEB_NONE ? NULL : &web->nodes[section->root];
	struct required required = {0};
	struct xb_firewall_rule rule = {.verdict = XB_FIREWALL_ACCEPT, .match_count = 1};
	uint32_t chain = section->chains[1];
	int error = 0;

	if (section->passes.condition)
		error = add_for_all(web, chain, true, section->passes.condition, section);
	else if (root && section->adds)
		return put_perhaps(web, chain, section);
	if (error || !root)
		return error;
	error = find_required(web, root, &required)
			?: xb_firewall_add_set(web->firewall, &rule.matches[0].set);
	for (size_t i = 0; !error && i < required.may.count; i++)
		error = xb_firewall_add_source(web->firewall, rule.matches[0].set,
					       &required.may.stretches[i].span,
					       &(struct xb_item){0});
	rule.condition = required.condition ? "what it asks for" : NULL;
	rule.line = (required.condition ?: root)->line;
	rule.text = (required.condition ?: root)->text;
	if (!error)
		error = add_rule(web, chain, &rule) ?: put_named(web, chain, root, false);
	rule.verdict = XB_FIREWALL_DROP;
	rule.matches[0].negated = !required.condition;
	if (!error)
		error = complement(&required.may, &required.refused);
	if (!error && (required.condition || required.refused.count))
		error = add_rule(web, chain, &rule);
	free_required(&required);
	return error;
}

/* A section is a chain to which a request may come. */
static int make_chains(struct xb_list_web *web, int which)
{
	const struct xb_firewall_hook hook = {
		.families = XB_FAMILIES, .line = 1, .text = "the file"};
	int error = 0;

	for (size_t i = 0; !error && i < web->section_count; i++)
		error = xb_firewall_add_chain(web->firewall, &web->sections[i].chains[which]);
	if (!error)
		xb_firewall_set_hook(web->firewall, web->sections[0].chains[which], &hook);
	for (size_t i = 1; !error && i < web->section_count; i++) {
		const struct xb_web_section *section = &web->sections[i];
		const struct xb_web_section *parent = &web->sections[section->parent];
		struct xb_firewall_rule rule = {.verdict = XB_FIREWALL_JUMP,
						.chain = section->chains[which],
						.condition = section->condition,
						.line = section->line,
						.text = section->text};

		if (section->self == i)
			error = add_rule(web, web->sections[parent->self].chains[which], &rule);
	}
	return error;
}

static int check_adding(const struct xb_list_web *web)
{
	size_t adding = 0;

	for (size_t i = 0; i < web->section_count; i++)
		adding += web->sections[i].adds && has_access(&web->sections[i]);
	return adding <= MOST_ADDING
		       ? 0
		       : xb_input_error("more than %d sections such as <Limit>", MOST_ADDING);
}

static int finish_deny(struct xb_reading *reading)
{
	struct xb_list_web *web = reading->web;
	int error;

	if (!web)
		return 0;
	error = web->server == APACHE && web->used ? xb_web_end_apache(reading) : 0;
	if (error)
		return error;
	if (web->current)
		return xb_input_error("the file ends within '%s' of line %llu",
				      web->sections[web->current].text,
				      (unsigned long long)web->sections[web->current].line);
	web->statement[web->used] = '\0';
	if (web->server == NGINX && web->statement[strspn(web->statement, XB_BLANKS)])
		return xb_input_error("the file ends within a statement");
	error = check_adding(web) ?: make_chains(web, 0) ?: make_chains(web, 1);
	for (size_t i = 0; !error && i < web->section_count; i++)
		error = put_section_access(web, &web->sections[i])
				?: put_section_required(web, &web->sections[i]);
	return error ? error : xb_firewall_judge(web->firewall);
}

/* --- both --- */

static bool begins_directive(const char *line)
{
	static const char *const words[] = {"deny ", "allow ", "order ", "require ", "satisfy "};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strncasecmp(line, words[i], strlen(words[i])))
			return true;
	return false;
}

static bool detect_deny(const char *line)
{
	static const char *const blocks[] = {"server {",  "location ", "http {", "<VirtualHost",
					     "<Require",  "<Limit",    "<Files", "<Directory",
					     "<Location", "<IfModule"};

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		if (!strncasecmp(line, blocks[i], strlen(blocks[i])))
			return true;
	return begins_directive(line);
}

static int parse_deny(struct xb_reading *reading, char *line)
{
	int error = begin(reading);

	if (error)
		return error;
	if (!reading->web->server && *line == '#') {
		reading->open_comment = xb_line_goes_on(line) ? reading->file->lines : 0;
		return 0;
	}
	if (!reading->web->server) {
		reading->web->server = xb_web_is_nginx(line) ? NGINX : APACHE;
		if (reading->web->server == APACHE && reading->open_comment)
			xb_web_begin_comment(reading);
	}
	return reading->web->server == NGINX ? xb_web_take_nginx(reading, line)
					     : xb_web_take_apache(reading, line);
}

const struct xb_list_format xb_deny_format = {
	"deny", detect_deny, parse_deny, .comments = "", .strict = true, .finish = finish_deny};
