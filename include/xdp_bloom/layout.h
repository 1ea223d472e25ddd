/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands in the maps: the structures both sides read, and the names under which they are
 * pinned. */
#ifndef XDP_BLOOM_LAYOUT_H
#define XDP_BLOOM_LAYOUT_H

#include <linux/types.h>
#include "xdp_bloom/hash.h"
#include "xdp_bloom/limit.h"
#include "xdp_bloom/quotient.h"
#include "xdp_bloom/reason.h"

/* ---- The anchor: outlives generations. A change here raises XB_ANCHOR_LAYOUT, and an upgrade
 * replaces the entry. ---- */

#define XB_ANCHOR_LAYOUT 9

/* Attach flavours do not mix: a program array accepts only programs of one kind. */
enum xb_flavour {
	XB_FLAVOUR_LINK = 1,	   /* a bpf_link of its own on each interface */
	XB_FLAVOUR_DISPATCHER = 2, /* a component of libxdp's dispatcher */
};

struct xb_anchor_identity {
	__u32 layout;
	__u32 flavour;
};
_Static_assert(sizeof(struct xb_anchor_identity) == 8, "read by every version");

/* The map "identity": the structure above, then 64-bit numbers that older versions do not have. */
enum {
	XB_IDENTITY_LAYOUT,
	XB_IDENTITY_NETNS_COOKIE, /* the network namespace of the interfaces */
	XB_IDENTITY_NETNS_INODE,
	XB_IDENTITY_CELLS,
};

/*
 * Which row of the statistics an interface has. Open addressing: an interface stands in one of the
 * XB_IFACE_PROBES cells from xb_iface_cell_first() on. An array, because a hash map look-up costs a
 * packet ten times as much.
 */
#define XB_IFACE_CELLS	4096
#define XB_IFACE_PROBES 8

/* Neighbours stay neighbours, and what is 4096 apart does not meet. */
static inline __attribute__((always_inline)) __u32 xb_iface_cell_first(__u32 ifindex)
{
	return ifindex ^ ifindex >> 12;
}

#define XB_IFACE_ROWS 256 /* row 0: any interface that is not in the table */

struct xb_iface_cell {
	__u32 ifindex; /* 0: free */
	__u32 row;
	char name[16]; /* that the interface had when a command last looked */
};
_Static_assert(sizeof(struct xb_iface_cell) == 24, "interface layout");

/* Whether queries on an interface are not answered. */
enum xb_mute {
	XB_MUTE_NONE,
	XB_MUTE_VLANS,	/* the driver takes off the tags of its VLANs before the filter sees them */
	XB_MUTE_UNSEEN, /* no writer has looked whether it does so */
};

/* What the kernel turns off when a program is attached, and does not turn on again. */
enum xb_offload {
	XB_OFFLOAD_GRO_HW = 1, /* dev_disable_gro_hw() in net/core/dev.c, of Linux */
	XB_OFFLOAD_LRO = 2,    /* dev_disable_lro() there */
	/* The same, as wishes: a driver may keep off what somebody wants on. */
	XB_OFFLOAD_GRO_HW_REQUESTED = 4,
	XB_OFFLOAD_LRO_REQUESTED = 8,
};

/*
 * What is known of an interface besides its counts: the map "notes", by row. A writer notes it,
 * under the writer lock; of all this the filter reads `mute` alone, for a query that it would
 * answer.
 */
struct xb_iface_note {
	__u64 received; /* packets that the kernel had counted when calls of the program were last
			   seen, or when it was attached */
	__u64 calls;	/* packets that the program had counted then */
	__u64 seen;	/* when that was, seconds since 1970 */
	__u32 ups;	/* how often the carrier had come, when the interface was attached */
	__u32 mtu;	/* the same */
	__u32 cures;	/* how often it was attached anew, since calls were last seen */
	__u32 mute;	/* enum xb_mute; unless it is XB_MUTE_NONE, no query is answered */
	__u32 offloads; /* that attaching turned off, as bits of enum xb_offload */
	__u32 slack;	/* packets that may have been under way between the two counts */
	__u32 reserved[4];
};
_Static_assert(sizeof(struct xb_iface_note) == 64, "notes layout");

struct xb_count {
	__u64 packets;
	__u64 bytes;
};

