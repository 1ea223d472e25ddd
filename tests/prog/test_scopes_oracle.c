/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many addresses in lists of several scopes: the verdict for each source and service against an
 * oracle for each list, which compares prefixes and knows of no filter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "bloom/sizing.h"
#include "support/amount.h"
#include "support/oracle.h"
#include "support/rig.h"
#include "support/service_frame.h"

#define MAIL_HOSTS amount(100000, 1000000)
#define SOURCES	   amount(200000, 2000000)
#define MEMBERS	   amount(60000, 1000000) /* of each list, that send frames */
#define ALLOWED	   2000
#define EDITS	   amount(40, 200)
#define EDITED	   64 /* entries in one edit */

/* In the order in which a packet asks: what drops comes before what counts. */
enum list { EVERYWHERE, MAIL, RESOLVERS, WIDE, TRIAL, SUSPECTS, LISTS };

static const struct {
	const char *name, *scope;
	bool counts;
	uint32_t hosts, nets; /* of IPv4 and IPv6; nets: of each length of both */
} lists[LISTS] = {
	[EVERYWHERE] = {"everywhere", "all", false, 20000, 4},
	[MAIL] = {"mail", "tcp/25,tcp/465,tcp/587", false, 0, 40},
	[RESOLVERS] = {"resolvers", "udp/53,icmp", false, 8000, 20},
	[WIDE] = {"wide", "tcp/1-1023,udp/53", false, 2000, 6},
	[TRIAL] = {"trial", "tcp/25,tcp/80", true, 8000, 10},
	[SUSPECTS] = {"suspects", "all", true, 4000, 4},
};

/* The five services, and two that no list has a port of. */
static const struct {
	enum xb_service_protocol protocol;
	uint16_t port;
} services[] = {
	{XB_SERVICE_TCP, 25}, {XB_SERVICE_TCP, 80},  {XB_SERVICE_TCP, 587},  {XB_SERVICE_UDP, 53},
	{XB_SERVICE_ICMP, 0}, {XB_SERVICE_UDP, 443}, {XB_SERVICE_TCP, 8080},
};

#define SERVICES (sizeof(services) / sizeof(services[0]))

/* All that a list has. */
static struct members {
	struct xb_entry *entry;
	size_t count, room;
	struct oracle oracle;
	struct xb_scope scope;
} members[LISTS];

static struct rig rig;
static struct xb_anchor anchor;
static struct oracle allowlist;
static uint64_t seed, unconfirmed;
static int program;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)(rig_random(&seed) >> 32) % limit;
}

static int compare(const void *a, const void *b)
{
	return xb_entry_compare(a, b);
}

static void take(struct members *of, struct xb_entry entry)
{
	if (of->count == of->room) {
		of->room = of->room ? 2 * of->room : 1024;
		of->entry = realloc(of->entry, of->room * sizeof(*of->entry));
		assert_non_null(of->entry);
	}
	of->entry[of->count++] = entry;
}

/* Puts them in order, each once, and teaches them to the oracle. */
static void learn(struct members *of)
{
	size_t kept = 0;

	qsort(of->entry, of->count, sizeof(*of->entry), compare);
	for (size_t i = 0; i < of->count; i++)
		if (!kept || xb_entry_compare(&of->entry[kept - 1], &of->entry[i]))
			of->entry[kept++] = of->entry[i];
	of->count = kept;
	oracle_free(&of->oracle);
	for (size_t i = 0; i < of->count; i++)
		oracle_add(&of->oracle, &of->entry[i]);
	oracle_sort(&of->oracle);
}

static bool has(const struct members *of, const struct xb_entry *entry)
{
	int family = !xb_entry_is_ipv4(entry);
	size_t count = of->oracle.count[family][entry->length];

	return count &&
	       bsearch(entry, of->oracle.of[family][entry->length], count, sizeof(*entry), compare);
}

static struct xb_entry any_of(const struct members *of)
{
	return of->entry[below((uint32_t)of->count)];
}

/* Of every length; of short ones few, or they would cover everything. */
static void make_nets(enum list list, bool ipv4)
{
	const uint8_t end = ipv4 ? 32 : 128;

	for (uint8_t length = ipv4 ? 3 : 2; length < end; length++) {
		uint32_t nets = length < 10 ? length % LISTS == list : lists[list].nets;

		while (nets--)
			take(&members[list], oracle_random(&seed, ipv4, length));
	}
}

