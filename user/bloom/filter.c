/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters for programs: made, changed and combined. */
#include "bloom/filterbits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/text.h"
#include "bloom/sizing.h"

int xb_filter_check(const struct xb_filter_info *info)
{
	bool guava = xb_filter_is_guava(info->kind);

	if (!info->bits || info->bits > XB_FILTER_BITS_MAX)
		return xb_input_error("a filter has 1 to %llu bits", XB_FILTER_BITS_MAX);
	if (!info->hashes || info->hashes > XB_FILTER_HASHES_MAX)
		return xb_input_error("a filter has 1 to %d hashes", XB_FILTER_HASHES_MAX);
	if (guava && xb_filter_words(info->bits) > XB_GUAVA_WORDS_MAX)
		return xb_input_error("a filter of Guava has at most %llu bits",
				      XB_GUAVA_WORDS_MAX * 64);
	if (info->counting && info->kind != XB_FILTER_STANDARD)
		return xb_input_error("only a standard filter can count");
	if (info->kind == XB_FILTER_BLOCKED &&
	    (info->bits % XB_BLOCK_BITS || info->bits / XB_BLOCK_BITS > UINT32_MAX ||
	     (info->hashes != XB_PROBES_FEW && info->hashes != XB_PROBES_MANY)))
		return xb_input_error("a blocked filter has 8 or 16 hashes, and whole blocks of %d "
				      "bits, at most 2^32 - 1 of them",
				      XB_BLOCK_BITS);
	return 0;
}

