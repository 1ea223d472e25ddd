/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each kind is described once, by a function that passes over its fields to count, write or read
 * them. */
#include "store/requestcodec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "xdp_bloom/layout.h"

struct codec {
	enum { COUNTS, WRITES, READS } does;
	uint8_t *bytes; /* to write to, or what is left to read */
	size_t size;	/* of what is left to read; else of what was passed over */
	bool wrong;	/* what was read */
	bool starved;	/* there is too little memory */
};

static void pass(struct codec *codec, void *field, size_t size)
{
	if (codec->does != READS) {
		if (codec->does == WRITES && size)
			memcpy(codec->bytes + codec->size, field, size);
		codec->size += size;
		return;
	}
	if (codec->wrong || codec->size < size) {
		codec->wrong = true;
		memset(field, 0, size);
		return;
	}
	memcpy(field, codec->bytes, size);
	codec->bytes += size;
	codec->size -= size;
}

static void pass_number(struct codec *codec, uint32_t *number, uint32_t most)
{
	pass(codec, number, sizeof(*number));
	codec->wrong |= *number > most;
}

static void pass_flag(struct codec *codec, bool *flag)
{
	uint8_t byte = *flag;

	pass(codec, &byte, sizeof(byte));
	codec->wrong |= byte > 1;
	*flag = byte == 1;
}

/* 0, or from least to most. */
static void pass_factor(struct codec *codec, double *factor, double least, double most)
{
	pass(codec, factor, sizeof(*factor));
	if (*factor >= least && *factor <= most)
		return;
	codec->wrong |= !(*factor >= 0 && *factor <= 0);
}

/* A text that stays where it is. */
static char *read_text(struct codec *codec, size_t size)
{
	char *text = (char *)codec->bytes;

	if (codec->wrong || codec->size < size || strnlen(text, size) != size - 1) {
		codec->wrong = true;
		return NULL;
	}
	codec->bytes += size;
	codec->size -= size;
	return text;
}

/* How many bytes it has with the NUL at its end, 0 for none, stands in front. */
static void pass_optional_text(struct codec *codec, const char **text)
{
	uint32_t size = *text ? (uint32_t)strlen(*text) + 1 : 0;

	pass_number(codec, &size, UINT32_MAX);
	if (codec->does != READS)
		pass(codec, (void *)(uintptr_t)*text, size);
	else
		*text = size ? read_text(codec, size) : NULL;
}

static void pass_text(struct codec *codec, const char **text)
{
	pass_optional_text(codec, text);
	codec->wrong |= !*text || !**text;
}

static void read_names(struct codec *codec, struct xb_attach_request *attach)
{
	char **names;

	attach->names = NULL;
	/* Each takes more than a byte. */
	codec->wrong |= attach->count > codec->size;
	if (codec->wrong)
		return;
	names = calloc(attach->count, sizeof(*names));
	codec->starved = !names;
	for (uint32_t i = 0; names && i < attach->count; i++) {
		const char *name = NULL;

		pass_text(codec, &name);
		codec->wrong |= name && strlen(name) >= IF_NAMESIZE;
		names[i] = (char *)(uintptr_t)name;
	}
	attach->names = names;
}

static void pass_attach(struct codec *codec, struct xb_attach_request *attach)
{
	uint32_t mode = attach->mode;

	pass_number(codec, &mode, XB_MODE_SKB);
	attach->mode = mode;
	pass_number(codec, &attach->refuse, UINT32_MAX);
	pass_number(codec, &attach->count, UINT32_MAX);
	codec->wrong |= !attach->count;
	if (codec->does == READS)
		return read_names(codec, attach);
	for (uint32_t i = 0; i < attach->count; i++) {
		const char *name = attach->names[i];

		pass_text(codec, &name);
	}
}

static void pass_policy(struct codec *codec, struct xb_policy_request *policy)
{
	uint8_t flags = (uint8_t)(policy->force | policy->known << 1);

	pass_number(codec, &policy->policy, XB_POLICY_ALLOW_ONLY);
	pass(codec, &flags, sizeof(flags));
	codec->wrong |= flags > 3;
	policy->force = flags & 1;
	policy->known = flags & 2;
}

