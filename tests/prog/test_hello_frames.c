/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TLS hellos and HTTP requests: the headers before them, ports, policies, and what is told of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include <net/if.h>

#include "attach/drops.h"
#include "attach/pin.h"
#include "base/error.h"
#include "support/hello_checks.h"

/* ---- Headers before the data ---- */

#define PADS " 00 0104 00000000 "

static void ip_headers(void **state)
{
	static const char *const options[] = {
		"01010101", "94040000", "0101010101010101",
		"01010101010101010101010101010101010101010101010101010101010101010101010101010101"};
	static const char *const extensions[] = {
		"00 06" PADS, "3c 06" PADS, "00 3c" PADS "2b" PADS "3c" PADS "06" PADS,
		"2c 06 00 0000 00000001", "33 06 01 0000 00000001 00000001"};

	(void)state;
	for (uint32_t tags = 0; tags < 3; tags++) {
		for (size_t i = 0; i < ROWS(options); i++)
			check_both(options[i],
				   &(struct wrap){.shape = {.link = tags, .options = options[i]}},
				   true);
		for (size_t i = 0; i < ROWS(extensions); i++)
			check_both(extensions[i],
				   &(struct wrap){.shape = {.ipv6 = true,
							    .link = tags,
							    .extensions = extensions[i]}},
				   true);
		check_both("first fragment",
			   &(struct wrap){.shape = {.link = tags, .field = 0x2000}}, false);
		check_both("last fragment",
			   &(struct wrap){.shape = {.link = tags, .field = 0x0001}}, false);
		check_both("first fragment",
			   &(struct wrap){.shape = {.ipv6 = true,
						    .link = tags,
						    .extensions = "2c 06 00 0001 00000001"}},
			   false);
		check_both("later fragment",
			   &(struct wrap){.shape = {.ipv6 = true,
						    .link = tags,
						    .extensions = "2c 06 00 0008 00000001"}},
			   false);
		check_both(
			"UDP",
			&(struct wrap){
				.shape = {.ipv6 = true, .link = tags, .extensions = "00 11" PADS}},
			false);
	}
}

static void tcp_headers(void **state)
{
	(void)state;
	for (uint32_t ipv6 = 0; ipv6 < 2; ipv6++) {
		for (uint32_t words = 5; words < 16; words++) {
			struct wrap wrap = {.shape = {.ipv6 = ipv6}, .words = words};

			check_both("options", &wrap, true);
			for (uint32_t lie = 0; lie < 16; lie++) {
				wrap.lie = lie + 1;
				check_both("header length", &wrap, lie == words);
			}
		}
	}
}

/* A header that says it is shorter than it can be would make data of what is none. */
static void short_tcp_headers(void **state)
{
	static const uint8_t start[] = {22, 3, 1, 0, 200, 1};
	struct hello hello;

	(void)state;
	make_named(&(struct hello_shape){0}, "www.example.com", &hello);
	for (uint32_t ipv6 = 0; ipv6 < 2; ipv6++) {
		struct wrap wrap = {.shape = {.ipv6 = ipv6}, .lie = 4 + 1};
		struct dns_frame frame;

		/* All of a hello but its first four bytes, with these in the header. */
		wrap_tcp(&wrap, TLS_PORT, hello.byte + 4, hello.size - 4, &frame);
		memcpy(frame.byte + frame.udp + 16, start, 4);
		check_frame("a hello from the header on", &frame, XB_CLEAN);
	}
}

static void other_ports(void **state)
{
	static const char text[] = LINE LISTED EMPTY;
	struct hello hello;

	(void)state;
	make_named(&(struct hello_shape){0}, "www.example.com", &hello);
	check_data("a hello to HTTP", HTTP_PORT, hello.byte, hello.size, XB_CLEAN);
	check_data("a request to TLS", TLS_PORT, (const uint8_t *)text, sizeof(text) - 1, XB_CLEAN);
	check_data("a hello elsewhere", 444, hello.byte, hello.size, XB_CLEAN);
	check_data("a request elsewhere", 81, (const uint8_t *)text, sizeof(text) - 1, XB_CLEAN);
	check_data("a hello to the second port", 8443, hello.byte, hello.size, XB_TLS_DROPPED);
	check_data("a request to the second port", 65535, (const uint8_t *)text, sizeof(text) - 1,
		   XB_HTTP_DROPPED);
	check_data("DNS over TCP", 53, hello.byte, hello.size, XB_DNS_TCP);
	check_data("no data", TLS_PORT, hello.byte, 0, XB_CLEAN);
}

