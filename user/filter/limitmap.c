/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter/limitmap.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "filter/scopemap.h"

#define SECOND 1e9 /* ns */

/* A tick is the time that one packet has at the rate, cut into so many: short bursts are measured
 * the finer. */
#define FINE	   1024U
#define FINE_LEAST 4U

/* Of bytes: ticks of a burst. */
#define BYTES_DEPTH 1048576.0

/* A burst of bytes is one of IP packets; what stands in front of them in a frame comes on top. */
#define LINK_HEADERS 128.0

_Static_assert((XB_LIMITS - 1) * XB_LIMIT_CAPACITY_MAX * XB_LIMIT_LINES <= UINT32_MAX,
	       "lines have numbers of 32 bits");

/* ns: no tick is shorter, so that the slack is a small part of what 32 bits have. */
#define TICK_LEAST 16.0
#define SLACK	   1e7 /* ns: the longest jiffy */

static double pieces_for(uint64_t burst)
{
	uint64_t pieces = FINE / burst;

	return pieces < FINE_LEAST ? FINE_LEAST : (double)pieces;
}

/* ns that one of what is counted has at the rate. */
static double interval_of(const struct xb_limit *limit)
{
	return SECOND * limit->period / (double)limit->rate;
}

/* The largest shift at which 2^shift ns are no more than a tick. */
static uint8_t shift_for(double tick)
{
	uint8_t shift = 0;

	while (shift < 40 && (double)(2ULL << shift) <= tick)
		shift++;
	return shift;
}

/* Ticks of all bursts are no more, so that few of the 2^32 seem to lie ahead when they lie behind.
 */
#define DEPTH_MOST 16000000.0

/* So many pieces that a packet of a known source costs whole ones, if there can be so many. */
static double pieces_for_known(const struct xb_limit *limit, double pieces)
{
	double whole = ceil(pieces / limit->known) * limit->known;

	return whole * (double)limit->burst <= DEPTH_MOST &&
			       interval_of(limit) / whole >= TICK_LEAST
		       ? whole
		       : pieces;
}

/* Rounded up, so that nobody may send more than the factor says. cost: ticks, of a byte times 2^16.
 */
static uint64_t known_cost(const struct xb_limit *limit, uint32_t cost)
{
	uint64_t ticks = (uint64_t)cost << (limit->of == XB_LIMIT_BYTES ? 16 : 32);

	if (limit->known == XB_LIMIT_EXEMPT)
		return XB_METER_EXEMPT;
	return limit->known > 1 ? (ticks + limit->known - 1) / limit->known : 0;
}

struct xb_meter xb_limitmap_meter(const struct xb_limit *limit)
{
	bool bytes = limit->of == XB_LIMIT_BYTES;
	double interval = interval_of(limit), pieces, tick;
	struct xb_meter meter = {
		.unit = (uint8_t)limit->of, .bits4 = limit->bits4, .bits6 = limit->bits6};

	if (bytes) {
		tick = interval * (double)limit->burst / BYTES_DEPTH;
		tick = tick < TICK_LEAST ? TICK_LEAST : tick;
		meter.cost = (uint32_t)(interval / tick * 65536 + 0.5);
		meter.cost = meter.cost ? meter.cost : 1;
		/* By what a byte costs in fact. */
		tick = interval * 65536 / meter.cost;
		meter.depth =
			(uint32_t)ceil(((double)limit->burst + LINK_HEADERS) * meter.cost / 65536);
	} else {
		pieces = pieces_for(limit->burst);
		while (pieces > 1 && interval / pieces < TICK_LEAST)
			pieces--;
		if (limit->known > 1)
			pieces = pieces_for_known(limit, pieces);
		tick = interval / pieces;
		meter.cost = (uint32_t)pieces;
		meter.depth = (uint32_t)((double)limit->burst * pieces);
	}
	meter.known = known_cost(limit, meter.cost);
	meter.shift = shift_for(tick);
	meter.speed = (uint64_t)(4294967296.0 * (double)(1ULL << meter.shift) / tick);
	meter.slack = (uint32_t)(SLACK / tick) + 1;
	return meter;
}