static void pass_verdict(struct codec *codec, struct xb_verdict_request *verdict)
{
	pass_text(codec, &verdict->list);
	pass_number(codec, &verdict->verdict, XB_DOMAIN_VERDICTS - 1);
}

static void pass_scope(struct codec *codec, struct xb_scope *scope)
{
	if (codec->does == READS)
		*scope = (struct xb_scope){0};
	pass_number(codec, &scope->count, XB_SCOPE_SERVICES);
	if (codec->wrong)
		return;
	pass(codec, scope->service, scope->count * sizeof(*scope->service));
	codec->wrong |= !xb_scope_is_sound(scope);
}

static void pass_scope_of_list(struct codec *codec, struct xb_scope_request *scope)
{
	pass_text(codec, &scope->list);
	pass_scope(codec, &scope->scope);
}

static void pass_limit(struct codec *codec, struct xb_limit *limit)
{
	uint32_t of = limit->of;

	if (codec->does == READS)
		*limit = (struct xb_limit){0};
	pass(codec, limit->name, sizeof(limit->name));
	pass_flag(codec, &limit->counts);
	pass(codec, &limit->bits4, sizeof(limit->bits4));
	pass(codec, &limit->bits6, sizeof(limit->bits6));
	pass_number(codec, &of, XB_LIMIT_UNITS - 1);
	limit->of = of;
	pass(codec, &limit->period, sizeof(limit->period));
	pass(codec, &limit->rate, sizeof(limit->rate));
	pass(codec, &limit->burst, sizeof(limit->burst));
	pass(codec, &limit->capacity, sizeof(limit->capacity));
	pass_scope(codec, &limit->scope);
	pass(codec, limit->list, sizeof(limit->list));
	pass(codec, &limit->timeout, sizeof(limit->timeout));
	pass(codec, &limit->longest, sizeof(limit->longest));
	pass_flag(codec, &limit->forgeable);
	pass_flag(codec, &limit->truncates);
	pass_flag(codec, &limit->names);
	pass(codec, &limit->known, sizeof(limit->known));
	codec->wrong |= !xb_limit_is_sound(limit);
}

static void pass_rotate(struct codec *codec, struct xb_rotate_request *rotate)
{
	pass_factor(codec, &rotate->rate, 0, 1);
	pass_flag(codec, &rotate->set_capacity);
	pass(codec, &rotate->capacity, sizeof(rotate->capacity));
	pass_flag(codec, &rotate->set_confirm);
	pass_flag(codec, &rotate->confirm);
}

#define JUDGES	1
#define SCOPES	2
#define CHOOSES 4
#define ZONED	8
#define ALLOWS	16

static bool has_choice(const struct xb_list_choice *choice)
{
	return choice->column || choice->where || choice->json || choice->set || choice->comment ||
	       choice->bounded || choice->country || choice->not_country || choice->continent ||
	       choice->asn || choice->mmdb || choice->below;
}

/* What the record has, a bit each. */
static uint8_t pass_given(struct codec *codec, struct xb_import_request *import)
{
	uint8_t given = (uint8_t)((import->judges ? JUDGES : 0) | (import->scopes ? SCOPES : 0) |
				  (has_choice(&import->choice) ? CHOOSES : 0) |
				  (import->zone ? ZONED : 0) | (import->allows ? ALLOWS : 0));

	pass(codec, &given, sizeof(given));
	if (given & ~(JUDGES | SCOPES | CHOOSES | ZONED | ALLOWS))
		codec->wrong = true;
	import->judges = given & JUDGES;
	import->scopes = given & SCOPES;
	import->allows = given & ALLOWS;
	return given;
}