struct xb_counts {
	struct xb_count reason[XB_REASON_SLOTS];
};
_Static_assert(sizeof(struct xb_counts) == 1024, "statistics layout");

/*
 * The classes of listed addresses: a class is a scope (the services to which packets go) and what
 * happens to packets. XB_CLASS_ALL has those that are dropped whatever they ask for.
 */
#define XB_CLASSES   16
#define XB_CLASS_ALL 0

/* Packets of a class that a generation found, on one CPU; behind the classes, those over a limit.
 */
#define XB_CLASS_COUNTS (XB_CLASSES + XB_LIMITS)

struct xb_class_count {
	__u64 identity; /* of what it counts, see struct xb_scopes; 0: never used */
	struct xb_count count;
};

/* A name without the root takes at most 254 bytes (RFC 1035, section 2.3.4), one more as an entry.
 */
#define XB_NAME_BYTES 256

/* How many more drops the filter may report. The watcher refills this, so it runs dry when the
 * watcher is gone. */
struct xb_watch {
	__s64 budget;
	__s64 offenders; /* the same for reports of sources over a limit, which bloomd refills */
};

/* The report of a drop; fields from the packet are in network byte order. */
struct xb_drop {
	__u64 time; /* CLOCK_MONOTONIC, ns */
	__u32 ifindex;
	__u16 sport, dport;   /* 0: none, or not in the first fragment's first header */
	__u8 source[16];      /* IPv4 in the first four bytes */
	__u8 destination[16]; /* the same */
	__u8 family;	      /* 4 or 6 */
	__u8 protocol;	      /* IPv4 protocol or first IPv6 next header */
	__u8 reason;	      /* enum xb_reason: why it was dropped, or would have been */
	__u8 monitored;	      /* 1: the policy is monitor, it passed */
	__u16 name_bytes;     /* of struct xb_name_drop; 0: the source was judged */
	__u8 limit;	      /* number of the limit that it is over; 0: none */
	__u8 reserved;
};
_Static_assert(sizeof(struct xb_drop) == 56, "a drop as told");

/* A drop, an answer or a count because of a name: the record is longer. */
struct xb_name_drop {
	struct xb_drop drop;
	__u8 name[XB_NAME_BYTES]; /* as in a DNS message, without the root */
};
_Static_assert(sizeof(struct xb_name_drop) == 312, "a name's drop as told");

#define XB_DROPS_BYTES 262144 /* ring buffer */

/* A source over a limit that has a list. */
struct xb_offender {
	struct xb_drop drop; /* of the packet, with the number of the limit */
	__u64 identity;	     /* of the limit, see struct xb_scopes */
	__u64 store;	     /* identity of the store that has the limit */
};
_Static_assert(sizeof(struct xb_offender) == 72, "an offender as told");

#define XB_OFFENDERS_BYTES 131072 /* ring buffer */

/* Which sources were reported in this period, so that none is reported twice but rarely: each has
 * one slot, with 32 bits of its hash above the number of the period. */
#define XB_REPORTED_SLOTS 16384
#define XB_REPORTED_SHIFT 30 /* a period takes 2^30 ns */

/*
 * Which listed names are hit most, on one CPU. A name has one slot it may stand in, by its hash;
 * the packets there vote (Boyer, Moore, 1981): one for another name takes a vote from the name in
 * the slot, one that finds none left takes the slot. So a name that gets more than half of the
 * packets of its slot keeps it, and `packets` is never too high.
 */
#define XB_HITS_SLOTS 512

struct xb_hits {
	__u64 fingerprint; /* of the listed name, by its generation's key; 0: free */
	__u64 packets;	   /* since it has the slot */
	__u64 votes;
	__u32 bytes; /* of its name, as in a DNS message, without the root; 0: not written yet */
	__u32 exact; /* 1: it is listed for itself alone */
};
_Static_assert(sizeof(struct xb_hits) == 32, "hits layout");

/* Apart, so that the slots stay in the nearest cache. */
struct xb_hits_name {
	__u8 byte[XB_NAME_BYTES];
};

/*
 * A trial: while it lasts a guard stands in the slot, which hands packets to one of two programs by
 * the clock. Nothing else is needed for the former verdicts to return.
 */
enum xb_trial_side { XB_TRIED, XB_FORMER, XB_TRIAL_SIDES };

