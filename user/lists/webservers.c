/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deny: rules of nginx (`deny 192.0.2.1;`) and of Apache 2.4 (`Order`, `Deny from`, `Require not
 * ip`) about who may ask. A section, such as `location` or `<Files>`, holds for some requests
 * alone; what it lets pass is not listed, and what it refuses is left out.
 */
#include <stdio.h>
#include <strings.h>

#include "lists/addresstext.h"
#include "lists/firewall.h"
#include "lists/format.h"
#include "lists/line.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define NONE		  UINT32_MAX
#define MOST_DEPTH	  64 /* of sections in each other */
#define MOST_ADDING	  16 /* sections whose rules hold together with those around them */
#define STATEMENT_BYTES	  4096

/* What a line says of one source. */
struct access {
	bool allows;
	uint32_t set;	       /* NONE: everybody */
	const char *condition; /* NULL: none */
	uint64_t line;
	const char *text;
	uint32_t next; /* of the section */
};

/* A `Require` of Apache, or a group of them. */
struct node {
	enum { ADDRESSES, GRANTED, DENIED, SOMETHING, ALL, ANY, NEITHER } kind;
	bool negated;
	uint32_t parent, first, last, next; /* nodes */
	uint32_t set;
	struct xb_sources sources; /* in no order */
	uint64_t line;
	const char *text;
};

struct section {
	uint32_t parent;       /* section */
	uint32_t self;	       /* the section to which its lines belong: itself, or one around it */
	const char *condition; /* which requests it is for; NULL: all that come to the file */
	bool adds;	       /* its rules hold together with those around it */
	bool skipped;	       /* nothing of it holds */
	bool has_order, deny_last;
	uint32_t first, last; /* of access */
	uint32_t root;	      /* the node that holds what is required; NONE: nothing */
	uint32_t group;	      /* the one that is open */
	struct access passes; /* .condition: something by which everybody may pass */
	uint32_t chains[2];   /* of access, of what is required */
	unsigned int depth;
	uint64_t line;
	const char *text;
};

struct xb_list_web {
	struct xb_firewall *firewall;
	enum { NO_SERVER, NGINX, APACHE } server;
	struct section *sections;
	struct access *access;
	struct node *nodes;
	size_t section_count, section_room, access_count, access_room, node_count, node_room;
	uint32_t current;		 /* section */
	char statement[STATEMENT_BYTES]; /* of nginx, as far as it came */
	size_t used;
	char quote; /* that is open */
};

