/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF_PROG_TEST_RUN on the program in the slot. */
#include "filter/testrun.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <endian.h>
#include <errno.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "filter/generation.h"
#include "filter/inforce.h"

#define NO_SERVICE  253	  /* a protocol for experiments, RFC 3692 */
#define SOURCE_PORT 40000 /* any */

#define PAYLOAD 26

struct frame {
	struct ethhdr ethernet;
	union {
		struct {
			struct iphdr ipv4;
			uint8_t payload4[PAYLOAD];
		} __attribute__((packed));
		struct {
			struct ipv6hdr ipv6;
			uint8_t payload6[PAYLOAD];
		} __attribute__((packed));
	};
} __attribute__((packed));

static uint8_t protocol_of(const struct xb_service *to, bool ipv4)
{
	if (!to)
		return NO_SERVICE;
	switch (to->protocol) {
	case XB_SERVICE_TCP:
		return IPPROTO_TCP;
	case XB_SERVICE_UDP:
		return IPPROTO_UDP;
	default:
		return ipv4 ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	}
}

/* A protocol's header, the rest of the payload is zero. */
static void put_payload(uint8_t *payload, uint8_t protocol, uint16_t port)
{
	struct tcphdr tcp = {
		.source = htons(SOURCE_PORT), .dest = htons(port), .doff = 5, .syn = 1};
	struct udphdr udp = {
		.source = htons(SOURCE_PORT), .dest = htons(port), .len = htons(PAYLOAD)};

	if (protocol == IPPROTO_TCP)
		memcpy(payload, &tcp, sizeof(tcp));
	if (protocol == IPPROTO_UDP)
		memcpy(payload, &udp, sizeof(udp));
	if (protocol == IPPROTO_ICMP)
		payload[0] = ICMP_ECHO;
	if (protocol == IPPROTO_ICMPV6)
		payload[0] = ICMPV6_ECHO_REQUEST;
}

static uint32_t frame_from4(const struct xb_entry *entry, const struct xb_service *to,
			    struct frame *frame)
{
	uint8_t protocol = protocol_of(to, true);

	frame->ethernet.h_proto = htons(ETH_P_IP);
	frame->ipv4 = (struct iphdr){.version = 4,
				     .ihl = 5,
				     .tot_len = htons(sizeof(struct iphdr) + PAYLOAD),
				     .ttl = 64,
				     .protocol = protocol,
				     .saddr = htonl(xb_entry_ipv4(entry))};
	put_payload(frame->payload4, protocol, to ? to->first : 0);
	return offsetof(struct frame, payload4) + PAYLOAD;
}

static uint32_t frame_from6(const struct xb_entry *entry, const struct xb_service *to,
			    struct frame *frame)
{
	uint64_t source[2] = {htobe64(entry->hi), htobe64(entry->lo)};
	uint8_t protocol = protocol_of(to, false);

	frame->ethernet.h_proto = htons(ETH_P_IPV6);
	frame->ipv6.version = 6;
	frame->ipv6.payload_len = htons(PAYLOAD);
	frame->ipv6.nexthdr = protocol;
	frame->ipv6.hop_limit = 64;
	memcpy(&frame->ipv6.saddr, source, sizeof(source));
	put_payload(frame->payload6, protocol, to ? to->first : 0);
	return offsetof(struct frame, payload6) + PAYLOAD;
}

/* A frame, and what the program makes of it. */
struct run {
	uint8_t *in, *out;
	uint32_t size, out_size;
	uint32_t action; /* XDP_... */
};

/* 1: no filter is in force. */
static int run_slot(const struct xb_anchor *anchor, struct run *run)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = run->in, .data_size_in = run->size,
		    .data_out = run->out, .data_size_out = run->out_size, .repeat = 1);
	int error = 0, program = xb_generation_slot_program(anchor);

	if (program == -ENOENT)
		return 1;
	if (program < 0)
		return program;
	if (bpf_prog_test_run_opts(program, &options))
		error = xb_system_error(errno, "cannot ask the filter in force");
	run->action = options.retval;
	run->out_size = options.data_size_out;
	close(program);
	return error;
}

