/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directives of Apache 2.4, a line each, and its sections. */
#include <stdio.h>
#include <strings.h>

#include "base/array.h"
#include "lists/addresstext.h"
#include "lists/line.h"
#include "lists/webservers.h"

/* `10.1` and `10.1.` are 10.1.0.0/16. */
static const char *complete(const char *word, char full[XB_ENTRY_TEXT])
{
	size_t size = strlen(word), octets = 0;

	size -= size && word[size - 1] == '.';
	for (size_t i = 0; i < size; i++)
		octets += word[i] == '.';
	if (strspn(word, XB_DIGITS ".") < size || octets > 2 || size > 12 || !size)
		return word;
	snprintf(full, XB_ENTRY_TEXT, "%.*s%s/%zu", (int)size, word, &".0.0.0"[2 * octets],
		 8 * (octets + 1));
	return full;
}

/* With a netmask as a prefix length: 192.0.2.0/255.255.255.0. */
static const char *with_length(const char *text, char room[XB_ENTRY_TEXT])
{
	const char *mask = strchr(text, '/');
	int length = mask ? xb_addresses_mask_length(mask + 1) : -1;

	if (length < 0)
		return text;
	snprintf(room, XB_ENTRY_TEXT, "%.*s/%d", (int)(mask - text), text, length);
	return room;
}

static int read_address(struct xb_reading *reading, const char *word, struct xb_span *span)
{
	char full[XB_ENTRY_TEXT], room[XB_ENTRY_TEXT];

	if (strchr(word, '-') || !strncasecmp(word, "::ffff:", 7))
		return xb_input_error("'%s' is not an address or prefix", XB_SHOW(word));
	return xb_addresses_span(reading->file, with_length(complete(word, full), room), span);
}

/* A word in quotes is without them. */
static char *take_word(char **rest)
{
	char *word = xb_line_word(rest);
	size_t size = word ? strlen(word) : 0;

	if (size > 1 && *word == '"' && word[size - 1] == '"') {
		word[size - 1] = '\0';
		word++;
	}
	return word;
}

/* `Allow from`, `Deny from` */
static int take_apache_access(struct xb_reading *reading, const char *shown, bool allows,
			      char *rest)
{
	const char *word = xb_line_word(&rest);
	int error = 0;

	if (!word || strcasecmp(word, "from") != 0 || !rest[strspn(rest, XB_BLANKS)])
		return xb_input_error("'%s' names nobody", shown);
	while (!error && (word = take_word(&rest))) {
		struct xb_web_access access = {.allows = allows,
					       .set = XB_WEB_NONE,
					       .line = reading->file->lines,
					       .text = shown,
					       .next = XB_WEB_NONE};
		struct xb_span span;

		if (*word == '#')
			return xb_input_error("Apache takes no comment behind a directive");
		if (!strcasecmp(word, "all")) {
			error = xb_web_add_access(reading, &access);
		} else if (!strncasecmp(word, "::ffff:", 7)) {
			access.condition = "an IPv4 address as IPv6";
			error = xb_web_add_access(reading, &access);
		} else if (xb_line_looks_like_address(word)) {
			error = read_address(reading, word, &span);
			error = error ? error : xb_web_add_address(reading, &access, &span, "");
		} else {
			access.condition = !strncasecmp(word, "env=", 4) ? "a variable" : "a name";
			error = xb_web_add_access(reading, &access);
		}
	}
	return error;
}

static int take_order(struct xb_reading *reading, const char *shown, char *rest)
{
	const char *word = xb_line_word(&rest);
	struct xb_web_section *section = xb_web_current(reading->web);

	if (!word || xb_line_word(&rest) ||
	    (strcasecmp(word, "deny,allow") != 0 && strcasecmp(word, "allow,deny") != 0 &&
	     strcasecmp(word, "mutual-failure") != 0))
		return xb_input_error("'%s' is not an order that Apache has", shown);
	section->has_order = true;
	section->deny_last = strcasecmp(word, "deny,allow") != 0;
	return 0;
}

