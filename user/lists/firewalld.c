/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * firewalld: a set of firewalld in XML, as /etc/firewalld/ipsets has them, read by expat. As
 * firewalld does, it passes over entries that are not of the set's family or type, whatever blanks
 * they have.
 */
#include <dlfcn.h>
#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <strings.h>

#include "lists/addresstext.h"
#include "lists/foreign.h"
#include "lists/format.h"
#include "lists/line.h"

#define LIBRARY "libexpat.so.1"

/* What is used of it, loaded with the first such file. */
#define FUNCTIONS(use)                                                                             \
	use(ParserCreate) use(SetUserData) use(SetElementHandler) use(SetCharacterDataHandler)     \
		use(SetStartDoctypeDeclHandler) use(Parse) use(StopParser)                         \
			use(GetCurrentLineNumber) use(GetErrorCode) use(ErrorString)               \
				use(ParserFree)

static struct {
#define DECLARE(name) typeof(&XML_##name) name;
	FUNCTIONS(DECLARE)
#undef DECLARE
	bool loaded;
} expat;

static int load_expat(void)
{
	void *handle = expat.loaded ? NULL : dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (expat.loaded)
		return 0;
	if (!handle)
		return xb_system_error(0, "a list in XML needs libexpat: %s", dlerror());
	expat.loaded = true;
#define FIND(name)                                                                                 \
	*(void **)&expat.name = dlsym(handle, "XML_" #name);                                       \
	expat.loaded = expat.loaded && expat.name;
	FUNCTIONS(FIND)
#undef FIND
	return expat.loaded ? 0 : xb_system_error(0, "%s is of another version", LIBRARY);
}

struct parse {
	struct xb_reading *reading;
	XML_Parser parser;
	bool within;			/* the root */
	bool single;			/* it has addresses, of IPv4 also more */
	bool ipv6, has_family, expires; /* by options of the set */
	char text[2 * XB_ENTRY_TEXT];	/* of the element that began last */
	size_t used;
	int error;
};

static void fail(struct parse *parse, int error)
{
	if (!error || parse->error)
		return;
	parse->error = error;
	expat.StopParser(parse->parser, XML_FALSE);
}

static uint64_t line_of(const struct parse *parse)
{
	return expat.GetCurrentLineNumber(parse->parser);
}

/* attributes: names and values in turn, up to a NULL. */
static const char *find_attribute(const XML_Char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return NULL;
}

static int begin_root(struct parse *parse, const char *name, const XML_Char **attributes)
{
	static const char *const rules[] = {"zone", "policy", "direct"};
	const char *type = find_attribute(attributes, "type");

	parse->within = true;
	if (!strcasecmp(name, "html"))
		return xb_list_check_foreign("<html>");
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (!strcmp(name, rules[i]))
			return xb_input_error("<%s> has rules of firewalld, which may let sources "
					      "pass; its sets are in /etc/firewalld/ipsets",
					      name);
	if (strcmp(name, "ipset") != 0)
		return xb_input_error("XML of <%s>, not an <ipset> of firewalld", XB_SHOW(name));
	if (!type)
		return xb_input_error("the set has no type");
	parse->single = !strcmp(type, "hash:ip");
	return xb_set_check_type(type);
}

/* Of an option that is there twice the first counts. */
static int take_option(struct parse *parse, const XML_Char **attributes)
{
	const char *name = find_attribute(attributes, "name") ?: "",
		   *value = find_attribute(attributes, "value") ?: "";

	if (!strcmp(name, "family")) {
		parse->ipv6 = parse->has_family ? parse->ipv6 : !strcmp(value, "inet6");
		parse->has_family = true;
	} else if (!strcmp(name, "timeout")) {
		parse->expires = strcmp(value, "0") != 0;
	} else if (strcmp(name, "hashsize") && strcmp(name, "maxelem")) {
		return xb_input_error("'%s' is not an option of a set of firewalld", XB_SHOW(name));
	}
	return 0;
}

static void begin_element(void *to, const XML_Char *name, const XML_Char **attributes)
{
	static const char *const known[] = {"ipset", "short", "description", "entry"};
	struct parse *parse = to;

	if (parse->error)
		return;
	parse->used = 0;
	if (!parse->within)
		return fail(parse, begin_root(parse, name, attributes));
	if (!strcmp(name, "option"))
		return fail(parse, take_option(parse, attributes));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i]))
			return;
	fail(parse, xb_input_error("<%s> is not an element of a set of firewalld", XB_SHOW(name)));
}

