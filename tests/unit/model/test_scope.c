/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scopes: text both ways, order, what is joined, what is refused, and which scope has another. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/scope.h"
#include "support/cmocka.h"

static struct xb_scope scope_of(const char *text)
{
	struct xb_scope scope;

	memset(&scope, 0xa5, sizeof(scope));
	if (xb_scope_parse(text, &scope))
		fail_msg("%s: %s", text, xb_error_message());
	assert_true(xb_scope_is_sound(&scope));
	return scope;
}

static void is_text(const char *text, const char *canonical)
{
	struct xb_scope scope = scope_of(text), again;
	char out[XB_SCOPE_TEXT + 1];

	out[XB_SCOPE_TEXT] = 'z';
	assert_ptr_equal(xb_scope_format(&scope, out), out);
	assert_string_equal(out, canonical);
	assert_int_equal(out[XB_SCOPE_TEXT], 'z');
	again = scope_of(canonical);
	assert_true(xb_scope_equals(&scope, &again));
}

TEST(both_ways)
{
	is_text("all", "all");
	is_text("tcp/25,tcp/465,tcp/587", "tcp/25,tcp/465,tcp/587");
	is_text("udp/53,tcp/53", "tcp/53,udp/53");
	is_text("icmp,udp,tcp", "tcp,udp,icmp");
	is_text("tcp/1-65535", "tcp/1-65535");
	is_text("tcp/6000-6063", "tcp/6000-6063");
	is_text("tcp/00025", "tcp/25");
}

TEST(what_touches_is_joined)
{
	is_text("tcp/25,tcp/25", "tcp/25");
	is_text("tcp/26,tcp/25", "tcp/25-26");
	is_text("tcp/27,tcp/25,tcp/26", "tcp/25-27");
	is_text("tcp/20-30,tcp/25", "tcp/20-30");
	is_text("tcp/20-30,tcp/25-40,tcp/1", "tcp/1,tcp/20-40");
	is_text("tcp/25,udp/26", "tcp/25,udp/26");
	is_text("tcp/65535,tcp", "tcp");
	is_text("icmp,icmp", "icmp");
}

static void is_refused(const char *text)
{
	struct xb_scope scope;

	if (!xb_scope_parse(text, &scope))
		fail_msg("%s is taken", text);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_null(strchr(xb_error_message(), '\n'));
	xb_error_clear();
}

TEST(bad_texts)
{
	static const char *const bad[] = {
		"",
		",",
		"tcp/25,",
		",tcp/25",
		"tcp/",
		"tcp/0",
		"tcp/65536",
		"tcp/25-",
		"tcp/-25",
		"tcp/30-20",
		"tcp/25x",
		"tcpx",
		"icmp/8",
		"sctp/5",
		"25",
		"tcp 25",
		"TCP/25",
		"all,tcp/25",
		"tcp/25,all",
		"tcp/25-0",
		"tcp/0-25",
		"tcp//25",
		"tcp/25-26-27",
		"tcp/99999999999999999999",
		"udp/\x1b[1m",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_refused(bad[i]);
}

TEST(at_most_so_many)
{
	char text[XB_SCOPE_TEXT * 2] = "";
	size_t used = 0;
	struct xb_scope scope;

	for (int i = 0; i < XB_SCOPE_SERVICES; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%stcp/%d-%d",
					 i ? "," : "", 10000 + 1000 * i, 10005 + 1000 * i);
	is_text(text, text);
	snprintf(text + used, sizeof(text) - used, ",udp/53");
	is_refused(text);
	snprintf(text + used, sizeof(text) - used, ",tcp/10006");
	assert_int_equal(xb_scope_parse(text, &scope), 0);
	assert_int_equal(scope.count, XB_SCOPE_SERVICES);
}

static bool within(const char *inner, const char *outer)
{
	struct xb_scope a = scope_of(inner), b = scope_of(outer);

	return xb_scope_within(&a, &b);
}

TEST(one_has_another)
{
	assert_true(within("tcp/25", "all"));
	assert_false(within("all", "tcp"));
	assert_true(within("all", "all"));
	assert_true(within("tcp/25,tcp/465", "tcp/1-1024"));
	assert_false(within("tcp/25,tcp/2000", "tcp/1-1024"));
	assert_false(within("udp/25", "tcp"));
	assert_true(within("icmp", "udp/53,icmp"));
}

TEST(ports)
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

TEST(unsound)
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