static void pass_choice(struct codec *codec, struct xb_list_choice *choice)
{
	pass_optional_text(codec, &choice->column);
	pass_optional_text(codec, &choice->where);
	pass_optional_text(codec, &choice->json);
	pass_optional_text(codec, &choice->set);
	pass_optional_text(codec, &choice->comment);
	pass_optional_text(codec, &choice->country);
	pass_optional_text(codec, &choice->not_country);
	pass_optional_text(codec, &choice->continent);
	pass_optional_text(codec, &choice->asn);
	pass_optional_text(codec, &choice->mmdb);
	pass_flag(codec, &choice->bounded);
	pass(codec, &choice->most_wrong, sizeof(choice->most_wrong));
	pass_flag(codec, &choice->below);
	codec->wrong |= !has_choice(choice);
}

static void pass_import(struct codec *codec, struct xb_import_request *import)
{
	uint8_t given;

	pass_text(codec, &import->file);
	pass_text(codec, &import->list);
	pass_optional_text(codec, &import->format);
	pass_optional_text(codec, &import->end);
	pass_flag(codec, &import->replace);
	pass_flag(codec, &import->include_bogons);
	pass_flag(codec, &import->force);
	given = pass_given(codec, import);
	pass_number(codec, &import->verdict, XB_DOMAIN_VERDICTS - 1);
	pass(codec, &import->least_entries, sizeof(import->least_entries));
	pass(codec, &import->least_bytes, sizeof(import->least_bytes));
	pass_factor(codec, &import->factor, 1, 1e9);
	if (import->scopes)
		pass_scope(codec, &import->scope);
	if (given & ZONED)
		pass_text(codec, &import->zone);
	if (given & CHOOSES)
		pass_choice(codec, &import->choice);
}

static void pass_restore(struct codec *codec, struct xb_restore_request *restore)
{
	pass_text(codec, &restore->file);
	pass_flag(codec, &restore->interfaces);
}

static void pass_request(struct codec *codec, struct xb_request *request)
{
	uint32_t kind = request->kind;

	pass_number(codec, &kind, XB_REQUEST_KINDS - 1);
	request->kind = codec->wrong ? XB_REQUEST_NONE : kind;
	switch (request->kind) {
	case XB_REQUEST_ATTACH:
		return pass_attach(codec, &request->attach);
	case XB_REQUEST_POLICY:
		return pass_policy(codec, &request->policy);
	case XB_REQUEST_VERDICT:
		return pass_verdict(codec, &request->verdict);
	case XB_REQUEST_ROTATE:
		return pass_rotate(codec, &request->rotate);
	case XB_REQUEST_IMPORT:
		return pass_import(codec, &request->import);
	case XB_REQUEST_RESTORE:
		return pass_restore(codec, &request->restore);
	case XB_REQUEST_SCOPE:
		return pass_scope_of_list(codec, &request->scope);
	case XB_REQUEST_LIMIT_ADD:
		return pass_limit(codec, &request->limit_add);
	case XB_REQUEST_LIMIT_DEL:
		return pass_text(codec, &request->limit_del);
	case XB_REQUEST_NONE:
	case XB_REQUEST_KINDS:
		break;
	}
	codec->wrong = true;
}

size_t xb_request_size(const struct xb_request *request)
{
	struct codec codec = {.does = COUNTS};
	struct xb_request copy = *request;

	pass_request(&codec, &copy);
	return codec.size;
}

bool xb_request_encode(const struct xb_request *request, uint8_t *bytes)
{
	struct codec codec = {.does = WRITES, .bytes = bytes};
	struct xb_request copy = *request;

	pass_request(&codec, &copy);
	return !codec.wrong;
}

int xb_request_decode(uint8_t *bytes, size_t size, struct xb_request *request)
{
	struct codec codec = {.does = READS, .bytes = bytes, .size = size};

	*request = (struct xb_request){0};
	pass_request(&codec, request);
	if (!codec.starved && !codec.wrong && !codec.size)
		return 0;
	xb_request_clear(request);
	return codec.starved ? xb_out_of_memory() : -EINVAL;
}

void xb_request_clear(struct xb_request *request)
{
	if (request->kind == XB_REQUEST_ATTACH)
		free((void *)(uintptr_t)request->attach.names);
	*request = (struct xb_request){0};
}
