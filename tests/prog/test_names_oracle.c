/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random and mutated queries: the datapath against a reference that reads them with ldns and looks
 * names up in a sorted array. XB_SEED and XB_PACKETS choose others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <ldns/ldns.h>
#include <linux/bpf.h>

#include "support/amount.h"
#include "support/dns.h"
#include "support/names_reference.h"
#include "support/rig.h"

#define PACKETS amount(200000, 1000000)

static const char *const lists[] = {"default", "refused", "nxdomain", "truncate", "count"};

static struct rig rig;
static struct xb_anchor link_of_rig;
static int program;
static uint64_t seed;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)(rig_random(&seed) >> 32) % limit;
}

/* ---- Generators ---- */

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";

/* A label of letters that may be listed; the first is no digit. */
static uint32_t random_label(char *out)
{
	uint32_t length = below(16) ? 1 + below(12) : 1 + below(63);

	for (uint32_t i = 0; i < length; i++)
		out[i] = letters[below(i ? sizeof(letters) - 1 : 26)];
	out[length] = '\0';
	return length;
}

/* Few labels mostly, from a small set of last ones; sometimes below what is there. */
static void random_name(char *out, size_t before)
{
	static const char *const last[] = {"com", "org", "test", "co.uk", "x", "internal-zone"};
	uint32_t labels = below(20) ? 1 + below(4) : 1 + below(100);
	char behind[260], label[64];

	if (before && below(4) == 0)
		strcpy(behind, listed[below((uint32_t)before)].text);
	else
		strcpy(behind, last[below(6)]);
	strcpy(out, behind);
	for (uint32_t i = 0; i < labels; i++) {
		uint32_t length = random_label(label);

		if (labels > 4) /* deep ones are of short labels */
			label[length = 1] = '\0';
		if (strlen(behind) + length + 1 > 253)
			break;
		sprintf(out, "%s.%s", label, behind);
		strcpy(behind, out);
	}
}

static void know(struct known *known, const char *text, bool exact, int verdict)
{
	ldns_rdf *name = ldns_dname_new_frm_str(text);

	assert_non_null(name);
	strcpy(known->text, text);
	known_set(known, name);
	known->exact = exact;
	known->verdict = verdict;
	ldns_rdf_deep_free(name);
}

static void know_all(void)
{
	char text[600];

	for (size_t i = 0; i < LISTED; i++) {
		random_name(text, i);
		if (i % 16 == 15) /* in another list too, perhaps */
			strcpy(text, listed[i - 1 - below(15)].text);
		know(&listed[i], text, below(5) == 0, (int)below(XB_DOMAIN_VERDICTS));
	}
	for (size_t i = 0; i < ALLOWED; i++) {
		const char *near = listed[below(LISTED)].text;
		char label[64];

		random_label(label);
		if (i % 2 && strlen(near) + strlen(label) < 253)
			sprintf(text, "%s.%s", label, near);
		else
			strcpy(text, near);
		know(&allowed[i], text, below(3) == 0, 0);
	}
}

/* Lists what has the verdict, or allows. */
static void list_all(const struct known *all, size_t count, int verdict, bool allow)
{
	uint8_t(*forms)[XB_NAME_BYTES] = calloc(count, sizeof(*forms));
	struct xb_entry *entries = calloc(count, sizeof(*entries));
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		char text[262];
		struct xb_entry *entry = &entries[used];

		if (!allow && all[i].verdict != verdict)
			continue;
		sprintf(text, "%s%s", all[i].exact ? "=" : "", all[i].text);
		assert_int_equal(xb_entry_parse(text, strlen(text), forms[used], entry, NULL), 0);
		if (allow)
			*entry = xb_entry_allow(entry);
		used++;
	}
	rig_add_all_to(&rig, entries, used, allow ? "default" : lists[verdict]);
	free(entries);
	free(forms);
}

