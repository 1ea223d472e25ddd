/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up a name and the domains in which it lies. It hashes each label once, from the last to the
 * first, and reads one Bloom block for each suffix that is no deeper than the deepest listed name.
 */
#ifndef XDP_BLOOM_NAME_H
#define XDP_BLOOM_NAME_H

#include <linux/bpf.h>
#include <linux/udp.h>
#include <bpf/bpf_helpers.h>
#include "bloom.h"
#include "exact.h"
#include "query.h"

struct bloom_map names SEC(".maps");
struct bucket_map confirm_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_depths);
} name_depths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u64); /* fingerprint */
	__type(value, __u32);
} allow_names SEC(".maps");

/* Set as params is, and pinned beside it. Apart from it, because params is copied around. */
const volatile struct xb_name_key name_key SEC(".rodata.name_key");

#define DNS_HEADER	12
#define QUESTION_FIXED	4  /* type and class behind the name */
#define OPT_FIXED	11 /* of an OPT record without its data */
#define MESSAGE_BYTES	(DNS_HEADER + 255 + QUESTION_FIXED + OPT_FIXED)
#define SCRATCH_MESSAGE 528 /* what a masked index can reach, and a name more */
#define TEXT_BYTES	2048

/* Looking for a name in the first data of a connection. */
struct hello {
	__u32 at, end;	  /* what is left to look at */
	__u32 host, size; /* the name in the packet; size 0: none was found */
	__u32 target;	  /* 1: it is in the target of an HTTP request, else in its Host */
	__u32 seen;	  /* 1: what is looked for now stands behind the Host */
	__u32 doubt;	  /* 1: servers may take another name: a second Host, a folded line */
	__u8 text[TEXT_BYTES + 64];
};

/* The name that the verdict is from. */
struct hit {
	__u64 fingerprint;
	__u32 depth; /* its labels */
	__u32 exact; /* 1: it is listed for itself alone */
};

/* Looking for the registered name. */
struct registered {
	__u64 hash;   /* 0: not found yet */
	__u32 suffix; /* labels of the longest public suffix so far */
	__u32 deeper; /* not 0: longer ones may stand in the table */
};

/*
 * A name, which is cut into labels and then looked up suffix by suffix. It is in a map, because the
 * verifier does not track values there: on the stack each round of a loop would be another state.
 */
struct name {
	__u32 network; /* offset of the IP header */
	__u32 ipv6;    /* 1, else IPv4 */
	struct transport transport;
	struct query query;
	struct udphdr udp;	       /* of TCP only the ports */
	__u8 message[SCRATCH_MESSAGE]; /* as in the packet; the name begins behind DNS_HEADER */
	__u8 start[128];	       /* of each label, from the name's first byte */
	__u32 room;    /* bytes of the message that are the packet's, from the name's first byte */
	__u32 bytes;   /* of the labels so far, without the root */
	__u32 labels;  /* so far */
	__u32 bad;     /* enum xb_reason; XB_NAME_CLEAN: it is whole */
	__u32 depth;   /* labels taken into the hash, from the last */
	__u32 words;   /* that they were */
	__u32 first;   /* depth from which on suffixes are looked up */
	__u32 last;    /* depth up to which they are */
	__u32 verdict; /* of the suffixes so far; XB_DOMAIN_VERDICTS: none */
	struct hit hit;
	struct registered registered;
	struct xb_name_sums sums;
	__u64 answer_due; /* when the next answer would come if all had kept the limit's pace */
	__u32 tcp;	  /* enum xb_reason a listed name is dropped for; 0: a query over UDP */
	struct hello hello;
	struct xb_name_drop told;
};

/* Each CPU has one, which one packet at a time uses. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct name);
} name_scratch SEC(".maps");

static __always_inline struct name *name_of_cpu(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&name_scratch, &first);
}

static __always_inline __u8 *name_at(struct name *name, __u32 at)
{
	/* The compiler would leave out the mask where the verifier of Linux 6.1 knows no bounds. */
	asm volatile("" : "+r"(at));
	return &name->message[DNS_HEADER + (at & 255)];
}

/* A round of bpf_loop() takes several labels, and the first round is inlined: to return from a call
 * costs more than a label or two. */
#define LABELS_A_ROUND	 8
#define SUFFIXES_A_ROUND 4

/* True: there are no more. */
static __always_inline bool name_labels(struct name *name)
{
	__u32 at = name->bytes, labels = name->labels, room = name->room;
	enum xb_reason bad = XB_DNS_LONG;
	int left = LABELS_A_ROUND;

	for (; left > 0; left--) {
		__u32 length;

		bad = XB_DNS_SHORT;
		if (at >= room)
			break;
		length = *name_at(name, at);
		bad = XB_NAME_CLEAN;
		if (!length)
			break;
		bad = length >= 0xc0 ? XB_DNS_COMPRESSED : XB_DNS_LABEL;
		if (length > 63)
			break;
		/* 255 bytes with the root, RFC 1035, section 2.3.4. */
		bad = XB_DNS_LONG;
		if (at + length + 2 > 255)
			break;
		name->start[labels & 127] = at;
		labels++;
		at += length + 1;
	}
	name->bytes = at;
	name->labels = labels;
	name->bad = bad;
	return left > 0;
}

static long name_next_labels(__u32 round __attribute__((unused)), void *data)
{
	return name_labels(*(struct name **)data);
}

/* Finds the labels of the name that stands in the scratch. XB_NAME_CLEAN: it is whole. */
static __always_inline enum xb_reason name_cut(struct name *name)
{
	name->bytes = name->labels = 0;
	if (!name_labels(name))
		bpf_loop(XB_NAME_LABELS / LABELS_A_ROUND + 1, name_next_labels, &name, 0);
	return name->bad;
}

