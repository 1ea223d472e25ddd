/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands in the maps: the structures both sides read, and the names under which they are
 * pinned. */
#ifndef XDP_BLOOM_LAYOUT_H
#define XDP_BLOOM_LAYOUT_H

#include <linux/types.h>
#include "xdp_bloom/hash.h"
#include "xdp_bloom/reason.h"

/* ---- The link: outlives generations. A change here raises XB_LINK_LAYOUT, and an upgrade replaces
 * the entry. ---- */

#define XB_LINK_LAYOUT 1

/* Attach flavours do not mix: a program array accepts only programs of one kind. */
enum xb_flavour {
	XB_FLAVOUR_LINK = 1,	   /* a bpf_link of its own on each interface */
	XB_FLAVOUR_DISPATCHER = 2, /* a component of libxdp's dispatcher */
};

struct xb_link_identity {
	__u32 layout;
	__u32 flavour;
};

/*
 * Which row of the statistics an interface has. Open addressing: an interface stands in one of the
 * XB_IFACE_PROBES cells from ifindex % XB_IFACE_CELLS on. An array, because a hash map look-up
 * costs a packet ten times as much.
 */
#define XB_IFACE_CELLS	4096
#define XB_IFACE_PROBES 8
#define XB_IFACE_ROWS	256 /* row 0: any interface that is not in the table */

struct xb_iface_cell {
	__u32 ifindex; /* 0: free */
	__u32 row;
	char name[16]; /* by which the interface is wanted, whatever it is called now */
};
_Static_assert(sizeof(struct xb_iface_cell) == 24, "interface layout");

struct xb_count {
	__u64 packets;
	__u64 bytes;
};

struct xb_counts {
	struct xb_count reason[XB_REASON_SLOTS];
};
_Static_assert(sizeof(struct xb_counts) == 512, "statistics layout");

/* ---- The generation: built, published, replaced as a whole. ---- */

#define XB_BLOCK_WORDS 8
#define XB_BLOCK_BITS  512

struct xb_block {
	__u64 word[XB_BLOCK_WORDS];
};
_Static_assert(sizeof(struct xb_block) == 64, "a block is one cache line");

#define XB_PROBES_FEW  8
#define XB_PROBES_MANY 16

struct xb_geometry {
	__u32 blocks;	/* 0: the stage does not exist in this generation */
	__u32 probes;	/* XB_PROBES_FEW or XB_PROBES_MANY */
	__u64 capacity; /* keys at which the promised rate is reached */
};

/* The exact map of IPv4 /24s: bit b of word w is the /24 number w * 64 + b, the first 24 bits of
 * the address. */
#define XB_PREFIX4_WORDS (1U << 18)

/*
 * Which IPv6 prefix lengths can match. Cell 0: lengths 0 to 31, bit = length, probed for every
 * packet. Any other cell: lengths 32 to 128, bit = length - 32, for all addresses whose first 32
 * bits fall on it. A bit without an entry behind it costs a probe, no more.
 */
#define XB_LENGTH_SPLIT 32

struct xb_lengths {
	__u64 bits[2];
};

/* Set before the program is loaded, frozen after; userspace reads it back from the pinned map. */
struct xb_params {
	__u64 generation; /* random, never 0 */
	__u64 store;	  /* identity of the store it was built from */
	__u64 rate;	  /* promised, per packet: the bits of an IEEE 754 double */
	struct xb_key key;
	struct xb_geometry host4;
	struct xb_geometry net6;
	__u32 prefix4;	     /* 1: IPv4 prefixes are looked up */
	__u32 length_cells;  /* without cell 0 */
	__u32 length_probes; /* most probes an IPv6 packet may cost at the promised rate */
	__u32 layout;	     /* XB_GENERATION_LAYOUT */
};
_Static_assert(sizeof(struct xb_params) == 88, "parameters layout");

#define XB_GENERATION_LAYOUT 1

#endif