static const struct section outermost = {.parent = NONE,
					 .first = NONE,
					 .last = NONE,
					 .root = NONE,
					 .group = NONE,
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

static int add_section(struct xb_list_web *web, const struct section *section)
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

static struct section *current(struct xb_list_web *web)
{
	return &web->sections[web->sections[web->current].self];
}

/* The text as messages show it, as long as the file is there; NULL with a message. */
static const char *show(struct xb_reading *reading, const char *text)
{
	const char *shown = XB_SHOW(text);

	return xb_arena_copy(&reading->file->names, shown, strlen(shown) + 1);
}

/* condition: a literal; NULL: its lines are those of what is around it. */
static int open_section(struct xb_reading *reading, const char *condition, const char *text)
{
	struct xb_list_web *web = reading->web;
	const struct section *parent = &web->sections[web->current];
	struct section section = outermost;
	int error;

	section.parent = web->current;
	section.self = condition ? (uint32_t)web->section_count : parent->self;
	section.condition = condition;
	section.depth = parent->depth + 1;
	section.skipped = parent->skipped;
	section.line = reading->file->lines;
	section.text = show(reading, text);
	if (!section.text)
		return -EIO;
	if (section.depth == MOST_DEPTH)
		return xb_input_error("more than %d sections in each other", MOST_DEPTH);
	error = add_section(web, &section);
	if (!error)
		web->current = (uint32_t)web->section_count - 1;
	return error;
}

/* Something by which everybody may pass, whatever else the section says. */
static int let_pass(struct xb_reading *reading, const char *condition, const char *text)
{
	struct section *section = current(reading->web);

	section->passes = (struct access){
		.condition = condition, .line = reading->file->lines, .text = show(reading, text)};
	return section->passes.text ? 0 : -EIO;
}

#define STRETCHES 17 /* of a node, for which an array has room at first */

/* Of a file that may take only so much memory, when an array is full. */
static int may_grow(const struct xb_reading *reading, bool full)
{
	const struct xb_list_web *web = reading->web;

	return full ? xb_listfile_may_grow(reading->file,
					   2 * web->access_room * sizeof(*web->access) +
						   2 * web->node_room *
							   (sizeof(*web->nodes) +
							    STRETCHES * sizeof(struct xb_stretch)))
		    : 0;
}

static int add_access(struct xb_reading *reading, const struct access *access)
{
	struct xb_list_web *web = reading->web;
	struct section *section = current(web);
	uint32_t number = (uint32_t)web->access_count;
	int error = may_grow(reading, web->access_count == web->access_room);

	if (!error)
		error = xb_array_grow(&web->access, &web->access_room, web->access_count + 1,
				      sizeof(*access));
	if (error)
		return error;
	web->access[web->access_count++] = *access;
	if (section->first == NONE)
		section->first = number;
	else
		web->access[section->last].next = number;
	section->last = number;
	return 0;
}

static int add_source(struct xb_reading *reading, uint32_t set, const struct xb_span *span,
		      const char *comment)
{
	struct xb_item like = {.entry.line = (uint32_t)reading->file->lines};
	int error = xb_line_store_comment(reading->file, &like, comment);

	return error ? error : xb_firewall_add_source(reading->web->firewall, set, span, &like);
}

/* One source that is let in or kept out. */
static int add_address(struct xb_reading *reading, struct access *access,
		       const struct xb_span *span, const char *comment)
{
	int error = xb_firewall_add_set(reading->web->firewall, &access->set);

	if (!error)
		error = add_source(reading, access->set, span, comment);
	return error ? error : add_access(reading, access);
}

/* --- nginx --- */

static int take_nginx_access(struct xb_reading *reading, const char *shown, bool allows, char *rest,
			     const char *comment)
{
	struct access access = {.allows = allows,
				.set = NONE,
				.line = reading->file->lines,
				.text = shown,
				.next = NONE};
	const char *word = xb_line_word(&rest);
	struct xb_span span;
	size_t size;
	int error;

	if (!word || xb_line_word(&rest))
		return xb_input_error("'%s' names not just one source", shown);
	size = strlen(word);
	if (*word == '"' && size > 1 && word[size - 1] == '"') {
		((char *)(uintptr_t)word)[size - 1] = '\0';
		word++;
	}
	if (!strcmp(word, "all"))
		return add_access(reading, &access);
	if (!strcmp(word, "unix:") || !strncasecmp(word, "::ffff:", 7)) /* no packet's source */
		return 0;
	error = strchr(word, '-')
			? xb_input_error("'%s' is not an address or prefix", XB_SHOW(word))
			: xb_addresses_span(reading->file, word, &span);
	return error ? error : add_address(reading, &access, &span, comment);
}

/* What answers before anybody is asked who he is. */
static bool answers(const char *statement)
{
	const char *code = statement + strcspn(statement, XB_BLANKS);

	code += strspn(code, XB_BLANKS);
	if (!strncmp(statement, "return", 6))
		return strcmp(code, "403") != 0 && strcmp(code, "444") != 0;
	return !strncmp(statement, "rewrite", 7) || !strncmp(statement, "js_", 3) ||
	       strstr(statement, "_by_lua") || !strncmp(statement, "perl", 4) ||
	       (!strncmp(statement, "error_page", 10) && strstr(statement, "403"));
}

static bool begins_with(const char *statement, const char *word)
{
	size_t size = strlen(word);

	return !strncmp(statement, word, size) &&
	       (!statement[size] || strchr(XB_BLANKS, statement[size]));
}

static int take_statement(struct xb_reading *reading, char *statement, const char *comment)
{
	const char *shown = show(reading, statement);

	if (!shown)
		return -EIO;
	if (begins_with(statement, "deny"))
		return take_nginx_access(reading, shown, false, statement + 4, comment);
	if (begins_with(statement, "allow"))
		return take_nginx_access(reading, shown, true, statement + 5, "");
	if (begins_with(statement, "include"))
		return xb_input_error(
			"there may be rules in another file: '%s'; `nginx -T` writes all "
			"files",
			shown);
	if (begins_with(statement, "real_ip_header") || begins_with(statement, "set_real_ip_from"))
		return xb_input_error("'%s': sources are what a header says, not who sends packets",
				      shown);
	if (begins_with(statement, "satisfy"))
		return strstr(statement, "any") ? let_pass(reading, "a password", statement) : 0;
	if (answers(statement))
		return let_pass(reading, "it answers everybody", statement);
	return 0;
}

/* Of `NAME ... {` */
static int open_block(struct xb_reading *reading, const char *statement)
{
	static const struct {
		const char *name, *condition;
	} blocks[] = {{"server", "a server"},
		      {"location", "a location"},
		      {"if", "an if"},
		      {"limit_except", "a method"},
		      {"stream", "another service than HTTP"},
		      {"mail", "another service than HTTP"}};

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		if (begins_with(statement, blocks[i].name) ||
		    (!strncmp(statement, "if(", 3) && !strcmp(blocks[i].name, "if")))
			return open_section(reading, blocks[i].condition, statement);
	if (begins_with(statement, "http"))
		return open_section(reading, NULL, statement);
	return open_section(reading, "a block", statement);
}

static int close_section(struct xb_reading *reading)
{
	struct xb_list_web *web = reading->web;

	if (!web->current)
		return xb_input_error("the end of a block that has no beginning");
	web->current = web->sections[web->current].parent;
	return 0;
}

/* Where a comment begins in the line: behind a blank or a mark, and in no quotes. */
static char *find_comment(char quote, char *line)
{
	for (char *at = line; *at; at++) {
		if (quote && *at == '\\' && at[1])
			at++;
		else if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (strchr("\"'", *at))
			quote = *at;
		else if (*at == '#' && (at == line || strchr(XB_BLANKS ";{}", at[-1])))
			return at;
	}
	return NULL;
}

static int take_mark(struct xb_reading *reading, char mark, const char *comment)
{
	struct xb_list_web *web = reading->web;
	char *statement = web->statement;

	statement[web->used] = '\0';
	web->used = 0;
	statement = xb_line_trim(statement);
	if (mark == ';')
		return *statement ? take_statement(reading, statement, comment) : 0;
	if (mark == '{')
		return open_block(reading, statement);
	return *statement ? xb_input_error("'%s' does not end with ';'", XB_SHOW(statement))
			  : close_section(reading);
}

/* Puts what the line has of a statement behind what came, until a mark ends it. */
static int take_nginx(struct xb_reading *reading, char *line)
{
	struct xb_list_web *web = reading->web;
	char *mark = find_comment(web->quote, line);
	const char *comment = mark ? xb_line_trim(mark + 1) : "";
	int error = 0;

	if (mark)
		*mark = '\0';
	for (; !error && *line; line++) {
		if (!web->quote && strchr(";{}", *line)) {
			error = take_mark(reading, *line, comment);
			continue;
		}
		if (web->used + 4 > sizeof(web->statement))
			return xb_input_error("a statement of more than %d bytes", STATEMENT_BYTES);
		if (web->quote && *line == '\\' && line[1])
			web->statement[web->used++] = *line++;
		else if (web->quote)
			web->quote = *line == web->quote ? '\0' : web->quote;
		else if (strchr("\"'", *line))
			web->quote = *line;
		web->statement[web->used++] = *line;
	}
	if (!error && web->used)
		web->statement[web->used++] = ' ';
	return error;
}

/* --- Apache --- */

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
		struct access access = {.allows = allows,
					.set = NONE,
					.line = reading->file->lines,
					.text = shown,
					.next = NONE};
		struct xb_span span;

		if (*word == '#')
			return xb_input_error("Apache takes no comment behind a directive");
		if (!strcasecmp(word, "all")) {
			error = add_access(reading, &access);
		} else if (!strncasecmp(word, "::ffff:", 7)) {
			access.condition = "an IPv4 address as IPv6";
			error = add_access(reading, &access);
		} else if (xb_line_looks_like_address(word)) {
			error = read_address(reading, word, &span);
			error = error ? error : add_address(reading, &access, &span, "");
		} else {
			access.condition = !strncasecmp(word, "env=", 4) ? "a variable" : "a name";
			error = add_access(reading, &access);
		}
	}
	return error;
}

