/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses that are listed for services: what does the packet ask for, which classes have that,
 * and is its source in one of them? */
#ifndef XDP_BLOOM_SCOPE_H
#define XDP_BLOOM_SCOPE_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "anchor.h"
#include "bits.h"
#include "bloom.h"
#include "exact.h"
#include "net6.h"
#include "params.h"
#include "parse.h"
#include "service.h"

struct bloom_map scoped SEC(".maps");
struct bucket_map confirm_scoped SEC(".maps");

struct word_map scope_ports SEC(".maps");
struct word_map scope_lengths4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_lengths);
} scope_lengths6 SEC(".maps");

/*
 * The functions that are not static the verifier reads once, for any arguments, and not again for
 * each state in which they are called. Linux 6.1 reads them also if nobody calls them: without the
 * stage they must not touch its maps.
 */

#define SCOPE_SERVICES ((struct services){&params.scopes, &scope_ports})

__noinline int scope_far(struct xdp_md *ctx, __u32 network, __u32 ipv6)
{
	return params.scoped.blocks ? service_far(ctx, network, ipv6, SCOPE_SERVICES) |
					      SCOPE_FOUND(params.scopes.all, 0)
				    : 0;
}

/* hash: of a prefix in a class. XB_CLEAN, XB_UNCONFIRMED, or XB_SCOPED_DROPPED: it is listed. */
static __always_inline enum xb_reason scope_find(__u64 hash)
{
	struct xb_key key = params_key();

	if (!bloom_contains(&scoped, &params.scoped, &key, hash))
		return XB_CLEAN;
	return exact_find(&confirm_scoped, &params.confirm_scoped, &key, xb_fingerprint(hash),
			  SLOTS_HASH)
		       ? XB_SCOPED_DROPPED
		       : XB_UNCONFIRMED;
}

/* The same by a call, for loops. */
__noinline int scope_find_far(__u64 hash)
{
	return params.scoped.blocks ? scope_find(hash) : 0;
}

/* Of a word of scope_lengths4: the prefix lengths of IPv4, 32 - length each. */
static __always_inline __u64 scope_marked_lengths(__u64 word)
{
	return word & XB_SCOPE_LENGTH_BITS;
}

/* mark: of one length in one class. The negative of the length's bit is the mask. */
static __always_inline __u64 scope_hash4(__u64 mark, __u32 address)
{
	struct xb_key key = params_key();

	return xb_hash_scoped4(&key, mark, address & -(__u32)scope_marked_lengths(mark));
}

/* Every length that can match, in one class after the other. */
struct scope_walk {
	__u64 hi, lo;	       /* the source; IPv4 in lo */
	struct net6_walk all;  /* the lengths that can match; of IPv4 32 - length, in always */
	struct net6_walk left; /* of the class */
	__u32 classes;	       /* to look in */
	__u32 class;	       /* in which it looks now */
	bool ipv6;
	enum xb_reason found;
};

/* Classes that drop come first, because a packet counts only for those if no other drops it. */
static __always_inline void scope_next_class(struct scope_walk *walk)
{
	__u32 first = walk->classes & params.scopes.drops;

	walk->class = lowest_bit(first ? first : walk->classes);
	walk->classes &= ~(1U << (walk->class & 15));
	walk->left = walk->all;
}

static __always_inline __u64 scope_hash6(const struct scope_walk *walk, __u32 length)
{
	return net6_hash(walk->hi, walk->lo, length, xb_scoped6_tag(walk->class, length));
}

static long scope_probe(__u32 round __attribute__((unused)), void *data)
{
	struct scope_walk *walk = data;
	__u32 length = net6_next_length(&walk->left);
	enum xb_reason reason;

	if (length > 128) {
		if (!walk->classes)
			return 1;
		scope_next_class(walk);
		return 0;
	}
	reason = scope_find_far(
		walk->ipv6 ? scope_hash6(walk, length)
			   : scope_hash4(xb_scoped4_mark(walk->class, 32 - (length & 63)),
					 (__u32)walk->lo));
	if (reason != XB_CLEAN)
		walk->found = reason;
	return reason == XB_SCOPED_DROPPED;
}

/* For each class a round for each length, and one for the next class. */
#define SCOPE_ROUNDS (XB_CLASSES * 130)

