/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources that send more than they may, and names that are asked for more often: counts the packet
 * for each limit that has its service. */
#ifndef XDP_BLOOM_BPF_LIMIT_H
#define XDP_BLOOM_BPF_LIMIT_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/in.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "account.h"
#include "bits.h"
#include "known.h"
#include "net6.h"
#include "params.h"
#include "parse.h"
#include "registered.h"
#include "service.h"
#include "transport.h"
#include "watch.h"

struct word_map limit_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_meter_line);
} meter SEC(".maps");

#define LIMIT_SERVICES ((struct services){&params.limits.of, &limit_ports})

__noinline int limit_far(struct xdp_md *ctx, __u32 network, __u32 ipv6)
{
	return params.limits.lines ? service_far(ctx, network, ipv6, LIMIT_SERVICES) |
					     SCOPE_FOUND(params.limits.of.all, 0)
				   : 0;
}

/* As a bit of `number`; the verifier knows it for no limit if there is none. */
static __always_inline bool limit_is_of(__u16 limits, __u32 number)
{
	return limits & 1U << (number & (XB_LIMITS - 1));
}

/* address: of IPv4, or the first half of one of IPv6, host byte order; or the hash of a name. */
static __always_inline __u64 limit_hash(__u64 address, __u32 ipv6,
					const volatile struct xb_meter *limit, __u32 number)
{
	struct xb_key key = params_key();

	if (limit_is_of(params.limits.names, number))
		return xb_limit_hash_name(number, address);
	if (ipv6)
		return net6_hash(address, 0, limit->bits6, xb_scoped6_tag(number, limit->bits6));
	return xb_limit_hash4(&key, number, (__u32)address & ~0U << (32 - limit->bits4));
}

/* ns. Jiffies are one word to read, where bpf_ktime_get_ns() calls several functions. */
static __always_inline __u64 limit_now(void)
{
	return bpf_jiffies64() * params.limits.jiffy;
}

static __always_inline enum xb_meter_found limit_try(struct xb_meter_line *line,
						     const struct xb_meter_cells *chosen,
						     const struct xb_meter *limit, __u32 cost)
{
	__u32 cell[XB_METER_CHOSEN];

#pragma unroll
	for (__u32 i = 0; i < XB_METER_CHOSEN; i++)
		cell[i] = *(volatile __u32 *)&line->cell[chosen->at[i] & (XB_METER_CELLS - 1)];
	return xb_meter_take(line, chosen, cell, limit, cost,
			     xb_meter_ticks(limit->speed, limit->shift, limit_now()));
}

/* By a call, so that the verifier follows the look-up once; not from limit_take(), since the stacks
 * of both would be too large together. */
__noinline int limit_knows(__u64 address, __u32 ipv6)
{
	return params.limits.lines && params.known && known_has(address, ipv6);
}

static __always_inline __u32 limit_cost(struct xb_meter *limit, bool known, __u32 bytes)
{
	if (known)
		return xb_meter_known(limit, limit->unit == XB_LIMIT_BYTES ? bytes : 1,
				      bpf_get_prandom_u32());
	return limit->unit == XB_LIMIT_BYTES
		       ? xb_meter_bytes(limit->cost, bytes, bpf_get_prandom_u32())
		       : limit->cost;
}

static __always_inline bool limit_is_over(__u64 address, __u32 ipv6, __u32 number, __u32 bytes,
					  bool known)
{
	const volatile struct xb_meter *told = &params.limits.meter[number & (XB_LIMITS - 1)];
	struct xb_meter limit = {.speed = told->speed,
				 .cost = told->cost,
				 .depth = told->depth,
				 .slack = told->slack,
				 .shift = told->shift,
				 .unit = told->unit,
				 .known = told->known};
	__u64 hash = limit_hash(address, ipv6, told, number);
	struct xb_key key = params_key();
	struct xb_probes probes = xb_probes_of(&key, hash);
	__u32 index = told->first + xb_scale(probes.place, told->lines);
	struct xb_meter_line *line = bpf_map_lookup_elem(&meter, &index);
	struct xb_meter_cells chosen = xb_meter_cells_of(&probes);
	enum xb_meter_found found = XB_METER_AGAIN;

	if (!line)
		return false;
	limit.cost = limit_cost(&limit, known, bytes);
	for (__u32 i = 0; i < XB_METER_TRIES && found == XB_METER_AGAIN; i++)
		found = limit_try(line, &chosen, &limit, limit.cost);
	return found != XB_METER_WITHIN;
}

/* Counts a packet. Returns whether its source or name is over the limit. By a call, so that the
 * verifier follows its tries once. */
__noinline int limit_take(__u64 address, __u32 ipv6, __u32 number, __u32 bytes, __u32 known)
{
	return params.limits.lines && limit_is_over(address, ipv6, number, bytes, known);
}

#define FLAG_SYN 0x02
#define FLAG_ACK 0x10

