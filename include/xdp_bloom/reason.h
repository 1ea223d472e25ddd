/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a packet left the program: one counter of packets and bytes for each. */
#ifndef XDP_BLOOM_REASON_H
#define XDP_BLOOM_REASON_H

/*
 * X(symbol, name shown to people, verdict, meaning). The order is part of the statistics layout:
 * append only, at most XB_REASON_SLOTS in all.
 */
#define XB_REASONS(X)                                                                              \
	X(CLEAN, "clean", PASS, "the source is not listed")                                        \
	X(LISTED_IPV4_HOST, "listed_ipv4_host", DROP,                                              \
	  "the source is a listed IPv4 address, or in a listed /25 to /31")                        \
	X(LISTED_IPV4_PREFIX, "listed_ipv4_prefix", DROP,                                          \
	  "the source is in a listed IPv4 prefix up to /24")                                       \
	X(LISTED_IPV6, "listed_ipv6", DROP, "the source is in a listed IPv6 prefix")               \
	X(NOT_IP, "not_ip", PASS, "neither IPv4 nor IPv6 (ARP, LLDP, ...)")                        \
	X(NO_GENERATION, "no_generation", PASS,                                                    \
	  "no filter was in force; bloomctl up repairs this")                                      \
	X(PPPOE, "pppoe", PASS,                                                                    \
	  "a PPPoE session, with neither IPv4 nor IPv6 in it (LCP, IPCP, ...)")                    \
	X(VLAN_DEPTH, "vlan_depth", PASS, "more than two VLAN tags")                               \
	X(ETHERNET_SHORT, "ethernet_short", PASS, "cut inside the Ethernet header")                \
	X(VLAN_SHORT, "vlan_short", PASS, "cut inside a VLAN tag")                                 \
	X(IPV4_SHORT, "ipv4_short", PASS, "cut inside the IPv4 header")                            \
	X(IPV4_VERSION, "ipv4_version", PASS, "IPv4 by EtherType, another version in the header")  \
	X(IPV4_IHL, "ipv4_ihl", PASS, "IPv4 header length below 20 bytes")                         \
	X(IPV6_SHORT, "ipv6_short", PASS, "cut inside the IPv6 header")                            \
	X(IPV6_VERSION, "ipv6_version", PASS, "IPv6 by EtherType, another version in the header")  \
	X(UNCONFIRMED, "unconfirmed", PASS, "the Bloom filter hit, the exact look-up did not")     \
	X(ALLOWED, "allowed", PASS, "would be dropped, but is on the allowlist")                   \
	X(MONITORED, "monitored", PASS, "would be dropped, but the policy is monitor")             \
	X(ADMITTED, "admitted", PASS, "listed, and the policy is allow-only")                      \
	X(NOT_ADMITTED, "not_admitted", DROP, "not listed, and the policy is allow-only")          \
	X(NEIGHBOUR, "neighbour", PASS, "IPv6 neighbour discovery under allow-only")               \
	X(ROLLED_BACK, "rolled_back", PASS,                                                        \
	  "a trial ended that began without a filter here, or the interface was detached and the " \
	  "kernel did not take the program off")                                                   \
	X(NAME_CLEAN, "name_clean", PASS, "a query for a domain that is not listed")               \
	X(NAME_DROPPED, "name_dropped", DROP, "a query for a listed domain")                       \
	X(NAME_REFUSED, "name_refused", ANSWER, "a query for a listed domain: refused")            \
	X(NAME_NXDOMAIN, "name_nxdomain", ANSWER, "a query for a listed domain: no such domain")   \
	X(NAME_TRUNCATED, "name_truncated", ANSWER, "a query for a listed domain: ask over TCP")   \
	X(NAME_COUNTED, "name_counted", PASS, "for a listed domain, and the verdict is count")     \
	X(NAME_ALLOWED, "name_allowed", PASS, "for a listed domain that is on the allowlist")      \
	X(NAME_UNANSWERED, "name_unanswered", DROP,                                                \
	  "a query for a listed domain that cannot be answered correctly")                         \
	X(DNS_SHORT, "dns_short", PASS,                                                            \
	  "cut inside a DNS query, or its lengths contradict each other")                          \
	X(DNS_RESPONSE, "dns_response", PASS, "a DNS response sent to a DNS port")                 \
	X(DNS_OPCODE, "dns_opcode", PASS, "a DNS operation other than a query")                    \
	X(DNS_QUESTIONS, "dns_questions", PASS, "a DNS query with no question or several")         \
	X(DNS_COMPRESSED, "dns_compressed", PASS, "a DNS question with a compressed name")         \
	X(DNS_LABEL, "dns_label", PASS, "a DNS question with a label of a reserved type")          \
	X(DNS_LONG, "dns_long", PASS, "a DNS question with a name over 255 bytes")                 \
	X(DNS_FRAGMENT, "dns_fragment", PASS, "a fragment that may hold a DNS query")              \
	X(DNS_HEADERS, "dns_headers", PASS, "too many IPv6 extension headers to find a query")     \
	X(DNS_TCP, "dns_tcp", PASS, "DNS over TCP")                                                \
	X(TLS_DROPPED, "tls_dropped", DROP, "a TLS server name that is listed")                    \
	X(TLS_NAMELESS, "tls_nameless", PASS, "a TLS hello without a whole server name in it")     \
	X(HTTP_DROPPED, "http_dropped", DROP, "an HTTP host that is listed")                       \
	X(HTTP_NAMELESS, "http_nameless", PASS, "an HTTP request without a whole host in it")      \
	X(DHCP, "dhcp", PASS, "a DHCP server's message to a client, under allow-only")             \
	X(PPPOE_SHORT, "pppoe_short", PASS, "cut inside the header of a PPPoE session")            \
	X(PPPOE_HEADER, "pppoe_header", PASS,                                                      \
	  "a PPPoE session longer than the frame, or too short for its protocol")                  \
	X(HTTP_AMBIGUOUS, "http_ambiguous", PASS,                                                  \
	  "an HTTP host that is not listed, but a second one or a folded line follows")            \
	X(NAME_LIMITED, "name_limited", DROP,                                                      \
	  "a query for a listed domain that is over the limit of answers")                         \
	X(SCOPED_DROPPED, "scoped_dropped", DROP,                                                  \
	  "the source is listed for the service that it asks for")                                 \
	X(SCOPED_COUNTED, "scoped_counted", PASS,                                                  \
	  "the source is listed, and the verdict is count")                                        \
	X(SCOPED_FRAGMENT, "scoped_fragment", PASS,                                                \
	  "a later fragment, which has no port to judge by; it is useless without the first")      \
	X(SCOPED_SHORT, "scoped_short", PASS, "cut before the port of a service")                  \
	X(SCOPED_HEADERS, "scoped_headers", PASS,                                                  \
	  "too many IPv6 extension headers to find the port of a service")                         \
	X(ADMITTED_KNOWN, "admitted_known", PASS, "not listed, but known, under allow-only")       \
	X(LIMITED, "limited", DROP, "the source is over a limit, or the name that it asks for")    \
	X(OVER_COUNTED, "over_counted", PASS, "over a limit, which only counts")                   \
	X(OVER_TRUNCATED, "over_truncated", ANSWER, "a query over a limit: ask over TCP")

