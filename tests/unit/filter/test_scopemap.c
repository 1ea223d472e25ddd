/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables in front of addresses that are listed for services: ports, lengths, identities, keys;
 * and in front of names, how deep they go: the range widens, whatever comes in which order. */
#include <stdlib.h>
#include <sys/random.h>

#include "filter/namedepths.h"
#include "filter/scopemap.h"
#include "support/cmocka.h"
#include "support/entryof.h"

static struct xb_scope scope_of(const char *text)
{
	struct xb_scope scope;

	assert_int_equal(xb_scope_parse(text, &scope), 0);
	return scope;
}

/* As the filter reads it (scope_of_port). */
static uint32_t classes_at(const uint64_t *words, bool udp, uint32_t port)
{
	uint32_t number = port + (udp ? XB_SCOPE_PORTS : 0);

	return words[number / 4] >> number % 4 * 16 & 0xffff;
}

/* Every port of both protocols, beside what the model says of the scope. */
TEST(every_port)
{
	static const char *const texts[] = {
		"tcp/25,tcp/465,tcp/587", "tcp,udp",   "tcp/1-1",
		"tcp/65535,udp/1",	  "udp/65535", "udp/53,icmp,tcp/1000-2000",
		"tcp/3-4,tcp/7-8,udp/5",  "icmp"};
	const size_t count = sizeof(texts) / sizeof(texts[0]);
	uint64_t *words = calloc(XB_SCOPE_PORT_WORDS, sizeof(*words));
	struct xb_scope scopes[8];

	for (uint32_t i = 0; i < count; i++) {
		scopes[i] = scope_of(texts[i]);
		xb_scopemap_add_ports(words, &scopes[i], 2 * i + 1);
	}
	for (uint32_t port = 0; port < XB_SCOPE_PORTS; port++) {
		uint32_t tcp = 0, udp = 0;

		for (uint32_t i = 0; i < count; i++) {
			tcp |= (uint32_t)xb_scope_has(&scopes[i], XB_SERVICE_TCP, (uint16_t)port)
			       << (2 * i + 1);
			udp |= (uint32_t)xb_scope_has(&scopes[i], XB_SERVICE_UDP, (uint16_t)port)
			       << (2 * i + 1);
		}
		if (classes_at(words, false, port) != tcp || classes_at(words, true, port) != udp)
			fail_msg("port %u: %x and %x, not %x and %x", port,
				 classes_at(words, false, port), classes_at(words, true, port), tcp,
				 udp);
	}
	free(words);
}

/* A prefix marks the /16s it has addresses in, each with its length and class, and no other. */
TEST(lengths_of_ipv4)
{
	static const struct {
		const char *entry;
		uint32_t first, count;
	} table[] = {
		{"0.0.0.0/0", 0, 65536},
		{"128.0.0.0/1", 32768, 32768},
		{"10.0.0.0/9", 10 << 8, 128},
		{"10.128.0.0/15", 10 << 8 | 128, 2},
		{"10.0.0.0/16", 10 << 8, 1},
		{"255.255.0.0/17", 65535, 1},
		{"192.0.2.0/24", 192 << 8, 1},
		{"192.0.2.64/26", 192 << 8, 1},
		{"255.255.255.255", 65535, 1},
		{"0.0.0.0", 0, 1},
		{"198.18.0.0/15", 198 << 8 | 18, 2},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint64_t *words = calloc(XB_SCOPE_LENGTHS4, sizeof(*words));
		struct xb_entry entry = entry_of(table[i].entry);
		uint32_t class = 1 + (uint32_t)i;
		struct xb_scope_span span = xb_scopemap_span4(&entry);

		assert_int_equal(span.first, table[i].first);
		assert_int_equal(span.count, table[i].count);
		xb_scopemap_mark4(words, &entry, class);
		for (uint32_t cell = 0; cell < XB_SCOPE_CELLS4; cell++) {
			bool marked =
				cell >= table[i].first && cell < table[i].first + table[i].count;

			assert_int_equal(words[cell] & XB_SCOPE_LENGTH_BITS,
					 marked ? 1ULL << (32 - entry.length) : 0);
			assert_int_equal(words[cell] >> 32 & ~1ULL, marked ? 1ULL << class : 0);
		}
		assert_int_equal(words[XB_SCOPE_CELLS4],
				 1ULL << (32 - entry.length) | 1ULL << (32 + class));
		free(words);
	}
}

