/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Meters: how much a source may send, for any number of sources in a table that never fills.
 * Compiled for both sides. */
#ifndef XDP_BLOOM_LIMIT_H
#define XDP_BLOOM_LIMIT_H

#include "xdp_bloom/hash.h"

/*
 * The generic cell rate algorithm (ITU-T I.371, annex A), as a counting Bloom filter keeps it. A
 * source has a time, up to which what it sent has used its rate; what it sends moves that time on,
 * and it is over its limit if the time would lie further ahead than its burst. The time of a source
 * stands in four cells of one line. Other sources have cells in the line as well, so a cell may be
 * ahead of the time of a source, but none is behind it: of the four, the least counts, and what
 * passes raises those that are below its new time (conservative update: Estan, Varghese 2002;
 * Cormode, Muthukrishnan 2005). What lies in the past is as good as empty, so nothing is ever
 * cleared.
 *
 * All sources of a line have the same limit: the cells of another one would be times in other
 * ticks, and in raising what seems past to him, his source would lower the cells of ours.
 */
#define XB_METER_CELLS	16
#define XB_METER_CHOSEN 4

/* A cell is a time in ticks of its limit, of which a cell has the last 32 bits. */
struct xb_meter_line {
	__u32 cell[XB_METER_CELLS];
};
_Static_assert(sizeof(struct xb_meter_line) == 64, "a line is one cache line");

/* What a packet may count as. */
enum xb_limit_unit {
	XB_LIMIT_PACKETS,
	XB_LIMIT_BYTES,
	XB_LIMIT_CONNECTIONS, /* TCP segments with SYN and without ACK */
	XB_LIMIT_QUERIES,     /* UDP, and the message is a DNS query */
	XB_LIMIT_UNITS,
};

/* How a limit is kept. */
struct xb_meter {
	__u64 speed;	    /* ticks in 2^shift ns, times 2^32 */
	__u32 cost;	    /* ticks of a packet, a connection or a query; of a byte times 2^16 */
	__u32 depth;	    /* ticks of the burst */
	__u32 slack;	    /* ticks: the clock may have been read so long before the cells */
	__u32 first, lines; /* of all lines, those that are this limit's alone */
	__u8 shift;
	__u8 unit;	   /* enum xb_limit_unit */
	__u8 bits4, bits6; /* of an address, that are the source: 24 or 32, 48 or 64 */
	/* What the cost is for a known source (xdp_bloom/known.h), of a byte too: ticks times 2^32;
	 * XB_METER_EXEMPT: it may send any amount; 0: as much as others. */
	__u64 known;
};
_Static_assert(sizeof(struct xb_meter) == 40, "meter layout");

#define XB_METER_EXEMPT (~0ULL)

#define XB_LIMITS 16 /* numbers of limits are 1 to 15, as those of classes */

/* Each failed try means that another processor has raised a cell. One that fails so often is over:
 * its line is in use by several processors all the time, and no packet may pass uncounted. */
#define XB_METER_TRIES 8

/* The time in ticks. ns: of a clock that all processors read in one place, such as that of jiffies,
 * so that it never goes back. It goes on where its 32 bits wrap. (The product has all ticks but
 * those that 32 bits do not hold, and their fraction.) */
XB_HASH_INLINE __u32 xb_meter_ticks(__u64 speed, __u32 shift, __u64 ns)
{
	return (__u32)(((ns >> shift) * speed) >> 32);
}

/* Ticks that so many bytes cost. Fractions are rounded up or down by chance, so that small packets
 * cost no more than they should. noise: any bits that differ from packet to packet. */
XB_HASH_INLINE __u32 xb_meter_bytes(__u32 cost, __u64 bytes, __u32 noise)
{
	return (__u32)((bytes * cost + (noise & 0xffff)) >> 16);
}

/*
 * What a packet costs if its source is known, and changes the meter to take it by. amount: bytes,
 * or 1. noise: any 32 bits that differ from packet to packet.
 *
 * Fractions of a tick are rounded up or down by chance. A source that has less left than the cost
 * rounded up is over its limit, whatever the chance; else it would go on for nothing where its
 * burst ends. So no packet passes because of its own chance, and on average those that pass cost
 * what meter->known says (Wald's equation). All together they never cost more than the ticks of
 * burst and time: on average no more passes than the factor times burst and rate.
 */
XB_HASH_INLINE __u32 xb_meter_known(struct xb_meter *meter, __u64 amount, __u32 noise)
{
	__u64 ticks = amount * meter->known;
	__u32 cost = (__u32)((ticks + noise) >> 32), most = (__u32)((ticks + 0xffffffff) >> 32);

	meter->depth -= most - cost;
	meter->slack += most - cost;
	return cost;
}

/* IPv4: a bijection for each limit. address: host byte order, bits beyond the source zero. A source
 * of IPv6 has the hash of its prefix (xb_hash_ipv6()), with the limit in place of a class. */
XB_HASH_INLINE __u64 xb_limit_hash4(const struct xb_key *key, __u32 limit, __u32 address)
{
	__u64 x = (key->a ^ (__u64)limit << 32 ^ address) * 0xbf58476d1ce4e5b9ULL;

	return x ^ (x >> 32);
}