enum xb_reason {
#define X(symbol, name, verdict, meaning) XB_##symbol,
	XB_REASONS(X)
#undef X
		XB_REASON_COUNT,
};

#define XB_REASON_SLOTS 64
_Static_assert(XB_REASON_COUNT <= XB_REASON_SLOTS, "the statistics layout has no room");

#define XB_VERDICT_PASS	  0ULL
#define XB_VERDICT_DROP	  1ULL
#define XB_VERDICT_ANSWER 2ULL /* sent back where it came from */

/* Bit r is set when reason r drops. */
#define X(symbol, name, verdict, meaning) ((XB_VERDICT_##verdict & 1) << XB_##symbol) |
static const unsigned long long xb_drop_reasons = XB_REASONS(X) 0;
#undef X

/* Bit r is set when reason r answers. */
#define X(symbol, name, verdict, meaning) ((XB_VERDICT_##verdict >> 1) << XB_##symbol) |
static const unsigned long long xb_answer_reasons = XB_REASONS(X) 0;
#undef X

static inline __attribute__((always_inline)) int xb_reason_drops(enum xb_reason reason)
{
	return (xb_drop_reasons >> reason) & 1;
}

static inline __attribute__((always_inline)) int xb_reason_answers(enum xb_reason reason)
{
	return (xb_answer_reasons >> reason) & 1;
}

#endif
