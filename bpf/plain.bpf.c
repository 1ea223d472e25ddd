/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attached to nothing: it changes no packet, as the programs of libxdp's dispatcher, and shows
 * whether the kernel lets the entry take the place of such a program. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int xdp_bloom_plain(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
