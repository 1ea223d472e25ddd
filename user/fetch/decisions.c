/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jansson reads one decision after another, since a tree of them all takes ten times the memory of
 * the text. Only what stands around them is read here. */
#include "fetch/decisions.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/duration.h"

struct reading {
	const char *at, *end;
	decisions_take *take;
	void *context;
	struct fetch_left_out *left_out;
	const char *wrong; /* NULL: nothing yet */
};

static void skip_blanks(struct reading *reading)
{
	while (reading->at < reading->end && memchr(" \t\r\n", *reading->at, 4))
		reading->at++;
}

static bool fail(struct reading *reading, const char *wrong)
{
	reading->wrong = wrong;
	return false;
}

static bool is_next(struct reading *reading, char mark)
{
	skip_blanks(reading);
	if (reading->at == reading->end || *reading->at != mark)
		return false;
	reading->at++;
	return true;
}

static bool need(struct reading *reading, char mark)
{
	return is_next(reading, mark) || fail(reading, "the answer is no JSON, or ends early");
}

/* The next value, which the caller frees; NULL: there is none. */
static json_t *next_value(struct reading *reading)
{
	json_error_t error;
	json_t *value;

	skip_blanks(reading);
	value = json_loadb(reading->at, (size_t)(reading->end - reading->at),
			   JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	if (value)
		reading->at += error.position;
	else
		fail(reading, "the answer is no JSON, or ends early");
	return value;
}

/* NULL: it is no text, or has a NUL within. */
static const char *text_of(const json_t *decision, const char *key)
{
	const json_t *value = json_object_get(decision, key);
	const char *text = json_string_value(value);

	return text && strlen(text) == json_string_length(value) ? text : NULL;
}

/* Whether it can be an address or a prefix; which one, bloomd finds out. */
static bool looks_like_address(const char *value)
{
	size_t size = strlen(value);

	return size && size < FETCH_VALUE_MAX && strspn(value, "0123456789abcdefABCDEF.:/") == size;
}

/* Which of the two it is, the value says: what is imported as "Ip" may be a prefix. */
static bool is_of_addresses(const json_t *decision)
{
	const char *scope = text_of(decision, "scope");

	return !scope || !strcasecmp(scope, "ip") || !strcasecmp(scope, "range");
}

static bool take_decision(struct reading *reading, const json_t *decision, bool deleted)
{
	const char *type = text_of(decision, "type"), *value = text_of(decision, "value");
	const char *duration = text_of(decision, "duration");
	const json_t *id = json_object_get(decision, "id");
	struct fetch_record record = {.deleted = deleted};
	struct fetch_left_out none = {0}, *left_out = deleted ? &none : reading->left_out;

	if (type && strcasecmp(type, "ban") != 0) {
		left_out->other_type++;
	} else if (!is_of_addresses(decision)) {
		left_out->other_scope++;
	} else if (json_is_true(json_object_get(decision, "simulated"))) {
		left_out->simulated++;
	} else if (!type || !value || !looks_like_address(value) || !duration ||
		   !xb_duration_parse(duration, strlen(duration), &record.duration) ||
		   !json_is_integer(id) || json_integer_value(id) < 0) {
		left_out->unreadable++;
	} else {
		record.id = (uint64_t)json_integer_value(id);
		strcpy(record.value, value);
		return reading->take(reading->context, &record) ||
		       fail(reading, "the decisions have no room");
	}
	return true;
}

static bool read_array(struct reading *reading, bool deleted)
{
	bool well = true;

	if (is_next(reading, ']'))
		return true;
	do {
		json_t *decision = next_value(reading);

		well = decision && take_decision(reading, decision, deleted);
		json_decref(decision);
	} while (well && is_next(reading, ','));
	return well && need(reading, ']');
}

static bool skip_value(struct reading *reading)
{
	json_t *value = next_value(reading);

	json_decref(value);
	return value;
}

/* null, or decisions. */
static bool read_part(struct reading *reading, bool deleted)
{
	json_t *value;
	bool null;

	if (is_next(reading, '['))
		return read_array(reading, deleted);
	value = next_value(reading);
	null = json_is_null(value);
	json_decref(value);
	return null || (value ? fail(reading, "the answer has no decisions") : false);
}

static bool read_member(struct reading *reading, bool seen[2])
{
	json_t *key = next_value(reading);
	const char *name = json_string_value(key);
	int part = !name ? -1 : !strcmp(name, "new") ? 0 : !strcmp(name, "deleted") ? 1 : 2;

	json_decref(key);
	if (part < 0)
		return fail(reading, "the answer is no JSON, or ends early");
	if (!need(reading, ':'))
		return false;
	if (part == 2)
		return skip_value(reading);
	if (seen[part])
		return fail(reading, "the answer has two lists of one kind");
	seen[part] = true;
	return read_part(reading, part);
}

static bool read_all(struct reading *reading)
{
	bool seen[2] = {false, false};

	if (!need(reading, '{'))
		return false;
	if (!is_next(reading, '}')) {
		do
			if (!read_member(reading, seen))
				return false;
		while (is_next(reading, ','));
		if (!need(reading, '}'))
			return false;
	}
	skip_blanks(reading);
	if (reading->at != reading->end)
		return fail(reading, "something follows the answer");
	return (seen[0] && seen[1]) || fail(reading, "the answer has no decisions");
}

const char *decisions_read(const char *text, size_t size, decisions_take *take, void *context,
			   struct fetch_left_out *left_out)
{
	struct reading reading = {.at = text,
				  .end = text + size,
				  .take = take,
				  .context = context,
				  .left_out = left_out};

	*left_out = (struct fetch_left_out){0};
	read_all(&reading);
	return reading.wrong;
}

static bool write_record(void *context, const struct fetch_record *record)
{
	return fwrite(record, sizeof(*record), 1, context) == 1;
}

static const char *convert(const char *text, size_t size, FILE *out, uint64_t *bytes)
{
	struct fetch_records head = {.magic = FETCH_RECORDS_MAGIC};
	const char *wrong;
	long end;

	if (fwrite(&head, sizeof(head), 1, out) != 1)
		return "cannot keep the decisions";
	wrong = decisions_read(text, size, write_record, out, &head.left_out);
	if (wrong)
		return wrong;
	end = ftell(out);
	if (end < (long)sizeof(head))
		return "cannot keep the decisions";
	head.count = ((uint64_t)end - sizeof(head)) / sizeof(struct fetch_record);
	if (fseek(out, 0, SEEK_SET) || fwrite(&head, sizeof(head), 1, out) != 1 || fflush(out))
		return "cannot keep the decisions";
	*bytes = (uint64_t)end;
	return NULL;
}

const char *decisions_convert(int from, int to, uint64_t *bytes)
{
	FILE *out = fdopen(dup(to), "w");
	const char *wrong;
	struct stat about;
	char *text;

	if (!out)
		return "out of memory";
	if (fstat(from, &about) || !about.st_size) {
		fclose(out);
		return "the answer is empty";
	}
	text = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, from, 0);
	wrong = text == MAP_FAILED ? "out of memory"
				   : convert(text, (size_t)about.st_size, out, bytes);
	if (text != MAP_FAILED)
		munmap(text, (size_t)about.st_size);
	return fclose(out) && !wrong ? "cannot keep the decisions" : wrong;
}
