/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which changes a generation takes: that has their stages, and room. */
#include <string.h>

#include "filter/fit.h"
#include "filter/levels6.h"
#include "support/cmocka.h"
#include "support/listed.h"

static struct xb_counters_header counters;
static struct xb_generation generation;
static struct xb_changes changes;

#define CAPACITY 800 /* 900 are near it; 1000, where hits are confirmed, as of names */
#define CLASS	 (1U << 3)

/* With all stages, none of which has a key, and exact tables that are larger. */
static int begin(void **state)
{
	static const struct xb_geometry bloom = {.blocks = 64, .capacity = CAPACITY};
	struct xb_params *params = &generation.params;

	counters = (struct xb_counters_header){0};
	memset(&generation, 0, sizeof(generation));
	generation.header = &counters;
	params->host4 = params->net6 = params->names = params->scoped = bloom;
	params->prefix4 = params->prefix6_pages = 1;
	xb_levels6_choose(NULL, 0, &params->levels6);
	params->scopes.identity[3] = 77;
	params->confirm_names = params->confirm_scoped =
		xb_size_exact((uint64_t)4 * CAPACITY, XB_SLOTS_HASH);
	return 0;
}

static int end(void **state)
{
	xb_changes_free(&changes);
	return 0;
}

/* Whether the one change is taken: of an address that had some classes, and has others. */
static bool takes(const char *text, uint32_t before, uint32_t after)
{
	struct xb_entry entry = entry_of(text);
	bool accepted;

	assert_int_equal(xb_changes_move(&changes, &entry, before, after), 0);
	accepted = xb_fit_accepts(&generation, &changes);
	xb_changes_free(&changes);
	return accepted;
}

static bool takes_what(const char *text, enum xb_what what)
{
	struct xb_entry entry = entry_of(text);
	bool accepted;

	assert_int_equal(xb_changes_add(&changes, &entry, what), 0);
	accepted = xb_fit_accepts(&generation, &changes);
	xb_changes_free(&changes);
	return accepted;
}

TEST(no_changes_fit_anywhere)
{
	assert_true(xb_fit_accepts(&generation, &changes));
	memset(&generation.params, 0, sizeof(generation.params));
	assert_true(xb_fit_accepts(&generation, &changes));
	/* Too many to be kept one by one. */
	changes.bulk = true;
	assert_false(xb_fit_accepts(&generation, &changes));
	changes.bulk = false;
}

TEST(each_change_needs_its_stage)
{
	struct xb_params *params = &generation.params;
	struct {
		const char *entry;
		uint32_t *stage;
	} rows[] = {
		{"192.0.2.1", &params->host4.blocks},	   {"192.0.2.0/25", &params->host4.blocks},
		{"192.0.2.0/24", &params->prefix4},	   {"0.0.0.0/0", &params->prefix4},
		{"2001:db8::1", &params->net6.blocks},	   {"2001:db8::/33", &params->net6.blocks},
		{"2001:db8::/32", &params->prefix6_pages}, {"::/0", &params->prefix6_pages},
		{"a.example", &params->names.blocks},	   {"=a.example", &params->names.blocks},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(takes_what(rows[i].entry, XB_LISTED));
		for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++) {
			uint32_t kept = *rows[j].stage;

			*rows[j].stage = 0;
			assert_int_equal(takes_what(rows[i].entry, XB_LISTED),
					 rows[i].stage != rows[j].stage);
			*rows[j].stage = kept;
		}
	}
	/* What is allowed has tables that grow. */
	memset(params, 0, sizeof(*params));
	assert_true(takes_what("!192.0.2.1", XB_LISTED));
	assert_true(takes_what("!2001:db8::/32", XB_LISTED));
	/* What goes away takes no room. */
	assert_true(takes_what("192.0.2.1", XB_GONE));
	assert_true(takes_what("192.0.2.0/24", XB_GONE));
	assert_false(takes_what("a.example", XB_GONE));
}