/* Whether a packet of the limit's service is a connection, or a query. */
__noinline int limit_counts(struct xdp_md *ctx, __u32 network, __u32 ipv6, __u32 unit)
{
	struct transport transport;
	__u8 bytes[16];

	if (!params.limits.lines)
		return false;
	transport = ipv6 ? transport_ipv6(ctx, network) : transport_ipv4(ctx, network);
	if (ipv6)
		transport_skip(ctx, &transport);
	/* Behind its IP header stands no other one. */
	if (service_later(ctx, network, ipv6, &transport) ||
	    bpf_xdp_load_bytes(ctx, transport.offset, bytes, sizeof(bytes)))
		return false;
	if (unit == XB_LIMIT_CONNECTIONS)
		return transport.protocol == IPPROTO_TCP &&
		       (bytes[13] & (FLAG_SYN | FLAG_ACK)) == FLAG_SYN;
	/* Of the message behind the UDP header: the bit that says it is a response. */
	return transport.protocol == IPPROTO_UDP && !(bytes[10] & 0x80);
}

/* Counts the packet for one limit of sources. Returns whether its source is over it. */
static __always_inline bool limit_apply(struct xdp_md *ctx, const struct source *source,
					__u32 number)
{
	const volatile struct xb_meter *limit = &params.limits.meter[number & (XB_LIMITS - 1)];
	bool ipv6 = source->family == SOURCE_IPV6, known;
	__u64 address = ipv6 ? source->hi : source->ipv4;
	__u32 unit = limit->unit, bytes;

	if (unit >= XB_LIMIT_CONNECTIONS && !limit_counts(ctx, source->network, ipv6, unit))
		return false;
	bytes = unit == XB_LIMIT_BYTES ? (__u32)frame_length(ctx, source->claimed) : 0;
	known = params.known && limit->known && limit_knows(address, ipv6);
	return !(known && limit->known == XB_METER_EXEMPT) &&
	       limit_take(address, ipv6, number, bytes, known);
}

/* Counts the packet for one limit of names. name: its hash; 0: it asks for none. */
static __always_inline bool limit_apply_name(__u64 name, __u32 number)
{
	return name && limit_take(name, 0, number, 0, 0);
}

/* asked: the limits of the packet's service, as bits. Returns those that it is over. Not static:
 * see scope.h. */
__noinline int limit_over(struct xdp_md *ctx, __u32 network, __u32 ipv6, __u32 asked)
{
	struct source source;
	__u32 over = 0;
	__u64 name = 0;

	if (!params.limits.lines)
		return 0;
	source = source_at(ctx, network, ipv6);
	if (source.family == SOURCE_NONE)
		return 0;
	if (params.limits.names & asked)
		name = registered_name(ctx, network, ipv6);
	for (__u32 i = 1; asked && i < XB_LIMITS; i++) {
		__u32 number = lowest_bit(asked);

		asked &= asked - 1;
		if (limit_is_of(params.limits.names, number) ? limit_apply_name(name, number)
							     : limit_apply(ctx, &source, number))
			over |= 1U << (number & (XB_LIMITS - 1));
	}
	return over;
}

struct word_map reported SEC(".maps");

/* Notes that the source is reported, and returns whether it was not in this period. */
static __always_inline bool offender_note(__u64 address, __u32 ipv6, __u32 number)
{
	const volatile struct xb_meter *limit = &params.limits.meter[number & (XB_LIMITS - 1)];
	struct xb_key key = params_key();
	struct xb_probes probes = xb_probes_of(&key, limit_hash(address, ipv6, limit, number));
	__u64 now = (__u32)(limit_now() >> XB_REPORTED_SHIFT);
	__u64 note = probes.low << 32 | now;
	__u32 index = probes.place % XB_REPORTED_SLOTS;
	__u64 *slot = bpf_map_lookup_elem(&reported, &index);

	if (!slot || *(volatile __u64 *)slot == note)
		return false;
	*slot = note;
	return true;
}

static __always_inline int offender_send(struct xdp_md *ctx, __u32 network, __u32 ipv6,
					 __u32 number)
{
	struct xb_offender offender;

	if (!watch_begin(ctx, network, ipv6, &offender.drop))
		return 0;
	offender.drop.reason = XB_LIMITED;
	offender.drop.limit = number;
	offender.identity = params.limits.of.identity[number & (XB_LIMITS - 1)];
	offender.store = params.store;
	watch_transport(ctx, network, ipv6, &offender.drop);
	return bpf_ringbuf_output(&offenders, &offender, sizeof(offender), 0);
}

/* Reports the source, at most once in a period, for each of the limits that it is over, bits. Only
 * while bloomd reads: without it this reads one word. */
__noinline int offender_report(struct xdp_md *ctx, __u32 network, __u32 ipv6, __u32 over)
{
	struct xb_watch *now = bpf_map_lookup_elem(&watch, &(__u32){0});
	struct source source;

	if (!params.limits.lists || !now || *(volatile __s64 *)&now->offenders <= 0)
		return 0;
	source = source_at(ctx, network, ipv6);
	if (source.family == SOURCE_NONE)
		return 0;
	for (__u32 i = 1; over && i < XB_LIMITS; i++) {
		__u32 number = lowest_bit(over);

		over &= over - 1;
		if (offender_note(ipv6 ? source.hi : source.ipv4, ipv6, number) &&
		    __sync_fetch_and_add(&now->offenders, -1) > 0)
			offender_send(ctx, network, ipv6, number);
	}
	return 0;
}

/* The limits of the packet's service, as bits. */
static __always_inline __u32 limit_asked(struct xdp_md *ctx, const struct source *source)
{
	return SCOPE_CLASSES(service_classes(ctx, source, LIMIT_SERVICES, limit_far));
}

#endif
