/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of DNS queries by their names: labels of every length, names of every depth. A new
 * case is one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/domain_world.h"

static void names(void **state)
{
	(void)state;
	CHECK(names_table);
}

/* Labels of every length, that end anywhere in a word of 8 bytes: each byte matters. */
static void every_label_length(void **state)
{
	char name[128], *end;

	(void)state;
	for (int length = 1; length <= 63; length++) {
		end = name +
		      sprintf(name, "%.*sb", length - 1,
			      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
		strcpy(end, ".length.test");
		check_name(name, XB_NAME_DROPPED);
		for (int i = 0; i < length; i++) {
			char kept = name[i];

			name[i] = 'c';
			check_name(name, XB_NAME_CLEAN);
			name[i] = (char)(kept - 'a' + 'A');
			check_name(name, XB_NAME_DROPPED);
			name[i] = kept;
		}
		if (length < 63) {
			strcpy(end, "b.length.test");
			check_name(name, XB_NAME_CLEAN);
		}
		if (length > 1) {
			strcpy(end - 1, ".length.test");
			check_name(name, XB_NAME_CLEAN);
		}
	}
}

/* Every label count: listed, one less, one more. */
static void deep_names(void **state)
{
	char name[300], below[310];

	(void)state;
	for (int labels = 2; labels <= 127; labels++) {
		char *end = name;

		for (int i = 0; i < labels - 1; i++)
			end += sprintf(end, "%c.", i ? 'a' + i % 26 : 'q');
		strcpy(end, "d");
		rig_add(&rig, name, "default");
		check_name(name, XB_NAME_DROPPED);
		check_name(name + 2, XB_NAME_CLEAN);
		if (labels < 127) {
			snprintf(below, sizeof(below), "z.%s", name);
			check_name(below, XB_NAME_DROPPED);
		}
		name[0] = 'r';
		check_name(name, XB_NAME_CLEAN);
		name[0] = 'q';
		assert_true(rig_del(&rig, name, NULL));
		check_name(name, XB_NAME_CLEAN);
	}
	assert_true(rig_matches_rebuild(&rig));
	rig_rotate(&rig);
}

/* Names that stand for themselves alone, and are deeper than all others. */
static void exact_names_deeper_than_others(void **state)
{
	(void)state;
	rig_add(&rig, "=j.i.h.g.f.e.d.c.b.a.exact.test", "default");
	rig_add(&rig, "=d.c.b.a.exact.test", "default");
	check_name("j.i.h.g.f.e.d.c.b.a.exact.test", XB_NAME_DROPPED);
	check_name("k.j.i.h.g.f.e.d.c.b.a.exact.test", XB_NAME_CLEAN);
	check_name("i.h.g.f.e.d.c.b.a.exact.test", XB_NAME_CLEAN);
	check_name("d.c.b.a.exact.test", XB_NAME_DROPPED);
	check_name("e.d.c.b.a.exact.test", XB_NAME_CLEAN);
	check_name("c.b.a.exact.test", XB_NAME_CLEAN);
	assert_true(rig_del(&rig, "=j.i.h.g.f.e.d.c.b.a.exact.test", NULL));
	check_name("j.i.h.g.f.e.d.c.b.a.exact.test", XB_NAME_CLEAN);
	assert_true(rig_del(&rig, "=d.c.b.a.exact.test", NULL));
}

/* From no name to the first of each kind, and back. */
static void the_first_and_the_last_name(void **state)
{
	static const char *const first[] = {"=a.one.test", "one.test", "test", "=one.test"};
	struct rig kept = rig;
	int kept_program = program;

	(void)state;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		bool below = i == 1 || i == 2;

		rig_begin(&rig, "first");
		program = rig_entry(&rig);
		check_name("a.one.test", XB_CLEAN);
		rig_allow(&rig, "ok.a.one.test");
		rig_add(&rig, first[i], "default");
		check_name("a.one.test", below || !i ? XB_NAME_DROPPED : XB_NAME_CLEAN);
		check_name("one.test", i ? XB_NAME_DROPPED : XB_NAME_CLEAN);
		check_name("b.a.one.test", below ? XB_NAME_DROPPED : XB_NAME_CLEAN);
		check_name("b.ok.a.one.test", below ? XB_NAME_ALLOWED : XB_NAME_CLEAN);
		check_name("test", i == 2 ? XB_NAME_DROPPED : XB_NAME_CLEAN);
		assert_true(rig_del(&rig, first[i], NULL));
		check_name("a.one.test", XB_NAME_CLEAN);
		assert_true(rig_matches_rebuild(&rig));
		rig_rotate(&rig);
		check_name("a.one.test", XB_CLEAN);
		close(program);
		rig_end(&rig);
	}
	rig = kept;
	program = kept_program;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(every_label_length),
		cmocka_unit_test(deep_names),
		cmocka_unit_test(exact_names_deeper_than_others),
		cmocka_unit_test(the_first_and_the_last_name),
	};

	return cmocka_run_group_tests_name("domain_names", tests, begin, end);
}
