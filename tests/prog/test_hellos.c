/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of a TLS connection's first data, by the name in it, however it is cut and whatever
 * its lengths say. Against a second parser: see test_hellos_oracle.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/hello_checks.h"

static void hello_names(void **state)
{
	struct hello hello;

	(void)state;
	for (size_t i = 0; i < ROWS(names_table); i++) {
		make_named(&(struct hello_shape){.before = 2, .after = 2, .filler = 5},
			   names_table[i].text, &hello);
		check_hello(names_table[i].text, &hello, names_table[i].reason);
		make_named(&(struct hello_shape){0}, names_table[i].text, &hello);
		check_hello(names_table[i].text, &hello, names_table[i].reason);
	}
}

/* Any byte in a name counts, but for the dots. */
static void hello_names_of_any_bytes(void **state)
{
	uint8_t below[] = "x.example.com", listed[] = "example.com";
	struct hello hello;

	(void)state;
	for (int value = 0; value < 256; value++) {
		below[0] = (uint8_t)value;
		make_hello(&(struct hello_shape){0}, below, sizeof(below) - 1, &hello);
		check_hello("a byte below", &hello,
			    value == '.' ? XB_TLS_NAMELESS : XB_TLS_DROPPED);
		listed[2] = (uint8_t)value;
		make_hello(&(struct hello_shape){0}, listed, sizeof(listed) - 1, &hello);
		check_hello("a byte in it", &hello,
			    value == 'a' || value == 'A' ? XB_TLS_DROPPED : XB_NAME_CLEAN);
	}
	make_hello(&(struct hello_shape){0}, "example.com\0", 12, &hello);
	check_hello("a zero behind it", &hello, XB_NAME_CLEAN);
}

/* What the last name left behind must not lengthen this one. */
static void names_after_longer_ones(void **state)
{
	struct hello hello;

	(void)state;
	for (int i = 0; i < 3; i++) {
		make_named(&(struct hello_shape){0}, "www.example.com.", &hello);
		check_hello("long", &hello, XB_TLS_DROPPED);
		make_named(&(struct hello_shape){0}, "www", &hello);
		check_hello("its first label", &hello, XB_NAME_CLEAN);
		make_named(&(struct hello_shape){0}, "www.", &hello);
		check_hello("with the dot", &hello, XB_NAME_CLEAN);
		make_named(&(struct hello_shape){0}, "www.exampl", &hello);
		check_hello("and a part", &hello, XB_NAME_CLEAN);
		make_named(&(struct hello_shape){0}, LONG "aaaa.example.com", &hello);
		check_hello("too long", &hello, XB_TLS_NAMELESS);
		make_named(&(struct hello_shape){0}, LONG "a", &hello);
		check_hello("and without its end", &hello, XB_NAME_CLEAN);
	}
}

/* ---- Hellos: their parts ---- */

static void hello_parts(void **state)
{
	struct hello hello;

	(void)state;
	for (uint32_t before = 0; before <= 66; before++) {
		for (uint32_t filler = 0; filler < 10; filler += 3) {
			const struct hello_shape shape = {
				.before = before, .after = before % 3, .filler = filler};

			make_named(&shape, "example.com", &hello);
			check_hello("extensions", &hello,
				    before < 64 ? XB_TLS_DROPPED : XB_TLS_NAMELESS);
		}
	}
	for (uint32_t session = 0; session < 256; session++) {
		make_named(&(struct hello_shape){.session = session}, "example.com", &hello);
		check_hello("session id", &hello, XB_TLS_DROPPED);
		/* Lengths that lie lead elsewhere: to no name, by what stands there. */
		hello.byte[hello.session] = (uint8_t)(session + 9);
		check_hello("false session id", &hello, XB_TLS_NAMELESS);
	}
	for (uint32_t ciphers = 2; ciphers < 3000; ciphers += 166) {
		make_named(&(struct hello_shape){.ciphers = ciphers}, "example.com", &hello);
		check_hello("cipher suites", &hello, XB_TLS_DROPPED);
	}
}

static void hello_versions(void **state)
{
	static const uint16_t versions[] = {0x0300, 0x0301, 0x0302, 0x0303, 0x0304, 0x03ff};
	struct hello hello;

	(void)state;
	for (size_t i = 0; i < ROWS(versions); i++) {
		for (size_t j = 0; j < ROWS(versions); j++) {
			make_named(
				&(struct hello_shape){.version = versions[i], .inner = versions[j]},
				"example.com", &hello);
			check_hello("version", &hello, XB_TLS_DROPPED);
		}
	}
	for (int type = 0; type < 256; type++) {
		make_named(&(struct hello_shape){0}, "example.com", &hello);
		hello.byte[0] = (uint8_t)type;
		check_hello("record type", &hello, type == 22 ? XB_TLS_DROPPED : XB_CLEAN);
		make_named(&(struct hello_shape){0}, "example.com", &hello);
		hello.byte[1] = (uint8_t)type;
		check_hello("version", &hello, type == 3 ? XB_TLS_DROPPED : XB_CLEAN);
		make_named(&(struct hello_shape){0}, "example.com", &hello);
		hello.byte[5] = (uint8_t)type;
		check_hello("message type", &hello, type == 1 ? XB_TLS_DROPPED : XB_CLEAN);
	}
	make_hello(&(struct hello_shape){.nameless = true, .before = 3}, "", 0, &hello);
	check_hello("no server name", &hello, XB_TLS_NAMELESS);
	hello.size = hello.extensions;
	set16(hello.byte + 3, hello.size - 5);
	set16(hello.byte + 7, hello.size - 9);
	check_hello("no extensions", &hello, XB_TLS_NAMELESS);
}