static void make_members(enum list list)
{
	struct members *of = &members[list];
	uint32_t hosts = list == MAIL ? MAIL_HOSTS : lists[list].hosts;

	rig_must(xb_scope_parse(lists[list].scope, &of->scope), "scope");
	make_nets(list, true);
	make_nets(list, false);
	while (hosts--)
		take(of,
		     below(8) ? oracle_random(&seed, true, 32) : oracle_random(&seed, false, 128));
	/* What another list has, too, and what lies in it. */
	for (int i = 0; list && i < 500; i++) {
		struct xb_entry same = any_of(&members[below(list)]);

		take(of, same);
		take(of, oracle_address_in(&seed, &same));
	}
	learn(of);
}

static void list_members(enum list list)
{
	rig_scope(&rig, lists[list].name, lists[list].scope);
	if (lists[list].counts)
		rig_verdict(&rig, lists[list].name, XB_DOMAIN_COUNT);
	rig_add_all_to(&rig, members[list].entry, members[list].count, lists[list].name);
}

static void allow_some(void)
{
	struct xb_entry *entries = calloc(ALLOWED, sizeof(*entries));

	for (int i = 0; i < ALLOWED; i++) {
		struct xb_entry near = any_of(&members[below(LISTS)]);
		struct xb_entry inside = oracle_address_in(&seed, &near);

		entries[i] = xb_entry_allow(&inside);
		oracle_add(&allowlist, &entries[i]);
	}
	oracle_sort(&allowlist);
	rig_add_all(&rig, entries, ALLOWED);
	free(entries);
}

static int begin(void **state)
{
	const char *given = getenv("XB_SEED");

	(void)state;
	seed = given ? strtoull(given, NULL, 0) : 20261123;
	printf("seed %lu\n", seed);
	rig_begin(&rig, "scopes-oracle");
	for (enum list list = 0; list < LISTS; list++) {
		make_members(list);
		list_members(list);
	}
	allow_some();
	program = rig_entry(&rig);
	rig_must(xb_anchor_open(rig.pins, &anchor), "link");
	return 0;
}

static int end(void **state)
{
	(void)state;
	xb_anchor_close(&anchor);
	close(program);
	rig_end(&rig);
	oracle_free(&allowlist);
	for (enum list list = 0; list < LISTS; list++) {
		oracle_free(&members[list].oracle);
		free(members[list].entry);
	}
	return 0;
}

static enum xb_reason listed_reason(const struct xb_entry *source, enum list list)
{
	return lists[list].counts	  ? XB_SCOPED_COUNTED
	       : list != EVERYWHERE	  ? XB_SCOPED_DROPPED
	       : xb_entry_is_ipv6(source) ? XB_LISTED_IPV6
					  : XB_LISTED_IPV4_HOST; /* or _PREFIX */
}

/* The lists are in the order in which they count. */
static enum xb_reason expected(const struct xb_entry *source, size_t service)
{
	struct xb_entry allowed = xb_entry_allow(source);

	for (enum list list = 0; list < LISTS; list++) {
		const struct members *of = &members[list];

		if (!xb_scope_is_all(&of->scope) &&
		    !xb_scope_has(&of->scope, services[service].protocol, services[service].port))
			continue;
		if (oracle_covers(&of->oracle, source))
			return oracle_covers(&allowlist, &allowed) ? XB_ALLOWED
								   : listed_reason(source, list);
	}
	return XB_CLEAN;
}

/* What the program counted one frame for. */
static enum xb_reason counted(const struct service_frame *frame, uint32_t *verdict)
{
	struct xb_counts before, after;
	enum xb_reason reason = 0;

	rig_must(xb_anchor_counts(&anchor, 0, &before), "counts");
	*verdict = rig_run(program, frame->byte, frame->size);
	rig_must(xb_anchor_counts(&anchor, 0, &after), "counts");
	while (after.reason[reason].packets == before.reason[reason].packets)
		reason++;
	return reason;
}

static enum xb_reason alike(enum xb_reason reason)
{
	return reason == XB_UNCONFIRMED		 ? XB_CLEAN
	       : reason == XB_LISTED_IPV4_PREFIX ? XB_LISTED_IPV4_HOST
						 : reason;
}