static int take_order(struct xb_reading *reading, const char *shown, char *rest)
{
	const char *word = xb_line_word(&rest);
	struct section *section = current(reading->web);

	if (!word || xb_line_word(&rest) ||
	    (strcasecmp(word, "deny,allow") != 0 && strcasecmp(word, "allow,deny") != 0 &&
	     strcasecmp(word, "mutual-failure") != 0))
		return xb_input_error("'%s' is not an order that Apache has", shown);
	section->has_order = true;
	section->deny_last = strcasecmp(word, "deny,allow") != 0;
	return 0;
}

static int add_node(struct xb_reading *reading, const struct node *node, uint32_t *number)
{
	struct xb_list_web *web = reading->web;
	int error = may_grow(reading, web->node_count == web->node_room);
	struct node *parent;

	if (!error)
		error = xb_array_grow(&web->nodes, &web->node_room, web->node_count + 1,
				      sizeof(*node));
	if (error)
		return error;
	*number = (uint32_t)web->node_count;
	web->nodes[web->node_count++] = *node;
	if (node->parent == NONE)
		return 0;
	parent = &web->nodes[node->parent];
	if (parent->first == NONE)
		parent->first = *number;
	else
		web->nodes[parent->last].next = *number;
	parent->last = *number;
	return 0;
}

