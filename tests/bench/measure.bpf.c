/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the shipped filter is timed against, and the entries that give every run a fresh source. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "account.h"
#include "draws.bpf.h"
#include "parse.h"
#include "xdp_bloom/layout.h"
#include "measure.h"
#include "table.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} measured SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bare_line);
} bare SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} exact SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);
	__uint(max_entries, 1);
	__type(value, __u32);
} bloom SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct xb_allow4_key);
	__type(value, __u32);
} trie SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct address6);
	__type(value, __u32);
} exact6 SEC(".maps");

/* Of /64: their first half is all there is to compare. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u32);
} exact64 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);
	__uint(max_entries, 1);
	__type(value, struct address6);
} bloom6 SEC(".maps");

/* One for each list. */
#define TRIE6(name)                                                                                \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_LPM_TRIE);                                               \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__uint(max_entries, 1);                                                            \
		__type(key, struct xb_allow6_key);                                                 \
		__type(value, __u32);                                                              \
	} name SEC(".maps")

TRIE6(trie6);
TRIE6(trie_nets6);
TRIE6(trie_six6);
TRIE6(trie_all6);

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} classic SEC(".maps");

const volatile __u32 classic_bits;
const volatile struct xb_key classic_key = {0x243f6a8885a308d3ULL, 0x13198a2e03707344ULL};

__u32 table_first; /* line the table drawn from begins with */
__u32 bare_lines;  /* of those, so many are read */

/* Hands the frame on with this source, host byte order. */
static __always_inline int hand_on(struct xdp_md *ctx, __u32 address)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct iphdr *ip = data + sizeof(struct ethhdr);

	if ((void *)(ip + 1) > end)
		return XDP_ABORTED;
	ip->saddr = bpf_htonl(address);
	bpf_tail_call_static(ctx, &measured, 0);
	return XDP_ABORTED;
}

/* The same of an IPv6 frame: the address is the end of its source. */
static __always_inline int hand_on6(struct xdp_md *ctx, __u32 address)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ipv6hdr *ip = data + sizeof(struct ethhdr);

	if ((void *)(ip + 1) > end)
		return XDP_ABORTED;
	ip->saddr.in6_u.u6_addr32[3] = bpf_htonl(address);
	bpf_tail_call_static(ctx, &measured, 0);
	return XDP_ABORTED;
}

/* The same with a whole source, network byte order. */
static __always_inline int hand_on128(struct xdp_md *ctx, const __u32 address[TABLE_WORDS6])
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ipv6hdr *ip = data + sizeof(struct ethhdr);

	if ((void *)(ip + 1) > end)
		return XDP_ABORTED;
	for (int i = 0; i < TABLE_WORDS6; i++)
		ip->saddr.in6_u.u6_addr32[i] = address[i];
	bpf_tail_call_static(ctx, &measured, 0);
	return XDP_ABORTED;
}

static __always_inline __u32 any_address(struct draws *draws)
{
	return (__u32)(draws_word(draws) >> 32);
}

/* An entry, and how it makes the next packet of what was drawn. */
#define SENDER(name)                                                                               \
	static __always_inline int name##_next(struct xdp_md *ctx, struct draws *draws);           \
	SEC("xdp") int name(struct xdp_md *ctx)                                                    \
	{                                                                                          \
		struct draws *draws = draws_mine();                                                \
                                                                                                   \
		return draws ? name##_next(ctx, draws) : XDP_ABORTED;                              \
	}                                                                                          \
	static __always_inline int name##_next(struct xdp_md *ctx, struct draws *draws)

SENDER(from_anywhere)
{
	return hand_on(ctx, any_address(draws));
}

SENDER(from_anywhere6)
{
	return hand_on6(ctx, any_address(draws));
}

SENDER(from_table)
{
	__u32 number = draws->drawn++;
	struct table_line *line = table_line(table_first, number, TABLE_LINE);

	return line ? hand_on(ctx, line->address[number % TABLE_LINE]) : XDP_ABORTED;
}

SENDER(from_table6)
{
	__u32 number = draws->drawn++;
	struct table_line *line = table_line(table_first, number, TABLE_LINE);

	return line ? hand_on6(ctx, line->address[number % TABLE_LINE]) : XDP_ABORTED;
}

/* Below 2000::/4. */
SENDER(from_anywhere128)
{
	__u64 hi = draws_word(draws), lo = draws_word(draws);
	__u32 address[TABLE_WORDS6] = {bpf_htonl(2U << 28 | hi >> 36), (__u32)hi, (__u32)(lo >> 32),
				       (__u32)lo};

	return hand_on128(ctx, address);
}

SENDER(from_table128)
{
	__u32 number = draws->drawn++;
	struct table_line *line = table_line(table_first, number, TABLE_LINE6);

	return line ? hand_on128(ctx, &line->address[number % TABLE_LINE6 * TABLE_WORDS6])
		    : XDP_ABORTED;
}

/* Anything below a /32 of the table. */
SENDER(from_below128)
{
	__u32 number = draws->drawn++;
	struct table_line *line = table_line(table_first, number, TABLE_LINE6);
	__u64 hi = draws_word(draws), lo = draws_word(draws);
	__u32 address[TABLE_WORDS6] = {0, (__u32)hi, (__u32)(lo >> 32), (__u32)lo};

	if (!line)
		return XDP_ABORTED;
	address[0] = line->address[number % TABLE_LINE6 * TABLE_WORDS6];
	return hand_on128(ctx, address);
}