/* What can match: the lengths, and for IPv4 the classes. */
static __always_inline void scope_lengths(struct scope_walk *walk)
{
	struct xb_key key = params_key();
	__u32 cell = (__u32)walk->lo >> 16, first = 0, index;
	struct xb_lengths *always, *cover;
	__u64 *word;

	if (!walk->ipv6) {
		word = bpf_map_lookup_elem(&scope_lengths4, &cell);
		walk->all.always = word ? scope_marked_lengths(*word) : 0;
		walk->classes &= word ? *word >> 32 : 0;
		return;
	}
	index = 1 + xb_scale(xb_hash_head(&key, walk->hi >> 32) >> 32, params.scope_cells);
	always = bpf_map_lookup_elem(&scope_lengths6, &first);
	cover = bpf_map_lookup_elem(&scope_lengths6, &index);
	if (!always || !cover)
		return;
	walk->all.always = always->bits[0];
	walk->all.cover[0] = cover->bits[0];
	walk->all.cover[1] = cover->bits[1];
}

/* The one class and its reason, in the form of SCOPE_FOUND. The class is a bit, because its number
 * takes time and is needed only for what is found. */
static __always_inline int scope_found(__u32 class, enum xb_reason reason)
{
	if (reason == XB_SCOPED_DROPPED && !(params.scopes.drops & class))
		reason = XB_SCOPED_COUNTED;
	return SCOPE_FOUND(class, reason);
}

/* Looks in several classes, or for several lengths. classes: not 0. */
__noinline int scope_search(__u64 hi, __u64 lo, __u32 classes, __u32 ipv6)
{
	struct scope_walk walk = {
		.hi = hi, .lo = lo, .classes = classes, .ipv6 = ipv6, .found = XB_CLEAN};

	if (!params.scoped.blocks)
		return 0;
	scope_lengths(&walk);
	if (!walk.classes || !(walk.all.always | walk.all.cover[0] | walk.all.cover[1]))
		return 0;
	scope_next_class(&walk);
	bpf_loop(SCOPE_ROUNDS, scope_probe, &walk, 0);
	return scope_found(1U << (walk.class & 15), walk.found);
}

/* Of classes the search has to look in several, or for several lengths. */
#define SCOPE_SEVERAL SCOPE_FOUND(0, 0xff)

/* The word that says what can match: the one of all /16s, which stays in the nearest cache, if it
 * has one length; otherwise that of the /16. */
static __always_inline __u64 scope_word4(__u32 address)
{
	__u32 all = XB_SCOPE_CELLS4, cell = address >> 16;
	__u64 *word = bpf_map_lookup_elem(&scope_lengths4, &all);

	if (word && !is_single(scope_marked_lengths(*word)))
		word = bpf_map_lookup_elem(&scope_lengths4, &cell);
	return word ? *word : 0;
}

/* classes: not 0. As a rule one class and one length can match, which takes no call. */
static __always_inline __u32 scope_look_up4(__u32 address, __u32 classes)
{
	__u64 word = scope_word4(address), lengths = scope_marked_lengths(word);
	__u64 marked = word & (__u64)classes << 32;
	enum xb_reason reason;

	if (!lengths || !marked)
		return 0;
	if (!is_single(marked) || !is_single(lengths))
		return SCOPE_SEVERAL;
	reason = scope_find(scope_hash4(marked | lengths, address));
	return scope_found(marked >> 32, reason);
}

static __always_inline __u32 scope_look_up(const struct source *source, __u32 classes)
{
	__u32 listed;

	if (source->family == SOURCE_IPV6)
		return scope_search(source->hi, source->lo, classes, true);
	listed = scope_look_up4(source->ipv4, classes);
	return listed == SCOPE_SEVERAL ? scope_search(0, source->ipv4, classes, false) : listed;
}

/*
 * Judges a packet whose source is not listed for all services. found: the reason by which it would
 * pass. *class, 0 before: a bit, where the reason is that of a class.
 */
static __always_inline enum xb_reason scope_judge(struct xdp_md *ctx, const struct source *source,
						  enum xb_reason found, __u32 *class)
{
	__u32 asked = service_classes(ctx, source, SCOPE_SERVICES, scope_far), listed = 0;

	if (!asked)
		return found;
	if (SCOPE_CLASSES(asked))
		listed = scope_look_up(source, SCOPE_CLASSES(asked));
	*class = SCOPE_CLASSES(listed);
	if (SCOPE_REASON(listed) != XB_CLEAN)
		return SCOPE_REASON(listed);
	return SCOPE_REASON(asked) ? SCOPE_REASON(asked) : found;
}

#endif