/* Behind a line of the section that says what is required: where it belongs. */
static int need_group(struct xb_reading *reading, const char *shown)
{
	struct section *section = current(reading->web);
	const struct node any = {.kind = ANY,
				 .parent = NONE,
				 .first = NONE,
				 .last = NONE,
				 .next = NONE,
				 .line = reading->file->lines,
				 .text = shown};
	uint32_t number = 0;
	int error;

	if (section->root != NONE)
		return 0;
	error = add_node(reading, &any, &number);
	section = current(reading->web);
	section->root = section->group = number;
	return error;
}

static int open_group(struct xb_reading *reading, int kind, const char *shown)
{
	struct node group = {.kind = kind,
			     .first = NONE,
			     .last = NONE,
			     .next = NONE,
			     .line = reading->file->lines,
			     .text = shown};
	unsigned int depth = 0;
	uint32_t number = 0;
	int error = need_group(reading, shown);

	if (error)
		return error;
	group.parent = current(reading->web)->group;
	if (kind == NEITHER && reading->web->nodes[group.parent].kind == ANY)
		return xb_input_error("<RequireNone> has no effect in <RequireAny>");
	for (uint32_t at = group.parent; at != NONE; at = reading->web->nodes[at].parent)
		depth++;
	if (depth > MOST_DEPTH)
		return xb_input_error("more than %d sections in each other", MOST_DEPTH);
	error = add_node(reading, &group, &number);
	current(reading->web)->group = number;
	return error;
}

