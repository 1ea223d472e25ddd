/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What frames carry: DNS queries, TLS hellos, HTTP requests. */
#include "generate.h"

#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"
#include "support/hello.h"

/* What stands behind the question; its count is in the header. */
static uint32_t put_tail(uint64_t *chance, uint8_t *message, uint32_t size)
{
	uint32_t kind = below(chance, 12), data = one_in(chance, 3) ? below(chance, 40) : 0;
	uint8_t *opt = message + size;

	if (kind < 5)
		return size;
	message[11] = 1;
	memcpy(opt, "\0\0\x29\x10\0\0\0\0\0\0\0", 11);
	if (one_in(chance, 40))
		data = below(chance, 800);
	opt[7] = (uint8_t)(below(chance, 2) << 7);
	set16(opt + 9, data);
	for (uint32_t i = 0; i < data; i++)
		opt[11 + i] = (uint8_t)below(chance, 256);
	size += 11 + data;
	if (kind == 9) /* something else */
		opt[below(chance, 11)] ^= (uint8_t)(1U << below(chance, 8));
	if (kind == 10) /* other counts */
		message[6 + below(chance, 6)] ^= (uint8_t)(1U << below(chance, 3));
	if (kind == 11)
		message[size++] = (uint8_t)below(chance, 256);
	return size;
}

/* Where a label of the question begins. */
static uint8_t *random_label_of(uint64_t *chance, uint8_t *message, uint32_t size)
{
	uint32_t at = 12;

	while (at < size && message[at] && message[at] < 64 && below(chance, 3))
		at += message[at] + 1U;
	return message + (at < size ? at : 12);
}

static void spoil(uint64_t *chance, uint8_t *message, uint32_t size)
{
	switch (below(chance, 6)) {
	case 0:
		message[2] = (uint8_t)below(chance, 256);
		break;
	case 1:
		message[4 + below(chance, 8)] = (uint8_t)below(chance, 3);
		break;
	case 2: /* a pointer */
		*random_label_of(chance, message, size) = (uint8_t)(0xc0 | below(chance, 64));
		break;
	case 3: /* a reserved type */
		*random_label_of(chance, message, size) = (uint8_t)(0x40 + below(chance, 0x80));
		break;
	case 4: /* another length */
		*random_label_of(chance, message, size) = (uint8_t)below(chance, 64);
		break;
	default:
		message[below(chance, size)] = (uint8_t)below(chance, 256);
	}
}

uint32_t generate_message(const struct universe *universe, uint64_t *chance, uint8_t *message)
{
	uint32_t size = 12;

	memset(message, 0, 12);
	set16(message, below(chance, 0x10000));
	message[2] = (uint8_t)below(chance, 8);
	message[3] = (uint8_t)below(chance, 256);
	message[5] = 1;
	size += universe_name(universe, chance, message + 12);
	set16(message + size, one_in(chance, 4) ? below(chance, 0x10000) : 1);
	set16(message + size + 2, 1);
	size = put_tail(chance, message, size + 4);
	if (one_in(chance, 5))
		spoil(chance, message, size);
	return one_in(chance, 12) ? below(chance, size) : size;
}

/* A name as text, at most 254 bytes; where it has a dot within a label it is another name. */
static uint32_t random_host(const struct universe *universe, uint64_t *chance, char *text)
{
	uint8_t wire[QUESTION_BYTES + 1];
	uint32_t size = universe_name(universe, chance, wire), at = 0, used = 0;

	while (at < size && wire[at]) {
		uint32_t label = wire[at++];

		if (at + label > size || used + label > 250)
			break;
		memcpy(text + used, wire + at, label);
		used += label;
		text[used++] = '.';
		at += label;
	}
	if (used && below(chance, 8))
		used--;
	text[used] = '\0';
	return used;
}