TEST(a_class_has_to_be_one_of_the_generation)
{
	static const struct {
		uint32_t before, after;
		bool fits;
	} rows[] = {
		{0, CLASS, true},
		{CLASS, 0, true},
		{0, CLASS | XB_CLASSES_ALL, true},
		{XB_CLASSES_ALL, CLASS, true},
		{0, CLASS << 1, false},
		{CLASS << 1, 0, false},
		{CLASS, CLASS | CLASS << 1, false},
		/* That it keeps. */
		{CLASS << 1, CLASS << 1 | XB_CLASSES_ALL, true},
		{0, 1U << (XB_CLASSES - 1), false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(takes("192.0.2.1", rows[i].before, rows[i].after), rows[i].fits);
		assert_int_equal(takes("2001:db8::/32", rows[i].before, rows[i].after),
				 rows[i].fits);
	}
	/* For services alone the stages of what is dropped for all are not needed. */
	generation.params.host4.blocks = generation.params.prefix4 = 0;
	assert_true(takes("192.0.2.1", 0, CLASS));
	assert_true(takes("192.0.2.0/24", XB_CLASSES_ALL, CLASS));
	assert_false(takes("192.0.2.1", CLASS, CLASS | XB_CLASSES_ALL));
	generation.params.scoped.blocks = 0;
	assert_false(takes("192.0.2.1", 0, CLASS));
	assert_false(takes("192.0.2.1", CLASS, 0));
}

/* An eighth more than the capacity. */
TEST(near_the_promised_rate)
{
	struct xb_entry other = entry_of("192.0.2.2");

	counters.host4_keys = CAPACITY / 8 * 9 - 1;
	assert_true(takes_what("192.0.2.1", XB_LISTED));
	assert_false(takes_what("192.0.2.0/31", XB_LISTED));
	counters.host4_keys = CAPACITY / 8 * 9 - 128;
	assert_true(takes_what("192.0.2.0/25", XB_LISTED));
	counters.host4_keys++;
	assert_false(takes_what("192.0.2.0/25", XB_LISTED));
	/* All changes count. */
	counters.host4_keys = CAPACITY / 8 * 9 - 1;
	assert_int_equal(xb_changes_add(&changes, &other, XB_LISTED), 0);
	assert_false(takes_what("192.0.2.1", XB_LISTED));
	/* Of a prefix there is no key. */
	counters.host4_keys = CAPACITY / 8 * 9;
	assert_true(takes_what("192.0.2.0/24", XB_LISTED));
	assert_true(takes_what("192.0.2.1", XB_GONE));
	assert_true(takes_what("2001:db8::1", XB_LISTED));
	/* Nor a new one where only services come to it. */
	assert_true(takes("192.0.2.1", XB_CLASSES_ALL, XB_CLASSES_ALL | CLASS));
	/* It holds more than that already. */
	counters.host4_keys++;
	assert_false(takes_what("2001:db8::1", XB_LISTED));
	counters.host4_keys = 0;

	counters.net6_keys = CAPACITY / 8 * 9 - 1;
	assert_true(takes_what("2001:db8::1", XB_LISTED));
	counters.net6_keys++;
	assert_false(takes_what("2001:db8::1", XB_LISTED));
	counters.net6_keys = 0;

	counters.names_keys = CAPACITY / 8 * 10 - 1;
	assert_true(takes_what("a.example", XB_LISTED));
	counters.names_keys++;
	assert_false(takes_what("a.example", XB_LISTED));
	assert_true(takes_what("a.example", XB_ALTERED));
	assert_true(takes_what("a.example", XB_GONE));
	counters.names_keys = 0;

	counters.scoped_keys = CAPACITY / 8 * 10 - 1;
	assert_true(takes("192.0.2.1", 0, CLASS));
	counters.scoped_keys++;
	assert_false(takes("192.0.2.1", 0, CLASS));
	assert_true(takes("192.0.2.1", CLASS, 0));
	assert_true(takes("192.0.2.1", CLASS, CLASS | XB_CLASSES_ALL));
	counters.scoped_keys = 0;

	/* So it is with addresses, where hits are confirmed. */
	generation.params.confirm = 1;
	generation.params.confirm4 = generation.params.confirm6 =
		xb_size_exact((uint64_t)4 * CAPACITY, XB_SLOTS_HASH);
	counters.host4_keys = counters.net6_keys = CAPACITY / 8 * 10 - 1;
	assert_true(takes_what("192.0.2.1", XB_LISTED));
	assert_true(takes_what("2001:db8::1", XB_LISTED));
	counters.host4_keys++;
	assert_false(takes_what("192.0.2.1", XB_LISTED));
	counters.host4_keys = 0;
	counters.net6_keys++;
	assert_false(takes_what("2001:db8::1", XB_LISTED));
}

/* When a larger one is to be built. */
TEST(what_fills_a_stage)
{
	struct {
		uint64_t *keys;
		bool confirmed;
	} rows[] = {{&counters.host4_keys, false},
		    {&counters.net6_keys, false},
		    {&counters.names_keys, true},
		    {&counters.scoped_keys, true}};

	for (unsigned int i = 0; i < 8; i++) {
		uint32_t confirm = generation.params.confirm = i / 4;
		uint64_t *keys = rows[i % 4].keys;

		*keys = confirm || rows[i % 4].confirmed ? CAPACITY / 8 * 9 : CAPACITY;
		assert_false(xb_generation_is_full(&generation));
		++*keys;
		assert_true(xb_generation_is_full(&generation));
		*keys = 0;
	}
	counters.length_probes = 1;
	assert_true(xb_generation_is_full(&generation));
}

/* However much the Bloom filter takes. */
TEST(within_the_exact_tables)
{
	struct xb_params *params = &generation.params;
	struct xb_buckets small = xb_size_exact(CAPACITY / 2, XB_SLOTS_HASH);
	uint64_t room = xb_exact_room(&small);

	assert_in_range(room, CAPACITY / 2, CAPACITY);
	params->confirm4 = params->confirm6 = small;
	counters.host4_keys = counters.net6_keys = room;
	/* These are not looked up exactly. */
	assert_true(takes_what("192.0.2.1", XB_LISTED));
	params->confirm = 1;
	assert_false(takes_what("192.0.2.1", XB_LISTED));
	assert_false(takes_what("2001:db8::1", XB_LISTED));
	counters.host4_keys--;
	assert_true(takes_what("192.0.2.1", XB_LISTED));
	counters.net6_keys--;
	assert_true(takes_what("2001:db8::1", XB_LISTED));

	params->confirm = 0;
	params->confirm_names = params->confirm_scoped = small;
	counters.names_keys = room;
	assert_false(takes_what("a.example", XB_LISTED));
	assert_true(takes_what("a.example", XB_ALTERED));
	counters.names_keys--;
	assert_true(takes_what("a.example", XB_LISTED));
	counters.scoped_keys = room;
	assert_false(takes("192.0.2.1", 0, CLASS));
	counters.scoped_keys--;
	assert_true(takes("192.0.2.1", 0, CLASS));
}

EACH_TEST(begin, end);