static void off(void **state)
{
	static const struct xb_name_ports none = {.dns = {53}}, tls = {.dns = {53}, .tls = {443}};
	static const char text[] = LINE LISTED EMPTY;
	struct hello hello;

	(void)state;
	make_named(&(struct hello_shape){0}, "www.example.com", &hello);
	rig_ports(&rig, &none);
	check_both("off", &(struct wrap){0}, false);
	check_both("off", &(struct wrap){.shape = {.options = "01010101"}}, false);
	check_both("off", &(struct wrap){.shape = {.ipv6 = true, .extensions = "00 06" PADS}},
		   false);
	check_hello("off", &hello, XB_CLEAN);
	rig_ports(&rig, &tls);
	check_hello("on", &hello, XB_TLS_DROPPED);
	check_data("off", HTTP_PORT, (const uint8_t *)text, sizeof(text) - 1, XB_CLEAN);
	rig_ports(&rig, &all_ports);
	check_both("on", &(struct wrap){0}, true);
}

/* ---- Policies ---- */

static enum xb_reason monitored(enum xb_reason reason)
{
	return xb_reason_drops(reason) ? XB_MONITORED : reason;
}

static int enforce(void **state)
{
	(void)state;
	rig_policy(&rig, XB_POLICY_ENFORCE);
	return 0;
}

/* All names, in hellos and in requests. */
static void check_names(bool policy_monitors)
{
	struct hello hello;
	char text[1024];

	for (size_t i = 0; i < ROWS(names_table); i++) {
		const struct name_row *row = &names_table[i];
		enum xb_reason tls = row->reason, http = http_reason(tls);

		make_named(&(struct hello_shape){0}, row->text, &hello);
		check_hello(row->text, &hello, policy_monitors ? monitored(tls) : tls);
		snprintf(text, sizeof(text), LINE "Host: %s\r\n\r\n", row->text);
		check_text(text, policy_monitors ? monitored(http) : http);
	}
}

static void monitor(void **state)
{
	(void)state;
	rig_policy(&rig, XB_POLICY_MONITOR);
	check_names(true);
	rig_policy(&rig, XB_POLICY_ENFORCE);
	check_both("enforced", &(struct wrap){0}, true);
}

/* With addresses of both families listed the program is at its largest. */
static void beside_addresses(void **state)
{
	static const char *const addresses[] = {"203.0.113.1", "203.0.114.0/24", "2001:db8:bad::1"};

	(void)state;
	for (size_t i = 0; i < ROWS(addresses); i++)
		rig_add(&rig, addresses[i], "default");
	rig_rotate(&rig);
	check_names(false);
	ip_headers(state);
	tcp_headers(state);
	for (size_t i = 0; i < ROWS(addresses); i++)
		assert_true(rig_del(&rig, addresses[i], NULL));
	rig_rotate(&rig);
	check_both("no addresses", &(struct wrap){0}, true);
}

/* ---- What is told ---- */

struct seen {
	struct xb_name_drop last;
	uint32_t count;
};

static int see(const struct xb_drop *drop, void *context)
{
	struct seen *seen = context;

	seen->count++;
	memset(&seen->last, 0, sizeof(seen->last));
	memcpy(&seen->last, drop, drop->name_bytes ? sizeof(seen->last) : sizeof(*drop));
	return 0;
}

/* Test runs come in through the loopback: only if it is attached it is told of them. */
static int attach(void **state)
{
	struct xb_enrolled *all;
	size_t count;

	(void)state;
	assert_int_equal(xb_anchor_enrol(&counts_link, if_nametoindex("lo"), "lo"), 0);
	assert_int_equal(xb_anchor_enrolled(&counts_link, &all, &count), 0);
	assert_int_equal(count, 1);
	counts_row = all[0].row;
	free(all);
	read_counts(&last_counts);
	return 0;
}