static int close_group(struct xb_reading *reading)
{
	struct section *section = current(reading->web);
	const struct node *group =
		section->group == NONE ? NULL : &reading->web->nodes[section->group];
	bool positive = false;

	if (!group || group->parent == NONE)
		return xb_input_error("the end of a section that has no beginning");
	for (uint32_t at = group->first; at != NONE; at = reading->web->nodes[at].next)
		positive |=
			!reading->web->nodes[at].negated && reading->web->nodes[at].kind != NEITHER;
	if (!positive)
		return xb_input_error(
			"the section requires nothing, or only that something is not");
	section->group = group->parent;
	return 0;
}

/* Behind `Require [not] ip` */
static int take_required(struct xb_reading *reading, struct node *node, char *rest)
{
	const char *word;
	int error = xb_firewall_add_set(reading->web->firewall, &node->set);

	if (!error && !rest[strspn(rest, XB_BLANKS)])
		return xb_input_error("'%s' names nobody", node->text);
	while (!error && (word = take_word(&rest))) {
		struct xb_span span;

		error = read_address(reading, word, &span);
		if (!error)
			error = add_source(reading, node->set, &span, "");
		if (!error)
			error = xb_sources_add(&node->sources, &span, 0);
	}
	return error;
}

static int take_require(struct xb_reading *reading, const char *shown, char *rest)
{
	struct node node = {.kind = SOMETHING,
			    .first = NONE,
			    .last = NONE,
			    .next = NONE,
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
	node.parent = current(reading->web)->group;
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
	int error =
		open_section(reading, there == 1 ? NULL : "how Apache was built or begun", shown);
	struct section *section = &reading->web->sections[reading->web->current];

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
		error = open_section(reading, tags[i].condition, shown);
		if (!error)
			current(reading->web)->adds = !strncasecmp(name, "Limit", 5);
		return error;
	}
	return open_section(reading, "a condition", shown);
}

static int close_tag(struct xb_reading *reading, const char *line)
{
	static const char *const groups[] = {"</RequireAll>", "</RequireAny>", "</RequireNone>"};

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (!strcasecmp(line, groups[i]))
			return reading->web->sections[reading->web->current].skipped
				       ? 0
				       : close_group(reading);
	return close_section(reading);
}

static int take_apache(struct xb_reading *reading, char *line)
{
	const char *shown = show(reading, line);
	char *rest = line, *word;

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
		return strcasestr(rest, "any") ? let_pass(reading, "a password", shown) : 0;
	if (!strcasecmp(word, "AuthMerging"))
		return strcasestr(rest, "off") ? 0 : let_pass(reading, "rules around it", shown);
	if (!strncasecmp(word, "Include", 7))
		return xb_input_error("there may be rules in another file: '%s'", shown);
	if (!strncasecmp(word, "RemoteIP", 8))
		return xb_input_error("'%s': sources are what a header says, not who sends packets",
				      shown);
	return 0;
}

/* --- what is refused --- */

static int add_rule(struct xb_list_web *web, uint32_t chain, struct xb_firewall_rule *rule)
{
	rule->families = XB_FAMILIES;
	return xb_firewall_add_rule(web->firewall, chain, 0, rule);
}

static int add_for_all(struct xb_list_web *web, uint32_t chain, bool allows, const char *condition,
		       const struct section *section)
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
static int put_access(struct xb_list_web *web, const struct section *section, uint32_t chain,
		      const char *condition, enum which which)
{
	int error = 0;

	for (uint32_t at = section->first; !error && at != NONE; at = web->access[at].next) {
		const struct access *access = &web->access[at];
		struct xb_firewall_rule rule = {.verdict = access->allows ? XB_FIREWALL_ACCEPT
									  : XB_FIREWALL_DROP,
						.matches[0].set = access->set,
						.match_count = access->set != NONE,
						.condition = condition ?: access->condition,
						.again = which & AGAIN,
						.line = access->line,
						.text = access->text};

		if (which & (access->allows ? ALLOWING : DENYING))
			error = add_rule(web, chain, &rule);
	}
	return error;
}

