/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mutated TLS hellos and HTTP requests, against the second parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/hello_world.h"
#include "support/second.h"

/* What a shape leaves out is the plain case. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static bool lies_in(const char *name, size_t size, const char *domain)
{
	bool exact = *domain == '=';
	size_t length = strlen(domain + exact);

	if (size < length || strncasecmp(name + size - length, domain + exact, length))
		return false;
	return size == length || (!exact && name[size - length - 1] == '.');
}

/* What becomes of a connection's first data, of which the second parser found this. */
static enum xb_reason second_judge(enum second_found found, const struct second_name *name,
				   enum xb_reason dropped)
{
	if (found == SECOND_NOTHING)
		return XB_CLEAN;
	if (found == SECOND_NAMELESS)
		return dropped == XB_TLS_DROPPED ? XB_TLS_NAMELESS : XB_HTTP_NAMELESS;
	for (size_t i = 0; i < ROWS(world); i++) {
		if (!lies_in(name->text, name->size, world[i].domain))
			continue;
		if (lies_in(name->text, name->size, "allowed.example.com"))
			return XB_NAME_ALLOWED;
		return !strcmp(world[i].list, "count") ? XB_NAME_COUNTED : dropped;
	}
	return name->doubt ? XB_HTTP_AMBIGUOUS : XB_NAME_CLEAN;
}

static uint64_t numbers;

static uint32_t random_below(uint32_t limit)
{
	return (uint32_t)(rig_random(&numbers) % limit);
}

static const char *random_name(void)
{
	static const char *const names[] = {
		"example.com",	      "www.example.com", "a.allowed.example.com",
		"x.refused.test",     "count.test.",	 "example.org",
		"child.parent.test.", "EXACT.test",	 "aexample.com",
		LONG "a.example.com", A125 "d.d",	 "www.exact.test"};

	return names[random_below(ROWS(names))];
}

static void random_hello(struct hello *data)
{
	const struct hello_shape shape = {
		.session = random_below(2) * 32,
		.ciphers = 2 + 2 * random_below(20),
		.before = random_below(8) ? random_below(6) : 60 + random_below(6),
		.after = random_below(4),
		.filler = random_below(12),
	};

	make_named(&shape, random_name(), data);
}

static void random_request(struct hello *data)
{
	static const char *const fields[] = {"Accept: */*\r\n", "X: host: a\r\n", "A:b\n",
					     "User-Agent: some program/1.0\r\n"};
	static const char *const methods[] = {"GET",	  "POST",    "OPTIONS",
					      "DELETE",	  "CONNECT", "PROPFIND",
					      "x-method", "\r\nGET", "\n\r\nM-SEARCH"};
	static const char *const targets[] = {"/",
					      "/",
					      "/",
					      "*",
					      " /a:80://b",
					      "http://%s/a",
					      "HTTPS://%s:443",
					      "ws://%s?a",
					      "%s:443",
					      "http:///",
					      "http://a@%s/",
					      "/http://%s/"};
	static const char *const behind[] = {"Accept: */*\r\n", "X: host: a\r\n", "A:b\n", " a\n",
					     "Host: a.b\r\n"};
	static const char *const hosts[] = {"Host: %s\r\n", "host:%s:80\r\n", "HOST: \t%s\n",
					    "Host: %s \r\n"};
	char *text = (char *)data->byte;

	text += sprintf(text, "%s ", methods[random_below(ROWS(methods))]);
	text += snprintf(text, 400, targets[random_below(ROWS(targets))], random_name());
	text += sprintf(text, " HTTP/1.1\r\n");
	for (uint32_t i = random_below(random_below(16) ? 4 : 120); i > 0; i--)
		text += sprintf(text, "%s", fields[random_below(ROWS(fields))]);
	text += snprintf(text, 400, hosts[random_below(ROWS(hosts))], random_name());
	for (uint32_t i = random_below(4); i > 0; i--)
		text += sprintf(text, "%s", behind[random_below(ROWS(behind))]);
	text += sprintf(text, "\r\n");
	data->size = (uint32_t)(text - (char *)data->byte);
}

static void mutate(struct hello *data)
{
	static const uint8_t liked[] = {0,    1,    2,	 3,   5,  '.', ':',
					'\r', '\n', ' ', 'H', 63, 127, 255};
	/* Mostly where lengths stand. */
	uint32_t at = random_below(random_below(2) ? 200 : data->size) % data->size;

	switch (random_below(6)) {
	case 0:
		data->byte[at] = (uint8_t)random_below(256);
		break;
	case 1:
		data->byte[at] = liked[random_below(ROWS(liked))];
		break;
	case 2:
		data->byte[at] = (uint8_t)(data->byte[at] + random_below(7) - 3);
		break;
	case 3:
		data->byte[at] ^= (uint8_t)(1U << random_below(8));
		break;
	case 4:
		memmove(data->byte + at, data->byte + at + 1, data->size - at - 1);
		data->size--;
		break;
	default:
		data->size = random_below(3) ? data->size : at + 1;
	}
}

static void fail_differs(const struct hello *data, enum xb_reason reason, enum xb_reason expected)
{
	for (uint32_t i = 0; i < data->size; i++)
		fprintf(stderr, "%02x%s", data->byte[i], i % 32 == 31 ? "\n" : "");
	fail_msg("%u bytes: reason %d, the second parser says %d", data->size, reason, expected);
}

static void differential(void make(struct hello *), uint16_t port,
			 enum second_found second(const uint8_t *, size_t, struct second_name *),
			 enum xb_reason dropped)
{
	const char *given = getenv("XB_SEED");
	uint32_t by_reason[XB_REASON_COUNT] = {0};
	struct hello data;

	numbers = given ? strtoull(given, NULL, 0) : (uint64_t)getpid() << 20;
	fprintf(stderr, "seed 0x%lx\n", numbers);
	for (uint32_t i = 0; i < 50000; i++) {
		const struct wrap wrap = {.shape = {.ipv6 = i & 1, .fill = i & 6}};
		enum xb_reason reason, expected;
		enum second_found found;
		struct second_name name;
		struct dns_frame frame;

		make(&data);
		for (uint32_t changes = random_below(4); changes > 0 && data.size > 1; changes--)
			mutate(&data);
		wrap_tcp(&wrap, port, data.byte, data.size, &frame);
		found = second(data.byte, data.size, &name);
		expected = second_judge(found, &name, dropped);
		reason = reason_for("mutation", &frame);
		if (reason != expected)
			fail_differs(&data, reason, expected);
		by_reason[reason]++;
	}
	for (int i = 0; i < XB_REASON_COUNT; i++)
		if (by_reason[i])
			fprintf(stderr, "reason %d: %u\n", i, by_reason[i]);
}

static void mutated_hellos(void **state)
{
	(void)state;
	differential(random_hello, TLS_PORT, second_tls, XB_TLS_DROPPED);
}

static void mutated_requests(void **state)
{
	(void)state;
	differential(random_request, HTTP_PORT, second_http, XB_HTTP_DROPPED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mutated_hellos),
		cmocka_unit_test(mutated_requests),
	};

	return cmocka_run_group_tests_name("hellos_oracle", tests, begin, end);
}
