/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/feeds/feedconfig.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "bloomd/base/config.h"
#include "fetch/wire.h"
#include "lists/columnchoice.h"
#include "lists/jsonpath.h"
#include "lists/table.h"
#include "model/verdict.h"
#include "store/lists.h"

/* GCC 12's analyzer loses sight of what hangs on a feed of the configuration, and calls it leaked.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

#define EVERY	   3600
#define TIME_LIMIT 60
#define MAX_BYTES  ((uint64_t)64 << 20)
#define SHARE	   0.05

int feed_config_begin(struct config *config, const char *name)
{
	struct feed_config **at = &config->feeds;

	if (!xb_feed_name_ok(name))
		return xb_input_error("invalid feed name '%s': up to %d letters, digits, '.', '_' "
				      "and '-', a letter or digit first",
				      XB_SHOW(name), XB_FEED_NAME_MAX);
	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	if (!*at)
		*at = calloc(1, sizeof(**at));
	if (!*at)
		return xb_out_of_memory();
	config->feed = *at;
	if (config->feed->name[0])
		return 0;
	strcpy(config->feed->name, name);
	config->feed->every = EVERY;
	config->feed->time_limit = TIME_LIMIT;
	config->feed->max_bytes = MAX_BYTES;
	config->feed->guard.share = SHARE;
	return 0;
}

void feed_config_free(struct feed_config *feeds)
{
	while (feeds) {
		struct feed_config *next = feeds->next;

		free(feeds->url);
		free(feeds->list);
		free(feeds->format);
		free(feeds->zone);
		free(feeds->column);
		free(feeds->where);
		free(feeds->json);
		free(feeds->end);
		free(feeds->ca);
		free((struct xb_entry *)(uintptr_t)feeds->guard.canaries);
		xb_arena_free(&feeds->names);
		free(feeds);
		feeds = next;
	}
}

const struct feed_config *feed_config_find(const struct config *config, const char *name)
{
	const struct feed_config *feed = config->feeds;

	while (feed && strcmp(feed->name, name))
		feed = feed->next;
	return feed;
}

const char *feed_config_list(const struct feed_config *feed)
{
	return feed->list ?: feed->name;
}

struct xb_list_choice feed_config_choice(const struct feed_config *feed)
{
	return (struct xb_list_choice){.column = feed->column,
				       .where = feed->where,
				       .json = feed->json,
				       .bounded = feed->bounded,
				       .most_wrong = feed->most_wrong};
}

bool feed_config_fills(const struct config *config, const char *list)
{
	const struct feed_config *feed = config->feeds;

	while (feed && strcmp(feed_config_list(feed), list) != 0)
		feed = feed->next;
	return feed;
}

static bool has_scheme(const char *value, const char *scheme)
{
	return !strncasecmp(value, scheme, strlen(scheme)) && value[strlen(scheme)];
}

static int set_url(struct config *config, const char *value)
{
	if (strlen(value) >= FETCH_URL_MAX || !wire_text_ok(value, FETCH_URL_MAX) ||
	    strchr(value, ' '))
		return xb_input_error("a URL has no blanks, only ASCII, and less than %d bytes",
				      FETCH_URL_MAX);
	if (!has_scheme(value, "https://") && !has_scheme(value, "http://") &&
	    strncmp(value, "file:///", 8) != 0)
		return xb_input_error("a URL begins with https://, http:// or file:///, not '%s'",
				      XB_SHOW(value));
	return config_set_text(&config->feed->url, value);
}

static int set_list(struct config *config, const char *value)
{
	return config_set_list(&config->feed->list, value);
}

static int set_format(struct config *config, const char *value)
{
	struct xb_reading reading = {0};
	int error = xb_listformat_choose(&reading, value);

	return error ? error : config_set_text(&config->feed->format, value);
}

static int set_zone(struct config *config, const char *value)
{
	uint8_t form[XB_NAME_BYTES], used;
	int error = *value == '=' ? xb_input_error("zone takes a domain, not '%s'", XB_SHOW(value))
				  : xb_name_parse(value, strlen(value), form, &used);

	return error ? error : config_set_text(&config->feed->zone, value);
}

/* Checked here, so that a wrong one shows when the configuration is read. */
static int set_column(struct config *config, const char *value)
{
	struct xb_column_choice choice;
	int error = xb_columns_parse(value, NULL, &choice);

	return error ? error : config_set_text(&config->feed->column, value);
}

