/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_layouts HOSTS RATE ROUNDS REPEATS: the Bloom stage in many layouts, all with the memory the
 * shipped one takes for that rate: what they cost a packet, and how many clean sources they drop,
 * counted here by the same code. Prints one JSON object. Pins go below XB_TEST_BPFFS, counters
 * below XB_TEST_DIR.
 */
#include <sys/mman.h>

#include "bench/layouts.h"
#include "bench/timing.h"
#include "bloom/sizing.h"
#include "layouts.skel.h"

#define CLEAN_KEYS (1U << 22)

struct bits {
	struct xb_key key;
	__u64 *words;
	uint32_t blocks;
};

/* The i-th address: random ones, or one of two in a row. */
typedef uint32_t numbered(uint32_t i);

static uint32_t random_one(uint32_t i)
{
	return address_number(i);
}

static uint32_t dense_one(uint32_t i)
{
	return 0x0b000000U + i;
}

XB_HASH_INLINE __u64 *block_of(struct layout layout, const struct bits *bits,
			       const struct xb_probes *probes)
{
	return bits->words + (size_t)xb_scale(probes->place, bits->blocks) * layout.words;
}

XB_HASH_INLINE void fill(struct layout layout, const struct bits *bits, numbered *number,
			 uint32_t count, uint32_t step)
{
	for (uint32_t i = 0; i < count; i++) {
		struct xb_probes probes = layout_probes(layout, &bits->key, number(i * step));
		__u64 *block = block_of(layout, bits, &probes);

		for (uint32_t k = 0; k < layout.probes; k++)
			block[layout_word(layout, &probes, k)] |= 1ULL
								  << layout_bit(layout, &probes, k);
	}
}

XB_HASH_INLINE uint32_t count_found(struct layout layout, const struct bits *bits, numbered *number,
				    uint32_t first, uint32_t count, uint32_t step)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct xb_probes probes =
			layout_probes(layout, &bits->key, number(first + i * step));

		found += layout_contains(layout, &probes, block_of(layout, bits, &probes));
	}
	return found;
}

struct tried {
	const char *name, *text;
	struct layout layout;
	void (*fill)(const struct bits *bits, numbered *number, uint32_t count, uint32_t step);
	uint32_t (*found)(const struct bits *bits, numbered *number, uint32_t first, uint32_t count,
			  uint32_t step);
};

#define NATIVE(name, text, ...)                                                                    \
	static void fill_##name(const struct bits *bits, numbered *number, uint32_t count,         \
				uint32_t step)                                                     \
	{                                                                                          \
		fill((struct layout){__VA_ARGS__}, bits, number, count, step);                     \
	}                                                                                          \
	static uint32_t found_##name(const struct bits *bits, numbered *number, uint32_t first,    \
				     uint32_t count, uint32_t step)                                \
	{                                                                                          \
		return count_found((struct layout){__VA_ARGS__}, bits, number, first, count,       \
				   step);                                                          \
	}

#define TRIED(name, text, ...) {#name, text, {__VA_ARGS__}, fill_##name, found_##name},

LAYOUTS(NATIVE)

static const struct tried all[] = {LAYOUTS(TRIED)};

struct bench {
	struct timing timing;
	struct xb_contents keys;
	struct xb_geometry geometry;
	struct layouts_bpf *objects[COUNT_OF(all)];
	double rate[COUNT_OF(all)], dense_rate[COUNT_OF(all)];
};

static struct bench bench;

static void end(void)
{
	for (size_t i = 0; i < COUNT_OF(all); i++)
		layouts_bpf__destroy(bench.objects[i]);
	timing_end(&bench.timing);
	xb_contents_free(&bench.keys);
}

static size_t bytes_of_bits(void)
{
	return (size_t)bench.geometry.blocks * sizeof(struct xb_block);
}

/* Of keys that are not listed, as many as are told for listed. Leaves nothing in the bits. */
static double rate_found(const struct tried *tried, const struct bits *bits, numbered *number)
{
	uint32_t hosts = (uint32_t)bench.keys.host4_count, found;
	bool dense = number == dense_one;

	tried->fill(bits, number, hosts, dense ? 2 : 1);
	must(tried->found(bits, number, 0, hosts, dense ? 2 : 1) == hosts ? 0 : -EIO, tried->name);
	/* Of the dense, those between the listed; else those behind them. */
	if (dense)
		found = tried->found(bits, number, 1, hosts < CLEAN_KEYS ? hosts : CLEAN_KEYS, 2);
	else
		found = tried->found(bits, number, hosts, CLEAN_KEYS, 1);
	memset(bits->words, 0, bytes_of_bits());
	return (double)found / (dense && hosts < CLEAN_KEYS ? hosts : CLEAN_KEYS);
}