int xb_filter_allocate(const struct xb_filter_info *info, struct xb_filter **out)
{
	struct xb_filter *filter = calloc(1, sizeof(*filter));
	int error = filter ? xb_filter_check(info) : xb_out_of_memory();

	if (error) {
		free(filter);
		return error;
	}
	filter->info = *info;
	filter->mapped = xb_filter_bits_bytes(info) + xb_filter_counters_bytes(info);
	filter->base = mmap(NULL, filter->mapped, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (filter->base == MAP_FAILED) {
		error = xb_system_error(0, "no memory for a filter of %llu MiB",
					(unsigned long long)filter->mapped >> 20);
		free(filter);
		return error;
	}
	madvise(filter->base, filter->mapped, MADV_HUGEPAGE);
	filter->bits = filter->base;
	if (info->counting) {
		filter->counters = filter->base + xb_filter_bits_bytes(info);
		/* More than bits is what a file may say, and no filter is made for. */
		error = xb_fingerprints_make(&filter->fingerprints,
					     xb_fingerprints_slots(info->expected < info->bits
									   ? info->expected
									   : info->bits));
	}
	if (error)
		xb_filter_free(filter);
	else
		*out = filter;
	return error;
}

void xb_filter_free(struct xb_filter *filter)
{
	if (!filter)
		return;
	xb_fingerprints_free(&filter->fingerprints);
	munmap(filter->base, filter->mapped);
	free(filter);
}

/* As Guava's versions up to 31: the k follows from the m. */
static void size_guava(double elements, double rate, struct xb_filter_info *info)
{
	double bits = floor(-elements * log(rate) / (M_LN2 * M_LN2));
	double hashes = floor(bits / elements * M_LN2 + 0.5);

	info->hashes = (uint32_t)fmax(1, fmin(hashes, XB_FILTER_HASHES_MAX + 1));
	info->bits = 64 * (uint64_t)fmax(1, fmin(ceil(bits / 64), (double)XB_FILTER_BITS_MAX));
}

static int size_blocked(uint64_t elements, double rate, struct xb_filter_info *info)
{
	struct xb_geometry geometry;
	int error;

	if (rate < XB_RATE_MIN || rate > XB_RATE_MAX)
		return xb_input_error("the rate of a blocked filter is between %s and %s",
				      XB_NUMBER(XB_RATE_MIN), XB_NUMBER(XB_RATE_MAX));
	error = xb_size_bloom(elements, rate, &geometry);
	if (error)
		return error;
	info->bits = (uint64_t)geometry.blocks * XB_BLOCK_BITS;
	info->hashes = geometry.probes;
	return 0;
}

static int size_by_rate(uint64_t elements, double rate, struct xb_filter_info *info)
{
	if (!(rate > 0 && rate < 1))
		return xb_input_error("a rate is more than 0 and less than 1");
	info->rate = rate;
	if (xb_filter_is_guava(info->kind)) {
		size_guava((double)elements, rate, info);
	} else if (info->kind == XB_FILTER_BLOCKED) {
		return size_blocked(elements, rate, info);
	} else {
		info->hashes = xb_filter_hashes_for(rate);
		info->bits =
			(uint64_t)fmin(xb_filter_bits_for((double)elements, rate, info->hashes),
				       2 * (double)XB_FILTER_BITS_MAX);
	}
	return 0;
}

/* By hand: whole words for Guava, whole blocks for lines of them. */
static void size_by_hand(const struct xb_filter_options *options, struct xb_filter_info *info)
{
	uint64_t whole = xb_filter_is_guava(info->kind)	   ? 64
			 : info->kind == XB_FILTER_BLOCKED ? XB_BLOCK_BITS
							   : 1;

	info->hashes = options->hashes;
	info->bits = options->bits > XB_FILTER_BITS_MAX
			     ? options->bits
			     : (options->bits + whole - 1) / whole * whole;
}

static int choose_key(const struct xb_filter_options *options, struct xb_filter_key *key)
{
	if (options->key)
		*key = *options->key;
	else if (getrandom(key, sizeof(*key), 0) != sizeof(*key))
		return xb_system_error(errno, "cannot get random numbers for a key");
	return 0;
}

int xb_filter_create(uint64_t expected, double rate, const struct xb_filter_options *options,
		     struct xb_filter **filter)
{
	struct xb_filter_info info = {
		.kind = options->kind,
		.funnel = options->funnel,
		.form = options->form,
		.counting = options->counting,
		.expected = expected ? expected : 1,
	};
	int error = 0;

	if (options->bits || options->hashes)
		size_by_hand(options, &info);
	else
		error = size_by_rate(info.expected, rate, &info);
	if (!error && !xb_filter_is_guava(info.kind))
		error = choose_key(options, &info.key);
	return error ? error : xb_filter_allocate(&info, filter);
}

static unsigned int counter_get(const struct xb_filter *filter, uint64_t position)
{
	return filter->counters[position / 2] >> (position % 2 * 4) & 15;
}

static void counter_set(struct xb_filter *filter, uint64_t position, unsigned int value)
{
	unsigned int shift = position % 2 * 4;
	uint8_t *byte = &filter->counters[position / 2];

	*byte = (uint8_t)((*byte & ~(15U << shift)) | value << shift);
}

static void count_up(struct xb_filter *filter, uint64_t position, unsigned int by)
{
	unsigned int sum = counter_get(filter, position) + by;

	counter_set(filter, position,
		    sum < XB_FILTER_COUNTER_STUCK ? sum : XB_FILTER_COUNTER_STUCK);
}

int xb_filter_put_hash(struct xb_filter *filter, struct xb_filter_hash hash)
{
	int new = 0,
	    error = filter->counters ? xb_fingerprints_add(&filter->fingerprints, hash.a) : 0;

	if (error)
		return error;
	for (uint32_t i = 0; i < filter->info.hashes; i++) {
		uint64_t position = xb_filter_position(&filter->info, hash, i);
		uint8_t *byte = &filter->bits[xb_filter_byte(&filter->info, position)];
		uint8_t bit = (uint8_t)(1U << (position & 7));

		if (filter->counters)
			count_up(filter, position, 1);
		new |= !(*byte & bit);
		*byte |= bit;
	}
	filter->info.insertions++;
	return new;
}

int xb_filter_put(struct xb_filter *filter, const void *element, size_t size)
{
	return xb_filter_put_hash(filter, xb_filter_hash_of(&filter->info, element, size));
}

bool xb_filter_might_contain(const struct xb_filter *filter, const void *element, size_t size)
{
	return xb_filter_has_hash(filter, xb_filter_hash_of(&filter->info, element, size));
}

static void count_down(struct xb_filter *filter, uint64_t position)
{
	unsigned int counter = counter_get(filter, position);

	if (!counter || counter == XB_FILTER_COUNTER_STUCK)
		return;
	counter_set(filter, position, counter - 1);
	if (counter == 1)
		filter->bits[position / 8] &= (uint8_t) ~(1U << (position & 7));
}

int xb_filter_del(struct xb_filter *filter, const void *element, size_t size)
{
	return xb_filter_del_hash(filter, xb_filter_hash_of(&filter->info, element, size));
}

int xb_filter_del_hash(struct xb_filter *filter, struct xb_filter_hash hash)
{
	if (!filter->counters)
		return xb_input_error("only a counting filter can delete");
	if (!xb_fingerprints_take(&filter->fingerprints, hash.a))
		return -ENOENT;
	for (uint32_t i = 0; i < filter->info.hashes; i++)
		count_down(filter, xb_filter_position(&filter->info, hash, i));
	if (filter->info.insertions)
		filter->info.insertions--;
	return 0;
}

void xb_filter_clear(struct xb_filter *filter)
{
	memset(filter->bits, 0, xb_filter_bits_bytes(&filter->info));
	if (filter->counters) {
		memset(filter->counters, 0, xb_filter_counters_bytes(&filter->info));
		memset(filter->fingerprints.slot, 0, filter->fingerprints.slots * 8);
		filter->fingerprints.held = 0;
	}
	filter->info.insertions = 0;
}

static bool same_key(const struct xb_filter_info *one, const struct xb_filter_info *other)
{
	return one->key.a == other->key.a && one->key.b == other->key.b;
}

static const char *difference(const struct xb_filter_info *one, const struct xb_filter_info *other)
{
	return one->kind != other->kind		  ? "they are of different kinds"
	       : one->bits != other->bits	  ? "they have different numbers of bits"
	       : one->hashes != other->hashes	  ? "they have different numbers of hashes"
	       : one->counting != other->counting ? "only one of them counts"
	       : !same_key(one, other)		  ? "they have different keys"
	       : one->funnel != other->funnel	  ? "their elements are of different types"
	       : one->form != other->form	  ? "one has lines and the other has entries"
						  : NULL;
}

const char *xb_filter_difference(const struct xb_filter *one, const struct xb_filter *other)
{
	return difference(&one->info, &other->info);
}

bool xb_filter_is_compatible(const struct xb_filter *one, const struct xb_filter *other)
{
	return !difference(&one->info, &other->info);
}

int xb_filter_put_all(struct xb_filter *filter, const struct xb_filter *other)
{
	const char *why = difference(&filter->info, &other->info);
	int error = 0;

	if (why)
		return xb_input_error("the filters are not compatible: %s", why);
	for (uint64_t i = 0; !error && i < other->fingerprints.slots; i++)
		if (other->fingerprints.slot[i])
			error = xb_fingerprints_add(&filter->fingerprints,
						    other->fingerprints.slot[i]);
	if (error)
		return error;
	for (uint64_t i = 0; i < xb_filter_bits_bytes(&filter->info); i++)
		filter->bits[i] |= other->bits[i];
	for (uint64_t i = 0; filter->counters && i < filter->info.bits; i++)
		count_up(filter, i, counter_get(other, i));
	filter->info.insertions += other->info.insertions;
	return 0;
}

int xb_filter_copy(const struct xb_filter *filter, struct xb_filter **copy)
{
	int error;

	*copy = NULL;
	error = xb_filter_allocate(&filter->info, copy);
	for (uint64_t i = 0; !error && i < filter->fingerprints.slots; i++)
		if (filter->fingerprints.slot[i])
			error = xb_fingerprints_add(&(*copy)->fingerprints,
						    filter->fingerprints.slot[i]);
	if (error || !*copy) {
		xb_filter_free(*copy);
		*copy = NULL;
		return error ? error : xb_out_of_memory();
	}
	memcpy((*copy)->bits, filter->bits, xb_filter_bits_bytes(&filter->info));
	if (filter->counters)
		memcpy((*copy)->counters, filter->counters,
		       xb_filter_counters_bytes(&filter->info));
	return 0;
}
