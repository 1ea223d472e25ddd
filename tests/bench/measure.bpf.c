/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the shipped filter is timed against, and the entries that give every run a fresh source. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "account.h"
#include "draws.bpf.h"
#include "parse.h"
#include "xdp_bloom/layout.h"
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

/* Sized when loaded: how many. */
#define MAP(name, of, kind, flags)                                                                 \
	struct {                                                                                   \
		__uint(type, kind);                                                                \
		__uint(map_flags, flags);                                                          \
		__uint(max_entries, 1);                                                            \
		__type(key, of);                                                                   \
		__type(value, __u32);                                                              \
	} name SEC(".maps")

#define HASH(name, of) MAP(name, of, BPF_MAP_TYPE_HASH, 0)
#define TRIE(name, of) MAP(name, of, BPF_MAP_TYPE_LPM_TRIE, BPF_F_NO_PREALLOC)

#define BLOOM(name, of)                                                                            \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);                                           \
		__uint(max_entries, 1);                                                            \
		__type(value, of);                                                                 \
	} name SEC(".maps")

HASH(exact, __u32);
HASH(exact6, struct address6);
HASH(exact64, __u64); /* of /64: their first half is all there is to compare */
BLOOM(bloom, __u32);
BLOOM(bloom6, struct address6);
TRIE(trie, struct xb_allow4_key);
/* One for each list. */
TRIE(trie6, struct xb_allow6_key);
TRIE(trie_nets6, struct xb_allow6_key);
TRIE(trie_six6, struct xb_allow6_key);
TRIE(trie_all6, struct xb_allow6_key);
TRIE(trie_country32, struct xb_allow6_key);
TRIE(trie_country, struct xb_allow6_key);

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} classic SEC(".maps");

/* What a source has used, up to when: the rate limit as XDP firewalls have it. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lru SEC(".maps");

const volatile __u64 lru_interval = 1, lru_burst = 1; /* ns */
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

/* The same of an IPv6 frame; network byte order. */
static __always_inline int hand_on6(struct xdp_md *ctx, const __u32 address[TABLE_WORDS6])
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
	return hand_on(ctx, (__u32)(draws_word(draws) >> 32));
}

SENDER(from_table)
{
	__u32 number = draws->drawn++;
	struct table_line *line = table_line(table_first, number, TABLE_LINE);

	return line ? hand_on(ctx, line->address[number % TABLE_LINE]) : XDP_ABORTED;
}

/* Below 2000::/4. */
SENDER(from_anywhere6)
{
	__u64 hi = draws_word(draws), lo = draws_word(draws);
	__u32 address[TABLE_WORDS6] = {bpf_htonl(2U << 28 | hi >> 36), (__u32)hi, (__u32)(lo >> 32),
				       (__u32)lo};

	return hand_on6(ctx, address);
}

SENDER(from_table6)
{
	__u32 number = draws->drawn++;
	struct table_line *line = table_line(table_first, number, TABLE_LINE6);

	return line ? hand_on6(ctx, &line->address[number % TABLE_LINE6 * TABLE_WORDS6])
		    : XDP_ABORTED;
}

/* Anything below a /32 of the table. */
SENDER(from_below6)
{
	__u32 number = draws->drawn++;
	struct table_line *line = table_line(table_first, number, TABLE_LINE6);
	__u64 hi = draws_word(draws), lo = draws_word(draws);
	__u32 address[TABLE_WORDS6] = {0, (__u32)hi, (__u32)(lo >> 32), (__u32)lo};

	if (!line)
		return XDP_ABORTED;
	address[0] = line->address[number % TABLE_LINE6 * TABLE_WORDS6];
	return hand_on6(ctx, address);
}

SEC("xdp")
int ask_anew(struct xdp_md *ctx)
{
	if (ask_next(ctx))
		bpf_tail_call_static(ctx, &measured, 0);
	return XDP_ABORTED;
}

