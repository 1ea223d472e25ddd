/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes any bytes into the ring of drops, as a filter with other records would. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "xdp_bloom/layout.h"

#define RECORD_MAX 512

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, XB_DROPS_BYTES);
} drops SEC(".maps");

__u32 record_bytes;
__u8 record[RECORD_MAX];

SEC("xdp")
int tell(struct xdp_md *ctx __attribute__((unused)))
{
	__u32 bytes = *(volatile __u32 *)&record_bytes;

	if (bytes <= sizeof(record))
		bpf_ringbuf_output(&drops, record, bytes, 0);
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