static int add_node(struct xb_reading *reading, const struct xb_web_node *node, uint32_t *number)
{
	struct xb_list_web *web = reading->web;
	int error = xb_web_may_grow(reading, web->node_count == web->node_room);
	struct xb_web_node *parent;

	if (!error)
		error = xb_array_grow(&web->nodes, &web->node_room, web->node_count + 1,
				      sizeof(*node));
	if (error)
		return error;
	*number = (uint32_t)web->node_count;
	web->nodes[web->node_count++] = *node;
	if (node->parent == XB_WEB_NONE)
		return 0;
	parent = &web->nodes[node->parent];
	if (parent->first == XB_WEB_NONE)
		parent->first = *number;
	else
		web->nodes[parent->last].next = *number;
	parent->last = *number;
	return 0;
}

/* Behind a line of the section that says what is required: where it belongs. */
static int need_group(struct xb_reading *reading, const char *shown)
{
	struct xb_web_section *section = xb_web_current(reading->web);
	const struct xb_web_node any = {.kind = ANY,
					.parent = XB_WEB_NONE,
					.first = XB_WEB_NONE,
					.last = XB_WEB_NONE,
					.next = XB_WEB_NONE,
					.line = reading->file->lines,
					.text = shown};
	uint32_t number = 0;
	int error;

	if (section->root != XB_WEB_NONE)
		return 0;
	error = add_node(reading, &any, &number);
	section = xb_web_current(reading->web);
	section->root = section->group = number;
	return error;
}

static int open_group(struct xb_reading *reading, int kind, const char *shown)
{
	struct xb_web_node group = {.kind = kind,
				    .first = XB_WEB_NONE,
				    .last = XB_WEB_NONE,
				    .next = XB_WEB_NONE,
				    .line = reading->file->lines,
				    .text = shown};
	unsigned int depth = 0;
	uint32_t number = 0;
	int error = need_group(reading, shown);

	if (error)
		return error;
	group.parent = xb_web_current(reading->web)->group;
	if (kind == NEITHER && reading->web->nodes[group.parent].kind == ANY)
		return xb_input_error("<RequireNone> has no effect in <RequireAny>");
	for (uint32_t at = group.parent; at != XB_WEB_NONE; at = reading->web->nodes[at].parent)
		depth++;
	if (depth > XB_WEB_DEPTH)
		return xb_input_error("more than %d sections in each other", XB_WEB_DEPTH);
	error = add_node(reading, &group, &number);
	xb_web_current(reading->web)->group = number;
	return error;
}

static int close_group(struct xb_reading *reading)
{
	struct xb_web_section *section = xb_web_current(reading->web);
	const struct xb_web_node *group =
		section->group == XB_WEB_NONE ? NULL : &reading->web->nodes[section->group];
	bool positive = false;

	if (!group || group->parent == XB_WEB_NONE)
		return xb_input_error("the end of a section that has no beginning");
	for (uint32_t at = group->first; at != XB_WEB_NONE; at = reading->web->nodes[at].next)
		positive |=
			!reading->web->nodes[at].negated && reading->web->nodes[at].kind != NEITHER;
	if (!positive)
		return xb_input_error(
			"the section requires nothing, or only that something is not");
	section->group = group->parent;
	return 0;
}

/* Behind `Require [not] ip` */
static int take_required(struct xb_reading *reading, struct xb_web_node *node, char *rest)
{
	const char *word;
	int error = xb_firewall_add_set(reading->web->firewall, &node->set);

	if (!error && !rest[strspn(rest, XB_BLANKS)])
		return xb_input_error("'%s' names nobody", node->text);
	while (!error && (word = take_word(&rest))) {
		struct xb_span span;

		error = read_address(reading, word, &span);
		if (!error)
			error = xb_web_add_source(reading, node->set, &span, "");
		if (!error)
			error = xb_sources_add(&node->sources, &span, 0);
	}
	return error;
}