/* The highest class has a bit of its own beside the longest length. */
TEST(marks_add_up)
{
	uint64_t *words = calloc(XB_SCOPE_LENGTHS4, sizeof(*words));
	struct xb_entry host = entry_of("192.0.2.1"), net = entry_of("192.0.0.0/16");

	xb_scopemap_mark4(words, &host, 15);
	xb_scopemap_mark4(words, &net, 1);
	xb_scopemap_mark4(words, &host, 1);
	assert_int_equal(words[192 << 8], 1ULL << 0 | 1ULL << 16 | 1ULL << 47 | 1ULL << 33);
	assert_int_equal(words[XB_SCOPE_CELLS4], words[192 << 8]);
	net = entry_of("10.0.0.0/8");
	xb_scopemap_mark4(words, &net, 2);
	assert_int_equal(words[XB_SCOPE_CELLS4], words[192 << 8] | 1ULL << 24 | 1ULL << 34);
	free(words);
}

TEST(classes_as_bits)
{
	const struct xb_scope mail = scope_of("tcp/25"), both = scope_of("udp/53,tcp/53"),
			      echo = scope_of("icmp");
	struct xb_class classes[XB_CLASSES] = {
		[1] = {.scope = &mail}, [2] = {.scope = &both, .counts = true},
		[3] = {.counts = true}, [15] = {.scope = &echo},
		[7] = {.scope = &mail}, /* not in use */
	};
	struct xb_scopes scopes = xb_scopemap_scopes(classes, 1U | 2U | 4U | 8U | 0x8000U);

	assert_int_equal(scopes.tcp, 2 | 4);
	assert_int_equal(scopes.udp, 4);
	assert_int_equal(scopes.icmp, 0x8000);
	assert_int_equal(scopes.all, 8);
	assert_int_equal(scopes.drops, 2 | 0x8000);
	for (uint32_t i = 0; i < XB_CLASSES; i++)
		assert_int_equal(!scopes.identity[i], i != 1 && i != 2 && i != 3 && i != 15);
}

/* No port that is of a class is missing among the last six bits of ports. */
TEST(ports_by_their_last_bits)
{
	static const struct {
		const char *scope;
		uint64_t tcp, udp;
	} table[] = {
		{"tcp/465", 1ULL << 17, 0},
		{"tcp/1-62", ~0ULL >> 1 & ~1ULL, 0},
		{"udp/62-65", 0, 3ULL << 62 | 3},
		{"tcp/65535", 1ULL << 63, 0},
		{"tcp/1-65535", ~0ULL, 0},
		{"udp", 0, ~0ULL},
		{"tcp/1000-1063,udp/64", ~0ULL, 1},
		{"icmp", 0, 0},
		{"all", ~0ULL, ~0ULL},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct xb_scope scope = scope_of(table[i].scope);
		bool all = xb_scope_is_all(&scope);
		struct xb_class classes[XB_CLASSES] = {
			[4] = {.scope = all ? NULL : &scope, .counts = all}};
		struct xb_scopes scopes = xb_scopemap_scopes(classes, 1U << 4);

		if (scopes.tcp_ports != table[i].tcp || scopes.udp_ports != table[i].udp)
			fail_msg("%s", table[i].scope);
	}
}

/* The upper half of the product is what tells two marks apart in the hash. */
TEST(marks_differ)
{
	const struct xb_key key = {0, 0};
	uint64_t seen[(XB_CLASSES - 1) * 33];
	size_t count = 0;

	for (uint32_t class = 1; class < XB_CLASSES; class ++)
		for (uint32_t length = 0; length <= 32; length++) {
			/* Of a bijection of the upper half alone, since the address is 0. */
			seen[count] = xb_hash_scoped4(&key, xb_scoped4_mark(class, length), 0);
			for (size_t j = 0; j < count; j++)
				assert_int_not_equal(seen[count], seen[j]);
			count++;
		}
}