/* Interfaces that a guard treats apart: the map "only", by ifindex. */
enum xb_only {
	XB_ONLY_TRIED = 1, /* on trial: its packets pass after the deadline */
	XB_ONLY_LEFT = 2,  /* detached, but the kernel did not take the program off: they pass */
};

struct xb_trial_cell {
	__u64 deadline;	  /* CLOCK_MONOTONIC, ns; 0: somebody ended the trial */
	__u64 unused;	  /* 0 */
	__u64 identity;	  /* random */
	__u32 everywhere; /* 0: only for some interfaces, which had no filter before */
	__u32 left;	  /* 1: packets of some interfaces pass, whatever the deadline */
};
_Static_assert(sizeof(struct xb_trial_cell) == 32, "trial layout");

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
 * the address. Behind these words as many bits: bit w is on if word w is not 0. */
#define XB_PREFIX4_WORDS     (1U << 18)
#define XB_PREFIX4_TOP_WORDS (XB_PREFIX4_WORDS / 64)

/*
 * The exact map of IPv6 prefixes up to /32. First the directory: for each /16, two to a word, which
 * page it has. Behind it the pages, bit b of word w of which is the /32 number w * 64 + b of the
 * /16: on if it lies in something listed.
 */
#define XB_PREFIX6_LENGTH	   32
#define XB_PREFIX6_BLOCKS	   (1U << 16)
#define XB_PREFIX6_DIRECTORY_WORDS (XB_PREFIX6_BLOCKS / 2)
#define XB_PREFIX6_PAGE_WORDS	   1024

#define XB_PREFIX6_NONE	 0 /* nothing of the /16 is listed */
#define XB_PREFIX6_WHOLE 1 /* all of it is, and it has no page */
#define XB_PREFIX6_FIRST 2 /* number of the first page */

/* Place of a /16 in the directory, by 32-bit numbers: words are in the order of the processor. */
static inline __attribute__((always_inline)) __u32 xb_prefix6_place(__u32 block)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return block;
#else
	return block ^ 1;
#endif
}

/* Number of a word of a page. */
static inline __attribute__((always_inline)) __u32 xb_prefix6_word(__u32 page, __u32 word)
{
	return XB_PREFIX6_DIRECTORY_WORDS + (page - XB_PREFIX6_FIRST) * XB_PREFIX6_PAGE_WORDS +
	       word;
}

/*
 * Which IPv6 prefix lengths from /33 on can match. Up to XB_SLOTS6 lengths have a slot, numbered
 * from 0: those that have most entries, and those that come first afterwards. A bit is set in front
 * of an entry, and none is cleared:
 *
 * always: bit i, length i is looked up for every packet: if there is one length alone, as in a list
 * of hosts.
 *
 * cells6: eight bits for the first 32 bits of an address, eight times in a word: which slots can
 * match. Words are read only if celled is not 0.
 *
 * XB_OTHERS6 in a cell says that lengths without a slot can match: lengths6 has these. A bit
 * without an entry behind it costs a probe, no more.
 */
#define XB_LENGTH_SPLIT 32
#define XB_SLOTS6	7
#define XB_OTHERS6	(1U << XB_SLOTS6)

/* What is the same for all prefixes of a length. */
struct xb_slot6 {
	__u64 hi, lo;  /* its mask */
	__u64 term[2]; /* of its hash */
};

struct xb_slots6 {
	__u32 always;
	__u32 celled;
	__u32 count; /* slots in use, from the first on */
	__u32 reserved;
	__u8 length[XB_SLOTS6 + 1];
	__u64 padding;
	struct xb_slot6 slot[XB_SLOTS6 + 1]; /* the last one is never in use */
};
_Static_assert(sizeof(struct xb_slots6) == 288, "slots layout");

/* The cell of an address: which word of cells6, and where in it. hash: of xb_hash_head6(). */
static inline __attribute__((always_inline)) __u32 xb_cell6_word(__u64 hash, __u32 words)
{
	return xb_scale((__u32)(hash >> 32), words);
}

static inline __attribute__((always_inline)) __u32 xb_cell6_shift(__u64 hash)
{
	return (hash >> 26) & 0x38;
}

/* Prefixes of the length XB_LEVELS6_FIRST + i are listed as all prefixes of the length of[i] in
 * them; lengths of slots and cells are such levels. For userspace alone. */
#define XB_LEVELS6_FIRST (XB_LENGTH_SPLIT + 1)
#define XB_LEVELS6	 (128 - XB_LENGTH_SPLIT)

