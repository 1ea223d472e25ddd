/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that come in between: whatever other packets do between any two steps of one, none is
 * counted as if another one of its source had not been. The threads of test_meter meet in few of
 * these places. */
#include <stdint.h>

/* Others go on before each change of a cell. */
static uint32_t swap_after_others(uint32_t *cell, uint32_t from, uint32_t to);
#define __sync_val_compare_and_swap(cell, from, to) swap_after_others(cell, from, to)

#include "support/cmocka.h"
#include "xdp_bloom/limit.h"

#define PACKETS 3
#define POINTS	24 /* at which another packet may come: more than one packet has with a retry */
#define NOW	0U

static const struct xb_meter meter = {.cost = 1, .depth = 1000, .slack = 10};

struct sent {
	int source;
	uint32_t cost;
	struct xb_meter_cells chosen;
};

struct packet {
	struct sent sent;
	uint32_t comes; /* at the number of this point; 0: at first */
	bool came, counted;
	uint32_t tries;
};

static struct {
	struct xb_meter_line line;
	struct packet packet[PACKETS];
	uint32_t point;
} world;

static void arrive(struct packet *packet);

static void let_others_come(void)
{
	world.point++;
	for (int i = 0; i < PACKETS; i++)
		if (!world.packet[i].came && world.packet[i].comes == world.point)
			arrive(&world.packet[i]);
}

static uint32_t swap_after_others(uint32_t *cell, uint32_t from, uint32_t to)
{
	uint32_t found;

	let_others_come();
	found = *cell;
	if (found == from)
		*cell = to;
	return found;
}

/* As the filter does it. */
static void arrive(struct packet *packet)
{
	enum xb_meter_found found = XB_METER_AGAIN;
	uint32_t cell[XB_METER_CHOSEN];

	packet->came = true;
	while (found == XB_METER_AGAIN && packet->tries++ < XB_METER_TRIES) {
		for (int i = 0; i < XB_METER_CHOSEN; i++) {
			let_others_come();
			cell[i] = world.line.cell[packet->sent.chosen.at[i]];
		}
		found = xb_meter_take(&world.line, &packet->sent.chosen, cell, &meter,
				      packet->sent.cost, NOW);
	}
	packet->counted = found == XB_METER_WITHIN;
}

/* How far the source has used its rate: that of its cells which lies the least ahead. */
static uint32_t used(const struct xb_meter_line *line, const struct packet *packet)
{
	uint32_t least = ~0U;

	for (int i = 0; i < XB_METER_CHOSEN; i++) {
		uint32_t lead = xb_meter_lead(&meter, line->cell[packet->sent.chosen.at[i]], NOW);

		least = lead < least ? lead : least;
	}
	return least;
}

struct scene {
	struct sent sent[PACKETS];
	uint32_t ahead[7]; /* of the first cells; UINT32_MAX and less: they lie in the past */
	bool one_source;
};

#define OWN                                                                                        \
	{                                                                                          \
		{                                                                                  \
			0, 1, 2, 3                                                                 \
		}                                                                                  \
	}
#define OLD(ago) (0U - (ago))

#define P(which, ticks, ...)                                                                       \
	{                                                                                          \
		.source = (which), .cost = (ticks), .chosen = __VA_ARGS__                          \
	}

static const struct scene scenes[] = {
	{{P(0, 2, OWN), P(0, 2, OWN), P(0, 2, OWN)}, {0}, true},
	{{P(0, 2, OWN), P(0, 3, OWN), P(0, 1, OWN)}, {5, 5, 5, 5}, true},
	{{P(0, 2, OWN), P(0, 2, OWN), P(0, 2, OWN)}, {0, 1, 0, 3}, true},
	{{P(0, 2, OWN), P(0, 2, OWN), P(0, 2, OWN)}, {4, 1, 2, 3}, true},
	{{P(0, 5, OWN), P(0, 1, OWN), P(0, 5, OWN)},
	 {OLD(7), OLD(100000), OLD(1), OLD(1U << 31)},
	 true},
	{{P(0, 2, OWN), P(0, 2, OWN), P(1, 1, {{3, 2, 4, 5}})}, {0}, false},
	{{P(0, 2, OWN), P(0, 2, OWN), P(1, 1, {{0, 4, 5, 6}})}, {0, 1, 0, 1}, false},
	{{P(0, 2, OWN), P(0, 2, OWN), P(1, 1, {{2, 1, 0, 4}})}, {1, 0, 2}, false},
	{{P(0, 2, OWN), P(1, 1, {{3, 0, 1, 4}}), P(0, 3, OWN)}, {OLD(1), OLD(2), 1}, false},
	{{P(1, 1, {{3, 0, 1, 4}}), P(0, 2, OWN), P(0, 2, OWN)}, {0}, false},
	{{P(0, 4, OWN), P(1, 1, {{1, 2, 3, 4}}), P(0, 4, OWN)}, {1, 2, 2, 2, 2}, false},
	{{P(0, 4, OWN), P(1, 3, {{3, 2, 1, 4}}), P(2, 1, {{4, 3, 2, 0}})}, {0, 1, 2, 3, 4}, false},
};

static void play(const struct scene *scene, uint32_t second, uint32_t third)
{
	for (int i = 0; i < PACKETS; i++)
		world.packet[i] = (struct packet){.sent = scene->sent[i]};
	for (int i = 0; i < XB_METER_CELLS; i++)
		world.line.cell[i] = i < 7 ? scene->ahead[i] : 0;
	world.packet[1].comes = second;
	world.packet[2].comes = third;
	world.point = 0;
	arrive(&world.packet[0]);
	for (int i = 1; i < PACKETS; i++)
		if (!world.packet[i].came)
			arrive(&world.packet[i]);
}

static void check(size_t number, const struct xb_meter_line *before)
{
	for (int source = 0; source < PACKETS; source++) {
		const struct packet *any = NULL;
		uint32_t cost = 0;

		for (int i = 0; i < PACKETS; i++)
			if (world.packet[i].sent.source == source) {
				any = &world.packet[i];
				cost += any->counted ? any->sent.cost : 0;
			}
		if (!any)
			continue;
		if (used(&world.line, any) < used(before, any) + cost)
			fail_msg("scene %zu: source %d was let pass %u, but from %u it has used "
				 "its rate to %u",
				 number, source, cost, used(before, any), used(&world.line, any));
		if (scenes[number].one_source && used(&world.line, any) != used(before, any) + cost)
			fail_msg("scene %zu: a source pays %u for %u", number,
				 used(&world.line, any) - used(before, any), cost);
	}
}

TEST(nobody_passes_uncounted)
{
	uint32_t again = 0;

	for (size_t number = 0; number < sizeof(scenes) / sizeof(scenes[0]); number++) {
		struct xb_meter_line before = {{0}};

		memcpy(before.cell, scenes[number].ahead, sizeof(scenes[number].ahead));
		for (uint32_t second = 1; second <= POINTS; second++)
			for (uint32_t third = 1; third <= POINTS; third++) {
				play(&scenes[number], second, third);
				check(number, &before);
				for (int i = 0; i < PACKETS; i++)
					again += world.packet[i].tries > 1;
			}
	}
	print_message("%u packets tried again\n", again);
	assert_true(again > 1000);
}
