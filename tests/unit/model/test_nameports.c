/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports: text both ways, order, room, and ports of two protocols. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/nameports.h"
#include "support/cmocka.h"

static void is_text(const char *text, const char *canonical)
{
	uint16_t ports[XB_NAME_PORTS];
	char out[XB_PORTS_TEXT + 1];

	memset(ports, 0xa5, sizeof(ports));
	memset(out, 'z', sizeof(out));
	if (xb_ports_parse(text, ports))
		fail_msg("%s: %s", text, xb_error_message());
	assert_ptr_equal(xb_ports_format(ports, out), out);
	assert_string_equal(out, canonical);
	assert_int_equal(out[XB_PORTS_TEXT], 'z');
}

TEST(both_ways)
{
	is_text("off", "off");
	is_text("53", "53");
	is_text("1", "1");
	is_text("65535", "65535");
	is_text("00053", "53");
	is_text("853,443", "443,853");
	is_text("4,3,2,1", "1,2,3,4");
	is_text("2,1,4,3", "1,2,3,4");
	is_text("65535,65534,65533,65532", "65532,65533,65534,65535");
}

TEST(what_is_no_port)
{
	static const char *const rows[][2] = {
		{"", "'' is not a valid port"},
		{"0", "'0' is not a valid port"},
		{"00000", "'00000' is not a valid port"},
		{"65536", "'65536' is not a valid port"},
		{"99999", "'99999' is not a valid port"},
		{"000053", "'000053' is not a valid port"},
		{"4294967349", "'4294967349' is not a valid port"},
		{"18446744073709551669", "is not a valid port"},
		{"-1", "'-1' is not a valid port"},
		{"+53", "'+53' is not a valid port"},
		{" 53", "' 53' is not a valid port"},
		{"53 ", "'53 ' is not a valid port"},
		{"0x35", "'0x35' is not a valid port"},
		{"53.", "'53.' is not a valid port"},
		{",", "'' is not a valid port"},
		{"53,", "'' is not a valid port"},
		{",53", "'' is not a valid port"},
		{"53,,54", "'' is not a valid port"},
		{"53, 54", "' 54' is not a valid port"},
		{"53;54", "'53;54' is not a valid port"},
		{"OFF", "'OFF' is not a valid port"},
		{"off,53", "'off' is not a valid port"},
		{"53,off", "'off' is not a valid port"},
		{"offside", "'offside' is not a valid port"},
		{"53,53", "port 53 is named twice"},
		{"53,54,053", "port 53 is named twice"},
		{"1,2,3,4,4", "port 4 is named twice"},
		{"1,2,3,4,5", "at most 4 ports"},
		{"1,2,3,4,x", "'x' is not a valid port"},
		{"\xd9\xa3", "is not a valid port"}, /* a digit, elsewhere */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint16_t ports[XB_NAME_PORTS];

		xb_error_clear();
		if (xb_ports_parse(rows[i][0], ports) != -EINVAL)
			fail_msg("'%s' is taken", rows[i][0]);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		if (!strstr(xb_error_message(), rows[i][1]))
			fail_msg("'%s': %s", rows[i][0], xb_error_message());
	}
}

TEST(a_long_word_is_cut)
{
	uint16_t ports[XB_NAME_PORTS];
	char text[5000];

	memset(text, '9', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(xb_ports_parse(text, ports), -EINVAL);
	assert_true(strlen(xb_error_message()) < 200);
}

TEST(added_one_by_one)
{
	static const uint64_t none[] = {
		0, 65536, 65536 + 53, UINT32_MAX, (UINT64_C(1) << 32) + 53, UINT64_MAX};
	static const uint16_t expected[XB_NAME_PORTS] = {1, 53, 443, 65535};
	uint16_t ports[XB_NAME_PORTS] = {0};

	assert_int_equal(xb_ports_add(ports, 65535), 0);
	assert_int_equal(xb_ports_add(ports, 1), 0);
	assert_int_equal(xb_ports_add(ports, 443), 0);
	assert_int_equal(xb_ports_add(ports, 443), -EINVAL);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_int_equal(xb_ports_add(ports, none[i]), -EINVAL);
		assert_non_null(strstr(xb_error_message(), "a whole number from 1 to 65535"));
	}
	assert_int_equal(xb_ports_add(ports, 53), 0);
	assert_memory_equal(ports, expected, sizeof(ports));
	assert_int_equal(xb_ports_add(ports, 65535), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "twice"));
	assert_int_equal(xb_ports_add(ports, 2), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "at most 4"));
	assert_memory_equal(ports, expected, sizeof(ports));
}

TEST(protocols)
{
	static const char *const names[] = {"dns", "tls", "http"};
	static const char *const none[] = {"", "DNS", "dns ", "htt", "https", "udp"};
	struct xb_name_ports ports;
	enum xb_carrier carrier;

	for (enum xb_carrier each = 0; each < XB_CARRIERS; each++) {
		carrier = 77;
		assert_string_equal(xb_carrier_name(each), names[each]);
		assert_int_equal(xb_carrier_parse(names[each], &carrier), 0);
		assert_int_equal(carrier, each);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(xb_carrier_parse(none[i], &carrier), -EINVAL);
	assert_ptr_equal(xb_ports_of(&ports, XB_CARRIER_DNS), ports.dns);
	assert_ptr_equal(xb_ports_of(&ports, XB_CARRIER_TLS), ports.tls);
	assert_ptr_equal(xb_ports_of(&ports, XB_CARRIER_HTTP), ports.http);
}

TEST(of_two_protocols)
{
	struct xb_name_ports apart = {.dns = {53, 5353}, .tls = {443}, .http = {80, 8080}};
	struct xb_name_ports none = {0};
	struct xb_name_ports shared = {.dns = {53}, .tls = {443, 8443}, .http = {80, 8443}};
	struct xb_name_ports full = {
		.dns = {1, 2, 3, 4}, .tls = {5, 6, 7, 8}, .http = {4, 9, 10, 11}};

	for (enum xb_carrier carrier = 0; carrier < XB_CARRIERS; carrier++) {
		assert_int_equal(xb_ports_check(&apart, carrier), 0);
		assert_int_equal(xb_ports_check(&none, carrier), 0);
	}
	assert_int_equal(xb_ports_check(&shared, XB_CARRIER_DNS), 0);
	assert_int_equal(xb_ports_check(&shared, XB_CARRIER_TLS), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "port 8443 cannot be both tls and http"));
	assert_int_equal(xb_ports_check(&shared, XB_CARRIER_HTTP), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "port 8443 cannot be both tls and http"));
	assert_int_equal(xb_ports_check(&full, XB_CARRIER_TLS), 0);
	assert_int_equal(xb_ports_check(&full, XB_CARRIER_HTTP), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "port 4 cannot be both dns and http"));
	assert_int_equal(xb_ports_check(&full, XB_CARRIER_DNS), -EINVAL);
}