/* How many bits a prefix becomes longer at most: it is 16 keys then. */
#define XB_LEVELS6_BITS 4

struct xb_levels6 {
	__u8 of[XB_LEVELS6];
};

/*
 * Lengths as bits. Cell 0: lengths 0 to 31, bit = length, for all addresses. Any other cell:
 * lengths 32 to 128, bit = length - 32, for all addresses whose first 32 bits fall on it.
 */
struct xb_lengths {
	__u64 bits[2];
};

/*
 * The confirm stage, exact: buckets of one cache line with 16, 24 or 32 IPv4 addresses or 12 IPv6
 * prefixes (quotient.h), or with 8 fingerprints of prefixes in classes (the whole 64-bit keyed
 * hash, 1 for 0), or 8 of names with their verdicts; or small buckets, four in a line, with 8
 * addresses. A free slot is 0. Behind the last of these lines stands one more, whose words are
 * named below.
 */
struct xb_bucket {
	__u64 word[8];
};

/* Raised between the copy and the removal of a key that moves; 0: none has since it was built. */
#define XB_BUCKET_MOVES	  0
#define XB_BUCKET_READERS 1 /* packets during which no key may move; the writer waits for them */

struct xb_buckets {
	__u32 parts;	 /* 0: nothing is confirmed */
	__u32 size;	 /* buckets in a part */
	__u16 slot_bits; /* 64; of prefixes 42, of addresses as many as xb_slot_suffices() allows */
	__u16 small;	 /* 1: four in a line */
};

/* Lines that have buckets. */
static inline __attribute__((always_inline)) __u32 xb_buckets_lines(__u32 parts, __u32 size,
								    __u32 small)
{
	return small ? (parts * size + 3) / 4 : parts * size;
}

/*
 * The allowlist: a trie for each family, and in front of them a gate of bits, so that a source that
 * is not allowed costs only a line. The head of a source, its first 20 bits (IPv6: a hash of the
 * first 32), has a cell with 63 others, and in it a bit of its own for prefixes that have all of
 * the head. For longer ones the first 24 bits (IPv6: 48) choose a bit of each half of the other
 * word, a Bloom filter. Behind these cells stand some for the first 16 bits of IPv6 addresses, for
 * prefixes shorter than the head; they use the first word alone.
 */
struct xb_gate_cell {
	__u64 head, near;
};

#define XB_GATE_BITS	  20
#define XB_GATE_SHORT6	  (1U << (XB_GATE_BITS - 6))
#define XB_GATE_ALL_CELLS (XB_GATE_SHORT6 + (1U << 10))

#define XB_GATE_HEAD4 XB_GATE_BITS
#define XB_GATE_NEAR4 24
#define XB_GATE_HEAD6 32
#define XB_GATE_NEAR6 48

/* Where a source stands. */
struct xb_gate {
	__u32 cell;
	__u32 head, near[2]; /* bits of its words */
};

/* head: XB_GATE_BITS, of which the place is a bijection. near: some first bits of the address. */
static inline __attribute__((always_inline)) struct xb_gate xb_gate_of(__u32 head, __u64 near)
{
	__u32 place = head * 0x9e3779b1U & ((1U << XB_GATE_BITS) - 1);
	__u64 bits = near * 0x9e3779b97f4a7c15ULL;

	return (struct xb_gate){.cell = place >> 6,
				.head = place & 63,
				.near = {(__u32)(bits >> 59), (__u32)(bits >> 54 & 31) + 32}};
}

/* address: host byte order. */
static inline __attribute__((always_inline)) struct xb_gate xb_gate_ipv4(__u32 address)
{
	return xb_gate_of(address >> (32 - XB_GATE_HEAD4), address >> (32 - XB_GATE_NEAR4));
}

/* hi: of the address, host byte order. */
static inline __attribute__((always_inline)) struct xb_gate xb_gate_ipv6(__u64 hi)
{
	__u32 head = (__u32)(hi >> (64 - XB_GATE_HEAD6)) * 0x85ebca6bU;

	return xb_gate_of(head >> (32 - XB_GATE_BITS), hi >> (64 - XB_GATE_NEAR6));
}

#define XB_ALLOW_MAX (1U << 28) /* the tries take memory as they grow */