static void add_text(void *to, const XML_Char *text, int size)
{
	struct parse *parse = to;
	size_t room = sizeof(parse->text) - 1 - parse->used,
	       taken = (size_t)size < room ? (size_t)size : room;

	memcpy(parse->text + parse->used, text, taken);
	parse->used += taken;
}

static int leave_out(struct xb_listfile *file, const char *why)
{
	int error = xb_line_unknown(file, file->lines, "%s", why);

	if (!error)
		xb_error_clear();
	return error;
}

/* What firewalld refuses of what can be read; of IPv6, ipset has no ranges. */
static bool is_refused(const struct parse *parse, const struct xb_span *span)
{
	const char *text = parse->text, *slash = strchr(text, '/');

	if (span->ipv6 && (strchr(text, '-') || (slash && parse->single)))
		return true;
	return (slash && !strcmp(slash, "/0")) || (parse->single && !strcmp(text, "0.0.0.0"));
}

static int take_entry(struct parse *parse)
{
	struct xb_listfile *file = parse->reading->file;
	struct xb_item item = {0};
	struct xb_span span;
	int error;

	file->lines = line_of(parse);
	parse->text[parse->used] = '\0';
	if (strpbrk(parse->text, " \t\n"))
		error = xb_input_error("'%s' has blanks in it", XB_SHOW(parse->text));
	else
		error = xb_addresses_span(file, parse->text, &span);
	if (!error && is_refused(parse, &span))
		error = xb_input_error("firewalld refuses '%s'", XB_SHOW(parse->text));
	if (error == -EINVAL)
		return leave_out(file, xb_error_message());
	return error ? error : xb_span_keep(file, &span, &item, "");
}

static void end_element(void *to, const XML_Char *name)
{
	struct parse *parse = to;

	if (!parse->error && !strcmp(name, "entry"))
		fail(parse, take_entry(parse));
}

/* Entities, which nobody writes into a list, could make it any size. */
static void refuse_doctype(void *to, const XML_Char *name, const XML_Char *system,
			   const XML_Char *public, int internal)
{
	(void)system, (void)public, (void)internal;
	fail(to, !strcasecmp(name, "html")
			 ? xb_list_check_foreign("<html>")
			 : xb_input_error("XML with a DOCTYPE, which a set of firewalld has not"));
}

/* What firewalld passes over once it knows the options. */
static int drop_others(struct parse *parse)
{
	struct xb_listfile *file = parse->reading->file;

	if (parse->expires && file->count)
		return xb_input_error(
			"the set has a timeout, so firewalld reads none of its entries");
	for (size_t i = 0; i < file->count; i++)
		file->items[i].doubtful = xb_entry_is_ipv6(&file->items[i].entry) != parse->ipv6;
	return xb_line_settle(file, "is not of the family of its set");
}

static int read_document(struct xb_reading *reading, char *text, size_t size)
{
	struct parse parse = {.reading = reading};
	int error = load_expat();

	if (error)
		return error;
	parse.parser = expat.ParserCreate(NULL);
	if (!parse.parser)
		return xb_out_of_memory();
	expat.SetUserData(parse.parser, &parse);
	expat.SetElementHandler(parse.parser, begin_element, end_element);
	expat.SetCharacterDataHandler(parse.parser, add_text);
	expat.SetStartDoctypeDeclHandler(parse.parser, refuse_doctype);
	if (expat.Parse(parse.parser, text, (int)size, XML_TRUE) == XML_STATUS_ERROR &&
	    !parse.error)
		parse.error = xb_input_error("not XML: %s",
					     expat.ErrorString(expat.GetErrorCode(parse.parser)));
	reading->file->lines = line_of(&parse);
	error = parse.error ?: drop_others(&parse);
	expat.ParserFree(parse.parser);
	return error;
}

static bool detect_firewalld(const char *line)
{
	return !strncmp(line, "<?xml", 5) || !strncmp(line, "<ipset", 6);
}

const struct xb_list_format xb_firewalld_format = {"firewalld", detect_firewalld, NULL,
						   .comments = "", .document = read_document};
