/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What single changes come to, and which of them wait for the packets in work. */
#include <stdio.h>
#include <string.h>

#include "filter/phase.h"
#include "support/cmocka.h"
#include "support/random.h"

/* "+ENTRY" came, "-ENTRY" went, "~ENTRY" was altered; "a" in front: of the allowlist. */
static void add_word(struct xb_changes *changes, const char *word)
{
	bool allow = *word == 'a';
	char sign = word[allow];
	const char *text = word + allow + 1;
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	bool cut;

	assert_int_equal(xb_entry_parse(text, strlen(text), form, &entry, &cut), 0);
	if (allow)
		entry = xb_entry_allow(&entry);
	assert_int_equal(xb_changes_add(changes, &entry,
					sign == '+'   ? XB_LISTED
					: sign == '-' ? XB_GONE
						      : XB_ALTERED),
			 0);
}

static struct xb_changes changes_of(const char *words)
{
	struct xb_changes changes = {0};
	char copy[512], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", words);
	while ((word = strsep(&rest, " ")))
		if (*word)
			add_word(&changes, word);
	return changes;
}

static void write_words(const struct xb_changes *changes, char *out, size_t size)
{
	*out = '\0';
	for (size_t i = 0; i < changes->count; i++) {
		const struct xb_change *change = &changes->change[i];
		static const char signs[] = {
			[XB_GONE] = '-', [XB_LISTED] = '+', [XB_ALTERED] = '~'};
		char text[XB_ENTRY_TEXT];
		size_t used = strlen(out);

		snprintf(out + used, size - used, "%s%s%c%s", i ? " " : "",
			 xb_entry_is_allow(&change->entry) ? "a" : "", signs[change->what],
			 xb_entry_format(&change->entry, text));
	}
}