/* A registered name: a bijection for each limit. hash: of the name, as wide as XB_NAME_HASH. */
XB_HASH_INLINE __u64 xb_limit_hash_name(__u32 limit, __u64 hash)
{
	return hash | (__u64)limit << 60;
}

struct xb_meter_cells {
	__u32 at[XB_METER_CHOSEN];
};

/*
 * All bits if the condition holds, else none. What a hash and other sources' packets decide no
 * processor foresees, a branch that goes wrong takes as long as all of the arithmetic, and BPF has
 * no conditional move. The compilers would make branches of it again.
 */
XB_HASH_INLINE __u64 xb_meter_mask(__s64 negative_if_so)
{
	__asm__("" : "+r"(negative_if_so));
	return (__u64)(negative_if_so >> 63);
}

/* Both below 2^31. */
XB_HASH_INLINE __u32 xb_meter_same(__u32 x, __u32 y)
{
	return (__u32)xb_meter_mask((__s64)(x ^ y) - 1);
}

/* Four different cells, each set of four as likely as any other (Floyd: Bentley, Programming
 * Pearls, CACM 9/1987). probes: of the hash. */
XB_HASH_INLINE struct xb_meter_cells xb_meter_cells_of(const struct xb_probes *probes)
{
	__u64 bits = probes->low;
	__u32 a = (__u32)((bits & 0xffff) * 13 >> 16);
	__u32 b = (__u32)((bits >> 16 & 0xffff) * 14 >> 16);
	__u32 c = (__u32)((bits >> 32 & 0xffff) * 15 >> 16);
	__u32 d = (__u32)(bits >> 60);

	b ^= (b ^ 13) & xb_meter_same(b, a);
	c ^= (c ^ 14) & (xb_meter_same(c, a) | xb_meter_same(c, b));
	d ^= (d ^ 15) & (xb_meter_same(d, a) | xb_meter_same(d, b) | xb_meter_same(d, c));
	/* The compiler knows that they are below 16, and would leave out the masks by which the
	 * kernel's verifier knows it. */
	__asm__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	return (struct xb_meter_cells){{a, b, c, d}};
}

/* Ticks that the cell is ahead of now; 0: it lies in the past. A cell that nobody has raised for
 * nearly 2^32 ticks seems ahead again, until that time is over: (depth + slack) / 2^32 of all time.
 * No limit has more than four thousandths, and most have a few hundred thousandths. */
XB_HASH_INLINE __u32 xb_meter_lead(const struct xb_meter *meter, __u32 cell, __u32 now)
{
	__u32 lead = cell - now;

	return lead & ~(__u32)xb_meter_mask((__s64)meter->depth + meter->slack - lead);
}

/* Whether the cell still had the value from which it was raised. */
XB_HASH_INLINE int xb_meter_raise(struct xb_meter_line *line, __u32 at, __u32 from, __u32 to)
{
	return __sync_val_compare_and_swap(&line->cell[at & (XB_METER_CELLS - 1)], from, to) ==
	       from;
}

/* Of two leads. */
XB_HASH_INLINE __u32 xb_meter_least(__u32 one, __u32 other)
{
	__s64 more = (__s64)one - other;

	return other + (__u32)(more & (__s64)xb_meter_mask(more));
}

enum xb_meter_found {
	XB_METER_WITHIN, /* counted */
	XB_METER_OVER,	 /* not counted: the source has used its rate and burst */
	XB_METER_AGAIN,	 /* another processor has changed the cells: try again */
};

/*
 * One try to count what costs so many ticks. line: other processors change it at the same time.
 * cell: what was read of the chosen cells; now: the time in ticks, read after them.
 *
 * The least cell, if several are the least the last of them, is raised last and decides: who raises
 * it from the value that he read has counted. By then the other three have the new time or a later
 * one. Cells only rise. So the next packet of the source, on whatever processor, finds all four at
 * that time, or fails to raise the cell that it took for the least: no packet is counted as if
 * another one of its source had not been. One that fails has not raised the least cell, so its next
 * try does not count it twice.
 */
XB_HASH_INLINE enum xb_meter_found xb_meter_take(struct xb_meter_line *line,
						 const struct xb_meter_cells *chosen,
						 const __u32 cell[XB_METER_CHOSEN],
						 const struct xb_meter *meter, __u32 cost,
						 __u32 now)
{
	__u32 lead[XB_METER_CHOSEN], least = 0, ahead;

#pragma GCC unroll 4
	for (__u32 i = 0; i < XB_METER_CHOSEN; i++) {
		lead[i] = xb_meter_lead(meter, cell[i], now);
		least = i ? xb_meter_least(least, lead[i]) : lead[i];
	}
	ahead = least + cost;
	if (ahead > meter->depth)
		return XB_METER_OVER;
#pragma GCC unroll 4
	for (__u32 i = 0; i < XB_METER_CHOSEN; i++)
		if (lead[i] != least && lead[i] < ahead &&
		    !xb_meter_raise(line, chosen->at[i], cell[i], now + ahead))
			return XB_METER_AGAIN;
#pragma GCC unroll 4
	for (__u32 i = 0; i < XB_METER_CHOSEN; i++)
		if (lead[i] == least && !xb_meter_raise(line, chosen->at[i], cell[i], now + ahead))
			return XB_METER_AGAIN;
	return XB_METER_WITHIN;
}

#endif