static uint32_t put_hello(const struct universe *universe, uint64_t *chance, uint8_t *at)
{
	const struct hello_shape shape = {
		.session = below(chance, 2) * 32,
		.ciphers = 2 + 2 * below(chance, 20),
		.before = one_in(chance, 12) ? 60 + below(chance, 6) : below(chance, 6),
		.after = below(chance, 4),
		.filler = below(chance, 12),
		.nameless = one_in(chance, 12),
		.version = (uint16_t)(one_in(chance, 20) ? below(chance, 0x10000) : 0),
	};
	char host[300];
	struct hello hello;

	make_hello(&shape, host, random_host(universe, chance, host), &hello);
	if (one_in(chance, 8)) {
		const uint32_t lengths[] = {hello.session,
					    hello.ciphers,
					    hello.methods,
					    hello.extensions,
					    hello.name,
					    hello.name - 4,
					    hello.name - 5,
					    3,
					    6,
					    7};

		uint8_t *byte = hello.byte + lengths[below(chance, 10)] + below(chance, 2);

		*byte = (uint8_t)(below(chance, 2) ? below(chance, 256)
						   : *byte + below(chance, 7) - 3);
	}
	memcpy(at, hello.byte, hello.size);
	return hello.size;
}

static uint32_t put_request(const struct universe *universe, uint64_t *chance, uint8_t *at)
{
	static const char *const methods[] = {"GET",	  "HEAD",
					      "POST",	  "PUT",
					      "DELETE",	  "CONNECT",
					      "OPTIONS",  "TRACE",
					      "PATCH",	  "M-SEARCH",
					      "PROPFIND", "GETS",
					      "x-method", "A-METHOD-OF-23-LETTERS-"};
	static const char *const targets[] = {"http://", "HTTPS://", "/",	  "a@", "ws://",
					      "",	 "http:///", "http://a@", "*",	"/a:80://"};
	static const char *const behind[] = {"Host: a.b\r\n", " a\r\n", "\tHost: b\n", "A:b\n"};
	static const char *const fields[] = {"Accept: */*\r\n", "X: host: a\r\n", "A:b\n",
					     "User-Agent: some program/1.0\r\n", "Hos: b\r\n"};
	static const char *const hosts[] = {"Host: ",	     "host:",	       "HOST: \t",
					    "Host:        ", "Host:         ", "hOsT:"};
	static const char *const ends[] = {"\r\n", "\n", ":80\r\n", " \r\n", "", "\t\n"};
	uint32_t many = one_in(chance, 16) ? 60 : 4;
	char *text = (char *)at;

	if (one_in(chance, 8))
		text += sprintf(text, "%s", below(chance, 2) ? "\r\n" : "\n\n");
	text += sprintf(text, "%s ", methods[below(chance, 14)]);
	if (one_in(chance, 4)) {
		text += sprintf(text, "%s", targets[below(chance, 10)]);
		text += random_host(universe, chance, text);
	}
	text += sprintf(text, "%s HTTP/1.1%s", below(chance, 4) ? "/" : "",
			below(chance, 8) ? "\r\n" : "\n");
	for (uint32_t i = below(chance, many); i > 0; i--)
		text += sprintf(text, "%s", fields[below(chance, 5)]);
	if (below(chance, 12)) {
		text += sprintf(text, "%s", hosts[below(chance, 6)]);
		text += random_host(universe, chance, text);
		text += sprintf(text, "%s", ends[below(chance, below(chance, 2) ? 2 : 6)]);
		if (one_in(chance, 3))
			text += sprintf(text, "%s", behind[below(chance, 4)]);
	}
	for (uint32_t i = below(chance, many); i > 0; i--)
		text += sprintf(text, "%s", fields[below(chance, 5)]);
	text += sprintf(text, "\r\n");
	return (uint32_t)(text - (char *)at);
}

uint32_t generate_stream(const struct universe *universe, uint64_t *chance, uint32_t port,
			 uint8_t *at)
{
	static const uint16_t tls[] = {PORTS_TLS}, http[] = {PORTS_HTTP};
	uint32_t kind = port == tls[0] || port == tls[1]     ? 0
			: port == http[0] || port == http[1] ? 1
			: port == 53			     ? 2
							     : 3;
	uint32_t size;

	if (one_in(chance, 16))
		kind = below(chance, 4);
	switch (kind) {
	case 0:
		size = put_hello(universe, chance, at);
		break;
	case 1:
		size = put_request(universe, chance, at);
		break;
	case 2:
		size = generate_message(universe, chance, at + 2);
		set16(at, size);
		size += 2;
		break;
	default:
		for (size = 0; size < 32; size++)
			at[size] = (uint8_t)below(chance, 256);
		size = below(chance, 33);
	}
	return one_in(chance, 12) ? below(chance, size + 1) : size;
}
