/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operands stand in front of the options. */
#include "engine/requesttext.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "machine/lifelines.h"
#include "model/policy.h"
#include "model/verdict.h"

static void say_attach(struct xb_line *line, const struct xb_attach_request *attach)
{
	const char *between = " --refuse ";

	xb_line_put(line, "attach");
	for (uint32_t i = 0; i < attach->count; i++)
		xb_line_put(line, " %s", attach->names[i]);
	if (attach->mode != XB_MODE_AUTO)
		xb_line_put(line, " --mode %s", xb_mode_name(attach->mode));
	for (enum xb_lifeline_kind kind = 0; kind < XB_LIFELINE_KINDS; kind++) {
		if (!(attach->refuse & 1U << kind))
			continue;
		xb_line_put(line, "%s%s", between, xb_lifeline_name(kind));
		between = ",";
	}
}

static void say_scope(struct xb_line *line, const struct xb_scope_request *scope)
{
	char text[XB_SCOPE_TEXT];

	xb_line_put(line, "scope %s %s", scope->list, xb_scope_format(&scope->scope, text));
}

/* What is not as it is by itself, besides what a limit cannot do without. */
static void say_limit(struct xb_line *line, const struct xb_limit *limit)
{
	const struct xb_limit *defaults = &xb_limit_defaults;
	bool other4 = limit->bits4 != defaults->bits4, other6 = limit->bits6 != defaults->bits6;
	char rate[XB_LIMIT_RATE_TEXT], text[XB_SCOPE_TEXT], known[XB_LIMIT_KNOWN_TEXT];

	xb_line_put(line, "limit add %s --to %s --rate %s", limit->name,
		    xb_scope_format(&limit->scope, text), xb_limit_format_rate(limit, rate));
	if (limit->burst != xb_limit_burst_for(limit->of, limit->rate, limit->period))
		xb_line_put(line, " --burst %" PRIu64, limit->burst);
	if (other4 || other6)
		xb_line_put(line, " --per ");
	if (other4)
		xb_line_put(line, "%u%s", limit->bits4, other6 ? "," : "");
	if (other6)
		xb_line_put(line, "%u", limit->bits6);
	if (limit->of != defaults->of)
		xb_line_put(line, " --of %s", xb_limit_units[limit->of]);
	if (limit->names)
		xb_line_put(line, " --per name");
	if (!xb_limit_over_is_default(limit))
		xb_line_put(line, " --over %s", xb_limit_over(limit));
	if (limit->capacity != defaults->capacity)
		xb_line_put(line, " --capacity %" PRIu64, limit->capacity);
	if (limit->known != defaults->known)
		xb_line_put(line, " --known %s", xb_limit_format_known(limit, known));
	if (*limit->list)
		xb_line_put(line, " --list %s", limit->list);
	if (limit->longest != limit->timeout)
		xb_line_put(line, " --timeout %u..%u", limit->timeout, limit->longest);
	else if (limit->timeout != defaults->timeout)
		xb_line_put(line, " --timeout %u", limit->timeout);
	if (limit->forgeable)
		xb_line_put(line, " --forgeable");
}

static void say_rotate(struct xb_line *line, const struct xb_rotate_request *rotate)
{
	xb_line_put(line, "rotate");
	if (rotate->rate > 0)
		xb_line_put(line, " --fpr %s", XB_NUMBER(rotate->rate));
	if (rotate->set_capacity)
		xb_line_put(line, " --capacity %" PRIu64, rotate->capacity);
	if (rotate->set_confirm)
		xb_line_put(line, rotate->confirm ? " --confirm" : " --no-confirm");
}

static void say_choice(struct xb_line *line, const struct xb_list_choice *choice)
{
	if (choice->column)
		xb_line_put(line, " --column %s", choice->column);
	if (choice->where)
		xb_line_put(line, " --where %s", choice->where);
	if (choice->json)
		xb_line_put(line, " --json-path %s", choice->json);
	if (choice->set)
		xb_line_put(line, " --set %s", choice->set);
	if (choice->country)
		xb_line_put(line, " --country %s", choice->country);
	if (choice->not_country)
		xb_line_put(line, " --not-country %s", choice->not_country);
	if (choice->continent)
		xb_line_put(line, " --continent %s", choice->continent);
	if (choice->asn)
		xb_line_put(line, " --asn %s", choice->asn);
	if (choice->mmdb)
		xb_line_put(line, " --mmdb-path %s", choice->mmdb);
	if (choice->comment)
		xb_line_put(line, " --comment %s", choice->comment);
	if (choice->bounded)
		xb_line_put(line, " --skip-bad %" PRIu64, choice->most_wrong);
	if (choice->below)
		xb_line_put(line, " --below");
}

static void say_import(struct xb_line *line, const struct xb_import_request *import)
{
	char scope[XB_SCOPE_TEXT];

	xb_line_put(line, "import %s", import->file);
	if (strcmp(import->list, XB_DEFAULT_LIST))
		xb_line_put(line, " --list %s", import->list);
	if (import->judges)
		xb_line_put(line, " --verdict %s", xb_domain_verdict_name(import->verdict));
	if (import->scopes)
		xb_line_put(line, " --scope %s", xb_scope_format(&import->scope, scope));
	if (import->format)
		xb_line_put(line, " --format %s", import->format);
	if (import->zone)
		xb_line_put(line, " --zone %s", import->zone);
	say_choice(line, &import->choice);
	if (import->allows)
		xb_line_put(line, " --exceptions allowlist");
	if (import->replace)
		xb_line_put(line, " --replace");
	if (import->factor > 0)
		xb_line_put(line, " --max-change %s", XB_NUMBER(import->factor));
	if (import->least_entries)
		xb_line_put(line, " --min-entries %" PRIu64, import->least_entries);
	if (import->least_bytes)
		xb_line_put(line, " --min-bytes %" PRIu64, import->least_bytes);
	if (import->end)
		xb_line_put(line, " --expect-end %s", import->end);
	if (import->include_bogons)
		xb_line_put(line, " --include-bogons");
	if (import->force)
		xb_line_put(line, " --force");
}

static void say_request(struct xb_line *line, const struct xb_request *request)
{
	switch (request->kind) {
	case XB_REQUEST_ATTACH:
		return say_attach(line, &request->attach);
	case XB_REQUEST_POLICY:
		return xb_line_put(line, "policy %s%s%s", xb_policy_name(request->policy.policy),
				   request->policy.known ? " --known" : "",
				   request->policy.force ? " --force" : "");
	case XB_REQUEST_VERDICT:
		return xb_line_put(line, "verdict %s %s", request->verdict.list,
				   xb_domain_verdict_name(request->verdict.verdict));
	case XB_REQUEST_ROTATE:
		return say_rotate(line, &request->rotate);
	case XB_REQUEST_IMPORT:
		return say_import(line, &request->import);
	case XB_REQUEST_RESTORE:
		return xb_line_put(line, "restore %s%s", request->restore.file,
				   request->restore.interfaces ? " --interfaces" : "");
	case XB_REQUEST_SCOPE:
		return say_scope(line, &request->scope);
	case XB_REQUEST_LIMIT_ADD:
		return say_limit(line, &request->limit_add);
	case XB_REQUEST_LIMIT_DEL:
		return xb_line_put(line, "limit del %s", request->limit_del);
	case XB_REQUEST_NONE:
	case XB_REQUEST_KINDS:
		break;
	}
}

void xb_request_command(const struct xb_request *request, char *text, size_t size)
{
	struct xb_line line = {text, size, 0};

	text[0] = '\0';
	say_request(&line, request);
	xb_utf8_clean(text);
}
