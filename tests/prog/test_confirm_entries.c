/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single entries in the exact stage: the unspecified address, prefixes that overlap, and the stage
 * taken out and put back. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "support/cmocka.h"
#include "support/stable_sources.h"

static uint64_t seed;

TEST(the_unspecified_address)
{
	struct rig rig;
	int program;

	rig_begin(&rig, "zero");
	program = rig_entry(&rig);
	for (int i = 0; i < 2; i++) {
		rig_add(&rig, "0.0.0.0", "default");
		assert_int_equal(rig_run_ipv4(program, 0), XDP_DROP);
		for (uint32_t address = 1; address < 5000; address++)
			assert_int_equal(rig_run_ipv4(program, address), XDP_PASS);
		assert_true(rig_matches_rebuild(&rig));
		rig_add(&rig, "0.0.0.0/25", "default");
		assert_true(rig_del(&rig, "0.0.0.0", NULL));
		assert_int_equal(rig_run_ipv4(program, 0), XDP_DROP);
		assert_int_equal(rig_run_ipv4(program, 127), XDP_DROP);
		assert_int_equal(rig_run_ipv4(program, 128), XDP_PASS);
		rig_rotate(&rig);
		assert_int_equal(rig_run_ipv4(program, 0), XDP_DROP);
		assert_true(rig_del(&rig, "0.0.0.0/25", NULL));
		assert_int_equal(rig_run_ipv4(program, 0), XDP_PASS);
		assert_true(rig_matches_rebuild(&rig));
	}
	close(program);
	rig_end(&rig);
}

/* Prefixes of /25 to /32 around one address, taken out in any order: what is left decides. */
TEST(overlapping_long_prefixes)
{
	struct rig rig;
	int program;

	rig_begin(&rig, "overlap");
	program = rig_entry(&rig);
	for (int round = 0; round < 12; round++) {
		unsigned int listed = 0xff;
		char text[32];

		for (int length = 25; length <= 32; length++) {
			snprintf(text, sizeof(text), "10.0.0.128/%d", length);
			rig_add(&rig, text, "default");
		}
		while (listed) {
			int length = 25 + (int)(rig_random(&seed) % 8);

			if (!(listed >> (length - 25) & 1))
				continue;
			snprintf(text, sizeof(text), "10.0.0.128/%d", length);
			assert_true(rig_del(&rig, text, NULL));
			listed &= ~(1U << (length - 25));
			for (uint32_t i = 0; i < 256; i++) {
				bool covered = false;

				for (int l = 25; l <= 32; l++)
					covered |= listed >> (l - 25) & 1 &&
						   i >> (32 - l) == 128U >> (32 - l);
				assert_int_equal(rig_run_ipv4(program, 0x0a000000 + i),
						 covered ? XDP_DROP : XDP_PASS);
			}
		}
		assert_true(rig_matches_rebuild(&rig));
	}
	close(program);
	rig_end(&rig);
}

/* Switched off and on again: the same list, a guess or an exact look-up. */
TEST(off_and_on)
{
	struct xb_generation *generation;
	struct rig rig;
	int program;

	rig_begin(&rig, "switch");
	program = rig_entry(&rig);
	list_stable(&rig);
	for (int confirm = 0; confirm < 2; confirm++) {
		rig_confirm(&rig, confirm);
		generation = rig_generation(&rig);
		assert_int_equal(generation->params.confirm, confirm);
		assert_int_equal(generation->params.confirm4.parts != 0, confirm);
		assert_int_equal(generation->params.confirm6.parts != 0, confirm);
		xb_generation_close(generation);
		rig_add(&rig, "192.0.2.1", "default");
		assert_int_equal(rig_run_ipv4(program, 0xc0000201), XDP_DROP);
		assert_true(rig_del(&rig, "192.0.2.1", NULL));
		for (uint32_t i = 0; i < SOURCE_STABLE; i++) {
			assert_int_equal(rig_run_ipv4(program, (uint32_t)stable_source(i, true)),
					 XDP_DROP);
			assert_int_equal(rig_run_ipv6(program, stable_source(i, false), i),
					 XDP_DROP);
		}
		assert_true(rig_matches_rebuild(&rig));
	}
	close(program);
	rig_end(&rig);
}

BEFORE_MAIN(prepare)
{
	const char *text = getenv("XB_SEED");

	seed = text ? strtoull(text, NULL, 0) : 20261121;
	printf("seed %lu\n", seed);
}