/* Every frame is of that family, its source is read, as the filter does, and every program counts
 * as the filter does. */
#define MEASURED(name, listed)                                                                     \
	SEC("xdp") int name(struct xdp_md *ctx)                                                    \
	{                                                                                          \
		struct source source = parse_source(ctx);                                          \
                                                                                                   \
		if (source.family != SOURCE_IPV4)                                                  \
			return XDP_ABORTED;                                                        \
		asm volatile("" ::"r"(source.ipv4));                                               \
		return account(ctx, (listed) ? XB_LISTED_IPV4_HOST : XB_CLEAN, source.claimed);    \
	}

#define MEASURED6(name, listed)                                                                    \
	SEC("xdp") int name(struct xdp_md *ctx)                                                    \
	{                                                                                          \
		struct source source = parse_source(ctx);                                          \
                                                                                                   \
		if (source.family != SOURCE_IPV6)                                                  \
			return XDP_ABORTED;                                                        \
		asm volatile("" ::"r"(source.hi), "r"(source.lo));                                 \
		return account(ctx, (listed) ? XB_LISTED_IPV6 : XB_CLEAN, source.claimed);         \
	}

static __always_inline bool in_line(__u32 address)
{
	__u32 index = xb_scale(address * 0x9e3779b1U, bare_lines);
	struct bare_line *line = bpf_map_lookup_elem(&bare, &index);

	return line && line->word[0];
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

static __always_inline bool over_lru(__u32 address)
{
	__u64 now = bpf_ktime_get_ns(), *used = bpf_map_lookup_elem(&lru, &address), next;

	next = (used && *used > now ? *used : now) + lru_interval;
	if (next > now + lru_burst)
		return true;
	if (used)
		*used = next;
	else
		bpf_map_update_elem(&lru, &address, &next, BPF_ANY);
	return false;
}

static __always_inline bool in_trie6(void *map, __u64 hi, __u64 lo)
{
	struct xb_allow6_key key = {
		128, {bpf_htonl(hi >> 32), bpf_htonl(hi), bpf_htonl(lo >> 32), bpf_htonl(lo)}};

	return bpf_map_lookup_elem(map, &key);
}

#define WHOLE6 (&(struct address6){source.hi, source.lo})

MEASURED(parse_only, false)
MEASURED(line_read, in_line(source.ipv4))
MEASURED(bpf_hash, bpf_map_lookup_elem(&exact, &source.ipv4))
MEASURED(bpf_lru, over_lru(source.ipv4))
MEASURED(bpf_bloom, !bpf_map_peek_elem(&bloom, &source.ipv4))
MEASURED(classic_bloom, in_classic(source.ipv4))
MEASURED(lpm_trie,
	 bpf_map_lookup_elem(&trie, &((struct xb_allow4_key){32, bpf_htonl(source.ipv4)})))

MEASURED6(parse_only6, false)
MEASURED6(line_read6, in_line((__u32)source.lo))
MEASURED6(bpf_hash6, bpf_map_lookup_elem(&exact6, WHOLE6))
MEASURED6(bpf_hash_nets6, bpf_map_lookup_elem(&exact64, &source.hi))
MEASURED6(bpf_bloom6, !bpf_map_peek_elem(&bloom6, WHOLE6))
MEASURED6(lpm_trie6, in_trie6(&trie6, source.hi, source.lo))
MEASURED6(lpm_trie_nets6, in_trie6(&trie_nets6, source.hi, source.lo))
MEASURED6(lpm_trie_six_lengths6, in_trie6(&trie_six6, source.hi, source.lo))
MEASURED6(lpm_trie_all_lengths6, in_trie6(&trie_all6, source.hi, source.lo))
MEASURED6(lpm_trie_country32, in_trie6(&trie_country32, source.hi, source.lo))
MEASURED6(lpm_trie_country, in_trie6(&trie_country, source.hi, source.lo))

char _license[] SEC("license") = "GPL";
