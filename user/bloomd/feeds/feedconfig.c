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
#include "bloomd/base/owners.h"
#include "fetch/wire.h"
#include "lists/columnchoice.h"
#include "lists/jsonpath.h"
#include "lists/mmdbpath.h"
#include "lists/places.h"
#include "lists/table.h"
#include "model/comment.h"
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

void *feed_config_open(struct config *config, const char *word)
{
	struct feed_config **at = &config->feeds, *feed;

	if (!xb_feed_name_ok(word)) {
		xb_input_error("invalid feed name '%s': up to %d letters, digits, '.', '_' and "
			       "'-', a letter or digit first",
			       XB_SHOW(word), XB_FEED_NAME_MAX);
		return NULL;
	}
	while (*at && strcmp((*at)->name, word))
		at = &(*at)->next;
	feed = *at;
	if (feed)
		return feed;
	feed = *at = calloc(1, sizeof(*feed));
	if (!feed) {
		xb_out_of_memory();
		return NULL;
	}
	strcpy(feed->name, word);
	feed->every = EVERY;
	feed->time_limit = TIME_LIMIT;
	feed->max_bytes = MAX_BYTES;
	feed->guard.share = SHARE;
	return feed;
}

void feed_config_free(struct feed_config *feeds)
{
	while (feeds) {
		struct feed_config *next = feeds->next;

		free(feeds->url);
		free(feeds->file);
		free(feeds->list);
		free(feeds->format);
		free(feeds->zone);
		free(feeds->column);
		free(feeds->where);
		free(feeds->json);
		free(feeds->set);
		free(feeds->comment);
		free(feeds->country);
		free(feeds->not_country);
		free(feeds->continent);
		free(feeds->asn);
		free(feeds->mmdb);
		free(feeds->end);
		free(feeds->ca);
		free(feeds->header_file);
		free(feeds->user_file);
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
				       .set = feed->set,
				       .comment = feed->comment,
				       .country = feed->country,
				       .not_country = feed->not_country,
				       .continent = feed->continent,
				       .asn = feed->asn,
				       .mmdb = feed->mmdb,
				       .bounded = feed->bounded,
				       .most_wrong = feed->most_wrong,
				       .below = feed->below};
}

static bool has_scheme(const char *value, const char *scheme)
{
	return !strncasecmp(value, scheme, strlen(scheme)) && value[strlen(scheme)];
}

static int set_url(const struct config_key *key, void *section, const char *value)
{
	if (strlen(value) >= FETCH_URL_MAX || !wire_text_ok(value, FETCH_URL_MAX) ||
	    strchr(value, ' '))
		return xb_input_error("a URL has no blanks, only ASCII, and less than %d bytes",
				      FETCH_URL_MAX);
	if (!has_scheme(value, "https://") && !has_scheme(value, "http://") &&
	    strncmp(value, "file:///", 8) != 0)
		return xb_input_error("a URL begins with https://, http:// or file:///, not '%s'",
				      XB_SHOW(value));
	return config_text(key, section, value);
}

static int set_format(const struct config_key *key, void *section, const char *value)
{
	struct xb_reading reading = {0};
	int error = xb_listformat_choose(&reading, value);

	return error ? error : config_text(key, section, value);
}

static int set_zone(const struct config_key *key, void *section, const char *value)
{
	uint8_t form[XB_NAME_BYTES], used;
	int error = *value == '=' ? xb_input_error("zone takes a domain, not '%s'", XB_SHOW(value))
				  : xb_name_parse(value, strlen(value), form, &used);

	return error ? error : config_text(key, section, value);
}

/* Checked here, so that a wrong one shows when the configuration is read. */
static int set_column(const struct config_key *key, void *section, const char *value)
{
	struct xb_column_choice choice;
	int error = xb_columns_parse(value, NULL, &choice);

	return error ? error : config_text(key, section, value);
}

static int set_where(const struct config_key *key, void *section, const char *value)
{
	struct xb_column_choice choice;
	int error = xb_columns_parse("1", value, &choice);

	return error ? error : config_text(key, section, value);
}

static int set_json(const struct config_key *key, void *section, const char *value)
{
	int error = xb_json_paths_check(value);

	return error ? error : config_text(key, section, value);
}

static int check_places(const struct config_key *key, void *section, const char *value,
			const struct xb_list_choice *choice)
{
	int error = xb_places_check(choice);

	return error ? error : config_text(key, section, value);
}

static int set_country(const struct config_key *key, void *section, const char *value)
{
	return check_places(key, section, value, &(struct xb_list_choice){.country = value});
}

static int set_continent(const struct config_key *key, void *section, const char *value)
{
	return check_places(key, section, value, &(struct xb_list_choice){.continent = value});
}

static int set_asn(const struct config_key *key, void *section, const char *value)
{
	return check_places(key, section, value, &(struct xb_list_choice){.asn = value});
}

static int set_mmdb(const struct config_key *key, void *section, const char *value)
{
	int error = xb_mmdb_conditions_check(value);

	return error ? error : config_text(key, section, value);
}

static int set_comment(const struct config_key *key, void *section, const char *value)
{
	int error = xb_comment_check(value, strlen(value));

	return error ? error : config_text(key, section, value);
}

