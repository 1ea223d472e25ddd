/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Learns who has completed a handshake with this machine, so that the address is not forged, and
 * to whom this machine connects, so that the answer to its SYN is admitted. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/tcp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "learn.h"

#define FAMILY_IPV4 2  /* AF_INET */
#define FAMILY_IPV6 10 /* AF_INET6 */
#define FLAG_SYN    0x02

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XB_KNOWN_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} known_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, XB_MET_SOURCES);
	__type(key, struct xb_met_key);
	__type(value, struct xb_met);
} known_met SEC(".maps");

static __always_inline void count(__u32 which)
{
	__u64 *counter = bpf_map_lookup_elem(&known_counts, &which);

	/* Atomic, because an interrupt may come in between. */
	if (counter)
		__sync_fetch_and_add(counter, 1);
}

static __always_inline bool is_loopback_ipv4(__u32 address)
{
	return address >> 24 == 127 || !address;
}

/* The far end of the socket; false: it is this machine itself, or no address. */
static __always_inline bool far_end(struct bpf_sock_ops *ctx, struct xb_met_key *far)
{
	__u32 family = ctx->family, words[4], address;

	if (family == FAMILY_IPV6) {
		words[0] = bpf_ntohl(ctx->remote_ip6[0]);
		words[1] = bpf_ntohl(ctx->remote_ip6[1]);
		words[2] = bpf_ntohl(ctx->remote_ip6[2]);
		words[3] = bpf_ntohl(ctx->remote_ip6[3]);
		if (words[0] || words[1] || words[2] != 0xffff) {
			far->hi = (__u64)words[0] << 32 | words[1];
			far->family = 6;
			return words[0] || words[1] || words[2] || words[3] > 1;
		}
		address = words[3]; /* mapped: IPv4 on the wire */
	} else if (family == FAMILY_IPV4) {
		address = bpf_ntohl(ctx->remote_ip4);
	} else {
		return false;
	}
	far->hi = (__u64)address << 32;
	far->family = 4;
	return !is_loopback_ipv4(address);
}

/* A handshake that the far end began and completed. */
static __always_inline void meet(const struct xb_met_key *far, __u32 second)
{
	struct xb_met *met = bpf_map_lookup_elem(&known_met, far), first = {0};

	if (met) {
		xb_met_count(met, second);
		return;
	}
	xb_met_count(&first, second);
	bpf_map_update_elem(&known_met, far, &first, BPF_NOEXIST);
}

/* Whoever rules another network namespace could make any address known. */
static __always_inline void learn(struct bpf_sock_ops *ctx)
{
	struct xb_known *known = known_now();
	struct xb_met_key far = {.port = ctx->local_port};
	enum xb_known_put put;
	__u32 second;
	__u64 hash;

	if (!known || bpf_get_netns_cookie(ctx) != known->netns || !far_end(ctx, &far))
		return;
	second = (__u32)(bpf_ktime_get_boot_ns() / 1000000000);
	if (ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB || ctx->op == BPF_SOCK_OPS_STATE_CB)
		meet(&far, second);
	hash = far.family == 4 ? xb_known_hash_ipv4(&known->key, far.hi >> 32)
			       : xb_known_hash_ipv6(&known->key, far.hi);
	put = known_learn(known, hash, xb_known_turn(known, second));
	count(put == XB_KNOWN_IS_NEW	 ? XB_KNOWN_LEARNED
	      : put == XB_KNOWN_NO_PLACE ? XB_KNOWN_LOST
					 : XB_KNOWN_RENEWED);
}

/* Whether this is an event after which the far end is to be known. */
static __always_inline bool is_met(struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		return true;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (!(ctx->skb_tcp_flags & FLAG_SYN))
			return true;
		/* TCP Fast Open calls this for the SYN, and a server may take it without a cookie,
		 * that is from anybody: wait for the end of the handshake. */
		bpf_sock_ops_cb_flags_set(ctx,
					  ctx->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_STATE_CB_FLAG);
		return false;
	case BPF_SOCK_OPS_STATE_CB:
		return ctx->args[0] == BPF_TCP_SYN_RECV && ctx->args[1] == BPF_TCP_ESTABLISHED;
	}
	return false;
}

SEC("sockops")
int xdp_bloom_known(struct bpf_sock_ops *ctx)
{
	if (is_met(ctx))
		learn(ctx);
	return 1;
}

char _license[] SEC("license") = "GPL";