static int detach(void **state)
{
	(void)state;
	assert_int_equal(xb_anchor_dismiss(&counts_link, if_nametoindex("lo")), 0);
	counts_row = 0;
	read_counts(&last_counts);
	return 0;
}

/* To the server that dns_wrap() has. */
static void check_destination(const struct xb_drop *drop, bool ipv6)
{
	uint8_t expected[16] = {0};

	dns_bytes(ipv6 ? "20010db8000000000000000000000002" : "c0000201", expected);
	assert_int_equal(drop->family, ipv6 ? 6 : 4);
	assert_memory_equal(drop->destination, expected, sizeof(expected));
}

static void check_told(struct xb_drops *watcher, struct seen *seen, const char *name,
		       enum xb_reason reason, uint16_t port, bool ipv6)
{
	uint8_t labels[512];
	uint32_t size = dns_labels(name, labels);
	const struct xb_drop *drop = &seen->last.drop;

	for (int i = 0; !seen->count && i < 20; i++)
		assert_int_equal(xb_drops_poll(watcher), 0);
	if (seen->count != 1)
		fail_msg("%s: told %u times", name, seen->count);
	seen->count = 0;
	check_destination(drop, ipv6);
	assert_int_equal(drop->reason, reason);
	assert_int_equal(drop->protocol, 6);
	assert_int_equal(ntohs(drop->sport), 54321);
	assert_int_equal(ntohs(drop->dport), port);
	assert_int_equal(drop->name_bytes, size);
	if (memcmp(seen->last.name, labels, size))
		fail_msg("%s: another name was told", name);
}

static void told(void **state)
{
	static const char *const names[] = {"example.com",
					    "WWW.example.com",
					    "refused.test",
					    "count.test",
					    "a.b.c.d.e.f.g.example.com",
					    L63 ".example.com",
					    LONG "a.example.com",
					    A125 "d.d"};
	struct seen seen = {0};
	struct xb_drops watcher;
	struct hello hello;
	char text[1024];

	(void)state;
	if (xb_drops_open(&watcher, rig.pins, 1000, see, &seen))
		fail_msg("%s", xb_error_message());
	for (size_t i = 0; i < ROWS(names); i++) {
		bool counted = !strcmp(names[i], "count.test");

		for (uint32_t kind = 0; kind < 2; kind++) {
			const struct wrap wrap = {.shape = {.ipv6 = kind}, .words = 5 + 3 * kind};
			const char *dot = kind ? "." : "";

			snprintf(text, sizeof(text), "%s%s", names[i], dot);
			make_named(&(struct hello_shape){.before = 1}, text, &hello);
			check_wrapped(names[i], &wrap, TLS_PORT, hello.byte, hello.size,
				      counted ? XB_NAME_COUNTED : XB_TLS_DROPPED);
			check_told(&watcher, &seen, names[i],
				   counted ? XB_NAME_COUNTED : XB_TLS_DROPPED, TLS_PORT, kind);
			snprintf(text, sizeof(text), LINE "Host: %s%s\r\n\r\n", names[i], dot);
			check_wrapped(names[i], &wrap, HTTP_PORT, (const uint8_t *)text,
				      (uint32_t)strlen(text),
				      counted ? XB_NAME_COUNTED : XB_HTTP_DROPPED);
			check_told(&watcher, &seen, names[i],
				   counted ? XB_NAME_COUNTED : XB_HTTP_DROPPED, HTTP_PORT, kind);
		}
	}
	make_named(&(struct hello_shape){0}, "example.org", &hello);
	check_wrapped("not listed", &(struct wrap){0}, TLS_PORT, hello.byte, hello.size,
		      XB_NAME_CLEAN);
	assert_int_equal(xb_drops_poll(&watcher), 0);
	assert_int_equal(seen.count, 0);
	xb_drops_close(&watcher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ip_headers),
		cmocka_unit_test(tcp_headers),
		cmocka_unit_test(short_tcp_headers),
		cmocka_unit_test(other_ports),
		cmocka_unit_test(off),
		cmocka_unit_test_teardown(monitor, enforce),
		cmocka_unit_test(beside_addresses),
		cmocka_unit_test_setup_teardown(told, attach, detach),
	};

	return cmocka_run_group_tests_name("hello frames", tests, begin, end);
}