static int set_where(struct config *config, const char *value)
{
	struct xb_column_choice choice;
	int error = xb_columns_parse("1", value, &choice);

	return error ? error : config_set_text(&config->feed->where, value);
}

static int set_json(struct config *config, const char *value)
{
	int error = xb_json_paths_check(value);

	return error ? error : config_set_text(&config->feed->json, value);
}

static int set_end(struct config *config, const char *value)
{
	return config_set_text(&config->feed->end, value);
}

static int set_ca(struct config *config, const char *value)
{
	return config_set_file(&config->feed->ca, value, FETCH_PATH_MAX);
}

static int set_verdict(struct config *config, const char *value)
{
	config->feed->judges = true;
	return xb_domain_verdict_parse(value, &config->feed->verdict);
}

static int set_scope(struct config *config, const char *value)
{
	config->feed->scopes = true;
	return xb_scope_parse(value, &config->feed->scope);
}

#define YEAR ((uint32_t)366 * 86400)

static int set_every(struct config *config, const char *value)
{
	return config_set_seconds(value, YEAR, &config->feed->every);
}

static int set_time_limit(struct config *config, const char *value)
{
	return config_set_seconds(value, 3600, &config->feed->time_limit);
}

static int set_timeout(struct config *config, const char *value)
{
	return config_set_seconds(value, 10 * YEAR, &config->feed->timeout);
}

static int set_max_age(struct config *config, const char *value)
{
	return config_set_seconds(value, 10 * YEAR, &config->feed->max_age);
}

static int set_max_bytes(struct config *config, const char *value)
{
	return config_set_bytes(value, &config->feed->max_bytes);
}

static int set_min_entries(struct config *config, const char *value)
{
	return config_set_number(value, UINT32_MAX, &config->feed->least_entries);
}

static int set_max_entries(struct config *config, const char *value)
{
	return config_set_number(value, UINT32_MAX, &config->feed->guard.most_entries);
}

/* Other than counts elsewhere, 0 means something. */
static int set_skip_bad(struct config *config, const char *value)
{
	config->feed->bounded = true;
	config->feed->most_wrong = 0;
	return strcmp(value, "0") ? config_set_number(value, UINT32_MAX, &config->feed->most_wrong)
				  : 0;
}

static int set_max_change(struct config *config, const char *value)
{
	return config_set_factor(value, &config->feed->factor);
}

static int set_max_share(struct config *config, const char *value)
{
	return config_set_share(value, &config->feed->guard.share);
}

static int add_canary(struct feed_config *feed, const char *word)
{
	struct xb_feed_guard *guard = &feed->guard;
	struct xb_entry *canaries = (struct xb_entry *)(uintptr_t)guard->canaries, entry;
	uint8_t form[XB_NAME_BYTES];
	int error = xb_entry_parse(word, strlen(word), form, &entry, NULL);

	if (error)
		return error;
	if (xb_entry_is_name(&entry)) {
		entry.name = xb_arena_copy(&feed->names, form, entry.length);
		if (!entry.name)
			return xb_out_of_memory();
	}
	error = xb_array_grow(&canaries, &feed->canary_room, guard->canary_count + 1,
			      sizeof(*canaries));
	guard->canaries = canaries;
	if (!error)
		canaries[guard->canary_count++] = entry;
	return error;
}

/* May stand there again and again, and may have several words. */
static int set_canary(struct config *config, const char *value)
{
	char *copy = strdup(value), *rest = NULL;
	int error = copy ? 0 : xb_out_of_memory();

	if (copy)
		for (char *word = strtok_r(copy, " ,\t", &rest); word && !error;
		     word = strtok_r(NULL, " ,\t", &rest))
			error = add_canary(config->feed, word);
	free(copy);
	return error;
}