static void load_layout(size_t i)
{
	const struct tried *tried = &all[i];
	struct layouts_bpf *object = layouts_bpf__open();
	size_t block = tried->layout.words * sizeof(uint64_t);
	bool one = tried->layout.blocks == BLOCKS_VALUE;
	struct bits bits = {.key = {0x13198a2e03707344ULL, 0xa4093822299f31d0ULL},
			    .blocks = (uint32_t)(bytes_of_bits() / block)};
	struct bpf_program *program, *own;

	bench.objects[i] = object;
	must(object ? 0 : -errno, "open");
	own = bpf_object__find_program_by_name(object->obj, tried->name);
	bpf_object__for_each_program (program, object->obj)
		bpf_program__set_autoload(program, program == own);
	object->rodata->blocks = bits.blocks;
	object->rodata->key = bits.key;
	must(bpf_map__set_value_size(object->maps.bits, (uint32_t)(one ? bytes_of_bits() : block)),
	     "size");
	must(bpf_map__set_max_entries(object->maps.bits, one ? 1 : bits.blocks), "size");
	home_count_into(&bench.timing.home, object->obj, object->maps.ifaces, object->maps.stats);
	must(layouts_bpf__load(object), tried->name);
	bits.words = mmap(NULL, bytes_of_bits(), PROT_READ | PROT_WRITE, MAP_SHARED,
			  bpf_map__fd(object->maps.bits), 0);
	must(bits.words == MAP_FAILED ? -errno : 0, "map");
	bench.dense_rate[i] = rate_found(tried, &bits, dense_one);
	bench.rate[i] = rate_found(tried, &bits, random_one);
	tried->fill(&bits, random_one, (uint32_t)bench.keys.host4_count, 1);
	munmap(bits.words, bytes_of_bits());
	timing_add(&bench.timing, (struct timed){.name = tried->name,
						 .program = bpf_program__fd(own),
						 .rate = bench.rate[i]});
}

static void load(void)
{
	struct measure_bpf *measure = bench.timing.measure;

	measure->bss->bare_lines = bench.geometry.blocks;
	must(bpf_map__set_max_entries(measure->maps.bare, bench.geometry.blocks), "size");
	timing_load(&bench.timing, &bench.keys);
	timing_add(&bench.timing,
		   (struct timed){.name = "parse_only",
				  .program = bpf_program__fd(measure->progs.parse_only),
				  .blind = true});
	timing_add(&bench.timing,
		   (struct timed){.name = "line_read",
				  .program = bpf_program__fd(measure->progs.line_read),
				  .blind = true});
	for (size_t i = 0; i < COUNT_OF(all); i++)
		load_layout(i);
}

static void print(double rate)
{
	json_t *layouts = json_object(), *report;

	for (size_t i = 0; i < COUNT_OF(all); i++)
		json_object_set_new(layouts, all[i].name,
				    json_pack("{s:s,s:i,s:f,s:f}", "text", all[i].text, "probes",
					      (int)all[i].layout.probes, "rate", bench.rate[i],
					      "dense_rate", bench.dense_rate[i]));
	report = json_pack("{s:I,s:I,s:f,s:I,s:I,s:o}", "hosts", (json_int_t)bench.keys.host4_count,
			   "repeats", (json_int_t)bench.timing.repeats, "promised", rate, "bytes",
			   (json_int_t)bytes_of_bits(), "clean_keys", (json_int_t)CLEAN_KEYS,
			   "layouts", layouts);
	must(report ? 0 : -ENOMEM, "report");
	timing_report(&bench.timing, report);
	print_report(report);
}

int main(int argc, char **argv)
{
	double rate = argc == 5 ? strtod(argv[2], NULL) : 0;

	if (!(rate >= XB_RATE_MIN && rate <= XB_RATE_MAX)) {
		fprintf(stderr, "usage: XB_TEST_BPFFS= XB_TEST_DIR= bench_layouts HOSTS RATE "
				"ROUNDS REPEATS; scripts/bench does it\n");
		return 2;
	}
	atexit(end);
	timing_open(&bench.timing, (uint32_t)strtoul(argv[4], NULL, 10));
	must(list_hosts(&bench.keys, strtoul(argv[1], NULL, 10)), "addresses");
	must(xb_size_bloom(bench.keys.host4_count, rate, &bench.geometry), "size");
	load();
	timing_rounds(&bench.timing, (uint32_t)strtoul(argv[3], NULL, 10));
	print(rate);
	return 0;
}
