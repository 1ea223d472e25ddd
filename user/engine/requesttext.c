/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operands stand in front of the options. */
#include "engine/requesttext.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "machine/lifelines.h"
#include "model/policy.h"
#include "model/verdict.h"

struct line {
	char *text;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void say(struct line *line, const char *format, ...)
{
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(line->text + line->used, line->size - line->used, format, arguments);
	va_end(arguments);
	line->used += more > 0 ? (size_t)more : 0;
	if (line->used >= line->size)
		line->used = line->size - 1;
}

static void say_attach(struct line *line, const struct xb_attach_request *attach)
{
	const char *between = " --refuse ";

	say(line, "attach");
	for (uint32_t i = 0; i < attach->count; i++)
		say(line, " %s", attach->names[i]);
	if (attach->mode != XB_MODE_AUTO)
		say(line, " --mode %s", xb_mode_name(attach->mode));
	for (enum xb_lifeline_kind kind = 0; kind < XB_LIFELINE_KINDS; kind++) {
		if (!(attach->refuse & 1U << kind))
			continue;
		say(line, "%s%s", between, xb_lifeline_name(kind));
		between = ",";
	}
}

static void say_scope(struct line *line, const struct xb_scope_request *scope)
{
	char text[XB_SCOPE_TEXT];

	say(line, "scope %s %s", scope->list, xb_scope_format(&scope->scope, text));
}

static void say_rotate(struct line *line, const struct xb_rotate_request *rotate)
{
	say(line, "rotate");
	if (rotate->rate > 0)
		say(line, " --fpr %s", XB_NUMBER(rotate->rate));
	if (rotate->set_capacity)
		say(line, " --capacity %" PRIu64, rotate->capacity);
	if (rotate->set_confirm)
		say(line, rotate->confirm ? " --confirm" : " --no-confirm");
}

static void say_choice(struct line *line, const struct xb_list_choice *choice)
{
	if (choice->column)
		say(line, " --column %s", choice->column);
	if (choice->where)
		say(line, " --where %s", choice->where);
	if (choice->json)
		say(line, " --json-path %s", choice->json);
	if (choice->bounded)
		say(line, " --skip-bad %" PRIu64, choice->most_wrong);
}

static void say_import(struct line *line, const struct xb_import_request *import)
{
	char scope[XB_SCOPE_TEXT];

	say(line, "import %s", import->file);
	if (strcmp(import->list, XB_DEFAULT_LIST))
		say(line, " --list %s", import->list);
	if (import->judges)
		say(line, " --verdict %s", xb_domain_verdict_name(import->verdict));
	if (import->scopes)
		say(line, " --scope %s", xb_scope_format(&import->scope, scope));
	if (import->format)
		say(line, " --format %s", import->format);
	if (import->zone)
		say(line, " --zone %s", import->zone);
	say_choice(line, &import->choice);
	if (import->replace)
		say(line, " --replace");
	if (import->factor > 0)
		say(line, " --max-change %s", XB_NUMBER(import->factor));
	if (import->least_entries)
		say(line, " --min-entries %" PRIu64, import->least_entries);
	if (import->least_bytes)
		say(line, " --min-bytes %" PRIu64, import->least_bytes);
	if (import->end)
		say(line, " --expect-end %s", import->end);
	if (import->include_bogons)
		say(line, " --include-bogons");
	if (import->force)
		say(line, " --force");
}

static void say_request(struct line *line, const struct xb_request *request)
{
	switch (request->kind) {
	case XB_REQUEST_ATTACH:
		return say_attach(line, &request->attach);
	case XB_REQUEST_POLICY:
		return say(line, "policy %s%s%s", xb_policy_name(request->policy.policy),
			   request->policy.known ? " --known" : "",
			   request->policy.force ? " --force" : "");
	case XB_REQUEST_VERDICT:
		return say(line, "verdict %s %s", request->verdict.list,
			   xb_domain_verdict_name(request->verdict.verdict));
	case XB_REQUEST_ROTATE:
		return say_rotate(line, &request->rotate);
	case XB_REQUEST_IMPORT:
		return say_import(line, &request->import);
	case XB_REQUEST_RESTORE:
		return say(line, "restore %s%s", request->restore.file,
			   request->restore.interfaces ? " --interfaces" : "");
	case XB_REQUEST_SCOPE:
		return say_scope(line, &request->scope);
	case XB_REQUEST_NONE:
	case XB_REQUEST_KINDS:
		break;
	}
}

void xb_request_command(const struct xb_request *request, char *text, size_t size)
{
	struct line line = {text, size, 0};

	text[0] = '\0';
	say_request(&line, request);
	xb_utf8_clean(text);
}