static int set_on_removal(struct config *config, const char *value)
{
	return config_set_choice("on-removal", value, "keep", "flush", &config->feed->flush);
}

static int set_accept_unframed(struct config *config, const char *value)
{
	return config_set_choice("accept-unframed", value, "no", "yes",
				 &config->feed->accept_unframed);
}

const struct config_key feed_keys[] = {
	{"url", set_url},
	{"every", set_every},
	{"list", set_list},
	{"format", set_format},
	{"zone", set_zone},
	{"column", set_column},
	{"where", set_where},
	{"json-path", set_json},
	{"skip-bad", set_skip_bad},
	{"verdict", set_verdict},
	{"scope", set_scope},
	{"timeout", set_timeout},
	{"min-entries", set_min_entries},
	{"max-entries", set_max_entries},
	{"max-change", set_max_change},
	{"max-share", set_max_share},
	{"canary", set_canary},
	{"max-bytes", set_max_bytes},
	{"max-age", set_max_age},
	{"time-limit", set_time_limit},
	{"expect-end", set_end},
	{"accept-unframed", set_accept_unframed},
	{"on-removal", set_on_removal},
	{"ca", set_ca},
	{0},
};

/* What belongs to the format has to fit it, and each other. */
static int check_choice(const struct feed_config *feed)
{
	struct xb_list_choice choice = feed_config_choice(feed);
	struct xb_reading reading = {.choice = &choice};
	int error = feed->format ? xb_listformat_choose(&reading, feed->format) : 0;

	if (!error)
		error = xb_listformat_begin(&reading);
	return error ? xb_error_prefix(error, "[feed %s]", feed->name) : 0;
}

static int check_one(const struct feed_config *feed)
{
	const char *list = feed_config_list(feed);
	int error = check_choice(feed);

	if (error)
		return error;
	if (!feed->url)
		return xb_input_error("[feed %s] has no url", feed->name);
	if (!strcmp(list, XB_LIST_ALLOW))
		return xb_input_error("[feed %s] has the name of the allowlist's own list: give it "
				      "a list of another name",
				      feed->name);
	for (const struct feed_config *other = feed->next; other; other = other->next)
		if (!strcmp(list, feed_config_list(other)))
			return xb_input_error("[feed %s] and [feed %s] fill the same list: each "
					      "would take out what the other lists",
					      feed->name, other->name);
	return 0;
}

int feed_config_check(const struct config *config)
{
	int error = 0;

	for (const struct feed_config *feed = config->feeds; feed && !error; feed = feed->next)
		error = check_one(feed);
	return error;
}

/* FNV-1a of 64 bits: nobody gains by two configurations of one hash. */
static void mix(uint64_t *hash, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		*hash = (*hash ^ ((const uint8_t *)data)[i]) * 0x100000001b3;
}

static void mix_text(uint64_t *hash, const char *text)
{
	mix(hash, text ?: "", strlen(text ?: "") + 1);
}

void feed_config_terms(const struct feed_config *feed, char out[32])
{
	uint64_t hash = 0xcbf29ce484222325;
	uint32_t verdict = feed->judges ? feed->verdict + 1 : 0;
	char scope[XB_SCOPE_TEXT];

	/* Before it, what a list allows came onto the allowlist, and its own timeouts held. */
	mix_text(&hash, "lists only");
	mix_text(&hash, feed->url);
	mix_text(&hash, feed_config_list(feed));
	mix_text(&hash, feed->format);
	mix(&hash, &verdict, sizeof(verdict));
	mix(&hash, &feed->timeout, sizeof(feed->timeout));
	/* Without the keys as before they were known. */
	if (feed->zone)
		mix_text(&hash, feed->zone);
	if (feed->scopes)
		mix_text(&hash, xb_scope_format(&feed->scope, scope));
	if (feed->column || feed->where || feed->json || feed->bounded) {
		mix_text(&hash, feed->column);
		mix_text(&hash, feed->where);
		mix_text(&hash, feed->json);
		mix(&hash, &feed->most_wrong, sizeof(feed->most_wrong));
	}
	snprintf(out, 32, "%016" PRIx64, hash);
}