/* The name asked for, with its root: near what is listed or allowed, or any bytes. */
static uint32_t random_question(uint8_t *out)
{
	const struct known *near = below(6) ? &listed[below(LISTED)] : &allowed[below(ALLOWED)];
	uint8_t front[256];
	uint32_t kind = below(10), used = 0;

	if (kind == 0) { /* above it */
		uint32_t chop = near->name[0] + 1U;

		memcpy(out, near->name + chop, near->size - chop);
		return near->size - chop;
	}
	if (kind == 1) { /* glued to it without a boundary */
		out[0] = (uint8_t)(near->name[0] + 1);
		out[1] = (uint8_t)letters[below(36)];
		memcpy(out + 2, near->name + 1, near->size - 1);
		return near->size + 1;
	}
	if (kind < 6) { /* below it, any bytes */
		for (uint32_t labels = below(4) ? 1 + below(3) : below(120); labels > 0; labels--) {
			uint32_t length = below(8) ? 1 + below(10) : 1 + below(63);

			if (used + length + 1 > 255 - (below(50) ? near->size : 0))
				break;
			front[used++] = (uint8_t)length;
			for (; length > 0; length--)
				front[used++] = (uint8_t)rig_random(&seed);
		}
	}
	memcpy(out, front, used);
	memcpy(out + used, near->name, near->size);
	if (kind == 6) /* beside it: another byte */
		out[1 + below(near->size - 1)] ^= (uint8_t)(1U << below(3));
	if (kind == 5) { /* nothing listed behind */
		out[used] = 0;
		return used + 1;
	}
	return used + near->size;
}

static void mix_case(uint8_t *name, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z')) &&
		    below(2))
			name[i] ^= 0x20;
}

/* What may stand behind the question; its counts are in the header. */
static uint32_t random_tail(uint8_t *message, uint32_t size)
{
	uint8_t *opt = message + size;
	uint32_t kind = below(12), data = below(3) ? 0 : below(40);

	if (kind < 5)
		return size;
	message[11] = 1;
	memcpy(opt, "\0\0\x29\x10\0\0\0\0\0\0\0", 11);
	opt[7] = (uint8_t)(below(2) << 7);
	opt[10] = (uint8_t)data;
	for (uint32_t i = 0; i < data; i++)
		opt[11 + i] = (uint8_t)rig_random(&seed);
	size += 11 + data;
	if (kind == 9)
		opt[1 + below(10)] ^= (uint8_t)(1U << below(8));
	if (kind == 10)
		message[6 + below(6)] ^= (uint8_t)(1U << below(3));
	if (kind == 11)
		message[size++] = (uint8_t)rig_random(&seed);
	return size;
}

static uint32_t mutate(uint8_t *message, uint32_t size)
{
	uint32_t at = below(size);

	switch (below(12)) {
	case 0: /* bits */
		for (uint32_t flips = 1 + below(3); flips > 0; flips--)
			message[below(size)] ^= (uint8_t)(1U << below(8));
		return size;
	case 1: /* cut */
		return at;
	case 2: /* a length */
		message[12] = (uint8_t)rig_random(&seed);
		return size;
	case 3: /* a pointer */
		at = 12 + below(size - 12);
		message[at] = (uint8_t)(0xc0 | below(2));
		if (at + 1 < size)
			message[at + 1] = (uint8_t)below(size);
		return size;
	case 4: /* a pointer where a label begins */
		at = 12;
		while (message[at] && below(3))
			at += message[at] + 1U;
		message[at] = 0xc0;
		if (at + 1 < size)
			message[at + 1] = (uint8_t)below(size);
		return size;
	case 5: /* counts */
		message[4 + below(8)] = (uint8_t)below(3);
		return size;
	case 6: /* flags */
		message[2 + below(2)] = (uint8_t)rig_random(&seed);
		return size;
	case 7: /* bytes */
		for (uint32_t i = at; i < size && i < at + 8; i++)
			message[i] = (uint8_t)rig_random(&seed);
		return size;
	case 8: /* a label of a reserved type */
		at = 12;
		while (message[at] && below(3))
			at += message[at] + 1U;
		message[at] = (uint8_t)(0x40 + below(0x80));
		return size;
	case 9: /* a byte less in between */
		memmove(message + at, message + at + 1, size - at - 1);
		return size - 1;
	case 10: /* a byte more in between */
		memmove(message + at + 1, message + at, size - at);
		message[at] = (uint8_t)below(64);
		return size + 1;
	default: /* another name's head */
		memset(message + 12, below(64), 1);
		return size;
	}
}