static bool has_access(const struct section *section)
{
	return section->first != NONE || section->has_order;
}

/* The section with whose rules those of this one hold together; itself, if there is none. */
static const struct section *around(const struct xb_list_web *web, const struct section *section)
{
	while (section->adds)
		section = &web->sections[web->sections[section->parent].self];
	return section;
}

/* Apache asks those of one kind, then of the other, in whatever order the lines are. */
static int put_ordered(struct xb_list_web *web, const struct section *section, uint32_t chain)
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
static int put_added(struct xb_list_web *web, const struct section *section, uint32_t chain)
{
	const struct section *outer = around(web, section);
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

static int put_section_access(struct xb_list_web *web, const struct section *section)
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
	const struct node
		*condition; /* one that asks for something else than the source; NULL: none */
};

static int find_required(const struct xb_list_web *web, const struct node *node,
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
static int find_leaf(const struct node *node, struct required *required)
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
static int find_parts(const struct xb_list_web *web, const struct node *node, struct required *sum)
{
	int error = 0;

	for (uint32_t at = node->first; !error && at != NONE; at = web->nodes[at].next) {
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

static int find_required(const struct xb_list_web *web, const struct node *node,
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
static int put_named(struct xb_list_web *web, uint32_t chain, const struct node *node, bool neither)
{
	struct xb_firewall_rule rule = {.verdict = XB_FIREWALL_DROP,
					.matches[0].set = node->set,
					.match_count = 1,
					.line = node->line,
					.text = node->text};
	int error = 0;

	if (node->kind == ADDRESSES && node->negated != neither)
		return add_rule(web, chain, &rule);
	for (uint32_t at = node->first; node->kind >= ALL && !error && at != NONE;
	     at = web->nodes[at].next)
		error = put_named(web, chain, &web->nodes[at], node->kind == NEITHER);
	return error;
}

/* What is required may be required, or not: everybody may pass, and some may be refused. */
static int put_perhaps(struct xb_list_web *web, uint32_t chain, const struct section *section)
{
	struct xb_firewall_rule rule = {.verdict = XB_FIREWALL_DROP,
					.condition = section->condition,
					.line = section->line,
					.text = section->text};
	int error = add_rule(web, chain, &rule);

	return error ? error : add_for_all(web, chain, true, NULL, section);
}

static int put_section_required(struct xb_list_web *web, const struct section *section)
{
	const struct node *root = section->root == NONE ? NULL : &web->nodes[section->root];
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
		const struct section *section = &web->sections[i];
		const struct section *parent = &web->sections[section->parent];
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
	if (web->current)
		return xb_input_error("the file ends within '%s' of line %llu",
				      web->sections[web->current].text,
				      (unsigned long long)web->sections[web->current].line);
	web->statement[web->used] = '\0';
	if (web->statement[strspn(web->statement, XB_BLANKS)])
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

/* The lines of nginx end with a mark, or go on; those of Apache are a directive each. */
static bool is_of_nginx(char *line)
{
	const char *comment = find_comment('\0', line);
	size_t size = comment ? (size_t)(comment - line) : strlen(line);

	while (size && strchr(XB_BLANKS, line[size - 1]))
		size--;
	return size && strchr(";{}", line[size - 1]);
}

static int parse_deny(struct xb_reading *reading, char *line)
{
	int error = begin(reading);

	if (error)
		return error;
	if (!reading->web->server)
		reading->web->server = is_of_nginx(line) ? NGINX : APACHE;
	return reading->web->server == NGINX ? take_nginx(reading, line)
					     : take_apache(reading, line);
}

const struct xb_list_format xb_deny_format = {
	"deny", detect_deny, parse_deny, .comments = "#", .strict = true, .finish = finish_deny};