/* The factors of the place behind what is taken. */
static __always_inline const volatile struct xb_name_factors *name_place(const struct name *name)
{
	return &name_key.place[name->words & 127];
}

/* Takes the next label, towards the first, into the hash. */
static __always_inline void name_take_label(struct name *name)
{
	const volatile struct xb_name_factors *place = name_place(name);
	__u32 start = name->start[(name->labels - 1 - name->depth) & 127];
	__u8 *label = name_at(name, start);
	__u32 length = *label & 63, last = xb_label_words(length) - 1;
	struct xb_name_sums sums = name->sums;

	name->depth++;
	name->words += last + 1;
	for (__u32 i = 0; i < 7 && i < last; i++)
		xb_name_take(&sums, &place[i], xb_lower8(*(__u64 *)(label + 8 * i)));
	last &= 7;
	xb_name_take(&sums, &place[last],
		     xb_lower8(*(__u64 *)(label + 8 * last)) & xb_label_mask(length));
	name->sums = sums;
}

/* exact is a constant wherever this is inlined: 1 for the name alone. */
static __always_inline __u64 name_hash(const struct name *name, __u32 exact)
{
	return xb_hash_name(&name->sums, name_place(name), exact);
}

/* See exact_again(). By a call, since only what the Bloom filter takes for a listed name comes
 * here, and in many places: the verifier would follow it in each. */
__noinline __u64 name_confirm_again(__u64 fingerprint, __u32 first, __u32 second)
{
	const struct xb_spot spot[2] = {{fingerprint, first}, {fingerprint, second}};

	return params.confirm_names.parts
		       ? exact_again(&confirm_names, &params.confirm_names, spot, SLOTS_NAME)
		       : 0;
}

/* What the slot of the name says, or XB_DOMAIN_VERDICTS. */
static __always_inline __u32 name_confirm(__u64 hash)
{
	struct xb_key key = params_key();
	__u64 fingerprint = xb_fingerprint(hash);
	struct xb_choices choices = xb_choices_of(&key, fingerprint, params.confirm_names.parts,
						  params.confirm_names.size);
	const struct xb_spot spot[2] = {{fingerprint, choices.first},
					{fingerprint, choices.second}};
	__u64 found = buckets_find(&confirm_names, &params.confirm_names, spot, SLOTS_NAME);

	if (!found)
		found = name_confirm_again(fingerprint, choices.first, choices.second);
	return found ? found >> XB_DOMAIN_SHIFT : XB_DOMAIN_VERDICTS;
}

static __always_inline void name_look_up(struct name *name, __u32 exact)
{
	struct xb_key key = params_key();
	__u64 hash = name_hash(name, exact);
	__u32 said, verdict;

	if (!bloom_contains(&names, &params.names, &key, hash))
		return;
	said = name_confirm(hash);
	verdict = said & (XB_DOMAIN_FINAL - 1);
	if (verdict == name->verdict || (said < XB_DOMAIN_FINAL && verdict > name->verdict))
		return;
	name->verdict = verdict;
	name->hit = (struct hit){xb_fingerprint(hash), name->depth, exact};
}

/* True: there are no more. Unrolled, or the loop may end where the verifier of Linux 6.1 takes
 * none: by falling through. */
static __always_inline bool name_suffixes(struct name *name)
{
#pragma unroll
	for (int i = 0; i < SUFFIXES_A_ROUND; i++) {
		if (name->depth >= name->last)
			return true;
		name_take_label(name);
		if (name->depth >= name->first)
			name_look_up(name, 0);
	}
	return false;
}

static long name_next_suffixes(__u32 round __attribute__((unused)), void *data)
{
	return name_suffixes(*(struct name **)data);
}

static __always_inline void name_rewind(struct name *name)
{
	name->sums = (struct xb_name_sums){0};
	name->depth = name->words = 0;
}

/* The strictest verdict of the domains it lies in, from the last on of which all lists' verdict is
 * known; XB_DOMAIN_VERDICTS: none. */
static __always_inline __u32 name_listed(struct name *name, const struct xb_depths *depths)
{
	bool exact = name->labels <= depths->exact;
	__u32 last = exact ? name->labels : depths->last;

	name->verdict = XB_DOMAIN_VERDICTS;
	name->first = depths->first;
	name->last = last < name->labels ? last : name->labels;
	name_rewind(name);
	if (!name_suffixes(name))
		bpf_loop(XB_NAME_LABELS / SUFFIXES_A_ROUND + 1, name_next_suffixes, &name, 0);
	if (exact)
		name_look_up(name, 1);
	return name->verdict;
}

static __always_inline bool name_is_allowed(const struct name *name, __u32 exact)
{
	__u64 fingerprint = xb_fingerprint(name_hash(name, exact));

	return bpf_map_lookup_elem(&allow_names, &fingerprint);
}

static long name_next_allowed(__u32 round __attribute__((unused)), void *data)
{
	struct name *name = *(struct name **)data;

	name_take_label(name);
	if (!name_is_allowed(name, 0))
		return 0;
	name->verdict = XB_DOMAIN_VERDICTS;
	return 1;
}

/* Whether a listed name lies in a domain on the allowlist. */
static __noinline int name_allowed(struct name *name, __u32 allowed)
{
	if (!name)
		return 0;
	name_rewind(name);
	bpf_loop(allowed < name->labels ? allowed : name->labels, name_next_allowed, &name, 0);
	if (name->verdict == XB_DOMAIN_VERDICTS)
		return 1;
	if (name->labels > allowed)
		return 0;
	return name_is_allowed(name, 1);
}

#endif
