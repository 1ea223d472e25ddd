/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offloads that attaching turns off: read and turned on by ethtool's numbers, noted in the row of
 * the interface and put back. A device that answers ethtool here stands in for a network card. */
#include <errno.h>
#include <linux/ethtool.h>
#include <stdio.h>
#include <stdlib.h>

#include "attach/features.h"
#include "attach/offload.h"
#include "base/error.h"
#include "support/cmocka.h"
#include "support/rowmaps.h"

#define LO 1 /* ifindex */

/* The numbers that the card has for the features, in a kernel that has `count` of them. */
static struct card {
	uint32_t count, gro_hw, lro, on[8], requested[8], fixed[8];
	bool mute;
} card;

static char warned[512];
static int warnings;

static bool has(const uint32_t *words, uint32_t bit)
{
	return words[bit / 32] & 1U << bit % 32;
}

static void set(uint32_t *words, uint32_t bit, bool on)
{
	words[bit / 32] &= ~(1U << bit % 32);
	words[bit / 32] |= (uint32_t)on << bit % 32;
}

/* As its user does. */
static void turn(uint32_t bit, bool on)
{
	set(card.on, bit, on);
	set(card.requested, bit, on);
}

static void give_names(struct ethtool_gstrings *strings)
{
	assert_int_equal(strings->string_set, ETH_SS_FEATURES);
	for (uint32_t i = 0; i < card.count; i++)
		snprintf((char *)&strings->data[i * ETH_GSTRING_LEN], ETH_GSTRING_LEN, "%s",
			 i == card.gro_hw ? "rx-gro-hw"
			 : i == card.lro  ? "rx-lro"
					  : "rx-gro");
}

static void take_features(const struct ethtool_sfeatures *features)
{
	assert_int_equal(features->size, (card.count + 31) / 32);
	for (uint32_t i = 0; i < features->size; i++) {
		card.requested[i] = (card.requested[i] & ~features->features[i].valid) |
				    features->features[i].requested;
		card.on[i] = card.requested[i] & ~card.fixed[i];
	}
}

static int answer(const char *name, void *command)
{
	struct ethtool_sset_info *info = command;
	struct ethtool_gfeatures *features = command;

	assert_string_equal(name, "lo");
	if (card.mute)
		return -EOPNOTSUPP;
	switch (info->cmd) {
	case ETHTOOL_GSSET_INFO:
		assert_int_equal(info->sset_mask, 1ULL << ETH_SS_FEATURES);
		info->data[0] = card.count;
		return 0;
	case ETHTOOL_GSTRINGS:
		give_names(command);
		return 0;
	case ETHTOOL_GFEATURES:
		for (uint32_t i = 0; i < features->size; i++) {
			features->features[i].active = card.on[i];
			features->features[i].requested = card.requested[i];
		}
		return 0;
	case ETHTOOL_SFEATURES:
		take_features(command);
		return ETHTOOL_F_WISH;
	default:
		return -EINVAL;
	}
}

static void note(enum xb_notice_kind kind, const char *message)
{
	assert_int_equal(kind, XB_WARNING);
	snprintf(warned, sizeof(warned), "%s", message);
	warnings++;
}

static int begin(void **state)
{
	card = (struct card){.count = 65, .gro_hw = 40, .lro = 15};
	turn(card.gro_hw, true);
	turn(card.lro, true);
	warnings = 0;
	xb_features_ask(answer);
	xb_notice_sink(note);
	return rowmaps_begin(state) || xb_anchor_enrol(&anchor, LO, "lo");
}

static int end(void **state)
{
	xb_features_ask(NULL);
	return rowmaps_end(state);
}

static uint32_t noted(uint32_t ifindex)
{
	struct xb_iface_note found = {0};
	struct xb_enrolled *all;
	size_t count;

	assert_int_equal(xb_anchor_enrolled(&anchor, &all, &count), 0);
	for (size_t i = 0; i < count; i++)
		if (all[i].ifindex == ifindex)
			assert_int_equal(xb_anchor_note_get(&anchor, all[i].row, &found), 0);
	free(all);
	return found.offloads;
}

/* As a program in skb mode does. */
static void attach(bool turns_off)
{
	uint32_t before = xb_offloads_before(&anchor, LO);

	if (turns_off) {
		turn(card.gro_hw, false);
		turn(card.lro, false);
	}
	xb_offloads_after(&anchor, LO, before);
}

#define REQUESTS (XB_OFFLOAD_GRO_HW_REQUESTED | XB_OFFLOAD_LRO_REQUESTED)
#define GRO_HW	 (XB_OFFLOAD_GRO_HW | XB_OFFLOAD_GRO_HW_REQUESTED)
#define LRO	 (XB_OFFLOAD_LRO | XB_OFFLOAD_LRO_REQUESTED)
#define BOTH	 (GRO_HW | LRO)