/* The lengths of the name and of what it lies in. */
static void hello_name_lengths(void **state)
{
	static const uint32_t lengths[] = {0,	12,  13,  252,	253,   254,
					   255, 256, 511, 4096, 32767, 65535};
	static const struct hello_shape shape = {.after = 1, .filler = 300};
	struct hello hello;

	(void)state;
	for (size_t i = 0; i < ROWS(lengths); i++) {
		make_named(&shape, "example.com", &hello);
		set16(hello.byte + hello.name, lengths[i]);
		check_hello("name", &hello, XB_TLS_NAMELESS);
	}
	for (uint32_t length = 1; length < 11; length++) {
		make_named(&shape, "example.com", &hello);
		set16(hello.byte + hello.name, length);
		check_hello("name, shorter", &hello, XB_NAME_CLEAN);
	}
	for (uint32_t length = 0; length < 65536; length = length < 20 ? length + 1 : length * 2) {
		enum xb_reason list = length < 14 ? XB_TLS_NAMELESS : XB_TLS_DROPPED;
		enum xb_reason extension = length < 16 ? XB_TLS_NAMELESS : XB_TLS_DROPPED;

		make_named(&shape, "example.com", &hello);
		set16(hello.byte + hello.name - 3, length);
		check_hello("list", &hello, list);
		make_named(&shape, "example.com", &hello);
		set16(hello.byte + hello.name - 5, length);
		check_hello("extension", &hello, extension);
	}
}

/* A vector that ends before the name does has none; one that ends behind the segment may. */
static void hello_vector_lengths(void **state)
{
	static const struct hello_shape shape = {.before = 2, .filler = 20};
	struct hello hello;

	(void)state;
	make_named(&shape, "www.example.com", &hello);
	for (uint32_t length = 0; length < 3000; length++) {
		make_named(&shape, "www.example.com", &hello);
		set16(hello.byte + 3, length);
		check_hello("record", &hello,
			    length + 5 < hello.size ? XB_TLS_NAMELESS : XB_TLS_DROPPED);
		make_named(&shape, "www.example.com", &hello);
		set16(hello.byte + 7, length);
		check_hello("message", &hello,
			    length + 9 < hello.size ? XB_TLS_NAMELESS : XB_TLS_DROPPED);
		make_named(&shape, "www.example.com", &hello);
		set16(hello.byte + hello.extensions, length);
		check_hello("extensions", &hello,
			    length + hello.extensions + 2 < hello.size ? XB_TLS_NAMELESS
								       : XB_TLS_DROPPED);
	}
	for (uint32_t value = 1; value < 256; value++) {
		make_named(&shape, "www.example.com", &hello);
		hello.byte[6] = (uint8_t)value;
		check_hello("a large message", &hello, XB_TLS_DROPPED);
		make_named(&shape, "www.example.com", &hello);
		hello.byte[hello.name - 1] = (uint8_t)value;
		check_hello("another kind of name", &hello, XB_TLS_NAMELESS);
	}
}

/* Kinds other than a host name are not gone past. */
static void hello_other_kind_first(void **state)
{
	struct hello hello;

	(void)state;
	make_hello(&(struct hello_shape){0},
		   "abc\0\0\x0b"
		   "example.com",
		   17, &hello);
	hello.byte[hello.name - 1] = 1;
	set16(hello.byte + hello.name, 3);
	check_hello("another kind first", &hello, XB_TLS_NAMELESS);
	make_hello(&(struct hello_shape){0}, "example.com\1\0\3abc", 17, &hello);
	set16(hello.byte + hello.name, 11);
	check_hello("another kind behind", &hello, XB_TLS_DROPPED);
}

/* Puts a record's header into the hello, as a client does that sends it in two records. */
static void split_record(const struct hello *whole, uint32_t at, struct hello *hello)
{
	*hello = *whole;
	memcpy(hello->byte + at + 5, whole->byte + at, whole->size - at);
	memcpy(hello->byte + at, whole->byte, 3);
	set16(hello->byte + at + 3, whole->size - at);
	set16(hello->byte + 3, at - 5);
	hello->size += 5;
}

static void hello_in_two_records(void **state)
{
	struct hello whole, hello;
	uint32_t end;

	(void)state;
	make_named(&(struct hello_shape){.before = 1, .after = 1, .filler = 8}, "www.example.com",
		   &whole);
	end = whole.name + 2 + 15;
	for (uint32_t at = 6; at < whole.size; at++) {
		split_record(&whole, at, &hello);
		check_hello("split", &hello, at < end ? XB_TLS_NAMELESS : XB_TLS_DROPPED);
	}
}

static void cut_hellos(void **state)
{
	struct hello hello;

	(void)state;
	make_named(&(struct hello_shape){.before = 3, .after = 2, .session = 32, .filler = 9},
		   "www.example.com", &hello);
	cut_data(TLS_PORT, hello.byte, hello.size, 6, hello.name + 2 + 15);
	cut_frames(TLS_PORT, hello.byte, hello.size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_names),
		cmocka_unit_test(hello_names_of_any_bytes),
		cmocka_unit_test(names_after_longer_ones),
		cmocka_unit_test(hello_parts),
		cmocka_unit_test(hello_versions),
		cmocka_unit_test(hello_name_lengths),
		cmocka_unit_test(hello_vector_lengths),
		cmocka_unit_test(hello_other_kind_first),
		cmocka_unit_test(hello_in_two_records),
		cmocka_unit_test(cut_hellos),
	};

	return cmocka_run_group_tests_name("hellos", tests, begin, end);
}
