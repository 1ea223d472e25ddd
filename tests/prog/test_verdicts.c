/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict tables, one for each policy: a frame, what it is for, the reason expected. A new case
 * is one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "base/error.h"
#include "engine/rotate.h"
#include "support/counted_reason.h"
#include "support/rig.h"

/* Frames are written as hex; blanks are ignored. S and C stand for the listed and the clean source.
 */
#define ETHERNET      "020000000001 020000000002 "
#define IPV4	      "0800 "
#define IPV6	      "86dd "
#define QTAG	      "8100 0064 "
#define ADTAG	      "88a8 0064 "
#define PPPOE(length) "8864 11000001 " length " "
#define PPP4	      "0021 "
#define PPP6	      "0057 "

/* version/ihl, tos, length, id, fragment, ttl, protocol, checksum, source, destination */
#define HEADER4(fragment, protocol, source)                                                        \
	"45 00 0040 0001 " fragment " 40 " protocol " 0000 " source " c0000201 "
#define HEADER6(next, source)                                                                      \
	"60000000 0028 " next " 40 " source " 20010db8000000000000000000000002 "
/* ICMPv6 with this hop limit */
#define NEIGHBOUR(hops, source)                                                                    \
	"60000000 0028 3a " hops " " source " ff020000000000000000000000000001 "
#define LISTED4 "c6336407" /* 198.51.100.7 */
#define PREFIX4 "cb007109" /* 203.0.113.9 in a listed /24 */
#define PART4	"cb007222" /* 203.0.114.34 in a listed /27 */
#define CLEAN4	"c6336408"
#define LISTED6 "20010db8000000000000000000000bad"
#define NET6	"20010db8bad000000000000000000001" /* in a listed /44 */
#define CLEAN6	"20010db8000000000000000000000001"
#define BOTH4	"c6336409"			   /* 198.51.100.9, listed and allowed */
#define ALLOW4	"c633640a"			   /* 198.51.100.10, allowed only */
#define BOTH6	"20010db8bad100000000000000000001" /* in a listed /48, all allowed */
#define ALLOW6	"20010db8aaaa00000000000000000001" /* in an allowed /48 */
#define FAR6	"2a0012340000000000000000000000ff" /* no listed prefix near */
#define PAYLOAD "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000"

struct row {
	const char *name;
	const char *frame;
	enum xb_reason reason;
};