/* Counters go on under an identity: the same for the same, in any place, and for nothing else. */
TEST(identities)
{
	static const char *const texts[] = {"tcp/25",	 "udp/25",	  "tcp/26", "tcp/25,tcp/27",
					    "tcp/25-26", "tcp/25,udp/25", "icmp",   "all"};
	const size_t count = sizeof(texts) / sizeof(texts[0]);
	uint64_t seen[16];

	for (size_t i = 0; i < 2 * count; i++) {
		const struct xb_scope scope = scope_of(texts[i / 2]);
		struct xb_class classes[XB_CLASSES] = {{0}};
		const struct xb_class class = {.scope = xb_scope_is_all(&scope) ? NULL : &scope,
					       .counts = i % 2};

		classes[3] = classes[9] = class;
		seen[i] = xb_scopemap_scopes(classes, 1U << 3).identity[3];
		assert_int_not_equal(seen[i], 0);
		assert_int_equal(xb_scopemap_scopes(classes, 1U << 9).identity[9], seen[i]);
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(seen[i], seen[j]);
	}
}

/* One address, one network of it, one class or family else: another key. */
TEST(keys_differ)
{
	static const char *const texts[] = {
		"0.0.0.0/0",	 "0.0.0.0/8",	   "0.0.0.0",	"10.0.0.0/8",	 "10.0.0.0/9",
		"10.0.0.0",	 "::/0",	   "::/128",	"2001:db8::/32", "2001:db8::/33",
		"2001:db8::/64", "2001:db8::/128", "::10.0.0.0"};
	struct xb_params params = {.key = {0x0123456789abcdef, 0xfedcba9876543210}};
	uint64_t seen[13 * XB_CLASSES];
	size_t count = 0;

	assert_int_equal(getrandom(&params.key6, sizeof(params.key6), 0), sizeof(params.key6));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (uint32_t class = 1; class < XB_CLASSES; class ++) {
			struct xb_entry entry = entry_of(texts[i]);

			seen[count] = xb_scopemap_hash(&params, &entry, class);
			for (size_t j = 0; j < count; j++)
				assert_int_not_equal(seen[count], seen[j]);
			count++;
		}
	assert_int_equal(count, 13 * 15);
}

/* --- depths of names ----------------------------------------------------------------------------
 */

static void add(struct xb_depths *depths, const char *text)
{
	struct xb_entry entry = entry_of(text);

	if (xb_entry_is_allow(&entry))
		xb_namedepths_allow(depths, &entry);
	else
		xb_namedepths_list(depths, &entry);
}

/* The names as they come, each with the depths from then on. */
TEST(each_name_widens)
{
	static const struct {
		const char *name;
		uint32_t first, last, exact, allowed;
	} rows[] = {
		/* The label that says that a name stands alone counts for nothing. */
		{"=a.example.com", 0, 0, 3, 0},
		{"=com", 0, 0, 3, 0},
		{"=a.b.example.com", 0, 0, 4, 0},
		{"!example.com", 0, 0, 4, 2},
		{"!com", 0, 0, 4, 2},
		{"!=a.example.com", 0, 0, 4, 3},
		{"a.b.example.com", 4, 4, 4, 3},
		{"example.com", 2, 4, 4, 3},
		{"a.example.com", 2, 4, 4, 3},
		{"com", 1, 4, 4, 3},
		{"a.b.c.d.e.f", 1, 6, 4, 3},
	};
	struct xb_depths depths = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		add(&depths, rows[i].name);
		if (depths.first != rows[i].first || depths.last != rows[i].last ||
		    depths.exact != rows[i].exact || depths.allowed != rows[i].allowed)
			fail_msg("%s: %u to %u, %u, %u", rows[i].name, depths.first, depths.last,
				 depths.exact, depths.allowed);
	}
}

TEST(the_most_labels)
{
	struct xb_depths depths = {0};
	char text[254];

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = i % 2 ? '.' : 'a';
	text[sizeof(text) - 1] = '\0';
	add(&depths, text);
	assert_int_equal(depths.first, XB_NAME_LABELS);
	assert_int_equal(depths.last, XB_NAME_LABELS);
}
