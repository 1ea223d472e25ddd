/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known sources: a Bloom filter that forgets (Shtul, Baquero, Almeida 2020, "Age-Partitioned Bloom
 * Filters"; here with two ages). Compiled for both sides. */
#ifndef XDP_BLOOM_KNOWN_H
#define XDP_BLOOM_KNOWN_H

#include "xdp_bloom/hash.h"

/*
 * A source stands in one line of 64 bytes, with one bit in each of its words. A word has two halves
 * of 28 bits, for two periods that follow each other, and on top the date: the last 8 bits of the
 * number of the later one. Period p has half p % 2. Each word turns by itself, when a source of a
 * later period is put into it: so it is always whole, and no reader needs an order between words.
 */
#define XB_KNOWN_WORDS 8
#define XB_KNOWN_HALF  28 /* bits */
#define XB_KNOWN_DATE  56 /* where the date begins */

struct xb_known_line {
	__u64 word[XB_KNOWN_WORDS];
};
_Static_assert(sizeof(struct xb_known_line) == 64, "a line is one cache line");

/* A filter cannot be enlarged. A larger one learns in its place, and the former is looked up until
 * all that it has is forgotten. */
#define XB_KNOWN_SETS 4

struct xb_known_set {
	__u64 capacity; /* sources in a period */
	__u64 rate;	/* of strangers taken for known, at capacity: bits of a double */
	/* Sources that were new to a period of this parity; what the kernel counts. */
	__u64 fresh[2];
	__u32 stopped; /* of one that learns no more: the period in which it did so */
	__u32 reserved;
	__u64 padding[3];
};
_Static_assert(sizeof(struct xb_known_set) == 64, "sets share no cache line");

/* What look-ups read is the first cache line. */
struct xb_known {
	/* The second of CLOCK_BOOTTIME in which it ends, then its number in the low 32 bits: one
	 * word, so that the two change together. */
	__u64 period;
	__u32 remember; /* seconds that a period lasts */
	__u16 learner;	/* the set that learns */
	__u16 layout;	/* XB_KNOWN_LAYOUT */
	struct xb_key key;
	__u32 lines[XB_KNOWN_SETS]; /* 0: there is no such set */
	__u64 identity;		    /* random, never 0: programs are built for it */
	__u64 netns;		    /* cookie of the network namespace whose sockets are heard */
	struct xb_known_set set[XB_KNOWN_SETS];
	__u64 store; /* identity of the store that wants it */
	__u64 reserved[7];
};
_Static_assert(sizeof(struct xb_known) == 384, "known layout");
_Static_assert(__builtin_offsetof(struct xb_known, layout) == 14, "read by every version");

#define XB_KNOWN_LAYOUT 1

/* Counters for each CPU. */
enum {
	XB_KNOWN_LEARNED, /* sources that were new to their period */
	XB_KNOWN_RENEWED, /* handshakes of those that were not */
	XB_KNOWN_LOST,	  /* sources for which no place was found; never seen to happen */
	XB_KNOWN_COUNTS,
};

/* address: host byte order. */
XB_HASH_INLINE __u64 xb_known_hash_ipv4(const struct xb_key *key, __u32 address)
{
	return xb_hash_ipv4(key, address);
}

/* SipHash-1-3 of a 17-byte message: hi (the /64, host byte order) and 0 as little endian words, and
 * 64. Not xb_hash_ipv6(), whose factors are new in every generation, which these sources outlive.
 */
XB_HASH_INLINE __u64 xb_known_hash_ipv6(const struct xb_key *key, __u64 hi)
{
	struct xb_sip sip = xb_sip_begin(key);

	xb_sip_take(&sip, hi);
	xb_sip_take(&sip, 0);
	xb_sip_take(&sip, (17ULL << 56) | 64);
	return xb_sip_end(sip);
}

XB_HASH_INLINE __u64 xb_known_half(__u32 period)
{
	return ((1ULL << XB_KNOWN_HALF) - 1) << (XB_KNOWN_HALF * (period & 1));
}

/* The number of the bit in word i, within a half. */
XB_HASH_INLINE __u32 xb_known_bit(const struct xb_probes *probes, __u32 i)
{
	__u64 word = i < 4 ? probes->low : xb_probes_high(probes);

	return (__u32)(((word >> (16 * (i & 3))) & 0xffff) * XB_KNOWN_HALF >> 16);
}

/* Periods since the word was dated. From XB_KNOWN_AHEAD on it is of a later one, since the caller
 * was overtaken by turns: 255 is the next one. */
#define XB_KNOWN_AHEAD 240

XB_HASH_INLINE __u32 xb_known_age(__u64 word, __u32 now)
{
	return (now - (__u32)(word >> XB_KNOWN_DATE)) & 255;
}

XB_HASH_INLINE int xb_known_is_current(__u64 word, __u32 now)
{
	__u32 age = xb_known_age(word, now);

	/* An empty word was perhaps never dated. */
	return age == 0 || (word && age >= XB_KNOWN_AHEAD);
}

/* The word as it has to be in this period: what is older than the period before is gone. */
XB_HASH_INLINE __u64 xb_known_turned(__u64 word, __u32 now)
{
	__u64 dated = (__u64)(now & 255) << XB_KNOWN_DATE;

	if (xb_known_is_current(word, now))
		return word;
	return xb_known_age(word, now) == 1 ? dated | (word & xb_known_half(now - 1)) : dated;
}

/*
 * Whether a line has the source. Its bits have to be those of one period: what is put in stands
 * in one half of all words, and so two half full halves do not make a full one.
 */
XB_HASH_INLINE int xb_known_line_has(const struct xb_known_line *line,
				     const struct xb_probes *probes, __u32 now)
{
	__u64 both = ~0ULL;

#pragma GCC unroll 8
	for (__u32 i = 0; i < XB_KNOWN_WORDS; i++) {
		__u64 word = *(const volatile __u64 *)&line->word[i];

		both &= xb_known_turned(word, now) >> xb_known_bit(probes, i);
	}
	return (both | both >> XB_KNOWN_HALF) & 1;
}

enum xb_known_put { XB_KNOWN_WAS_THERE, XB_KNOWN_IS_NEW, XB_KNOWN_NO_PLACE };

/*
 * Each failure to turn a word means that somebody else has changed it. Either it is turned now; or
 * it got a bit from one who still has the former period, and each processor has few of these. So
 * the tries do not run out.
 */
#define XB_KNOWN_TRIES 64

/* Puts one bit into a word. */
XB_HASH_INLINE enum xb_known_put xb_known_put_bit(__u64 *word, __u64 bit, __u32 now)
{
	for (int tries = 0; tries < XB_KNOWN_TRIES; tries++) {
		__u64 old = *(volatile __u64 *)word;

		if (xb_known_is_current(old, now)) {
			if (old & bit)
				return XB_KNOWN_WAS_THERE;
			/* That the result is used makes it a full barrier on every processor. */
			return (__sync_fetch_and_or(word, bit) & bit) ? XB_KNOWN_WAS_THERE
								      : XB_KNOWN_IS_NEW;
		}
		if (__sync_val_compare_and_swap(word, old, xb_known_turned(old, now) | bit) == old)
			return XB_KNOWN_IS_NEW;
	}
	return XB_KNOWN_NO_PLACE;
}

/*
 * Puts a source into its line. One that is there for this period already costs reads alone. now may
 * be the period before the present one, if a turn came in between: then the bits come into the half
 * of that period, which is still looked up. put_bit: xb_known_put_bit(), or a function that calls
 * it.
 */
XB_HASH_INLINE enum xb_known_put
xb_known_line_put(struct xb_known_line *line, const struct xb_probes *probes, __u32 now,
		  enum xb_known_put (*put_bit)(__u64 *word, __u64 bit, __u32 now))
{
	enum xb_known_put result = XB_KNOWN_WAS_THERE;

#pragma GCC unroll 8
	for (__u32 i = 0; i < XB_KNOWN_WORDS; i++) {
		__u64 bit = 1ULL << (xb_known_bit(probes, i) + XB_KNOWN_HALF * (now & 1));
		enum xb_known_put put = put_bit(&line->word[i], bit, now);

		result = put > result ? put : result;
	}
	return result;
}

/*
 * The period after it, or the present one if it has not ended at this second. After two periods all
 * is forgotten, so the number rises by three at most: no date comes round again.
 */
XB_HASH_INLINE __u64 xb_known_next(__u64 period, __u32 remember, __u32 second)
{
	__u32 end = (__u32)(period >> 32), number = (__u32)period, passed;

	if (second < end || !remember)
		return period;
	passed = (second - end) / remember + 1;
	end += passed * remember;
	number += passed < 3 ? passed : 3;
	return (__u64)end << 32 | number;
}

/* Turns if it is time. Returns the number of the present period. */
XB_HASH_INLINE __u32 xb_known_turn(struct xb_known *known, __u32 second)
{
	__u64 old = *(volatile __u64 *)&known->period;
	__u64 next = xb_known_next(old, *(volatile __u32 *)&known->remember, second), found;
	__u32 number = (__u32)next;

	if (next == old)
		return number;
	found = __sync_val_compare_and_swap(&known->period, old, next);
	if (found != old)
		return (__u32)found;
	for (__u32 i = 0; i < XB_KNOWN_SETS; i++) {
		known->set[i].fresh[number & 1] = 0;
		if (number - (__u32)old > 1)
			known->set[i].fresh[(number - 1) & 1] = 0;
	}
	return number;
}

/*
 * How many handshakes a source has completed with one port in the present window of time and in the
 * one before, for windows of a second, a minute and an hour. Nobody can forge these, so a source
 * that has completed many is over a limit by itself, and not because others send in its name.
 */
struct xb_met_key {
	__u64 hi;    /* the address, IPv4 in the upper half, or its /64; host byte order */
	__u16 port;  /* of this machine, host byte order */
	__u8 family; /* 4 or 6 */
	__u8 zero[5];
};
_Static_assert(sizeof(struct xb_met_key) == 16, "no padding in a key");

#define XB_MET_WINDOWS 3

struct xb_met_window {
	__u32 number; /* the present window, in windows since the machine was booted */
	__u32 now, before;
};

struct xb_met {
	struct xb_met_window window[XB_MET_WINDOWS];
};

#define XB_MET_SOURCES 16384 /* those that came last */

/* Seconds of a window. */
XB_HASH_INLINE __u32 xb_met_seconds(__u32 i)
{
	return i == 0 ? 1 : i == 1 ? 60 : 3600;
}

/* The window as it is at this second of CLOCK_BOOTTIME. */
XB_HASH_INLINE struct xb_met_window xb_met_turned(struct xb_met_window window, __u32 i,
						  __u32 second)
{
	__u32 number = second / xb_met_seconds(i);

	if (window.number != number) {
		window.before = window.number + 1 == number ? window.now : 0;
		window.now = 0;
		window.number = number;
	}
	return window;
}

/* The number of a window comes last: another processor that counts meanwhile then finds the former
 * window, and perhaps counts too few, but never takes handshakes of that one for new ones. */
XB_HASH_INLINE void xb_met_count(struct xb_met *met, __u32 second)
{
	for (__u32 i = 0; i < XB_MET_WINDOWS; i++) {
		struct xb_met_window turned = xb_met_turned(met->window[i], i, second);
		volatile struct xb_met_window *window = &met->window[i];

		window->before = turned.before;
		window->now = turned.now + 1;
		window->number = turned.number;
	}
}

/* Handshakes in the present window or in the one before, whichever had more. */
XB_HASH_INLINE __u32 xb_met_handshakes(const struct xb_met *met, __u32 i, __u32 second)
{
	struct xb_met_window window = xb_met_turned(met->window[i], i, second);

	return window.now > window.before ? window.now : window.before;
}

#endif