static const struct row table[] = {
	{"TCP", ETHERNET IPV4 HEADER4("0000", "06", LISTED4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"UDP", ETHERNET IPV4 HEADER4("0000", "11", LISTED4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"ICMP", ETHERNET IPV4 HEADER4("0000", "01", LISTED4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"GRE", ETHERNET IPV4 HEADER4("0000", "2f", LISTED4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"ESP", ETHERNET IPV4 HEADER4("0000", "32", LISTED4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"AH", ETHERNET IPV4 HEADER4("0000", "33", LISTED4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"SCTP", ETHERNET IPV4 HEADER4("0000", "84", LISTED4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"unknown protocol", ETHERNET IPV4 HEADER4("0000", "fd", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"first fragment", ETHERNET IPV4 HEADER4("2000", "11", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"later fragment", ETHERNET IPV4 HEADER4("20b9", "11", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"last fragment", ETHERNET IPV4 HEADER4("0172", "11", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"IP options",
	 ETHERNET IPV4 "46 00 0040 0001 0000 40 06 0000 " LISTED4 " c0000201 94040000 " PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"longest options",
	 ETHERNET IPV4 "4f 00 0040 0001 0000 40 06 0000 " LISTED4 " c0000201 " PAYLOAD PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"header only", ETHERNET IPV4 "45 00 0014 0001 0000 40 06 0000 " LISTED4 " c0000201",
	 XB_LISTED_IPV4_HOST},
	{"one VLAN tag", ETHERNET QTAG IPV4 HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"two VLAN tags", ETHERNET QTAG QTAG IPV4 HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"802.1ad and 802.1Q", ETHERNET ADTAG QTAG IPV4 HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"broadcast", "ffffffffffff 020000000002 " IPV4 HEADER4("0000", "11", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"in a /24", ETHERNET IPV4 HEADER4("0000", "06", PREFIX4) PAYLOAD, XB_LISTED_IPV4_PREFIX},
	{"in a /24, two VLAN tags", ETHERNET ADTAG QTAG IPV4 HEADER4("0000", "2f", PREFIX4) PAYLOAD,
	 XB_LISTED_IPV4_PREFIX},
	{"in a /27", ETHERNET IPV4 HEADER4("0000", "06", PART4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"listed and allowed", ETHERNET IPV4 HEADER4("0000", "06", BOTH4) PAYLOAD, XB_ALLOWED},
	{"listed and allowed, VLAN", ETHERNET QTAG IPV4 HEADER4("2000", "11", BOTH4) PAYLOAD,
	 XB_ALLOWED},
	{"allowed, not listed", ETHERNET IPV4 HEADER4("0000", "06", ALLOW4) PAYLOAD, XB_CLEAN},
	{"allowed as destination only",
	 ETHERNET IPV4 "45 00 0040 0001 0000 40 06 0000 " LISTED4 BOTH4 PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"unlisted IPv4", ETHERNET IPV4 HEADER4("0000", "06", CLEAN4) PAYLOAD, XB_CLEAN},
	{"unlisted IPv4, VLAN", ETHERNET QTAG IPV4 HEADER4("0000", "06", CLEAN4) PAYLOAD, XB_CLEAN},
	{"listed as destination only",
	 ETHERNET IPV4 "45 00 0040 0001 0000 40 06 0000 " CLEAN4 LISTED4 PAYLOAD, XB_CLEAN},
	{"IPv6 TCP", ETHERNET IPV6 HEADER6("06", LISTED6) PAYLOAD, XB_LISTED_IPV6},
	{"IPv6 UDP", ETHERNET IPV6 HEADER6("11", LISTED6) PAYLOAD, XB_LISTED_IPV6},
	{"ICMPv6", ETHERNET IPV6 HEADER6("3a", LISTED6) PAYLOAD, XB_LISTED_IPV6},
	{"IPv6 GRE", ETHERNET IPV6 HEADER6("2f", LISTED6) PAYLOAD, XB_LISTED_IPV6},
	{"IPv6 ESP", ETHERNET IPV6 HEADER6("32", LISTED6) PAYLOAD, XB_LISTED_IPV6},
	{"hop-by-hop", ETHERNET IPV6 HEADER6("00", LISTED6) "06 00 0502 0000 0100 " PAYLOAD,
	 XB_LISTED_IPV6},
	{"routing header", ETHERNET IPV6 HEADER6("2b", LISTED6) "06 02 04 00 00000000 " PAYLOAD,
	 XB_LISTED_IPV6},
	{"fragment header, first",
	 ETHERNET IPV6 HEADER6("2c", LISTED6) "11 00 0001 00000001 " PAYLOAD, XB_LISTED_IPV6},
	{"fragment header, later",
	 ETHERNET IPV6 HEADER6("2c", LISTED6) "11 00 0579 00000001 " PAYLOAD, XB_LISTED_IPV6},
	{"destination options", ETHERNET IPV6 HEADER6("3c", LISTED6) "06 00 0104 00000000 " PAYLOAD,
	 XB_LISTED_IPV6},
	{"IPv6 AH", ETHERNET IPV6 HEADER6("33", LISTED6) "06 04 0000 00000001 00000001 " PAYLOAD,
	 XB_LISTED_IPV6},
	{"no next header", ETHERNET IPV6 HEADER6("3b", LISTED6), XB_LISTED_IPV6},
	{"IPv6 in two VLAN tags", ETHERNET ADTAG QTAG IPV6 HEADER6("06", LISTED6) PAYLOAD,
	 XB_LISTED_IPV6},
	{"in an IPv6 /44", ETHERNET IPV6 HEADER6("06", NET6) PAYLOAD, XB_LISTED_IPV6},
	{"listed and allowed, IPv6", ETHERNET IPV6 HEADER6("06", BOTH6) PAYLOAD, XB_ALLOWED},
	{"allowed, not listed, IPv6", ETHERNET IPV6 HEADER6("06", ALLOW6) PAYLOAD, XB_CLEAN},
	{"unlisted IPv6", ETHERNET IPV6 HEADER6("06", CLEAN6) PAYLOAD, XB_CLEAN},
	{"neighbour discovery from a listed source",
	 ETHERNET IPV6 NEIGHBOUR("ff", LISTED6) "87 00 0000 " PAYLOAD, XB_LISTED_IPV6},
	{"ARP", ETHERNET "0806 0001080006040001 020000000002 " LISTED4 " 000000000000 c0000201",
	 XB_NOT_IP},
	{"802.3 length", ETHERNET "0040 " PAYLOAD, XB_NOT_IP},
	{"PPPoE session", ETHERNET PPPOE("0036") PPP4 HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"PPPoE in a VLAN", ETHERNET QTAG PPPOE("0036") PPP4 HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"PPPoE in two",
	 ETHERNET ADTAG QTAG PPPOE("0036") PPP4 HEADER4("0000", "2f", PREFIX4) PAYLOAD,
	 XB_LISTED_IPV4_PREFIX},
	{"PPPoE, IPv6", ETHERNET PPPOE("004a") PPP6 HEADER6("06", LISTED6) PAYLOAD, XB_LISTED_IPV6},
	{"PPPoE in two VLANs, IPv6",
	 ETHERNET ADTAG QTAG PPPOE("004a") PPP6 HEADER6("06", NET6) PAYLOAD, XB_LISTED_IPV6},
	{"PPPoE, not listed", ETHERNET PPPOE("0036") PPP4 HEADER4("0000", "06", CLEAN4) PAYLOAD,
	 XB_CLEAN},
	{"PPPoE, IPv6, not listed", ETHERNET PPPOE("004a") PPP6 HEADER6("06", CLEAN6) PAYLOAD,
	 XB_CLEAN},
	{"PPPoE, allowed", ETHERNET QTAG PPPOE("0036") PPP4 HEADER4("0000", "06", BOTH4) PAYLOAD,
	 XB_ALLOWED},
	{"PPPoE, protocol in a byte",
	 ETHERNET PPPOE("0035") "21 " HEADER4("0000", "06", LISTED4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"PPPoE, protocol in a byte, IPv6",
	 ETHERNET ADTAG QTAG PPPOE("0049") "57 " HEADER6("06", LISTED6) PAYLOAD, XB_LISTED_IPV6},
	{"PPPoE, LCP", ETHERNET PPPOE("0036") "c021 " HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_PPPOE},
	{"PPPoE, IPCP", ETHERNET PPPOE("0036") "8021 " HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_PPPOE},
	{"PPPoE, IPV6CP", ETHERNET PPPOE("004a") "8057 " HEADER6("06", LISTED6) PAYLOAD, XB_PPPOE},
	{"PPPoE, compressed", ETHERNET PPPOE("0035") "fd " HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_PPPOE},
	{"PPPoE, no protocol",
	 ETHERNET PPPOE("0036") "0000 " HEADER4("0000", "06", LISTED4) PAYLOAD, XB_PPPOE},
	{"PPPoE, version 2",
	 ETHERNET "8864 21000001 0036 0021 " HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"PPPoE, type 2", ETHERNET "8864 12000001 0035 21 " HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_LISTED_IPV4_HOST},
	{"PPPoE, a code", ETHERNET "8864 11a70001 0016 0021 " HEADER4("0000", "06", LISTED4),
	 XB_LISTED_IPV4_HOST},
	{"PPPoE, all of these, IPv6",
	 ETHERNET QTAG "8864 00ff0001 004a 0057 " HEADER6("06", LISTED6) PAYLOAD, XB_LISTED_IPV6},
	{"PPPoE, what fills the frame behind it",
	 ETHERNET PPPOE("0016") PPP4 HEADER4("0000", "06", LISTED4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"PPPoE, longer than the frame",
	 ETHERNET PPPOE("0037") PPP4 HEADER4("0000", "06", LISTED4) PAYLOAD, XB_PPPOE_HEADER},
	{"PPPoE, much longer",
	 ETHERNET ADTAG QTAG PPPOE("ffff") "57 " HEADER6("06", LISTED6) PAYLOAD, XB_PPPOE_HEADER},
	{"PPPoE, LCP longer than the frame", ETHERNET PPPOE("0007") "c021 01000004",
	 XB_PPPOE_HEADER},
	{"PPPoE of no length", ETHERNET PPPOE("0000") "21 " HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_PPPOE_HEADER},
	{"PPPoE, half a protocol",
	 ETHERNET PPPOE("0001") PPP4 HEADER4("0000", "06", LISTED4) PAYLOAD, XB_PPPOE_HEADER},
	{"PPPoE, a protocol and no more",
	 ETHERNET PPPOE("0001") "21 " HEADER4("0000", "06", LISTED4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"PPPoE discovery", ETHERNET "8863 11090000 0004 0101 0000", XB_NOT_IP},
	{"PPPoE cut in the protocol", ETHERNET "8864 11000001 0042 00", XB_PPPOE_SHORT},
	{"PPPoE cut in a VLAN", ETHERNET QTAG "8864 1100", XB_PPPOE_SHORT},
	{"nothing after PPPoE", ETHERNET PPPOE("0002") PPP4, XB_IPV4_SHORT},
	{"PPPoE, IPv4 cut at 19 bytes",
	 ETHERNET PPPOE("0015") PPP4 "45 00 0040 0001 0000 40 06 0000 " LISTED4 " c00002",
	 XB_IPV4_SHORT},
	{"PPPoE, IPv4 in a byte cut at 19",
	 ETHERNET PPPOE("0014") "21 45 00 0040 0001 0000 40 06 0000 " LISTED4 " c00002",
	 XB_IPV4_SHORT},
	{"PPPoE, IPv6 as IPv4", ETHERNET PPPOE("004a") PPP4 HEADER6("06", LISTED6) PAYLOAD,
	 XB_IPV4_VERSION},
	{"PPPoE, VLAN tag in it",
	 ETHERNET PPPOE("001a") "8100 0064 0800 " HEADER4("0000", "06", LISTED4), XB_PPPOE},
	{"three VLAN tags", ETHERNET QTAG QTAG QTAG IPV4 HEADER4("0000", "06", LISTED4) PAYLOAD,
	 XB_VLAN_DEPTH},
	{"cut in the first tag", ETHERNET "8100 00", XB_VLAN_SHORT},
	{"cut in the second tag", ETHERNET QTAG "8100 00", XB_VLAN_SHORT},
	{"nothing after Ethernet", ETHERNET "0800", XB_IPV4_SHORT},
	{"IPv4 cut at 19 bytes", ETHERNET IPV4 "45 00 0040 0001 0000 40 06 0000 " LISTED4 " c00002",
	 XB_IPV4_SHORT},
	{"ihl 4", ETHERNET IPV4 "44 00 0040 0001 0000 40 06 0000 " LISTED4 " c0000201 " PAYLOAD,
	 XB_IPV4_IHL},
	{"ihl 0", ETHERNET IPV4 "40 00 0040 0001 0000 40 06 0000 " LISTED4 " c0000201 " PAYLOAD,
	 XB_IPV4_IHL},
	{"version 6 as IPv4",
	 ETHERNET IPV4 "65 00 0040 0001 0000 40 06 0000 " LISTED4 " c0000201 " PAYLOAD,
	 XB_IPV4_VERSION},
	{"version 0 as IPv4",
	 ETHERNET IPV4 "05 00 0040 0001 0000 40 06 0000 " LISTED4 " c0000201 " PAYLOAD,
	 XB_IPV4_VERSION},
	{"IPv6 cut at 39 bytes",
	 ETHERNET IPV6 "60000000 0028 06 40 " LISTED6 " 20010db80000000000000000000000",
	 XB_IPV6_SHORT},
	{"version 4 as IPv6",
	 ETHERNET IPV6 "40000000 0028 06 40 " LISTED6 " 20010db8000000000000000000000002",
	 XB_IPV6_VERSION},
};

/* The policy is monitor: what would drop passes, counted. */
static const struct row monitor_table[] = {
	{"host", ETHERNET IPV4 HEADER4("0000", "06", LISTED4) PAYLOAD, XB_MONITORED},
	{"in a /24, VLAN", ETHERNET QTAG IPV4 HEADER4("0000", "06", PREFIX4) PAYLOAD, XB_MONITORED},
	{"in a /27", ETHERNET IPV4 HEADER4("0000", "06", PART4) PAYLOAD, XB_MONITORED},
	{"IPv6", ETHERNET IPV6 HEADER6("06", LISTED6) PAYLOAD, XB_MONITORED},
	{"listed and allowed", ETHERNET IPV4 HEADER4("0000", "06", BOTH4) PAYLOAD, XB_ALLOWED},
	{"unlisted", ETHERNET IPV4 HEADER4("0000", "06", CLEAN4) PAYLOAD, XB_CLEAN},
	{"unlisted IPv6", ETHERNET IPV6 HEADER6("06", CLEAN6) PAYLOAD, XB_CLEAN},
	{"ARP", ETHERNET "0806 0001080006040001 020000000002 " LISTED4 " 000000000000 c0000201",
	 XB_NOT_IP},
};

/* A DHCP server's message: ports, then BOOTREPLY over Ethernet, as far as the client's MAC address.
 */
#define ALL4			  "ffffffff"
#define DHCP_IP(frag, source, to) "45 00 0060 0001 " frag " 40 11 0000 " source " " to " "
#define DHCP_PORTS		  "0043 0044 004c 0000 "
#define BOOTP(op, mac)                                                                             \
	op " 01 06 00 12345678 0000 8000 00000000 c0000209 00000000 00000000 " mac " "
#define OURS		       "020000000001"
#define THEIRS		       "020000000003"
#define ALL_MAC		       "ffffffffffff 020000000002 "
#define DHCP6(from, to, ports) "60000000 0028 11 40 " from " " to " " ports " 0028 0000 "
#define LINK6		       "fe8000000000000000000000000000aa"
#define LINK6TO		       "fe8000000000000000000000000000bb"

static const struct row dhcp_table[] = {
	{"unicast to the client",
	 ETHERNET IPV4 DHCP_IP("0000", CLEAN4, "c0000209") DHCP_PORTS BOOTP("02", OURS) PAYLOAD,
	 XB_DHCP},
	{"broadcast",
	 ALL_MAC IPV4 DHCP_IP("0000", CLEAN4, ALL4) DHCP_PORTS BOOTP("02", THEIRS) PAYLOAD,
	 XB_DHCP},
	{"broadcast, don't fragment, two VLAN tags",
	 ALL_MAC ADTAG QTAG IPV4 DHCP_IP("4000", CLEAN4, ALL4) DHCP_PORTS BOOTP("02", THEIRS)
		 PAYLOAD,
	 XB_DHCP},
	{"from a listed source",
	 ETHERNET IPV4 DHCP_IP("0000", LISTED4, "c0000209") DHCP_PORTS BOOTP("02", OURS) PAYLOAD,
	 XB_ADMITTED},
	{"from an allowed source",
	 ETHERNET IPV4 DHCP_IP("0000", ALLOW4, "c0000209") DHCP_PORTS BOOTP("02", OURS) PAYLOAD,
	 XB_ALLOWED},
	{"for another client",
	 ETHERNET IPV4 DHCP_IP("0000", CLEAN4, "c0000209") DHCP_PORTS BOOTP("02", THEIRS) PAYLOAD,
	 XB_NOT_ADMITTED},
	{"to everybody, in a frame to us",
	 ETHERNET IPV4 DHCP_IP("0000", CLEAN4, ALL4) DHCP_PORTS BOOTP("02", THEIRS) PAYLOAD,
	 XB_NOT_ADMITTED},
	{"to the broadcast of a subnet",
	 ALL_MAC IPV4 DHCP_IP("0000", CLEAN4, "c00002ff") DHCP_PORTS BOOTP("02", THEIRS) PAYLOAD,
	 XB_NOT_ADMITTED},
	{"a request",
	 ETHERNET IPV4 DHCP_IP("0000", CLEAN4, "c0000209") DHCP_PORTS BOOTP("01", OURS) PAYLOAD,
	 XB_NOT_ADMITTED},
	{"to a server",
	 ETHERNET IPV4 DHCP_IP("0000", CLEAN4, ALL4) "0044 0043 004c 0000 " BOOTP("02", OURS)
		 PAYLOAD,
	 XB_NOT_ADMITTED},
	{"from another port",
	 ETHERNET IPV4 DHCP_IP("0000", CLEAN4, ALL4) "0035 0044 004c 0000 " BOOTP("02", OURS)
		 PAYLOAD,
	 XB_NOT_ADMITTED},
	{"a first fragment",
	 ETHERNET IPV4 DHCP_IP("2000", CLEAN4, "c0000209") DHCP_PORTS BOOTP("02", OURS) PAYLOAD,
	 XB_NOT_ADMITTED},
	{"a later fragment",
	 ETHERNET IPV4 DHCP_IP("0001", CLEAN4, "c0000209") DHCP_PORTS BOOTP("02", OURS) PAYLOAD,
	 XB_NOT_ADMITTED},
	{"TCP",
	 ETHERNET IPV4 "45 00 0060 0001 0000 40 06 0000 " CLEAN4
		       " c0000209 " DHCP_PORTS BOOTP("02", OURS) PAYLOAD,
	 XB_NOT_ADMITTED},
	{"behind options",
	 ETHERNET IPV4 "46 00 0060 0001 0000 40 11 0000 " CLEAN4
		       " c0000209 01010101 " DHCP_PORTS BOOTP("02", OURS) PAYLOAD,
	 XB_NOT_ADMITTED},
	{"nothing behind the client's address",
	 ETHERNET IPV4 DHCP_IP("0000", CLEAN4, "c0000209") DHCP_PORTS BOOTP("02", OURS), XB_DHCP},
	{"cut inside the client's address",
	 ETHERNET IPV4 DHCP_IP("0000", CLEAN4, "c0000209") DHCP_PORTS BOOTP("02", "0200000000"),
	 XB_NOT_ADMITTED},
	{"DHCPv6", ETHERNET IPV6 DHCP6(LINK6, LINK6TO, "0223 0222") PAYLOAD, XB_DHCP},
	{"DHCPv6, VLAN", ETHERNET QTAG IPV6 DHCP6(LINK6, LINK6TO, "0223 0222") PAYLOAD, XB_DHCP},
	{"DHCPv6 from afar", ETHERNET IPV6 DHCP6(CLEAN6, LINK6TO, "0223 0222") PAYLOAD,
	 XB_NOT_ADMITTED},
	{"DHCPv6 to afar", ETHERNET IPV6 DHCP6(LINK6, CLEAN6, "0223 0222") PAYLOAD,
	 XB_NOT_ADMITTED},
	{"DHCPv6 to a server", ETHERNET IPV6 DHCP6(LINK6, LINK6TO, "0222 0223") PAYLOAD,
	 XB_NOT_ADMITTED},
};

/* The policy is allow-only: only what is listed passes, and what a link needs to work. */
static const struct row allow_only_table[] = {
	{"host", ETHERNET IPV4 HEADER4("0000", "06", LISTED4) PAYLOAD, XB_ADMITTED},
	{"in a /24", ETHERNET IPV4 HEADER4("0000", "06", PREFIX4) PAYLOAD, XB_ADMITTED},
	{"in a /27, fragment", ETHERNET IPV4 HEADER4("20b9", "11", PART4) PAYLOAD, XB_ADMITTED},
	{"IPv6, two VLAN tags", ETHERNET ADTAG QTAG IPV6 HEADER6("06", LISTED6) PAYLOAD,
	 XB_ADMITTED},
	{"listed and allowed", ETHERNET IPV4 HEADER4("0000", "06", BOTH4) PAYLOAD, XB_ADMITTED},
	{"allowed, not listed", ETHERNET IPV4 HEADER4("0000", "06", ALLOW4) PAYLOAD, XB_ALLOWED},
	{"allowed, not listed, IPv6", ETHERNET IPV6 HEADER6("06", ALLOW6) PAYLOAD, XB_ALLOWED},
	{"unlisted", ETHERNET IPV4 HEADER4("0000", "06", CLEAN4) PAYLOAD, XB_NOT_ADMITTED},
	{"unlisted, VLAN", ETHERNET QTAG IPV4 HEADER4("0000", "06", CLEAN4) PAYLOAD,
	 XB_NOT_ADMITTED},
	{"unlisted IPv6", ETHERNET IPV6 HEADER6("06", CLEAN6) PAYLOAD, XB_NOT_ADMITTED},
	{"unlisted IPv6, no listed prefix near", ETHERNET IPV6 HEADER6("11", FAR6) PAYLOAD,
	 XB_NOT_ADMITTED},
	{"IPv6 header only", ETHERNET IPV6 HEADER6("3b", CLEAN6), XB_NOT_ADMITTED},
	{"ARP", ETHERNET "0806 0001080006040001 020000000002 " CLEAN4 " 000000000000 c0000201",
	 XB_NOT_IP},
	{"ARP in a VLAN",
	 ETHERNET QTAG "0806 0001080006040001 020000000002 " CLEAN4 " 000000000000 c0000201",
	 XB_NOT_IP},
	{"ihl 4", ETHERNET IPV4 "44 00 0040 0001 0000 40 06 0000 " CLEAN4 " c0000201 " PAYLOAD,
	 XB_IPV4_IHL},
	{"router solicitation", ETHERNET IPV6 NEIGHBOUR("ff", CLEAN6) "85 00 0000 " PAYLOAD,
	 XB_NEIGHBOUR},
	{"router advertisement", ETHERNET IPV6 NEIGHBOUR("ff", CLEAN6) "86 00 0000 " PAYLOAD,
	 XB_NEIGHBOUR},
	{"neighbour solicitation", ETHERNET IPV6 NEIGHBOUR("ff", CLEAN6) "87 00 0000 " PAYLOAD,
	 XB_NEIGHBOUR},
	{"neighbour advertisement", ETHERNET IPV6 NEIGHBOUR("ff", CLEAN6) "88 00 0000 " PAYLOAD,
	 XB_NEIGHBOUR},
	{"redirect", ETHERNET IPV6 NEIGHBOUR("ff", CLEAN6) "89 00 0000 " PAYLOAD, XB_NEIGHBOUR},
	{"nothing behind the type", ETHERNET IPV6 NEIGHBOUR("ff", CLEAN6) "87", XB_NEIGHBOUR},
	{"duplicate address detection",
	 ETHERNET IPV6 NEIGHBOUR("ff", "00000000000000000000000000000000") "87 00 0000 " PAYLOAD,
	 XB_NEIGHBOUR},
	{"neighbour solicitation, VLAN",
	 ETHERNET QTAG IPV6 NEIGHBOUR("ff", CLEAN6) "87 00 0000 " PAYLOAD, XB_NEIGHBOUR},
	{"neighbour solicitation, two VLAN tags",
	 ETHERNET ADTAG QTAG IPV6 NEIGHBOUR("ff", CLEAN6) "87 00 0000 " PAYLOAD, XB_NEIGHBOUR},
	{"neighbour solicitation from a listed source",
	 ETHERNET IPV6 NEIGHBOUR("ff", LISTED6) "87 00 0000 " PAYLOAD, XB_ADMITTED},
	{"it crossed a router", ETHERNET IPV6 NEIGHBOUR("fe", CLEAN6) "87 00 0000 " PAYLOAD,
	 XB_NOT_ADMITTED},
	{"it crossed a router, two VLAN tags",
	 ETHERNET ADTAG QTAG IPV6 NEIGHBOUR("fe", CLEAN6) "87 00 0000 " PAYLOAD, XB_NOT_ADMITTED},
	{"type 132", ETHERNET IPV6 NEIGHBOUR("ff", CLEAN6) "84 00 0000 " PAYLOAD, XB_NOT_ADMITTED},
	{"type 138", ETHERNET IPV6 NEIGHBOUR("ff", CLEAN6) "8a 00 0000 " PAYLOAD, XB_NOT_ADMITTED},
	{"echo request", ETHERNET IPV6 NEIGHBOUR("ff", CLEAN6) "80 00 0000 " PAYLOAD,
	 XB_NOT_ADMITTED},
	{"cut before the type", ETHERNET IPV6 NEIGHBOUR("ff", CLEAN6), XB_NOT_ADMITTED},
	{"cut before the type, two VLAN tags", ETHERNET ADTAG QTAG IPV6 NEIGHBOUR("ff", CLEAN6),
	 XB_NOT_ADMITTED},
	{"TCP that looks like it",
	 ETHERNET IPV6 "60000000 0028 06 ff " CLEAN6
		       " 20010db8000000000000000000000002 87 00 " PAYLOAD,
	 XB_NOT_ADMITTED},
	{"IPv4 ICMP that looks like it",
	 ETHERNET IPV4 "45 00 0040 0001 0000 ff 3a 0000 " CLEAN4 " c0000201 87 00 0000 " PAYLOAD,
	 XB_NOT_ADMITTED},
	{"behind hop-by-hop",
	 ETHERNET IPV6 "60000000 0028 00 ff " CLEAN6
		       " 20010db8000000000000000000000002 3a 00 0502 0000 0100 87 00 0000 " PAYLOAD,
	 XB_NOT_ADMITTED},
};

/* Every bit of the Bloom filters is on: all is a guess, and only the exact look-up knows. */
static const struct row guess_table[] = {
	{"unlisted", ETHERNET IPV4 HEADER4("0000", "06", CLEAN4) PAYLOAD, XB_UNCONFIRMED},
	{"unlisted, 0.0.0.0", ETHERNET IPV4 HEADER4("0000", "11", "00000000") PAYLOAD,
	 XB_UNCONFIRMED},
	{"unlisted, VLAN", ETHERNET QTAG IPV4 HEADER4("0000", "06", CLEAN4) PAYLOAD,
	 XB_UNCONFIRMED},
	{"allowed, not listed", ETHERNET IPV4 HEADER4("0000", "06", ALLOW4) PAYLOAD,
	 XB_UNCONFIRMED},
	{"unlisted IPv6", ETHERNET IPV6 HEADER6("06", CLEAN6) PAYLOAD, XB_UNCONFIRMED},
	{"listed", ETHERNET IPV4 HEADER4("0000", "06", LISTED4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"in a /24", ETHERNET IPV4 HEADER4("0000", "06", PREFIX4) PAYLOAD, XB_LISTED_IPV4_PREFIX},
	{"in a /27", ETHERNET IPV4 HEADER4("0000", "06", PART4) PAYLOAD, XB_LISTED_IPV4_HOST},
	{"listed IPv6", ETHERNET IPV6 HEADER6("06", LISTED6) PAYLOAD, XB_LISTED_IPV6},
	{"in an IPv6 /44", ETHERNET IPV6 HEADER6("06", NET6) PAYLOAD, XB_LISTED_IPV6},
	{"listed and allowed", ETHERNET IPV4 HEADER4("0000", "06", BOTH4) PAYLOAD, XB_ALLOWED},
};

static struct rig rig;

static void check_row(const struct row *row, int program)
{
	struct xb_counts before, after;
	uint8_t frame[512];
	uint32_t size = rig_bytes(row->frame, frame);
	uint32_t expected = xb_drop_reasons >> row->reason & 1 ? XDP_DROP : XDP_PASS;
	uint32_t verdict;

	rig_counts(&rig, &before);
	verdict = rig_run(program, frame, size);
	rig_counts(&rig, &after);
	counted_as(row->name, &before, &after, row->reason, size);
	if (verdict != expected)
		fail_msg("%s: verdict %u, expected %u", row->name, verdict, expected);
}

static void check_table(const struct row *rows, size_t count)
{
	int program = rig_entry(&rig);

	for (size_t i = 0; i < count; i++)
		check_row(&rows[i], program);
	printf("%zu frames\n", count);
	close(program);
}

#define CHECK(table) check_table(table, sizeof(table) / sizeof((table)[0]))

static void the_table(void **state)
{
	(void)state;
	CHECK(table);
}

static void under_monitor(void **state)
{
	(void)state;
	rig_policy(&rig, XB_POLICY_MONITOR);
	CHECK(monitor_table);
	rig_policy(&rig, XB_POLICY_ENFORCE);
	CHECK(table);
}

static void under_allow_only(void **state)
{
	(void)state;
	rig_policy(&rig, XB_POLICY_ALLOW_ONLY);
	CHECK(allow_only_table);
	CHECK(dhcp_table);
	rig_policy(&rig, XB_POLICY_ENFORCE);
	CHECK(table);
}

static void guesses(void **state)
{
	struct xb_generation *generation = rig_generation(&rig);

	(void)state;
	assert_int_equal(xb_generation_map_all(generation), 0);
	memset(generation->host4.bits.base, 0xff, xb_map_bytes(XB_MAP_HOST4, &generation->params));
	memset(generation->net6.bits.base, 0xff, xb_map_bytes(XB_MAP_NET6, &generation->params));
	xb_generation_close(generation);
	CHECK(guess_table);
	rig_rotate(&rig);
	CHECK(table);
}

static void list_stages(struct rig *other, unsigned int stages, bool listed)
{
	static const struct xb_entry of_stage[] = {
		{.hi = 0xc633640700000000, .kind = XB_HOST4, .length = 32},
		{.hi = 0xcb00710000000000, .kind = XB_PREFIX4, .length = 24},
		{.hi = 0x20010db800000000, .lo = 0xbad, .kind = XB_NET6, .length = 128},
	};

	for (int stage = 0; stage < 3; stage++)
		if (stages >> stage & 1)
			rig_change_all(other, &of_stage[stage], 1, listed);
}

/* Every program there can be is taken by this kernel, and drops what its stages know. */
static void every_combination_of_stages(void **state)
{
	struct rig other;
	int program;

	(void)state;
	rig_begin(&other, "stages");
	program = rig_entry(&other);
	for (unsigned int kind = 0; kind < 8 * 2 * 2 * 2; kind++) {
		const struct xb_rotate_request rotation = {
			.rate = kind & 8 ? 1e-4 : 1e-6, .set_confirm = true, .confirm = kind & 16};
		bool allow_only = kind & 32;
		uint32_t listed = allow_only ? XDP_PASS : XDP_DROP;
		uint32_t unlisted = allow_only ? XDP_DROP : XDP_PASS;

		if (allow_only && !rotation.confirm)
			continue; /* refused: guesses would be admitted */
		list_stages(&other, kind & 7, true);
		rig_policy(&other, allow_only ? XB_POLICY_ALLOW_ONLY : XB_POLICY_ENFORCE);
		if (xb_rotate(&other.paths, &rotation, NULL, &other.written))
			fail_msg("stages %#x: %s", kind, xb_error_message());
		assert_int_equal(rig_run_ipv4(program, 0xc6336407), kind & 1 ? listed : unlisted);
		assert_int_equal(rig_run_ipv4(program, 0xcb007109), kind & 2 ? listed : unlisted);
		assert_int_equal(rig_run_ipv6(program, 0x20010db800000000, 0xbad),
				 kind & 4 ? listed : unlisted);
		list_stages(&other, kind & 7, false);
	}
	close(program);
	rig_end(&other);
}

/* The same frames while nothing is in force: all pass, counted as such. */
static void without_a_generation(void **state)
{
	struct xb_counts before, after;
	uint32_t zero = 0;
	struct xb_anchor anchor;
	int program = rig_entry(&rig);

	(void)state;
	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	assert_int_equal(bpf_map_delete_elem(anchor.slot, &zero), 0);
	rig_counts(&rig, &before);
	assert_int_equal(rig_run_ipv4(program, 0xc6336407), XDP_PASS);
	rig_counts(&rig, &after);
	assert_int_equal(after.reason[XB_NO_GENERATION].packets -
				 before.reason[XB_NO_GENERATION].packets,
			 1);
	xb_anchor_close(&anchor);
	rig_add(&rig, "192.0.2.77", "default");
	assert_int_equal(rig_run_ipv4(program, 0xc6336407), XDP_DROP);
	close(program);
}

static int begin(void **state)
{
	(void)state;
	rig_begin(&rig, "verdicts");
	rig_add(&rig, "198.51.100.7", "default");
	rig_add(&rig, "203.0.113.0/24", "default");
	rig_add(&rig, "203.0.114.32/27", "default");
	rig_add(&rig, "2001:db8::bad", "default");
	rig_add(&rig, "2001:db8:bad0::/44", "default");
	rig_add(&rig, "198.51.100.9", "default");
	rig_allow(&rig, "198.51.100.9");
	rig_allow(&rig, "198.51.100.10");
	rig_allow(&rig, "2001:db8:bad1::/48");
	rig_allow(&rig, "2001:db8:aaaa::/48");
	return 0;
}

static int end(void **state)
{
	(void)state;
	rig_end(&rig);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table),
		cmocka_unit_test(under_monitor),
		cmocka_unit_test(under_allow_only),
		cmocka_unit_test(guesses),
		cmocka_unit_test(without_a_generation),
		cmocka_unit_test(every_combination_of_stages),
	};

	return cmocka_run_group_tests_name("verdicts", tests, begin, end);
}