TEST(what_changes_come_to)
{
	static const struct {
		const char *words, *net;
	} table[] = {
		{"", ""},
		{"+10.0.0.1", "+10.0.0.1"},
		{"+10.0.0.1 -10.0.0.1", ""},
		{"-10.0.0.1 +10.0.0.1", ""},
		{"-10.0.0.1 +10.0.0.1 -10.0.0.1", "-10.0.0.1"},
		{"+10.0.0.1 -10.0.0.1 +10.0.0.1", "+10.0.0.1"},
		{"+10.0.0.2 -10.0.0.0/24 +10.0.0.1", "-10.0.0.0/24 +10.0.0.1 +10.0.0.2"},
		{"-10.0.0.1 +10.0.0.2 +10.0.0.1", "+10.0.0.2"},
		{"a+10.0.0.1 +10.0.0.1 a-10.0.0.1", "+10.0.0.1"},
		{"-a.example +a.example", "~a.example"},
		{"~a.example ~a.example", "~a.example"},
		{"~a.example -a.example", "-a.example"},
		{"+a.example ~a.example", "+a.example"},
		{"+a.example ~a.example -a.example", ""},
		{"-a.example +=a.example +a.example", "~a.example +=a.example"},
		{"a-a.example a+a.example", ""},
		{"-2001:db8::/32 +2001:db8::/33 +2001:db8::/32", "+2001:db8::/33"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct xb_changes changes = changes_of(table[i].words);
		char net[512];

		assert_int_equal(xb_changes_settle(&changes), 0);
		write_words(&changes, net, sizeof(net));
		if (strcmp(net, table[i].net))
			fail_msg("'%s' comes to '%s', not '%s'", table[i].words, net, table[i].net);
		xb_changes_free(&changes);
	}
}

TEST(which_phases_meet)
{
	static const struct {
		const char *words;
		bool meets[XB_PHASES];
	} table[] = {
		{"+10.0.0.1", {false}},
		{"~a.example", {false}},
		{"~a.example -b.example", {false}},
		{"+10.0.0.1 -10.0.0.2 a+10.0.0.3 a-10.0.0.4", {false}},
		{"-10.0.0.0/24 +10.0.0.0/25", {[XB_PHASE_UNLIST] = true}},
		{"+10.0.0.0/24 -10.0.0.0/25", {[XB_PHASE_UNLIST] = true}},
		{"a+10.0.0.1 +10.0.0.0/8", {[XB_PHASE_LIST] = true}},
		{"a+10.0.0.1 a-10.0.0.0/8", {[XB_PHASE_DISALLOW] = true}},
		{"-10.0.0.1 a-10.0.0.0/8", {[XB_PHASE_DISALLOW] = true}},
		{"+0.0.0.0/0 a+::/0", {false}},
		{"+b.a.example ~a.example", {[XB_PHASE_UNLIST] = true}},
		{"+2001:db8::/48 -2001:db8::/64 -2001:db9::/64", {[XB_PHASE_UNLIST] = true}},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct xb_changes changes = changes_of(table[i].words);

		for (enum xb_phase phase = 0; phase < XB_PHASES; phase++)
			if (xb_phase_meets_earlier(&changes, phase) != table[i].meets[phase])
				fail_msg("%s: phase %d", table[i].words, phase);
		xb_changes_free(&changes);
	}
}

/* Of an address that changes its class, packets may look for the new one too early and for the old
 * one too late. */
TEST(moves_between_classes)
{
	static const struct {
		struct {
			const char *entry;
			uint32_t before, after;
		} moves[2];
		bool lists, unlists, meets;
	} table[] = {
		{{{"10.0.0.1", 0, 2}}, true, false, false},
		{{{"10.0.0.1", 2, 0}}, false, true, false},
		{{{"10.0.0.1", 2, 6}}, true, false, false},
		{{{"10.0.0.1", 6, 2}}, false, true, false},
		{{{"10.0.0.1", 2, 4}}, true, true, true},
		{{{"10.0.0.1", 2 | 8, 4 | 8}}, true, true, true},
		{{{"10.0.0.1", XB_CLASSES_ALL, 2}}, true, true, true},
		{{{"2001:db8::/48", 2, XB_CLASSES_ALL}}, true, true, true},
		{{{"10.0.0.1", 0, 2}, {"10.0.0.2", 2, 0}}, true, true, false},
		{{{"10.0.0.1", 0, 2}, {"10.0.0.0/8", 2, 0}}, true, true, true},
		{{{"10.0.0.0/8", 6, 2}, {"10.0.0.1", 2, 6}}, true, true, true},
		{{{"10.0.0.0/8", 2, 6}, {"11.0.0.1", 6, 2}}, true, true, false},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct xb_changes changes = {0};
		bool lists = false, unlists = false;

		for (size_t j = 0; j < 2 && table[i].moves[j].entry; j++) {
			const char *text = table[i].moves[j].entry;
			struct xb_entry entry;

			assert_int_equal(xb_entry_parse(text, strlen(text), NULL, &entry, NULL), 0);
			assert_int_equal(xb_changes_move(&changes, &entry, table[i].moves[j].before,
							 table[i].moves[j].after),
					 0);
		}
		for (size_t j = 0; j < changes.count; j++) {
			lists |= xb_phase_has(XB_PHASE_LIST, &changes.change[j]);
			unlists |= xb_phase_has(XB_PHASE_UNLIST, &changes.change[j]);
		}
		if (lists != table[i].lists || unlists != table[i].unlists ||
		    xb_phase_meets_earlier(&changes, XB_PHASE_LIST) ||
		    xb_phase_meets_earlier(&changes, XB_PHASE_UNLIST) != table[i].meets)
			fail_msg("row %zu", i);
		xb_changes_free(&changes);
	}
}

static bool is_earlier(enum xb_phase phase, const struct xb_change *change)
{
	for (enum xb_phase one = 0; one < phase; one++)
		if (xb_phase_has(one, change))
			return true;
	return false;
}

/* By comparing each with each. */
static bool surely_meets(const struct xb_changes *changes, enum xb_phase phase)
{
	for (size_t i = 0; i < changes->count; i++)
		for (size_t j = 0; j < changes->count; j++) {
			const struct xb_change *a = &changes->change[i], *b = &changes->change[j];
			bool itself = a->what == XB_ALTERED && a->entry.kind != XB_NAME;

			if ((i != j || itself) && xb_phase_has(phase, a) && is_earlier(phase, b) &&
			    (xb_entry_inside(&a->entry, &b->entry) ||
			     xb_entry_inside(&b->entry, &a->entry)))
				return true;
		}
	return false;
}

static void add_by_chance(struct xb_changes *changes)
{
	static const char *const texts[] = {
		"10.0.0.%u",	"10.0.%u.0/24",	 "10.0.0.%u/28", "0.0.0.0/%u",
		"2001:db8::%u", "2001:db8::/%u", "%u.example",	 "a.%u.example",
		"=%u.example",	"example",	 "10.0.0.%u/31", "b.a.%u.example",
	};
	static const char signs[] = "+-~";
	char text[64], word[80];
	unsigned int number = random_word() % 33;
	size_t which = random_word() % (sizeof(texts) / sizeof(texts[0]));
	char sign = signs[random_word() % (which >= 6 ? 3 : 2)];

	snprintf(text, sizeof(text), texts[which], number);
	snprintf(word, sizeof(word), "%s%c%s", random_word() % 4 ? "" : "a", sign, text);
	add_word(changes, *word == 'a' && sign == '~' ? word + 1 : word);
}

TEST(as_if_each_were_compared)
{
	size_t met = 0, rounds = 5000;

	random_begin();
	for (size_t round = 0; round < rounds; round++) {
		struct xb_changes changes = {0};
		size_t count = 1 + random_word() % 12;

		for (size_t i = 0; i < count; i++)
			add_by_chance(&changes);
		assert_int_equal(xb_changes_settle(&changes), 0);
		for (enum xb_phase phase = 0; phase < XB_PHASES; phase++) {
			bool meets = surely_meets(&changes, phase);

			met += meets;
			if (xb_phase_meets_earlier(&changes, phase) != meets) {
				char words[1024];

				write_words(&changes, words, sizeof(words));
				fail_msg("%s: phase %d", words, phase);
			}
		}
		xb_changes_free(&changes);
	}
	assert_in_range(met, rounds / 10, rounds * 2);
}

/* So many that nobody compares them: they wait, and at once. */
TEST(too_many_to_compare)
{
	struct xb_changes changes = {0};

	for (uint32_t i = 0; i < 100000; i++) {
		const struct xb_entry entry = {
			.hi = (uint64_t)i << 32, .kind = XB_HOST4, .length = 32};

		assert_int_equal(xb_changes_add(&changes, &entry, i % 2 ? XB_LISTED : XB_GONE), 0);
	}
	assert_true(xb_phase_meets_earlier(&changes, XB_PHASE_UNLIST));
	assert_false(xb_phase_meets_earlier(&changes, XB_PHASE_LIST));
	xb_changes_free(&changes);
}
