/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports of names, and scopes: room, what is added, ports of two protocols, and what is unsound. As
 * text: test_texts. */
#include "base/error.h"
#include "model/nameports.h"
#include "model/scope.h"
#include "support/cmocka.h"

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

static struct xb_scope scope_of(const char *text)
{
	struct xb_scope scope;

	memset(&scope, 0xa5, sizeof(scope));
	if (xb_scope_parse(text, &scope))
		fail_msg("%s: %s", text, xb_error_message());
	assert_true(xb_scope_is_sound(&scope));
	return scope;
}

TEST(at_most_so_many_services)
{
	char text[XB_SCOPE_TEXT * 2] = "", out[XB_SCOPE_TEXT];
	size_t used = 0;
	struct xb_scope scope;

	for (int i = 0; i < XB_SCOPE_SERVICES; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%stcp/%d-%d",
					 i ? "," : "", 10000 + 1000 * i, 10005 + 1000 * i);
	scope = scope_of(text);
	assert_string_equal(xb_scope_format(&scope, out), text);
	snprintf(text + used, sizeof(text) - used, ",udp/53");
	assert_int_equal(xb_scope_parse(text, &scope), -EINVAL);
	snprintf(text + used, sizeof(text) - used, ",tcp/10006");
	scope = scope_of(text);
	assert_int_equal(scope.count, XB_SCOPE_SERVICES);
}

TEST(ports_of_scopes)
{
	struct xb_scope scope = scope_of("tcp/25,tcp/100-200,icmp"), all = scope_of("all");

	assert_true(xb_scope_has(&scope, XB_SERVICE_TCP, 25));
	assert_true(xb_scope_has(&scope, XB_SERVICE_TCP, 100));
	assert_true(xb_scope_has(&scope, XB_SERVICE_TCP, 200));
	assert_false(xb_scope_has(&scope, XB_SERVICE_TCP, 201));
	assert_false(xb_scope_has(&scope, XB_SERVICE_UDP, 25));
	assert_true(xb_scope_has(&scope, XB_SERVICE_ICMP, 0));
	assert_true(xb_scope_has(&all, XB_SERVICE_UDP, 0));
}

TEST(single_services)
{
	struct xb_service service;

	assert_int_equal(xb_service_parse("udp/53", &service), 0);
	assert_int_equal(service.protocol, XB_SERVICE_UDP);
	assert_int_equal(service.first, 53);
	assert_int_equal(xb_service_parse("icmp", &service), 0);
	assert_int_equal(xb_service_parse("tcp", &service), -EINVAL);
	assert_int_equal(xb_service_parse("tcp/1-2", &service), -EINVAL);
	assert_int_equal(xb_service_parse("all", &service), -EINVAL);
	xb_error_clear();
}

TEST(unsound_scopes)
{
	struct xb_scope scope = {.count = XB_SCOPE_SERVICES + 1};

	assert_false(xb_scope_is_sound(&scope));
	scope = (struct xb_scope){.count = 1, .service = {{XB_SERVICE_PROTOCOLS, 1, 2}}};
	assert_false(xb_scope_is_sound(&scope));
	scope = (struct xb_scope){.count = 1, .service = {{XB_SERVICE_TCP, 2, 1}}};
	assert_false(xb_scope_is_sound(&scope));
	scope = (struct xb_scope){.count = 2,
				  .service = {{XB_SERVICE_TCP, 1, 2}, {XB_SERVICE_TCP, 3, 3}}};
	assert_false(xb_scope_is_sound(&scope));
	scope.service[1].first = scope.service[1].last = 4;
	assert_true(xb_scope_is_sound(&scope));
}