/* Every frame is IPv4, and every program counts as the filter does. */
#define MEASURED(name, found)                                                                      \
	SEC("xdp") int name(struct xdp_md *ctx)                                                    \
	{                                                                                          \
		struct source source = parse_source(ctx);                                          \
                                                                                                   \
		if (source.family != SOURCE_IPV4)                                                  \
			return XDP_ABORTED;                                                        \
		return account(ctx, found(source.ipv4) ? XB_LISTED_IPV4_HOST : XB_CLEAN,           \
			       source.claimed);                                                    \
	}

static __always_inline bool in_nothing(__u32 address)
{
	asm volatile("" ::"r"(address)); /* it is read, as the filter does */
	return false;
}

static __always_inline bool in_line(__u32 address)
{
	__u32 index = xb_scale(address * 0x9e3779b1U, bare_lines);
	struct bare_line *line = bpf_map_lookup_elem(&bare, &index);

	return line && line->word[0];
}

static __always_inline bool in_hash(__u32 address)
{
	return bpf_map_lookup_elem(&exact, &address);
}

static __always_inline bool in_bloom(__u32 address)
{
	return !bpf_map_peek_elem(&bloom, &address);
}

static __always_inline bool in_trie(__u32 address)
{
	struct xb_allow4_key key = {32, bpf_htonl(address)};

	return bpf_map_lookup_elem(&trie, &key);
}

/* The first bit that is not set ends it: reading all of them costs more. */
static __always_inline bool in_classic(__u32 address)
{
	struct xb_key key = {.a = classic_key.a, .b = classic_key.b};
	__u64 hash = xb_hash_ipv4(&key, address);

#pragma unroll
	for (__u32 i = 0; i < PEER_HASHES; i++) {
		__u32 bit = classic_bit(hash, i, classic_bits), index = bit / 64;
		__u64 *word = bpf_map_lookup_elem(&classic, &index);

		if (!word || !(*word >> (bit % 64) & 1))
			return false;
	}
	return true;
}

/* The same for IPv6. */
#define MEASURED6(name, found)                                                                     \
	SEC("xdp") int name(struct xdp_md *ctx)                                                    \
	{                                                                                          \
		struct source source = parse_source(ctx);                                          \
                                                                                                   \
		if (source.family != SOURCE_IPV6)                                                  \
			return XDP_ABORTED;                                                        \
		return account(ctx, found(source.hi, source.lo) ? XB_LISTED_IPV6 : XB_CLEAN,       \
			       source.claimed);                                                    \
	}

static __always_inline bool in_nothing6(__u64 hi, __u64 lo)
{
	asm volatile("" ::"r"(hi), "r"(lo)); /* as in_nothing() */
	return false;
}

static __always_inline bool in_hash6(__u64 hi, __u64 lo)
{
	struct address6 key = {hi, lo};

	return bpf_map_lookup_elem(&exact6, &key);
}

static __always_inline bool in_hash64(__u64 hi, __u64 lo)
{
	asm volatile("" ::"r"(lo)); /* as in_nothing() */
	return bpf_map_lookup_elem(&exact64, &hi);
}

static __always_inline bool in_bloom6(__u64 hi, __u64 lo)
{
	struct address6 key = {hi, lo};

	return !bpf_map_peek_elem(&bloom6, &key);
}

static __always_inline bool in_line6(__u64 hi, __u64 lo)
{
	asm volatile("" ::"r"(hi)); /* as in_nothing() */
	return in_line((__u32)lo);
}

#define IN_TRIE6(map)                                                                              \
	static __always_inline bool in_##map(__u64 hi, __u64 lo)                                   \
	{                                                                                          \
		struct xb_allow6_key key = {                                                       \
			128,                                                                       \
			{bpf_htonl(hi >> 32), bpf_htonl(hi), bpf_htonl(lo >> 32), bpf_htonl(lo)}}; \
                                                                                                   \
		return bpf_map_lookup_elem(&map, &key);                                            \
	}

IN_TRIE6(trie6)
IN_TRIE6(trie_nets6)
IN_TRIE6(trie_six6)
IN_TRIE6(trie_all6)

MEASURED(parse_only, in_nothing)
MEASURED6(parse_only6, in_nothing6)
MEASURED6(line_read6, in_line6)
MEASURED6(bpf_hash6, in_hash6)
MEASURED6(bpf_hash64, in_hash64)
MEASURED6(bpf_bloom6, in_bloom6)
MEASURED6(lpm_trie6, in_trie6)
MEASURED6(lpm_trie_nets6, in_trie_nets6)
MEASURED6(lpm_trie_six6, in_trie_six6)
MEASURED6(lpm_trie_all6, in_trie_all6)

MEASURED(line_read, in_line)
MEASURED(bpf_hash, in_hash)
MEASURED(bpf_bloom, in_bloom)
MEASURED(lpm_trie, in_trie)
MEASURED(classic_bloom, in_classic)

char _license[] SEC("license") = "GPL";
