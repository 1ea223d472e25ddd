/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is listed and allowed, by chance and for the sake of the recorded frames. */
#include "universe.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/oracle.h"

/* Its answers are hardly longer than the shortest frame there is. */
#define SHORTEST 0

/* What recorded frames come from and ask for, see frames/. */
static const char *const recorded_hosts[] = {"192.0.2.10", "0.0.0.0"};
static const char *const recorded_nets[] = {"2001:db8:1::10", "fe80::/64"};

static const struct {
	const char *text;
	enum domain_verdict verdict;
} recorded_names[] = {
	[SHORTEST] = {"q", DOMAIN_REFUSED},   {"example.com", DOMAIN_DROP},
	{"=www.example.org", DOMAIN_REFUSED}, {"example.net", DOMAIN_NXDOMAIN},
	{"tracker.test", DOMAIN_TRUNCATE},    {"counted.test", DOMAIN_COUNT},
};

static void parse(const char *text, uint8_t form[XB_NAME_BYTES], struct xb_entry *entry)
{
	if (!xb_entry_parse(text, strlen(text), form, entry, NULL))
		return;
	fprintf(stderr, "cannot list %s\n", text);
	exit(1);
}

static struct xb_entry random_entry(uint64_t *chance, bool ipv4, uint32_t low, uint32_t high)
{
	return oracle_random(chance, ipv4, (uint8_t)(low + below(chance, high - low + 1)));
}

static struct xb_entry random_prefix(uint64_t *chance)
{
	return random_entry(chance, true, one_in(chance, 200) ? 8 : 14, 31);
}

static struct xb_entry random_net(uint64_t *chance)
{
	return one_in(chance, 3) ? random_entry(chance, false, 128, 128)
				 : random_entry(chance, false, one_in(chance, 50) ? 10 : 20, 127);
}

/* Parts of what is listed or allowed, what it is part of, the same, and something else. */
static struct xb_entry random_allowed(const struct universe *universe, uint32_t before,
				      uint64_t *chance)
{
	const struct xb_entry *other = &universe->allowed[before ? below(chance, before) : 0];
	bool nested = before && one_in(chance, 3);
	bool ipv4 = nested ? xb_entry_is_ipv4(other) : below(chance, 2);
	const struct xb_entry *near = nested  ? other
				      : !ipv4 ? &universe->nets[below(chance, NETS)]
				      : below(chance, 2)
					      ? &universe->hosts[below(chance, HOSTS)]
					      : &universe->prefixes[below(chance, PREFIXES)];
	struct xb_entry inside = oracle_address_in(chance, near);
	uint32_t full = ipv4 ? 32 : 128, least = near->length > 12 ? near->length - 4 : 8;
	uint32_t length = least + below(chance, full - least + 1);
	struct xb_entry entry = one_in(chance, 4) ? random_entry(chance, ipv4, 20, full)
						  : xb_entry_covering(&inside, (uint8_t)length);

	return xb_entry_allow(&entry);
}

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";

static uint32_t random_label(uint64_t *chance, char *out)
{
	uint32_t length = 1 + below(chance, one_in(chance, 16) ? 63 : 10);

	for (uint32_t i = 0; i < length; i++)
		out[i] = letters[below(chance, i ? sizeof(letters) - 1 : 26)];
	out[length] = '\0';
	return length;
}

static void prepend(uint64_t *chance, char *name, uint32_t labels, bool brief)
{
	char label[64], behind[262];

	while (labels--) {
		if (random_label(chance, label) > 1 && brief)
			label[1] = '\0';
		if (strlen(label) + strlen(name) + 1 > 253)
			return;
		strcpy(behind, name);
		sprintf(name, "%s.%s", label, behind);
	}
}

/* Few labels mostly; sometimes below what is there. */
static void random_name(const struct named *all, uint32_t before, uint64_t *chance, char *out)
{
	static const char *const last[] = {"com", "org", "test", "co.uk", "x", "internal-zone"};
	const char *near = before ? all[below(chance, before)].text : last[0];
	bool deep = one_in(chance, 24);

	strcpy(out, before && one_in(chance, 4) ? near + (*near == '=') : last[below(chance, 6)]);
	prepend(chance, out, 1 + below(chance, deep ? 100 : 4), deep);
}

static void random_named(struct named *all, uint32_t before, uint64_t *chance)
{
	struct named *named = &all[before];
	char text[262];

	random_name(all, before, chance, text);
	sprintf(named->text, "%s%s", one_in(chance, 5) ? "=" : "", text);
	named->verdict = below(chance, DOMAIN_NONE);
}

static void random_exempt(struct universe *universe, uint32_t i, uint64_t *chance)
{
	const char *near = universe->names[below(chance, NAMES)].text;
	char text[262];

	strcpy(text, near + (*near == '='));
	if (i % 2)
		prepend(chance, text, 1, false);
	sprintf(universe->exempt[i].text, "%s%s", one_in(chance, 3) ? "=" : "", text);
}

static void put_recorded(struct universe *universe)
{
	for (size_t i = 0; i < sizeof(recorded_hosts) / sizeof(recorded_hosts[0]); i++)
		parse(recorded_hosts[i], NULL, &universe->hosts[i]);
	for (size_t i = 0; i < sizeof(recorded_nets) / sizeof(recorded_nets[0]); i++)
		parse(recorded_nets[i], NULL, &universe->nets[i]);
	for (size_t i = 0; i < sizeof(recorded_names) / sizeof(recorded_names[0]); i++) {
		strcpy(universe->names[i].text, recorded_names[i].text);
		universe->names[i].verdict = recorded_names[i].verdict;
	}
	strcpy(universe->exempt[0].text, "ok.example.com");
}

