/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mutated TLS hellos and HTTP requests, against a second parser that was written by the RFCs alone.
 */
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

/* What a shape leaves out is the plain case. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* What is left of a vector, or of the segment. */
struct view {
	const uint8_t *at, *end;
	bool broken; /* more was taken than is there */
};

static const uint8_t *take(struct view *view, size_t size)
{
	const uint8_t *taken = view->at;

	if (view->broken || (size_t)(view->end - view->at) < size) {
		view->broken = true;
		return NULL;
	}
	view->at += size;
	return taken;
}

static size_t take_number(struct view *view, uint32_t bytes)
{
	const uint8_t *at = take(view, bytes);
	size_t number = 0;

	for (uint32_t i = 0; at && i < bytes; i++)
		number = number << 8 | at[i];
	return number;
}

/* A vector, as much of it as there is. */
static struct view take_vector(struct view *view, uint32_t bytes)
{
	size_t size = take_number(view, bytes), left = (size_t)(view->end - view->at);
	struct view inner = {.at = view->at, .end = view->at, .broken = view->broken};

	if (view->broken)
		return inner;
	inner.end += size < left ? size : left;
	if (size > left)
		view->broken = true;
	else
		view->at += size;
	return inner;
}

static bool lies_in(const char *name, size_t size, const char *domain)
{
	bool exact = *domain == '=';
	size_t length = strlen(domain + exact);

	if (size < length || strncasecmp(name + size - length, domain + exact, length))
		return false;
	return size == length || (!exact && name[size - length - 1] == '.');
}

/* By RFC 1035, section 2.3.4. */
static bool is_name(const char *name, size_t size)
{
	size_t label = 0;

	for (size_t i = 0; i < size; i++) {
		label = name[i] == '.' ? 0 : label + 1;
		if (label > 63 || (!label && (!i || name[i - 1] == '.')))
			return false;
	}
	return label && size <= 253;
}

static enum xb_reason second_judge(const void *text, size_t size, enum xb_reason dropped)
{
	const char *name = text;

	if (size && name[size - 1] == '.')
		size--;
	if (!is_name(name, size))
		return dropped == XB_TLS_DROPPED ? XB_TLS_NAMELESS : XB_HTTP_NAMELESS;
	for (size_t i = 0; i < ROWS(world); i++) {
		if (!lies_in(name, size, world[i].domain))
			continue;
		if (lies_in(name, size, "allowed.example.com"))
			return XB_NAME_ALLOWED;
		return !strcmp(world[i].list, "count") ? XB_NAME_COUNTED : dropped;
	}
	return XB_NAME_CLEAN;
}

/* RFC 6066, section 3: the list's first, if it is a host's. */
static enum xb_reason second_server_name(struct view extension)
{
	struct view list = take_vector(&extension, 2), name;
	size_t kind = take_number(&list, 1);

	name = take_vector(&list, 2);
	if (list.broken || kind)
		return XB_TLS_NAMELESS;
	return second_judge(name.at, (size_t)(name.end - name.at), XB_TLS_DROPPED);
}

/* RFC 8446, sections 4.1.2 and 5.1. */
static enum xb_reason second_tls(const uint8_t *data, size_t size)
{
	struct view segment = {.at = data, .end = data + size}, record, message, extensions;

	if (size < 6 || data[0] != 22 || data[1] != 3 || data[5] != 1)
		return XB_CLEAN;
	take(&segment, 3);
	record = take_vector(&segment, 2);
	take(&record, 1);
	message = take_vector(&record, 3);
	take(&message, 2 + 32);
	take_vector(&message, 1);
	take_vector(&message, 2);
	take_vector(&message, 1);
	extensions = take_vector(&message, 2);
	for (int i = 0; i < 64 && !extensions.broken; i++) {
		size_t type = take_number(&extensions, 2);
		struct view one = take_vector(&extensions, 2);

		if (!one.broken && !type)
			return second_server_name(one);
	}
	return XB_TLS_NAMELESS;
}

static bool is_request(const uint8_t *data, size_t size)
{
	static const char *const methods[] = {"GET ",	  "HEAD ",    "POST ",	"PUT ",	 "DELETE ",
					      "CONNECT ", "OPTIONS ", "TRACE ", "PATCH "};

	for (size_t i = 0; size >= 8 && i < ROWS(methods); i++)
		if (!memcmp(data, methods[i], strlen(methods[i])))
			return true;
	return false;
}

/* RFC 9110, section 7.2; RFC 9112, section 5. */
static enum xb_reason second_http(const uint8_t *data, size_t size)
{
	size_t at = 0, blanks = 0, end;

	size = size < 2048 ? size : 2048;
	if (!is_request(data, size))
		return XB_CLEAN;
	do {
		while (at < size && data[at] != '\n')
			at++;
		at++;
		if (at + 5 > size || data[at] == '\r' || data[at] == '\n')
			return XB_HTTP_NAMELESS;
	} while (strncasecmp((const char *)data + at, "host:", 5));
	at += 5;
	for (; at < size && blanks < 8 && (data[at] == ' ' || data[at] == '\t'); blanks++)
		at++;
	for (end = at; end < size && data[end] > ' ' && data[end] != ':'; end++)
		;
	if (end >= size)
		return XB_HTTP_NAMELESS;
	return second_judge(data + at, end - at, XB_HTTP_DROPPED);
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
	static const char *const methods[] = {"GET", "POST", "OPTIONS", "DELETE", "CONNECT"};
	static const char *const hosts[] = {"Host: %s\r\n", "host:%s:80\r\n", "HOST: \t%s\n",
					    "Host: %s \r\n"};
	char *text = (char *)data->byte;

	text += sprintf(text, "%s / HTTP/1.1\r\n", methods[random_below(ROWS(methods))]);
	for (uint32_t i = random_below(random_below(16) ? 4 : 120); i > 0; i--)
		text += sprintf(text, "%s", fields[random_below(ROWS(fields))]);
	text += snprintf(text, 400, hosts[random_below(ROWS(hosts))], random_name());
	for (uint32_t i = random_below(4); i > 0; i--)
		text += sprintf(text, "%s", fields[random_below(ROWS(fields))]);
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
			 enum xb_reason second(const uint8_t *, size_t))
{
	const char *given = getenv("XB_SEED");
	uint32_t by_reason[XB_REASON_COUNT] = {0};
	struct hello data;

	numbers = given ? strtoull(given, NULL, 0) : (uint64_t)getpid() << 20;
	fprintf(stderr, "seed 0x%lx\n", numbers);
	for (uint32_t i = 0; i < 50000; i++) {
		const struct wrap wrap = {.shape = {.ipv6 = i & 1, .fill = i & 6}};
		enum xb_reason reason, expected;
		struct dns_frame frame;

		make(&data);
		for (uint32_t changes = random_below(4); changes > 0 && data.size > 1; changes--)
			mutate(&data);
		wrap_tcp(&wrap, port, data.byte, data.size, &frame);
		expected = second(data.byte, data.size);
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
	differential(random_hello, TLS_PORT, second_tls);
}

static void mutated_requests(void **state)
{
	(void)state;
	differential(random_request, HTTP_PORT, second_http);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mutated_hellos),
		cmocka_unit_test(mutated_requests),
	};

	return cmocka_run_group_tests_name("hellos_oracle", tests, begin, end);
}
