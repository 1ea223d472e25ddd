/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does what lies a bit beside listed addresses hit the Bloom filter more often than promised?
 * With the bits of the probes cut out of fewer multiplications they did, by a third. Keys by
 * chance; bounds so wide that chance does not reach them. */
#include <sys/random.h>

#include "bloom/sizing.h"
#include "support/amount.h"
#include "support/cmocka.h"

#define LISTED 50000
#define RATE   1e-2
#define KEYS   ((int)amount(4, 8))

#define HALVES	6
#define LETTERS (HALVES + 1)

/* What is listed: addresses of IPv4, or what has their bits somewhere. */
static struct subject {
	const char *name;
	bool often;	/* not only in the long run; the others have the same sums, with factors of
			   their own */
	uint32_t class; /* not 0: the addresses are listed for a service */
	uint32_t word6; /* not 0: IPv6 prefixes, which differ in this word, the last they have */
	uint32_t half;	/* not 0: names of three words, and this half of them, from 1 on, or the
			   first label in letters */
	uint64_t mark;	/* of the class */
} subject;

struct filter {
	struct xb_geometry geometry;
	struct xb_key key;
	struct xb_key6 key6;
	struct xb_name_key name_key;
	struct xb_block *blocks;
};

static uint64_t hash_net6(const struct filter *filter, uint32_t address)
{
	uint32_t words[5] = {[1] = subject.word6 > 1 ? 0x20010db8 : 0};

	words[subject.word6] = address;
	return xb_hash_ipv6(&filter->key6, (uint64_t)words[1] << 32 | words[2],
			    (uint64_t)words[3] << 32 | words[4], 32 * subject.word6);
}

/* "com", "example", and eight letters, four bits each, which take another word. */
static uint32_t words_of_name(uint32_t address, uint64_t words[4])
{
	uint64_t letters = 0;

	words[0] = 0x6d6f6303;
	words[1] = 0x656c706d61786507;
	words[2] = 0x7777777777777707;
	if (subject.half < LETTERS) {
		uint32_t shift = subject.half & 1 ? 0 : 32;
		uint64_t *word = &words[(subject.half - 1) / 2];

		*word = (*word & ~(0xffffffffULL << shift)) | (uint64_t)address << shift;
		return 3;
	}
	for (int i = 0; i < 8; i++)
		letters |= ('a' + (uint64_t)(address >> 4 * i & 15)) << 8 * i;
	words[2] = letters << 8 | 8;
	words[3] = letters >> 56;
	return 4;
}

static uint64_t hash_name(const struct filter *filter, uint32_t address)
{
	struct xb_name_sums sums = {0};
	uint64_t words[4];
	uint32_t count = words_of_name(address, words);

	for (uint32_t i = 0; i < count; i++)
		xb_name_take(&sums, &filter->name_key.place[i], words[i]);
	return xb_hash_name(&sums, &filter->name_key.place[count], 0);
}

static struct xb_probes probes_of(const struct filter *filter, uint32_t address)
{
	if (subject.half)
		return xb_probes_of(&filter->key, hash_name(filter, address));
	if (subject.word6)
		return xb_probes_of(&filter->key, hash_net6(filter, address));
	return xb_probes_of(&filter->key,
			    subject.mark ? xb_hash_scoped4(&filter->key, subject.mark, address)
					 : xb_hash_ipv4(&filter->key, address));
}

static struct xb_block *block_of(const struct filter *filter, const struct xb_probes *probes)
{
	return &filter->blocks[xb_scale(probes->place, filter->geometry.blocks)];
}

static void add(struct filter *filter, uint32_t address)
{
	struct xb_probes probes = probes_of(filter, address);

	for (uint32_t i = 0; i < filter->geometry.probes; i++)
		block_of(filter, &probes)->word[i % XB_BLOCK_WORDS] |= 1ULL
								       << xb_probe_bit(&probes, i);
}

static bool hits(const struct filter *filter, uint32_t address)
{
	struct xb_probes probes = probes_of(filter, address);
	const struct xb_block *block = block_of(filter, &probes);

	for (uint32_t i = 0; i < filter->geometry.probes; i++)
		if (!(block->word[i % XB_BLOCK_WORDS] >> xb_probe_bit(&probes, i) & 1))
			return false;
	return true;
}

static uint64_t draw(void)
{
	uint64_t random;

	assert_int_equal(getrandom(&random, sizeof(random), 0), sizeof(random));
	return random;
}

static void draw_keys(struct filter *filter)
{
	filter->key = (struct xb_key){.a = draw(), .b = draw()};
	assert_int_equal(getrandom(&filter->key6, sizeof(filter->key6), 0), sizeof(filter->key6));
	for (uint32_t i = 0; subject.half && i <= 4; i++)
		filter->name_key.place[i] =
			(struct xb_name_factors){{draw(), draw()}, {draw(), draw()}};
}