/* Names over 255 bytes: labels of listed ones, again and again. */
static uint32_t overlong_question(uint8_t *out)
{
	uint32_t used = 0;

	while (used < 250) {
		const struct known *known = &listed[below(LISTED)];

		memcpy(out + used, known->name, known->size);
		used += known->size - 1;
	}
	return used + 1;
}

static uint32_t random_message(uint8_t *message)
{
	uint32_t size = 12;

	if (below(100) == 0) {
		size = below(300);
		for (uint32_t i = 0; i < size; i++)
			message[i] = (uint8_t)rig_random(&seed);
		return size;
	}
	memset(message, 0, 12);
	message[0] = (uint8_t)rig_random(&seed);
	message[1] = (uint8_t)rig_random(&seed);
	message[2] = (uint8_t)below(8);
	message[3] = (uint8_t)rig_random(&seed);
	message[5] = 1;
	size += below(60) ? random_question(message + 12) : overlong_question(message + 12);
	mix_case(message + 12, size - 12);
	memcpy(message + size, "\0\1\0\1", 4);
	message[size + 1] = (uint8_t)rig_random(&seed);
	size = random_tail(message, size + 4);
	return below(3) ? size : mutate(message, size);
}

/* ---- The comparison ---- */

struct packet {
	struct dns_frame frame;
	uint8_t message[2048];
	uint32_t size;
	struct dns_shape shape;
};

/* Lengths that contradict are few: what they say less is no part of the message. */
static uint64_t random_packet(struct packet *packet)
{
	struct dns_shape *shape = &packet->shape;
	uint32_t said;

	*shape = (struct dns_shape){.ipv6 = below(2), .link = below(DNS_LINKS), .fill = below(12)};
	packet->size = said = random_message(packet->message);
	if (below(40) == 0)
		shape->udp_more = (int)below(8) - 4;
	if (below(40) == 0 && packet->size < 250)
		shape->ip_more = (int)below(8) - 4;
	dns_wrap(shape, packet->message, packet->size, &packet->frame);
	if (shape->udp_more > shape->ip_more || shape->ip_more > (int)shape->fill ||
	    (int)said + shape->udp_more < 0)
		return ONE(XB_DNS_SHORT);
	return reference(packet->frame.byte + packet->frame.message,
			 said + (uint32_t)shape->udp_more);
}

static int reason_that_counted(struct xb_counts *before)
{
	struct xb_counts after;
	int found = -1;

	assert_int_equal(xb_anchor_counts(&link_of_rig, 0, &after), 0);
	for (int i = 0; i < XB_REASON_COUNT; i++)
		if (after.reason[i].packets != before->reason[i].packets)
			found = i;
	*before = after;
	return found;
}

/* The answer as a resolver reads it. */
static bool is_answer(const struct packet *packet, const uint8_t *message, size_t size, int reason)
{
	const uint8_t *query = packet->message;
	ldns_pkt *answer;
	bool right;

	if (ldns_wire2pkt(&answer, message, size) != LDNS_STATUS_OK)
		return false;
	right = ldns_pkt_id(answer) == ldns_read_uint16(query) && ldns_pkt_qr(answer) &&
		!ldns_pkt_aa(answer) && !ldns_pkt_ad(answer) && ldns_pkt_ra(answer) &&
		ldns_pkt_rd(answer) == !!LDNS_RD_WIRE(query) &&
		ldns_pkt_cd(answer) == !!LDNS_CD_WIRE(query) &&
		ldns_pkt_tc(answer) == (reason == XB_NAME_TRUNCATED) &&
		ldns_pkt_get_rcode(answer) == (reason == XB_NAME_REFUSED    ? LDNS_RCODE_REFUSED
					       : reason == XB_NAME_NXDOMAIN ? LDNS_RCODE_NXDOMAIN
									    : LDNS_RCODE_NOERROR) &&
		ldns_pkt_qdcount(answer) == 1 && !ldns_pkt_ancount(answer) &&
		!ldns_pkt_nscount(answer) && LDNS_ARCOUNT(message) == LDNS_ARCOUNT(query);
	ldns_pkt_free(answer);
	return right;
}