/* Keys of the tries: the address in network byte order behind the prefix length. */
struct xb_allow4_key {
	__u32 length;
	__u32 address;
};

struct xb_allow6_key {
	__u32 length;
	__u32 address[4];
};

/*
 * The verdict for a query for a listed domain. Each list has one; if several apply, the first in
 * this order wins. In the exact table of names, a slot has a fingerprint as wide as XB_NAME_HASH,
 * and the verdict in the bits above.
 */
enum xb_domain_verdict {
	XB_DOMAIN_DROP,
	XB_DOMAIN_REFUSED,
	XB_DOMAIN_NXDOMAIN,
	XB_DOMAIN_TRUNCATE, /* the answer says: ask over TCP */
	XB_DOMAIN_COUNT,    /* passes */
	XB_DOMAIN_VERDICTS,
};
#define XB_DOMAIN_SHIFT 60

/*
 * What a slot says of its name, and of all below it: an enum xb_domain_verdict, by which the
 * verdict of the domains that the name lies in can only become stricter. With XB_DOMAIN_FINAL, some
 * list excepts the name: the verdict is that of all lists together and takes the place of theirs;
 * XB_DOMAIN_VERDICTS: none, the name passes.
 */
#define XB_DOMAIN_FINAL 8U
_Static_assert(XB_DOMAIN_VERDICTS < XB_DOMAIN_FINAL, "a bit of its own");

/* How many labels listed names have, so that the filter looks up no other suffixes. While a
 * generation lives, the range only widens. */
struct xb_depths {
	__u32 first, last; /* names that stand for all below them; last 0: there is none */
	__u32 exact;	   /* most of a name that stands for itself alone; 0: there is none */
	__u32 allowed;	   /* most of a name on the allowlist; 0: there is none */
	__u64 reserved[6];
};
_Static_assert(sizeof(struct xb_depths) == 64, "one cache line");

/* Where names are looked for: destination ports, host byte order; 0: none. */
#define XB_NAME_PORTS 4

struct xb_name_ports {
	__u16 dns[XB_NAME_PORTS];  /* UDP */
	__u16 tls[XB_NAME_PORTS];  /* TCP */
	__u16 http[XB_NAME_PORTS]; /* TCP */
};

/*
 * Addresses that are listed for services: the classes but XB_CLASS_ALL. A key of their Bloom filter
 * and exact table is a prefix of any length in a class. In front of them stand three tables:
 *
 * scope_ports: the classes of a destination port as 16 bits, four ports a word, those of TCP first.
 * scope_lengths4: for each /16 of IPv4, which lengths can match (bit 32 - length) and which classes
 * have any of them (bit 32 + class). Behind them stands one more word, with the bits of all.
 * scope_lengths6: as lengths6, of all lengths.
 *
 * In the latter two, a bit without an entry behind it costs a probe, no more.
 */
#define XB_SCOPE_PORTS	     65536
#define XB_SCOPE_PORT_WORDS  (2 * XB_SCOPE_PORTS / 4)
#define XB_SCOPE_CELLS4	     65536
#define XB_SCOPE_LENGTHS4    (XB_SCOPE_CELLS4 + 1)
#define XB_SCOPE_LENGTH_BITS ((1ULL << 33) - 1)

/* Classes as bits. */
struct xb_scopes {
	__u16 all;   /* that have all packets */
	__u16 icmp;  /* that have ICMP, of IPv4 and of IPv6 */
	__u16 tcp;   /* that have a port of TCP, at least */
	__u16 udp;   /* the same */
	__u16 drops; /* whose packets are dropped */
	__u16 reserved[3];
	/* Which ports are of any class, by their last six bits; all of them, if a class has all
	 * packets. Most packets to other ports need not ask scope_ports, nor what has all. */
	__u64 tcp_ports, udp_ports;
	__u64 identity[XB_CLASSES]; /* a hash of scope and verdict, never 0; 0: the class is not
				       used */
};

/*
 * Limits: what each source may send to some services. `of` says which packets have them, as it does
 * for classes; limit_ports is as scope_ports. Who may have the packet asks the meter.
 */