static int take_require(struct xb_reading *reading, const char *shown, char *rest)
{
	struct xb_web_node node = {.kind = SOMETHING,
				   .first = XB_WEB_NONE,
				   .last = XB_WEB_NONE,
				   .next = XB_WEB_NONE,
				   .line = reading->file->lines,
				   .text = shown};
	const char *word = xb_line_word(&rest), *what;
	uint32_t number = 0;
	int error = need_group(reading, shown);

	node.negated = word && !strcasecmp(word, "not");
	if (node.negated)
		word = xb_line_word(&rest);
	if (error || !word)
		return error ? error : xb_input_error("'%s' requires nothing", shown);
	node.parent = xb_web_current(reading->web)->group;
	if (node.negated && reading->web->nodes[node.parent].kind == ANY)
		return xb_input_error("'%s' has no effect outside of <RequireAll>", shown);
	if (!strcasecmp(word, "all")) {
		what = xb_line_word(&rest);
		if (!what || (strcasecmp(what, "granted") != 0 && strcasecmp(what, "denied") != 0))
			return xb_input_error("'%s' neither grants nor denies", shown);
		node.kind = strcasecmp(what, "granted") ? DENIED : GRANTED;
	} else if (!strcasecmp(word, "ip")) {
		node.kind = ADDRESSES;
		error = take_required(reading, &node, rest);
	}
	if (!error)
		error = add_node(reading, &node, &number);
	if (error)
		xb_sources_free(&node.sources);
	return error;
}

/* Whether Apache 2.4 looks at what is in such a section: 1, 0, or -1: it depends. */
static int holds(const char *name, const char *what)
{
	static const char *const there[] = {"mod_authz_core.c>", "authz_core_module>",
					    "mod_authz_host.c>", "authz_host_module>"};
	static const char *const older[] = {"< 2.4>", "<2.4>", "< 2.3>", "<2.3>", "<= 2.2>"};
	static const char *const newer[] = {">= 2.4>", ">=2.4>", ">= 2.3>", ">=2.3>", "> 2.2>"};

	for (size_t i = 0; i < ARRAY_SIZE(there) && !strcasecmp(name, "IfModule"); i++)
		if (!strcasecmp(what + (*what == '!'), there[i]))
			return *what != '!';
	for (size_t i = 0; i < ARRAY_SIZE(newer) && !strcasecmp(name, "IfVersion"); i++)
		if (!strcmp(what, newer[i]) || !strcmp(what, older[i]))
			return !strcmp(what, newer[i]);
	return -1;
}

/* `<IfModule mod_authz_core.c>` and the like: what is in it belongs to what is around it. */
static int open_wrapper(struct xb_reading *reading, const char *shown, const char *name,
			const char *what)
{
	int there = holds(name, what);
	int error = xb_web_open_section(reading,
					there == 1 ? NULL : "how Apache was built or begun", shown);
	struct xb_web_section *section = &reading->web->sections[reading->web->current];

	if (error)
		return error;
	section->skipped |= !there;
	section->adds = there < 0;
	return 0;
}

/* `<NAME ...>` */
static int open_tag(struct xb_reading *reading, const char *shown, char *line)
{
	static const struct {
		const char *name, *condition;
	} tags[] = {{"Files", "a file"},
		    {"FilesMatch", "a file"},
		    {"Directory", "a directory"},
		    {"DirectoryMatch", "a directory"},
		    {"Location", "a location"},
		    {"LocationMatch", "a location"},
		    {"Limit", "a method"},
		    {"LimitExcept", "a method"},
		    {"VirtualHost", "a virtual host"},
		    {"Proxy", "a proxy"},
		    {"ProxyMatch", "a proxy"}};
	char *rest = line + 1, *name = xb_line_word(&rest);
	int error;

	if (!name)
		return xb_input_error("'%s' is not a section", shown);
	name[strcspn(name, ">")] = '\0';
	if (reading->web->sections[reading->web->current].skipped &&
	    !strncasecmp(name, "Require", 7))
		return 0;
	if (!strcasecmp(name, "RequireAll"))
		return open_group(reading, ALL, shown);
	if (!strcasecmp(name, "RequireAny"))
		return open_group(reading, ANY, shown);
	if (!strcasecmp(name, "RequireNone"))
		return open_group(reading, NEITHER, shown);
	if (!strcasecmp(name, "IfModule") || !strcasecmp(name, "IfVersion") ||
	    !strcasecmp(name, "IfDefine"))
		return open_wrapper(reading, shown, name, rest + strspn(rest, XB_BLANKS));
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		if (strcasecmp(name, tags[i].name) != 0)
			continue;
		error = xb_web_open_section(reading, tags[i].condition, shown);
		if (!error)
			xb_web_current(reading->web)->adds = !strncasecmp(name, "Limit", 5);
		return error;
	}
	return xb_web_open_section(reading, "a condition", shown);
}