/* Addresses at a distance from each other, or anywhere (0). */
static uint32_t address_at(uint32_t base, uint32_t distance, uint32_t number)
{
	return distance ? base + number * distance
			: (uint32_t)xb_mix64(((uint64_t)base << 32) + number);
}

static bool is_listed(uint32_t base, uint32_t distance, uint32_t address)
{
	uint32_t from = address - base;

	return distance && from % distance == 0 && from / distance < LISTED;
}

/* Wrong hits of all neighbours whose bit is turned round, times the promise: of each bit. */
static void measure(uint32_t distance, double times[32])
{
	double tried[32] = {0}, wrong[32] = {0};
	struct filter filter;

	assert_int_equal(xb_size_bloom(LISTED, RATE, &filter.geometry), 0);
	filter.blocks = calloc(filter.geometry.blocks, sizeof(*filter.blocks));
	for (int turn = 0; turn < KEYS; turn++) {
		uint32_t base = (uint32_t)draw();

		draw_keys(&filter);
		memset(filter.blocks, 0, filter.geometry.blocks * sizeof(*filter.blocks));
		for (uint32_t i = 0; i < LISTED; i++)
			add(&filter, address_at(base, distance, i));
		for (uint32_t i = 0; i < LISTED; i++) {
			for (int bit = 0; bit < 32; bit++) {
				uint32_t beside = address_at(base, distance, i) ^ 1U << bit;

				if (is_listed(base, distance, beside))
					continue;
				tried[bit]++;
				wrong[bit] += hits(&filter, beside);
			}
		}
	}
	free(filter.blocks);
	/* Bits of which nearly all neighbours are listed themselves say nothing. */
	for (int bit = 0; bit < 32; bit++)
		times[bit] = 2 * tried[bit] < LISTED * KEYS ? 1 : wrong[bit] / tried[bit] / RATE;
}

static void is_no_more_often(uint32_t distance)
{
	double times[32], worst = 0, sum = 0;

	measure(distance, times);
	for (int bit = 0; bit < 32; bit++) {
		sum += times[bit] / 32;
		worst = times[bit] > worst ? times[bit] : worst;
	}
	printf("%s, %u apart: %.3f times the promise, of the worst bit %.3f\n", subject.name,
	       distance, sum, worst);
	assert_true(worst <= 1.15);
	assert_true(sum <= 1.05);
	assert_true(sum > 0.5);
}

TEST(beside_listed)
{
	static const uint32_t distances[] = {0 /* scattered */, 2, 256, 1024, 65536};
	static const struct subject subjects[] = {
		{.name = "IPv4", .often = true},
		{.name = "IPv4 for a service", .often = true, .class = 1},
		{.name = "word 1 of IPv6", .often = true, .word6 = 1},
		{.name = "word 2 of IPv6", .word6 = 2},
		{.name = "word 3 of IPv6", .word6 = 3},
		{.name = "word 4 of IPv6", .often = true, .word6 = 4},
		{.name = "half 1 of a name", .often = true, .half = 1},
		{.name = "half 2 of a name", .half = 2},
		{.name = "half 3 of a name", .half = 3},
		{.name = "half 4 of a name", .half = 4},
		{.name = "half 5 of a name", .half = 5},
		{.name = "half 6 of a name", .often = true, .half = 6},
		{.name = "letters of a name", .often = true, .half = LETTERS},
	};

	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		if (!amount(subjects[i].often, 1))
			continue;
		subject = subjects[i];
		subject.mark = subject.class ? xb_scoped4_mark(subject.class, 32) : 0;
		for (size_t j = 0; j < sizeof(distances) / sizeof(distances[0]); j++)
			is_no_more_often(distances[j]);
	}
}

/* The same addresses, asked for in each other class and length. */
TEST(in_other_classes)
{
	double tried = 0, wrong = 0, rate;
	struct filter filter = {.key = {.a = draw(), .b = draw()}};
	uint32_t base = (uint32_t)draw();

	assert_int_equal(xb_size_bloom(LISTED, RATE, &filter.geometry), 0);
	filter.blocks = calloc(filter.geometry.blocks, sizeof(*filter.blocks));
	subject = (struct subject){0};
	subject.mark = xb_scoped4_mark(1, 32);
	for (uint32_t i = 0; i < LISTED; i++)
		add(&filter, address_at(base, 1, i));
	for (uint32_t class = 1; class < XB_CLASSES; class ++) {
		subject.mark = xb_scoped4_mark(class, class == 1 ? 31 : 32);
		for (uint32_t i = 0; i < LISTED; i++, tried++)
			wrong += hits(&filter, address_at(base, 1, i));
	}
	free(filter.blocks);
	rate = wrong / tried / RATE;
	printf("in other classes: %.3f times the promise\n", rate);
	assert_true(rate <= 1.1);
	assert_true(rate > 0.5);
}
