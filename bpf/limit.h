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

/*
 * One try to count what costs so many ticks. rest: so many more have to be left. Returns enum
 * xb_meter_found. By a call, so that the verifier follows it once; and one try alone, since what
 * would be kept for another one took a fifth of the time.
 */
__noinline int limit_try(__u64 address, __u32 ipv6, __u32 number, __u32 cost, __u32 rest)
{
	const volatile struct xb_meter *told = &params.limits.meter[number & (XB_LIMITS - 1)];
	struct xb_key key = params_key();
	__u32 cell[XB_METER_CHOSEN], index;
	struct xb_meter_cells chosen;
	struct xb_meter_line *line;
	struct xb_probes probes;
	struct xb_meter limit;

	if (!params.limits.lines)
		return XB_METER_WITHIN;
	probes = xb_probes_of(&key, limit_hash(address, ipv6, told, number));
	index = told->first + xb_scale(probes.place, told->lines);
	line = bpf_map_lookup_elem(&meter, &index);
	if (!line)
		return XB_METER_WITHIN;
	chosen = xb_meter_cells_of(&probes);
#pragma unroll
	for (__u32 i = 0; i < XB_METER_CHOSEN; i++)
		cell[i] = *(volatile __u32 *)&line->cell[chosen.at[i] & (XB_METER_CELLS - 1)];
	limit = (struct xb_meter){.depth = told->depth - rest, .slack = told->slack + rest};
	return xb_meter_take(line, &chosen, cell, &limit, cost,
			     xb_meter_ticks(told->speed, told->shift, limit_now()));
}

/* Further tries: other processors have changed the cells. */
__noinline int limit_try_again(__u64 address, __u32 ipv6, __u32 number, __u32 cost, __u32 rest)
{
	int found = XB_METER_AGAIN;

	for (__u32 i = 1; i < XB_METER_TRIES && found == XB_METER_AGAIN; i++)
		found = limit_try(address, ipv6, number, cost, rest);
	return found;
}

/* Counts what costs so many ticks. Returns whether the source or name is over the limit. */
static __always_inline bool limit_take(__u64 address, __u32 ipv6, __u32 number, __u32 cost,
				       __u32 rest)
{
	int found = limit_try(address, ipv6, number, cost, rest);

	if (found == XB_METER_AGAIN)
		found = limit_try_again(address, ipv6, number, cost, rest);
	return found != XB_METER_WITHIN;
}

/* By a call, so that the verifier follows the look-up once. */
__noinline int limit_knows(__u64 address, __u32 ipv6)
{
	return params.limits.lines && params.known && known_has(address, ipv6);
}

/* What a packet of so many bytes costs; changes the meter to take it by. */
static __always_inline __u32 limit_cost(struct xb_meter *limit, bool known, __u32 bytes)
{
	if (known)
		return xb_meter_known(limit, limit->unit == XB_LIMIT_BYTES ? bytes : 1,
				      bpf_get_prandom_u32());
	return limit->unit == XB_LIMIT_BYTES
		       ? xb_meter_bytes(limit->cost, bytes, bpf_get_prandom_u32())
		       : limit->cost;
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
	const volatile struct xb_meter *told = &params.limits.meter[number & (XB_LIMITS - 1)];
	bool ipv6 = source->family == SOURCE_IPV6, known;
	__u64 address = ipv6 ? source->hi : source->ipv4;
	struct xb_meter limit = {.cost = told->cost, .unit = told->unit, .known = told->known};
	__u32 bytes, cost;

	if (limit.unit >= XB_LIMIT_CONNECTIONS &&
	    !limit_counts(ctx, source->network, ipv6, limit.unit))
		return false;
	bytes = limit.unit == XB_LIMIT_BYTES ? (__u32)frame_length(ctx, source->claimed) : 0;
	known = params.known && limit.known && limit_knows(address, ipv6);
	if (known && limit.known == XB_METER_EXEMPT)
		return false;
	cost = limit_cost(&limit, known, bytes);
	return limit_take(address, ipv6, number, cost, limit.slack);
}

/* Counts the packet for one limit of names. name: its hash; 0: it asks for none. */
static __always_inline bool limit_apply_name(__u64 name, __u32 number)
{
	return name &&
	       limit_take(name, 0, number, params.limits.meter[number & (XB_LIMITS - 1)].cost, 0);
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

/* Counts the packet for the limits of its service, bits of which at least one is set. Returns those
 * that it is over. One limit for which each packet costs the same needs one call alone. */
static __always_inline __u32 limit_all(struct xdp_md *ctx, const struct source *source, __u32 asked)
{
	__u32 number = lowest_bit(asked), ipv6 = source->family == SOURCE_IPV6;
	const volatile struct xb_meter *limit = &params.limits.meter[number & (XB_LIMITS - 1)];

	if (!is_single(asked) || limit->unit != XB_LIMIT_PACKETS || limit->known)
		return limit_over(ctx, source->network, ipv6, asked);
	return limit_take(ipv6 ? source->hi : source->ipv4, ipv6, number, limit->cost, 0) ? asked
											  : 0;
}

#endif
