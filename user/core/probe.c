/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF_PROG_TEST_RUN on the program in the slot. */
#include "probe.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <endian.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <string.h>
#include <unistd.h>

#include "error.h"

#define PAYLOAD 26

struct frame {
	struct ethhdr ethernet;
	union {
		struct iphdr ipv4;
		struct ipv6hdr ipv6;
	};
	uint8_t payload[PAYLOAD];
} __attribute__((packed));

static struct frame frame_from(const struct xb_entry *entry)
{
	struct frame frame = {.ethernet.h_proto = htons(ETH_P_IPV6)};
	uint64_t source[2] = {htobe64(entry->hi), htobe64(entry->lo)};

	if (xb_entry_is_ipv4(entry)) {
		frame.ethernet.h_proto = htons(ETH_P_IP);
		frame.ipv4 = (struct iphdr){.version = 4,
					    .ihl = 5,
					    .tot_len = htons(sizeof(struct iphdr) + PAYLOAD),
					    .ttl = 64,
					    .protocol = IPPROTO_UDP,
					    .saddr = htonl(xb_entry_ipv4(entry))};
		return frame;
	}
	frame.ipv6.version = 6;
	frame.ipv6.payload_len = htons(PAYLOAD);
	frame.ipv6.nexthdr = IPPROTO_UDP;
	frame.ipv6.hop_limit = 64;
	memcpy(&frame.ipv6.saddr, source, sizeof(source));
	return frame;
}

int xb_probe(const struct xb_link *link, const struct xb_entry *entry, enum xb_verdict *verdict)
{
	struct frame frame = frame_from(entry);
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = &frame, .data_size_in = sizeof(frame),
		    .repeat = 1);
	uint32_t id = xb_link_slot(link);
	int error = 0, program;

	*verdict = XB_PROBE_NONE;
	if (!id)
		return 0;
	program = bpf_prog_get_fd_by_id(id);
	if (program < 0)
		return xb_system_error(errno, "cannot open the filter in force");
	if (bpf_prog_test_run_opts(program, &options))
		error = xb_system_error(errno, "cannot ask the filter in force");
	else
		*verdict = options.retval == XDP_DROP ? XB_PROBE_DROP : XB_PROBE_PASS;
	close(program);
	return error;
}