static void ask(const struct xb_entry *source, size_t service)
{
	struct service_frame frame =
		frame_to(source, services[service].protocol, services[service].port,
			 below(16) ? FRAME_PLAIN : FRAME_OPTIONS);
	enum xb_reason wanted = expected(source, service), got;
	char text[XB_ENTRY_TEXT];
	uint32_t verdict;

	got = counted(&frame, &verdict);
	unconfirmed += got == XB_UNCONFIRMED;
	if (alike(got) != wanted || verdict != (xb_reason_drops(wanted) ? XDP_DROP : XDP_PASS))
		fail_msg("%s to port %u of protocol %u: verdict %u for reason %u, expected %u",
			 xb_entry_format(source, text), services[service].port,
			 services[service].protocol, verdict, got, wanted);
}

static void members_at_every_service(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MEMBERS; i++) {
		struct xb_entry near = any_of(&members[i % LISTS]);
		struct xb_entry source = oracle_address_in(&seed, &near);

		ask(&source, below(SERVICES));
	}
}

/* Anywhere, and beside what is listed: the last bit of its prefix is another. */
static struct xb_entry stranger(void)
{
	struct xb_entry near = any_of(&members[below(LISTS)]);
	struct xb_entry source = oracle_address_in(&seed, &near);

	if (below(2) || !near.length)
		return oracle_random(&seed, xb_entry_is_ipv4(&near), xb_entry_full_length(&near));
	if (near.length <= 64)
		source.hi ^= 1ULL << (64 - near.length);
	else
		source.lo ^= 1ULL << (128 - near.length);
	return source;
}

static void nobody_else_is_dropped(void **state)
{
	uint64_t before = unconfirmed;

	(void)state;
	for (uint32_t i = 0; i < SOURCES; i++) {
		struct xb_entry source = stranger();

		ask(&source, below(SERVICES));
	}
	printf("%lu of %u unconfirmed\n", unconfirmed - before, SOURCES);
	assert_true(unconfirmed > before);
}

static bool is_moved(const struct rig_move *moves, size_t count, const struct xb_entry *entry)
{
	for (size_t i = 0; i < count; i++)
		if (!xb_entry_compare(&moves[i].entry, entry))
			return true;
	return false;
}

/* Out of a list, into another, from one to the other; each entry once. False: not this one. */
static bool choose(struct rig_move *moves, size_t count)
{
	enum list from = below(LISTS), to = below(LISTS);
	struct members *source = &members[from], *target = &members[to];
	uint32_t at = below((uint32_t)source->count), kind = below(3);
	struct xb_entry entry = source->entry[at];

	if (kind == 0)
		entry = below(2) ? oracle_random(&seed, true, (uint8_t)(12 + below(21)))
				 : oracle_random(&seed, false, (uint8_t)(12 + below(117)));
	if (is_moved(moves, count, &entry) || (kind != 1 && has(target, &entry)))
		return false;
	moves[count] = (struct rig_move){.entry = entry,
					 .from = kind == 0 ? NULL : lists[from].name,
					 .to = kind == 1 ? NULL : lists[to].name};
	if (kind != 0)
		source->entry[at] = source->entry[--source->count];
	if (kind != 1)
		take(target, entry);
	return true;
}

static void edit(void)
{
	struct rig_move moves[EDITED];
	size_t count = 0;

	while (count < EDITED)
		count += choose(moves, count);
	rig_move_all(&rig, moves, count);
	for (enum list list = 0; list < LISTS; list++)
		learn(&members[list]);
	for (size_t i = 0; i < count; i++)
		for (size_t service = 0; service < SERVICES; service++) {
			struct xb_entry source = oracle_address_in(&seed, &moves[i].entry);

			ask(&source, service);
		}
}

static uint64_t generation_now(void)
{
	struct xb_generation *generation = rig_generation(&rig);
	uint64_t now = generation->params.generation;

	xb_generation_close(generation);
	return now;
}

static void edits_in_place(void **state)
{
	uint64_t generation = generation_now();

	(void)state;
	for (uint32_t i = 0; i < EDITS; i++)
		edit();
	assert_int_equal(generation_now(), generation);
	assert_true(rig_matches_rebuild(&rig));
}

static void after_a_rotation(void **state)
{
	uint64_t generation = generation_now();

	rig_rotate(&rig);
	assert_int_not_equal(generation_now(), generation);
	members_at_every_service(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_at_every_service),
		cmocka_unit_test(nobody_else_is_dropped),
		cmocka_unit_test(edits_in_place),
		cmocka_unit_test(members_at_every_service),
		cmocka_unit_test(nobody_else_is_dropped),
		cmocka_unit_test(after_a_rotation),
	};

	return cmocka_run_group_tests_name("scopes_oracle", tests, begin, end);
}