TEST(read_and_turned_on)
{
	static const uint32_t counts[] = {17, 32, 33, 65, 256};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		card = (struct card){.count = counts[i], .gro_hw = counts[i] - 1, .lro = 15};
		assert_int_equal(xb_offloads_on("lo"), 0);
		turn(3, true);
		assert_int_equal(xb_offloads_turn_on("lo", XB_OFFLOAD_GRO_HW), 0);
		assert_int_equal(xb_offloads_on("lo"), GRO_HW);
		assert_int_equal(xb_offloads_turn_on("lo", XB_OFFLOAD_LRO), 0);
		assert_int_equal(xb_offloads_on("lo"), BOTH);
		assert_true(has(card.on, 3));
	}
	/* More than there is room for, a card without them, and one that does not say. */
	card.count = 1025;
	assert_int_equal(xb_offloads_on("lo"), 0);
	card = (struct card){.count = 65, .gro_hw = 99, .lro = 99};
	assert_int_equal(xb_offloads_on("lo"), 0);
	assert_int_equal(xb_offloads_turn_on("lo", BOTH), BOTH);
	card.mute = true;
	assert_int_equal(xb_offloads_on("lo"), 0);
	assert_int_equal(xb_offloads_turn_on("lo", BOTH), BOTH);
}

TEST(what_attaching_turned_off_comes_back)
{
	attach(true);
	assert_int_equal(noted(LO), BOTH);
	/* Attached again, as after a change of mode: the note stays. */
	attach(true);
	assert_int_equal(noted(LO), BOTH);
	xb_offloads_put_back(&anchor, LO, true);
	assert_int_equal(xb_offloads_on("lo"), BOTH);
	assert_int_equal(noted(LO), 0);
	assert_int_equal(warnings, 0);
}

TEST(what_stayed_on_is_not_noted)
{
	attach(false);
	assert_int_equal(noted(LO), 0);
	/* Nor is touched what its user turns off later. */
	turn(card.gro_hw, false);
	xb_offloads_put_back(&anchor, LO, true);
	assert_int_equal(xb_offloads_on("lo"), LRO);
}

TEST(one_that_dies_before_the_end_leaves_a_note)
{
	xb_offloads_before(&anchor, LO);
	turn(card.gro_hw, false);
	xb_offloads_put_back(&anchor, LO, true);
	assert_int_equal(xb_offloads_on("lo"), BOTH);
}

TEST(what_cannot_be_turned_on)
{
	attach(true);
	set(card.fixed, card.gro_hw, true);
	xb_offloads_put_back(&anchor, LO, false);
	assert_int_equal(warnings, 0);
	assert_int_equal(noted(LO), XB_OFFLOAD_GRO_HW);
	assert_int_equal(xb_offloads_on("lo"), LRO | XB_OFFLOAD_GRO_HW_REQUESTED);
	xb_offloads_put_back(&anchor, LO, true);
	assert_int_equal(warnings, 1);
	assert_string_equal(warned, "lo: attaching turned rx-gro-hw off, and it cannot be turned "
				    "on again; `ethtool -K lo rx-gro-hw on` tries that");
}

/* A driver keeps LRO off beside a program of its own; the kernel takes the wish back for one in skb
 * mode. */
TEST(a_wish_that_attaching_took_back_comes_back)
{
	set(card.on, card.lro, false);
	attach(true);
	assert_int_equal(noted(LO), BOTH & ~XB_OFFLOAD_LRO);
	set(card.fixed, card.lro, true);
	xb_offloads_put_back(&anchor, LO, true);
	assert_int_equal(xb_offloads_on("lo"), GRO_HW | XB_OFFLOAD_LRO_REQUESTED);
	assert_int_equal(noted(LO), 0);
	assert_int_equal(warnings, 0);
}

TEST(a_note_goes_with_its_interface)
{
	attach(true);
	assert_int_equal(xb_anchor_enrol(&anchor, 9, "lo"), 0);
	xb_offloads_move(&anchor, LO, 9);
	assert_int_equal(noted(9), BOTH);
	xb_offloads_move(&anchor, 9, 9);
	assert_int_equal(noted(9), BOTH);
	/* The other one is gone, and so is one that nobody has enrolled. */
	xb_offloads_put_back(&anchor, 123456, true);
	assert_int_equal(warnings, 0);
}

static void assert_no_feature(const char *name, const char *feature, int error)
{
	struct xb_feature found = {true, true};

	assert_int_equal(xb_feature_get(name, feature, &found), error);
	assert_false(found.on || found.requested);
}

/* This machine's own answer: of the one device that is everywhere, and of what there is not. Names
 * are in full. */
TEST(the_kernel_is_asked)
{
	struct xb_feature found;

	xb_features_ask(NULL);
	assert_int_equal(xb_feature_get("lo", "loopback", &found), 0);
	assert_true(found.on);
	assert_no_feature("lo", "rx-vlan-hw-parse", 0);
	assert_no_feature("nosuch0", "loopback", -ENODEV);
	assert_no_feature("a name that is longer than any", "loopback", -ENODEV);
	assert_no_feature("lo", "nosuch-feature", -ENOENT);
	assert_no_feature("lo", "loop", -ENOENT);
	assert_int_equal(xb_offloads_on("lo"), 0);
	assert_int_equal(xb_offloads_turn_on("lo", XB_OFFLOAD_LRO), XB_OFFLOAD_LRO);
	assert_int_equal(xb_offloads_on("no-such-device"), 0);
}

EACH_TEST(begin, end);