static int close_tag(struct xb_reading *reading, const char *line)
{
	static const char *const groups[] = {"</RequireAll>", "</RequireAny>", "</RequireNone>"};

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (!strcasecmp(line, groups[i]))
			return reading->web->sections[reading->web->current].skipped
				       ? 0
				       : close_group(reading);
	return xb_web_close_section(reading);
}

static int take_directive(struct xb_reading *reading, char *line)
{
	const char *shown = xb_web_show(reading, line);
	char *rest = line, *word;

	if (!*line || *line == '#')
		return 0;
	if (!shown)
		return -EIO;
	if (!strncmp(line, "</", 2))
		return close_tag(reading, line);
	if (*line == '<')
		return open_tag(reading, shown, line);
	word = xb_line_word(&rest);
	if (reading->web->sections[reading->web->current].skipped)
		return 0;
	if (!strcasecmp(word, "Deny") || !strcasecmp(word, "Allow"))
		return take_apache_access(reading, shown, !strcasecmp(word, "Allow"), rest);
	if (!strcasecmp(word, "Order"))
		return take_order(reading, shown, rest);
	if (!strcasecmp(word, "Require"))
		return take_require(reading, shown, rest);
	if (!strcasecmp(word, "Satisfy"))
		return strcasestr(rest, "any") ? xb_web_let_pass(reading, "a password", shown) : 0;
	if (!strcasecmp(word, "AuthMerging"))
		return strcasestr(rest, "off") ? 0
					       : xb_web_let_pass(reading, "rules around it", shown);
	if (!strncasecmp(word, "Include", 7))
		return xb_input_error("there may be rules in another file: '%s'", shown);
	if (!strncasecmp(word, "RemoteIP", 8))
		return xb_input_error("'%s': sources are what a header says, not who sends packets",
				      shown);
	return 0;
}

void xb_web_begin_comment(struct xb_reading *reading)
{
	reading->web->statement[reading->web->used++] = '#';
	reading->web->line = reading->open_comment;
}

int xb_web_end_apache(struct xb_reading *reading)
{
	struct xb_list_web *web = reading->web;

	web->statement[web->used] = '\0';
	web->used = 0;
	return take_directive(reading, xb_line_trim(web->statement));
}

/* What ends with a backslash goes on in the next line, also a comment; a blank line, which does not
 * come here, ends it. */
int xb_web_take_apache(struct xb_reading *reading, char *line)
{
	struct xb_list_web *web = reading->web;
	size_t size = strlen(line);
	bool goes_on = xb_line_goes_on(line);
	int error = 0;

	if (web->used && web->line + 1 != reading->file->lines)
		error = xb_web_end_apache(reading);
	if (error || (!web->used && !goes_on))
		return error ? error : take_directive(reading, line);
	if (web->used + size + 2 > sizeof(web->statement))
		return xb_input_error("a directive of more than %d bytes", XB_WEB_STATEMENT);
	web->used += (size_t)snprintf(web->statement + web->used, size + 2, "%s%.*s",
				      reading->indented ? " " : "", (int)(size - goes_on), line);
	web->line = reading->file->lines;
	return goes_on ? 0 : xb_web_end_apache(reading);
}