struct xb_limits {
	struct xb_scopes
		of;  /* `drops`: over which packets are dropped; others are truncated, or counted */
	__u32 lines; /* of the meter, for all; 0: there are no limits */
	__u32 jiffy; /* ns that one takes in this kernel */
	__u16 names; /* as bits, those that count registered names and no sources */
	__u16 truncates; /* the same, those over which queries are answered: ask over TCP */
	__u16 lists;	 /* the same, those that have a list */
	__u16 unused;	 /* 0 */
	struct xb_meter meter[XB_LIMITS];
};
_Static_assert(sizeof(struct xb_limits) == 816, "limits layout");

/*
 * Public suffixes, under which anybody can register a name: of each, and of all domains that have
 * any below them, the exact table has a fingerprint as of listed names, and these bits in the place
 * of a verdict. No key of it ever moves.
 */
enum xb_suffix {
	XB_SUFFIX_PLAIN = 1,	/* the name is a public suffix */
	XB_SUFFIX_WILDCARD = 2, /* it is one, and so is each name one label below it */
	XB_SUFFIX_EXCEPTED = 4, /* the name is none, in spite of the wildcard above it */
	XB_SUFFIX_DEEPER = 8,	/* names below it stand in the table, too */
};

enum xb_policy {
	XB_POLICY_ENFORCE,
	XB_POLICY_MONITOR,    /* counts what would drop, drops nothing */
	XB_POLICY_ALLOW_ONLY, /* only listed sources pass */
};

/* Of the copy of slot 0 in the parameters. */
enum xb_direct6 {
	XB_DIRECT6_NONE, /* there is none */
	XB_DIRECT6_PREFIXES,
	XB_DIRECT6_HOSTS, /* whose mask has all bits */
};

/* Set before the program is loaded, frozen after; userspace reads it back from the pinned map. */
struct xb_params {
	__u64 generation; /* random, never 0 */
	__u64 store;	  /* identity of the store it was built from */
	__u64 rate;	  /* promised, per packet: the bits of an IEEE 754 double */
	struct xb_key key;
	struct xb_geometry host4;
	struct xb_geometry net6;
	struct xb_buckets confirm4;	  /* of host4 */
	struct xb_buckets confirm6;	  /* of net6 */
	struct xb_buckets confirm_names;  /* always there if names is */
	struct xb_buckets confirm_scoped; /* always there if scoped is */
	struct xb_quotient_key key4;	  /* of confirm4; the step also of confirm6 */
	struct xb_geometry names;
	struct xb_name_ports ports;
	__u32 allow_names;   /* that the hash map of allowed names has room for */
	__u32 answer_limit;  /* answers a second on each CPU; 0: any number */
	__u32 prefix4;	     /* 1: IPv4 prefixes are looked up */
	__u32 length_cells;  /* of lengths6, without cell 0 */
	__u32 length_probes; /* most probes an IPv6 packet may cost at the promised rate */
	__u32 layout;	     /* XB_GENERATION_LAYOUT */
	__u32 confirm;	     /* 1: what the Bloom filter hits is looked up exactly */
	__u32 allow_only;    /* 1: the policy can be allow-only, so it is read on a miss */
	struct xb_geometry scoped;
	struct xb_scopes scopes; /* all zero without the stage */
	__u32 scope_cells;	 /* of scope_lengths6, without cell 0 */
	__u32 cell_words;	 /* of cells6 */
	__u64 known; /* identity of the known sources it looks up (xdp_bloom/known.h); 0: none */
	struct xb_key6 key6;
	/* A copy of slot 0, if that is looked up for every packet from the beginning. */
	struct xb_slot6 direct6;
	__u32 direct6_kind;   /* enum xb_direct6 */
	__u32 reads_in_order; /* 1: the processor keeps them, as x86 does */
	__u32 prefix6_pages;  /* that there is room for; 0: there are no IPv6 prefixes up to /32 */
	__u32 admits_known;   /* 1: the policy admits known sources; there are some */
	struct xb_levels6 levels6;
	struct xb_limits limits;
	struct xb_buckets suffixes; /* only with limits that count registered names */
	__u32 behind;		    /* 0 */
};
_Static_assert(sizeof(struct xb_params) == 1488, "parameters layout");

#define XB_GENERATION_LAYOUT 15

/* Each version finds the layout of another one's parameters there, and takes shorter ones for
 * older. */
#define XB_PARAMS_LEAST 552
_Static_assert(__builtin_offsetof(struct xb_params, layout) == 196 &&
		       sizeof(struct xb_params) >= XB_PARAMS_LEAST,
	       "read by every version");

#endif
