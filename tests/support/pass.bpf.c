/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lets all pass. A veth takes frames that are sent back only if its own end has a program too. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int pass(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
