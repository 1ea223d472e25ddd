/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DNS messages and the frames they come in, made byte by byte; nothing is shared with what is
 * tested. */
#ifndef XB_TESTS_DNS_H
#define XB_TESTS_DNS_H

#include <stdbool.h>
#include <stdint.h>

#define DNS_FRAME_MAX 4096

struct dns_frame {
	uint8_t byte[DNS_FRAME_MAX];
	uint32_t size;
	uint32_t network, udp, message; /* offsets */
};

/* No VLAN tag, one, two; the same with a PPPoE session behind them; with the PPP protocol in one
 * byte there. */
#define DNS_LINKS 9

/* How a message is wrapped. Zero is the plain case: IPv4, no tags, UDP to port 53. */
struct dns_shape {
	bool ipv6;
	bool reply;	/* from the server to the client, as the filter answers */
	uint32_t link;	/* what is below IP, one of DNS_LINKS */
	uint16_t port;	/* of the server */
	uint16_t field; /* IPv4: flags and fragment offset */
	uint8_t protocol;
	const char *options;	/* IPv4, in hexadecimal */
	const char *extensions; /* IPv6, in hexadecimal: the type of the first, then the headers */
	int ip_more, udp_more;	/* what the lengths say more than is there */
	uint32_t fill;		/* bytes behind the packet */
};

/* Bytes from hexadecimal digits, blanks, and 'names.in.quotes', which become labels without the
 * root; returns their number. */
uint32_t dns_bytes(const char *text, uint8_t *out);

/* Labels of a name in text, without the root. */
uint32_t dns_labels(const char *text, uint8_t *out);

void dns_wrap(const struct dns_shape *shape, const uint8_t *message, uint32_t size,
	      struct dns_frame *frame);

/* A query for the addresses of the name in text. */
void dns_query(const char *name, bool ipv6, struct dns_frame *frame);

/* The answer there has to be to a query that has one question and at most an OPT record. */
uint32_t dns_answer(const uint8_t *query, bool truncated, uint8_t code, uint8_t *out);

/* The Internet checksum of the bytes and of `sum`, RFC 1071: byte by byte, carries at the end. */
uint16_t dns_checksum(const uint8_t *bytes, uint32_t size, uint32_t sum);

#endif