/* Other than counts elsewhere, 0 means something. */
static int set_skip_bad(const struct config_key *key, void *section, const char *value)
{
	struct feed_config *feed = section;

	feed->bounded = true;
	feed->most_wrong = 0;
	return strcmp(value, "0") ? config_number(key, section, value) : 0;
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
static int set_canary(const struct config_key *key, void *section, const char *value)
{
	char *copy = strdup(value), *rest = NULL;
	int error = copy ? 0 : xb_out_of_memory();

	(void)key;
	if (copy)
		for (char *word = strtok_r(copy, " ,\t", &rest); word && !error;
		     word = strtok_r(NULL, " ,\t", &rest))
			error = add_canary(section, word);
	free(copy);
	return error;
}

#define YEAR		    ((uint64_t)366 * 86400)
#define KEY(name, set, ...) CONFIG_KEY(name, set, feed_config, __VA_ARGS__)

const struct config_key feed_keys[] = {
	KEY("url", set_url, url),
	KEY("file", config_text, file),
	KEY("header-file", config_private, header_file, FETCH_PATH_MAX),
	KEY("user-file", config_private, user_file, FETCH_PATH_MAX),
	KEY("every", config_seconds, every, YEAR),
	KEY("list", config_list, list),
	KEY("format", set_format, format),
	KEY("zone", set_zone, zone),
	KEY("column", set_column, column),
	KEY("where", set_where, where),
	KEY("json-path", set_json, json),
	KEY("set", config_text, set),
	KEY("comment", set_comment, comment),
	KEY("country", set_country, country),
	KEY("not-country", set_country, not_country),
	KEY("continent", set_continent, continent),
	KEY("asn", set_asn, asn),
	KEY("mmdb-path", set_mmdb, mmdb),
	KEY("skip-bad", set_skip_bad, most_wrong, UINT32_MAX),
	KEY("below", config_yes, below),
	KEY("verdict", config_verdict, terms),
	KEY("scope", config_scope, terms),
	KEY("timeout", config_seconds, timeout, 10 * YEAR),
	KEY("min-entries", config_number, least_entries, UINT32_MAX),
	KEY("max-entries", config_number, guard.most_entries, UINT32_MAX),
	KEY("max-change", config_factor, factor),
	KEY("max-share", config_share, guard.share),
	KEY("canary", set_canary, guard.canaries),
	KEY("max-bytes", config_bytes, max_bytes),
	KEY("max-age", config_seconds, max_age, 10 * YEAR),
	KEY("time-limit", config_seconds, time_limit, 3600),
	KEY("expect-end", config_text, end),
	KEY("accept-unframed", config_yes, accept_unframed),
	KEY("on-removal", config_flush, flush),
	KEY("ca", config_file, ca, FETCH_PATH_MAX),
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

static int check_one(struct config *config, const struct feed_config *feed)
{
	const char *list = feed_config_list(feed);
	char section[XB_FEED_NAME_MAX + 16];
	int error = check_choice(feed);

	if (error)
		return error;
	if (!feed->url)
		return xb_input_error("[feed %s] has no url, and no file", feed->name);
	if ((feed->header_file || feed->user_file) && !has_scheme(feed->url, "https://"))
		return xb_input_error("[feed %s] says who asks, which only https:// keeps secret",
				      feed->name);
	if (!strcmp(list, XB_LIST_ALLOW))
		return xb_input_error("[feed %s] has the name of the allowlist's own list: give it "
				      "a list of another name",
				      feed->name);
	snprintf(section, sizeof(section), "[feed %s]", feed->name);
	return owners_add(config, section, feed->name, list);
}

/* A file stands for its URL. */
static int take_file(struct feed_config *feed)
{
	char url[FETCH_URL_MAX];
	int error = 0;

	if (!feed->file)
		return 0;
	if (feed->url)
		error = xb_input_error("it has url and file: only one can be");
	else if (*feed->file != '/' ||
		 snprintf(url, sizeof(url), "file://%s", feed->file) >= (int)sizeof(url))
		error = xb_input_error("not the whole path of a file: '%s'", XB_SHOW(feed->file));
	if (!error)
		error = set_url(&(struct config_key){.field = offsetof(struct feed_config, url)},
				feed, url);
	return error ? xb_error_prefix(error, "[feed %s]", feed->name) : 0;
}

int feed_config_check(struct config *config)
{
	int error = 0;

	for (struct feed_config *feed = config->feeds; feed && !error; feed = feed->next)
		error = take_file(feed) ?: check_one(config, feed);
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

static void mix_places(uint64_t *hash, const struct feed_config *feed)
{
	const struct xb_list_choice choice = feed_config_choice(feed);

	if (!xb_places_are_asked(&choice) && !choice.mmdb)
		return;
	mix_text(hash, choice.country);
	mix_text(hash, choice.not_country);
	mix_text(hash, choice.continent);
	mix_text(hash, choice.asn);
	mix_text(hash, choice.mmdb);
}

void feed_config_terms(const struct feed_config *feed, char out[32])
{
	uint64_t hash = 0xcbf29ce484222325;
	uint32_t verdict = feed->terms.judges ? feed->terms.verdict + 1 : 0;
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
	if (feed->terms.scopes)
		mix_text(&hash, xb_scope_format(&feed->terms.scope, scope));
	if (feed->column || feed->where || feed->json || feed->bounded) {
		mix_text(&hash, feed->column);
		mix_text(&hash, feed->where);
		mix_text(&hash, feed->json);
		mix(&hash, &feed->most_wrong, sizeof(feed->most_wrong));
	}
	if (feed->set)
		mix_text(&hash, feed->set);
	if (feed->comment) {
		mix_text(&hash, "comment");
		mix_text(&hash, feed->comment);
	}
	mix_places(&hash, feed);
	if (feed->below)
		mix_text(&hash, "below");
	snprintf(out, 32, "%016" PRIx64, hash);
}