static bool is_right_frame(const struct packet *packet, const uint8_t *out, uint32_t size,
			   int reason)
{
	static const uint8_t codes[] = {5, 3, 0};
	struct dns_shape back = packet->shape;
	struct dns_frame expected;
	uint8_t answer[2048];

	back.reply = true;
	back.fill = 0;
	back.ip_more = back.udp_more = 0;
	dns_wrap(&back, answer,
		 dns_answer(packet->message, reason == XB_NAME_TRUNCATED,
			    codes[reason - XB_NAME_REFUSED], answer),
		 &expected);
	return size == expected.size && !memcmp(out, expected.byte, size) &&
	       is_answer(packet, out + expected.message, size - expected.message, reason);
}

static void blame(const struct packet *packet, uint64_t number, const char *what, int reason)
{
	for (uint32_t i = 0; i < packet->frame.size; i++)
		printf("%02x", packet->frame.byte[i]);
	printf("\n");
	fail_msg("packet %lu: %s (reason %d)", number, what, reason);
}

static void the_same_as_the_reference(void **state)
{
	const char *wanted = getenv("XB_PACKETS");
	uint64_t packets = wanted ? strtoull(wanted, NULL, 0) : PACKETS;
	uint64_t seen[XB_REASON_COUNT] = {0};
	struct packet *packet = calloc(1, sizeof(*packet));
	uint8_t out[DNS_FRAME_MAX];
	struct xb_counts counts;

	(void)state;
	assert_int_equal(xb_anchor_counts(&link_of_rig, 0, &counts), 0);
	for (uint64_t i = 0; i < packets; i++) {
		uint64_t reasons = random_packet(packet);
		uint32_t size = sizeof(out);
		uint32_t verdict =
			rig_run_out(program, packet->frame.byte, packet->frame.size, out, &size);
		int reason = reason_that_counted(&counts);

		if (reason < 0 || !(reasons >> reason & 1))
			blame(packet, i, "the reference says something else", reason);
		if (verdict != (xb_reason_drops(reason)	    ? XDP_DROP
				: xb_reason_answers(reason) ? XDP_TX
							    : XDP_PASS))
			blame(packet, i, "another verdict than the reason has", reason);
		if (verdict == XDP_TX && !is_right_frame(packet, out, size, reason))
			blame(packet, i, "wrongly answered", reason);
		seen[reason]++;
	}
	free(packet);
	printf("%lu packets\n", packets);
#define X(symbol, name, verdict, meaning)                                                          \
	if (seen[XB_##symbol])                                                                     \
		printf("%-16s %8lu\n", name, seen[XB_##symbol]);
	XB_REASONS(X)
#undef X
	for (int reason = XB_NAME_CLEAN; reason <= XB_DNS_LONG; reason++)
		if (seen[reason] < packets / 1000)
			fail_msg("only %lu packets with reason %d", seen[reason], reason);
}

static int begin(void **state)
{
	const char *given = getenv("XB_SEED");

	(void)state;
	seed = given ? strtoull(given, NULL, 0) : 20261121;
	printf("seed %lu\n", seed);
	rig_begin(&rig, "names_oracle");
	program = rig_entry(&rig);
	know_all();
	for (int verdict = 0; verdict < XB_DOMAIN_VERDICTS; verdict++) {
		rig_verdict(&rig, lists[verdict], (enum xb_domain_verdict)verdict);
		list_all(listed, LISTED, verdict, false);
	}
	list_all(allowed, ALLOWED, 0, true);
	qsort(listed, LISTED, sizeof(listed[0]), compare_known);
	qsort(allowed, ALLOWED, sizeof(allowed[0]), compare_known);
	return xb_anchor_open(rig.pins, &link_of_rig);
}

static int end(void **state)
{
	(void)state;
	xb_anchor_close(&link_of_rig);
	close(program);
	rig_end(&rig);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_as_the_reference),
	};

	return cmocka_run_group_tests_name("names_oracle", tests, begin, end);
}