int xb_testrun(const struct xb_anchor *anchor, const struct xb_entry *entry,
	       const struct xb_service *to, enum xb_testrun_verdict *verdict)
{
	struct frame frame = {0};
	struct run run = {.in = (uint8_t *)&frame};
	int error;

	run.size = xb_entry_is_ipv4(entry) ? frame_from4(entry, to, &frame)
					   : frame_from6(entry, to, &frame);
	error = run_slot(anchor, &run);
	*verdict = XB_TESTRUN_NONE;
	if (!error)
		*verdict = run.action == XDP_DROP ? XB_TESTRUN_DROP : XB_TESTRUN_PASS;
	return error < 0 ? error : 0;
}

/* RFC 1035, section 4.1.1: a header, then the question. */
struct message {
	uint16_t id, flags, questions, answers, authorities, additional;
	uint8_t question[XB_NAME_BYTES + 4];
} __attribute__((packed));

#define FLAGS_TC 0x0200
#define FLAGS_RD 0x0100
#define RCODE	 0x000f
#define NXDOMAIN 3
#define REFUSED	 5
#define TYPE_A	 1
#define CLASS_IN 1

/* Writes the name's labels, the first first, and what follows them; returns their bytes. */
static size_t put_question(const struct xb_entry *name, uint8_t *question)
{
	const uint8_t fixed[] = {0, 0, TYPE_A, 0, CLASS_IN};
	size_t bytes = name->length - (size_t)xb_name_is_exact(name->name, name->length);

	for (size_t at = 0; at < bytes; at += name->name[at] + 1U)
		memcpy(question + bytes - at - name->name[at] - 1, name->name + at,
		       name->name[at] + 1U);
	memcpy(question + bytes, fixed, sizeof(fixed));
	return bytes + sizeof(fixed);
}

struct query {
	struct ethhdr ethernet;
	struct iphdr ip;
	struct udphdr udp;
	struct message message;
} __attribute__((packed));

#define RESOLVER 0xc0000235 /* 192.0.2.53, RFC 5737 */

static uint32_t query_from(const struct xb_entry *source, uint16_t port,
			   const struct xb_entry *name, struct query *query)
{
	uint16_t size;

	*query = (struct query){.ethernet.h_proto = htons(ETH_P_IP),
				.message = {.flags = htons(FLAGS_RD), .questions = htons(1)}};
	size = (uint16_t)(offsetof(struct message, question) +
			  put_question(name, query->message.question) + sizeof(query->udp));
	query->udp = (struct udphdr){
		.source = htons(SOURCE_PORT), .dest = htons(port), .len = htons(size)};
	query->ip = (struct iphdr){.version = 4,
				   .ihl = 5,
				   .tot_len = htons((uint16_t)(sizeof(query->ip) + size)),
				   .ttl = 64,
				   .protocol = IPPROTO_UDP,
				   .saddr = htonl(xb_entry_ipv4(source)),
				   .daddr = htonl(RESOLVER)};
	return (uint32_t)offsetof(struct query, udp) + size;
}

static enum xb_testrun_verdict verdict_of(const struct run *run, const struct query *answer)
{
	uint16_t flags = ntohs(answer->message.flags);

	if (run->action == XDP_DROP || run->action == XDP_ABORTED)
		return XB_TESTRUN_DROP;
	if (run->action != XDP_TX)
		return XB_TESTRUN_PASS;
	if (run->out_size < offsetof(struct query, message.question))
		return XB_TESTRUN_ANSWERED;
	return flags & FLAGS_TC		     ? XB_TESTRUN_TRUNCATED
	       : (flags & RCODE) == NXDOMAIN ? XB_TESTRUN_NXDOMAIN
	       : (flags & RCODE) == REFUSED  ? XB_TESTRUN_REFUSED
					     : XB_TESTRUN_ANSWERED;
}

int xb_testrun_name(const struct xb_anchor *anchor, const struct xb_entry *source, uint16_t port,
		    const struct xb_entry *name, enum xb_testrun_verdict *verdict)
{
	struct query query, answer = {0};
	struct run run = {.in = (uint8_t *)&query,
			  .out = (uint8_t *)&answer,
			  .size = query_from(source, port, name, &query),
			  .out_size = sizeof(answer)};
	int error = run_slot(anchor, &run);

	*verdict = error ? XB_TESTRUN_NONE : verdict_of(&run, &answer);
	return error < 0 ? error : 0;
}