/* ns. The resolution of that clock is the kernel's TICK_NSEC (hrtimer.c, KTIME_LOW_RES). */
static uint32_t jiffy_of_kernel(void)
{
	struct timespec time;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &time) || time.tv_sec || !time.tv_nsec
		       ? (uint32_t)SLACK
		       : (uint32_t)time.tv_nsec;
}

uint64_t xb_limitmap_identity(const struct xb_limit *limit)
{
	return xb_scopemap_identity(limit->name, strlen(limit->name));
}

struct xb_limits xb_limitmap_limits(const struct xb_limits_wanted *wanted)
{
	struct xb_class classes[XB_CLASSES] = {0};
	struct xb_limits limits = {0};
	uint32_t used = 0;

	for (uint32_t number = 1; number < XB_LIMITS; number++) {
		const struct xb_limit *limit = &wanted->limit[number];

		if (!*limit->name)
			continue;
		used |= 1U << number;
		classes[number] = (struct xb_class){
			.scope = xb_scope_is_all(&limit->scope) ? NULL : &limit->scope,
			.counts = limit->counts || limit->truncates};
		limits.names |= (uint16_t)(limit->names << number);
		limits.truncates |= (uint16_t)(limit->truncates << number);
		limits.meter[number] = xb_limitmap_meter(limit);
		limits.meter[number].first = limits.lines;
		limits.meter[number].lines = (uint32_t)xb_limit_lines(limit->capacity);
		limits.lines += limits.meter[number].lines;
		if (*limit->list)
			limits.lists |= (__u16)(1U << number);
	}
	if (!used)
		return limits;
	limits.jiffy = jiffy_of_kernel();
	limits.of = xb_scopemap_scopes(classes, used);
	for (uint32_t number = 1; number < XB_LIMITS; number++)
		if (used >> number & 1)
			limits.of.identity[number] = xb_limitmap_identity(&wanted->limit[number]);
	return limits;
}

bool xb_limitmap_know(const struct xb_limits *limits)
{
	for (uint32_t number = 1; number < XB_LIMITS; number++)
		if (limits->meter[number].known)
			return true;
	return false;
}

void xb_limitmap_add_ports(uint64_t *words, const struct xb_limits_wanted *wanted)
{
	for (uint32_t number = 1; number < XB_LIMITS; number++)
		if (*wanted->limit[number].name)
			xb_scopemap_add_ports(words, &wanted->limit[number].scope, number);
}

void xb_limitmap_fill(struct xb_meter_line *lines, uint32_t count, uint64_t seed)
{
	uint64_t *words = (uint64_t *)(void *)lines;

	for (size_t i = 0; i < (size_t)count * (sizeof(*lines) / sizeof(*words)); i++)
		words[i] = xb_mix64(seed + i * 0x9e3779b97f4a7c15ULL);
}

/*
 * Inclusion and exclusion (Feller, An Introduction to Probability Theory, volume 1, IV.1) over the
 * four cells: that of them j given ones are in use by none of the busy sources. One source leaves
 * them alone if it has another line, or its four cells are among the other 16 - j: C(16 - j, 4) of
 * C(16, 4) sets. The signed binomial coefficients add up to 0, so 1 can be taken from each power,
 * and the sum is exact where the share is small.
 */
double xb_limitmap_share(uint64_t lines, uint64_t busy)
{
	static const double sets[XB_METER_CHOSEN + 1] = {1820, 1365, 1001, 715, 495};
	static const double sign[XB_METER_CHOSEN + 1] = {1, -4, 6, -4, 1};
	double share = 0;

	_Static_assert(XB_METER_CELLS == 16 && XB_METER_CHOSEN == 4, "as the numbers of sets");
	for (int j = 1; j <= XB_METER_CHOSEN; j++)
		share += sign[j] *
			 expm1((double)busy * log1p((sets[j] / sets[0] - 1) / (double)lines));
	return share;
}