struct universe *universe_new(uint64_t seed)
{
	struct universe *universe = calloc(1, sizeof(*universe));
	uint64_t chance = seed;

	for (int i = 0; i < HOSTS; i++)
		universe->hosts[i] = oracle_random(&chance, true, 32);
	for (int i = 0; i < PREFIXES; i++)
		universe->prefixes[i] = random_prefix(&chance);
	for (int i = 0; i < NETS; i++)
		universe->nets[i] = random_net(&chance);
	for (uint32_t i = 0; i < NAMES; i++)
		random_named(universe->names, i, &chance);
	put_recorded(universe);
	for (uint32_t i = 0; i < ALLOWED; i++)
		universe->allowed[i] = random_allowed(universe, i, &chance);
	for (uint32_t i = 1; i < EXEMPT; i++)
		random_exempt(universe, i, &chance);
	return universe;
}

static const struct xb_entry *random_near(const struct universe *universe, uint64_t *chance,
					  bool ipv6)
{
	if (one_in(chance, 4)) {
		const struct xb_entry *entry = &universe->allowed[below(chance, ALLOWED)];

		if (xb_entry_is_ipv6(entry) == ipv6)
			return entry;
	}
	if (ipv6)
		return &universe->nets[below(chance, NETS)];
	return below(chance, 2) ? &universe->hosts[below(chance, HOSTS)]
				: &universe->prefixes[below(chance, PREFIXES)];
}

void universe_address(const struct universe *universe, uint64_t *chance, bool ipv6, uint8_t *out)
{
	const struct xb_entry *near = random_near(universe, chance, ipv6);
	struct xb_entry address = oracle_address_in(chance, near);
	uint32_t kind = below(chance, 10), bytes = ipv6 ? 16 : 4, flipped;
	uint64_t words[2] = {htobe64(address.hi), htobe64(address.lo)};

	memcpy(out, words, bytes);
	if (kind > 7)
		for (uint32_t i = 0; i < bytes; i++)
			out[i] = (uint8_t)below(chance, 256);
	if (kind < 5 || kind > 7)
		return;
	/* Beside it: another of the last bits of the prefix, or any bit. */
	flipped = kind < 7 && near->length ? near->length - 1U - below(chance, 3) % near->length
					   : below(chance, 8 * bytes);
	out[flipped / 8] ^= (uint8_t)(0x80 >> flipped % 8);
}

static void mix_case(uint64_t *chance, uint8_t *name, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z')) &&
		    below(chance, 2))
			name[i] ^= 0x20;
}

/* Labels of any bytes, without a root. */
static uint32_t random_labels(uint64_t *chance, uint8_t *out, uint32_t labels, uint32_t room)
{
	uint32_t used = 0;

	while (labels--) {
		uint32_t length = 1 + below(chance, one_in(chance, 8) ? 63 : 9);

		if (used + length + 1 > room)
			break;
		out[used++] = (uint8_t)length;
		for (; length > 0; length--)
			out[used++] = one_in(chance, 6) ? (uint8_t)below(chance, 256)
							: (uint8_t)letters[below(chance, 38)];
	}
	return used;
}

/* In front of what is there. */
static uint32_t below_it(uint64_t *chance, const uint8_t *wire, uint32_t size, uint8_t *out)
{
	uint32_t labels = one_in(chance, 6) ? below(chance, 120) : 1 + below(chance, 3);
	uint32_t room = one_in(chance, 12) ? QUESTION_BYTES - size : size < 255 ? 255 - size : 0;
	uint32_t used = random_labels(chance, out, labels, room);

	memcpy(out + used, wire, size);
	return used + size;
}

uint32_t universe_name(const struct universe *universe, uint64_t *chance, uint8_t *out)
{
	const struct named *near = below(chance, 5) ? &universe->names[below(chance, NAMES)]
						    : &universe->exempt[below(chance, EXEMPT)];
	const char *text = one_in(chance, 20) ? universe->names[SHORTEST].text
					      : near->text + (*near->text == '=');
	uint8_t wire[DOMAIN_BYTES];
	uint32_t size = domains_wire(text, strlen(text), wire), chop;

	switch (below(chance, 12)) {
	case 0: /* above it */
		chop = wire[0] + 1U;
		memcpy(out, wire + chop, size -= chop);
		break;
	case 1: /* glued to it without a boundary */
		out[0] = (uint8_t)(wire[0] + 1);
		out[1] = (uint8_t)letters[below(chance, 36)];
		memcpy(out + 2, wire + 1, size - 1);
		size++;
		break;
	case 2: /* beside it: another byte */
		memcpy(out, wire, size);
		out[1 + below(chance, size - 1)] ^= (uint8_t)(1U << below(chance, 5));
		break;
	case 3: /* far from it */
		size = random_labels(chance, out, below(chance, 5), 255);
		out[size++] = 0;
		break;
	case 4:
	case 5:
	case 6:
	case 7:
		size = below_it(chance, wire, size, out);
		break;
	default:
		memcpy(out, wire, size);
	}
	if (below(chance, 2))
		mix_case(chance, out, size);
	return size;
}
