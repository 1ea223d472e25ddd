/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configurations. */
#include "world.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/guardload.h"
#include "attach/knownpins.h"
#include "attach/swap.h"
#include "base/error.h"
#include "engine/rotate.h"
#include "generate.h"
#include "support/knowing.h"

/* What a row leaves out is the plain case. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* A rate at which a Bloom filter hits nobody of the universe by accident. */
#define NO_HITS 1e-9

#define HAS_HOSTS    1U
#define HAS_PREFIXES 2U
#define HAS_NETS     4U
#define HAS_ALLOWED  8U
#define HAS_NAMES    16U
#define HAS_EXEMPT   32U
#define HAS_SCOPES   64U /* the sources are spread over lists */
#define ALL_SOURCES  (HAS_HOSTS | HAS_PREFIXES | HAS_NETS)
#define EVERYTHING   63U

#define DNS                                                                                        \
	{                                                                                          \
		.dns = { PORTS_DNS }                                                               \
	}
#define ALL                                                                                        \
	{                                                                                          \
		.dns = {PORTS_DNS}, .tls = {PORTS_TLS}, .http = { PORTS_HTTP }                     \
	}
#define TLS                                                                                        \
	{                                                                                          \
		.tls = { PORTS_TLS }                                                               \
	}
#define HTTP                                                                                       \
	{                                                                                          \
		.dns = {53}, .http = { PORTS_HTTP }                                                \
	}

static const struct {
	const char *name;
	uint32_t has;
	enum reference_policy policy;
	struct xb_name_ports ports; /* none: as it comes */
	bool guesses, watched, knows;
	enum reference_slot slot;
	uint32_t limit;
} configurations[WORLDS] = {
	{"hosts", HAS_HOSTS},
	{"hosts, guessed", HAS_HOSTS, .guesses = true},
	{"prefixes", HAS_HOSTS | HAS_PREFIXES},
	{"ipv6", HAS_NETS},
	{"sources, guessed", ALL_SOURCES | HAS_ALLOWED, .guesses = true},
	{"allowed", ALL_SOURCES | HAS_ALLOWED},
	{"monitor", EVERYTHING, .policy = POLICY_MONITOR, .ports = ALL, .watched = true},
	{"allow-only", ALL_SOURCES | HAS_ALLOWED, .policy = POLICY_ALLOW_ONLY},
	{"allow-only, names", EVERYTHING, .policy = POLICY_ALLOW_ONLY, .ports = ALL},
	{"allow-only, known", HAS_PREFIXES | HAS_ALLOWED | HAS_NAMES | HAS_EXEMPT,
	 .policy = POLICY_ALLOW_ONLY, .ports = ALL, .knows = true},
	{"names", HAS_NAMES | HAS_EXEMPT, .ports = DNS},
	{"names, none exempt", HAS_NETS | HAS_NAMES, .ports = HTTP, .limit = 1},
	{"names in tls", HAS_PREFIXES | HAS_NAMES | HAS_EXEMPT, .ports = TLS},
	{"everything", EVERYTHING, .ports = ALL, .watched = true},
	{"everything, guessed", EVERYTHING, .ports = ALL, .guesses = true},
	{"services", ALL_SOURCES | HAS_ALLOWED | HAS_SCOPES},
	{"services, monitor", ALL_SOURCES | HAS_ALLOWED | HAS_SCOPES, .policy = POLICY_MONITOR,
	 .watched = true},
	{"services, allow-only", ALL_SOURCES | HAS_ALLOWED | HAS_SCOPES,
	 .policy = POLICY_ALLOW_ONLY},
	{"services, names", EVERYTHING | HAS_SCOPES, .ports = ALL},
	{"no generation", ALL_SOURCES, .slot = SLOT_EMPTY},
	{"rolled back", ALL_SOURCES, .slot = SLOT_ROLLED_BACK},
};

_Static_assert((int)POLICY_MONITOR == XB_POLICY_MONITOR &&
		       (int)POLICY_ALLOW_ONLY == XB_POLICY_ALLOW_ONLY &&
		       (int)DOMAIN_NONE == XB_DOMAIN_VERDICTS && (int)DOMAIN_REFUSED == 1,
	       "numbers of policies and verdicts");

static const char *const lists[] = {"default", "refused", "nxdomain", "truncate", "count"};

/* Of ports that frames ask for. */
static const struct {
	const char *name, *text;
	struct scoped scoped;
} scopes[SCOPED_LISTS] = {
	{"web", "tcp/80,tcp/443,icmp", {.service = {{6, 80}, {6, 443}, {1, 0}}}},
	{"resolvers", "udp/53,tcp/53", {.service = {{17, 53}, {6, 53}}}},
	{"suspects", "all", {.all = true, .counts = true}},
};

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, xb_error_message());
	exit(1);
}

static bool is_there_twice(const struct xb_entry *entries, size_t count, size_t at)
{
	for (size_t i = 0; i < count; i++)
		if (i != at && !xb_entry_compare(&entries[i], &entries[at]))
			return true;
	return false;
}

/* Of seven entries one comes into the list and one leaves it later, in place: only those that stay
 * are in the rules. */
static void list_part(struct world *world, const char *list, struct sources *sources,
		      const struct xb_entry *entries, size_t count, bool later)
{
	struct rig_move *moves = calloc(count, sizeof(*moves));
	struct xb_entry *first = calloc(count, sizeof(*first));
	size_t moved = 0, used = 0;

	for (size_t i = 0; i < count; i++) {
		bool comes = i % 7 == 3, goes = i % 7 == 5 && !is_there_twice(entries, count, i);

		if (comes || goes)
			moves[moved++] = (struct rig_move){.entry = entries[i],
							   .from = goes ? list : NULL,
							   .to = comes ? list : NULL};
		if (!comes)
			first[used++] = entries[i];
		if (!goes && !later)
			sources_add(sources, &entries[i]);
	}
	if (later)
		rig_move_all(&world->rig, moves, moved);
	else
		rig_add_all_to(&world->rig, first, used, list);
	free(first);
	free(moves);
}

/* Each into one of the lists, or into the one for all services; some into two. */
static void spread_sources(struct world *world, const struct xb_entry *entries, size_t count,
			   bool later)
{
	struct xb_entry *part = calloc(count, sizeof(*part));

	for (size_t list = 0; list <= SCOPED_LISTS; list++) {
		bool scoped = list < SCOPED_LISTS;
		size_t used = 0;

		for (size_t i = 0; i < count; i++)
			if (i % (SCOPED_LISTS + 1) == list || i % 31 == list)
				part[used++] = entries[i];
		list_part(world, scoped ? scopes[list].name : "default",
			  scoped ? world->rules.scoped[list].sources : world->rules.sources, part,
			  used, later);
	}
	free(part);
}

static void begin_scopes(struct world *world)
{
	world->rules.has_scopes = true;
	for (size_t i = 0; i < SCOPED_LISTS; i++) {
		world->rules.scoped[i] = scopes[i].scoped;
		world->rules.scoped[i].sources = sources_new();
		rig_scope(&world->rig, scopes[i].name, scopes[i].text);
		if (scopes[i].scoped.counts)
			rig_verdict(&world->rig, scopes[i].name, XB_DOMAIN_COUNT);
	}
}

static void list_sources(struct world *world, const struct xb_entry *entries, size_t count,
			 bool later)
{
	if (world->rules.has_scopes && !xb_entry_is_allow(entries))
		spread_sources(world, entries, count, later);
	else
		list_part(world, "default", world->rules.sources, entries, count, later);
}

static void list_addresses(struct world *world, const struct universe *universe, uint32_t has,
			   bool later)
{
	if (has & HAS_HOSTS)
		list_sources(world, universe->hosts, HOSTS, later);
	if (has & HAS_PREFIXES)
		list_sources(world, universe->prefixes, PREFIXES, later);
	if (has & HAS_NETS)
		list_sources(world, universe->nets, NETS, later);
	if (has & HAS_ALLOWED)
		list_sources(world, universe->allowed, ALLOWED, later);
}

/* Those of one verdict; of what is exempt, all. */
static void list_names(struct world *world, const struct named *names, size_t count,
		       enum domain_verdict verdict, bool exempt)
{
	struct xb_entry *entries = calloc(count, sizeof(*entries));
	uint8_t(*forms)[XB_NAME_BYTES] = calloc(count, sizeof(*forms));
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		const char *text = names[i].text;

		if (!exempt && names[i].verdict != verdict)
			continue;
		must(xb_entry_parse(text, strlen(text), forms[used], &entries[used], NULL), text);
		if (exempt)
			entries[used] = xb_entry_allow(&entries[used]);
		used++;
		domains_add(exempt ? &world->rules.exempt : &world->rules.listed, text, verdict);
	}
	rig_add_all_to(&world->rig, entries, used, exempt ? "default" : lists[verdict]);
	free(forms);
	free(entries);
}

static void list_all(struct world *world, const struct universe *universe, uint32_t has)
{
	world->rules.sources = sources_new();
	if (has & HAS_SCOPES)
		begin_scopes(world);
	list_addresses(world, universe, has, false);
	for (int verdict = DOMAIN_REFUSED; has & HAS_NAMES && verdict < DOMAIN_NONE; verdict++)
		rig_verdict(&world->rig, lists[verdict], (enum xb_domain_verdict)verdict);
	for (int verdict = DOMAIN_DROP; has & HAS_NAMES && verdict < DOMAIN_NONE; verdict++)
		list_names(world, universe->names, NAMES, (enum domain_verdict)verdict, false);
	if (has & HAS_EXEMPT)
		list_names(world, universe->exempt, EXEMPT, DOMAIN_DROP, true);
	sources_sort(world->rules.sources);
	for (size_t i = 0; world->rules.has_scopes && i < SCOPED_LISTS; i++)
		sources_sort(world->rules.scoped[i].sources);
	domains_sort(&world->rules.listed);
	domains_sort(&world->rules.exempt);
}

static void set_ports(struct world *world, const struct xb_name_ports *ports)
{
	memcpy(world->rules.dns, ports->dns, sizeof(ports->dns));
	memcpy(world->rules.tls, ports->tls, sizeof(ports->tls));
	memcpy(world->rules.http, ports->http, sizeof(ports->http));
	rig_ports(&world->rig, ports);
}

static int admit_known(struct xb_writer *writer, void *context)
{
	(void)context;
	writer->txn->meta.policy = XB_POLICY_ALLOW_ONLY;
	writer->txn->meta.admits_known = 1;
	writer->txn->edits++;
	return 0;
}

/* The first address of what is listed elsewhere; of IPv6 its /64. */
static struct xb_entry source_in(const struct xb_entry *entry)
{
	struct xb_entry source = *entry;

	source.length = xb_entry_is_ipv4(entry) ? 32 : 64;
	source.lo = 0;
	return source;
}

static void know(struct world *world, struct xb_knownpins *pins, const struct xb_entry *entry)
{
	struct xb_entry source = source_in(entry);
	const struct xb_key *key = &pins->known->key;
	uint64_t hash = xb_entry_is_ipv4(&source) ? xb_known_hash_ipv4(key, xb_entry_ipv4(&source))
						  : xb_known_hash_ipv6(key, source.hi);
	struct xb_probes probes = xb_probes_of(key, hash);
	uint32_t learner = pins->known->learner;
	struct xb_known_line *lines = xb_knownpins_lines(pins, learner);

	if (!lines) {
		fprintf(stderr, "the lines of known sources cannot be mapped\n");
		exit(1);
	}
	xb_known_line_put(&lines[xb_scale(probes.place, pins->known->lines[learner])], &probes,
			  (uint32_t)pins->known->period, xb_known_put_bit);
	sources_add(world->rules.known, &source);
}

/* Some of the universe's hosts and nets are known, as if they had connected, and the policy admits
 * them. Test runs send no packets from which anybody learns, so the bits are put in from here. */
static void begin_known(struct world *world, const struct universe *universe)
{
	struct xb_knownpins pins;

	knowing_wants(&world->rig, true, HOSTS + NETS, NO_HITS);
	rig_must(
		xb_write(&world->rig.paths, XB_WRITE_HEAVY, admit_known, NULL, &world->rig.written),
		"policy");
	world->rules.known = sources_new();
	rig_must(xb_knownpins_open(world->rig.pins, &pins), "known sources");
	for (size_t i = 0; i < HOSTS; i += 2)
		know(world, &pins, &universe->hosts[i]);
	for (size_t i = 0; i < NETS; i += 2)
		know(world, &pins, &universe->nets[i]);
	xb_knownpins_close(&pins);
	sources_sort(world->rules.known);
}

/* No exact look-up: what the Bloom filter hits, drops. */
static void guess(struct world *world)
{
	const struct xb_rotate_request rotation = {
		.rate = NO_HITS, .set_confirm = true, .confirm = false};

	must(xb_rotate(&world->rig.paths, &rotation, NULL, &world->rig.written), "rotate");
}

/* A trial of interfaces that had no filter, over since long ago. */
static void roll_back(struct world *world)
{
	const struct xb_trial_cell over = {.deadline = 1, .everywhere = 1};
	struct xb_generation *generation = rig_generation(&world->rig);

	must(xb_guard_create(&world->anchor, &over, generation->program, -1, NULL, 0,
			     &world->guard),
	     "guard");
	must(xb_anchor_set_slot(&world->anchor, world->guard.program), "slot");
	xb_generation_close(generation);
}

static void empty_slot(struct world *world)
{
	uint32_t first = 0;

	must(bpf_map_delete_elem(world->anchor.slot, &first), "slot");
}

/* Every drop is told, also when there is no room left to tell. */
static void watch(struct world *world)
{
	const struct xb_watch all = {.budget = INT64_MAX};
	uint32_t first = 0;

	must(bpf_map_update_elem(world->anchor.watch, &first, &all, BPF_ANY), "watch");
}

static void begin(struct world *world, size_t number, const struct universe *universe)
{
	char name[32];

	world->name = configurations[number].name;
	world->rules.slot = configurations[number].slot;
	world->rules.policy = configurations[number].policy;
	world->guard = xb_no_guard;
	snprintf(name, sizeof(name), "packets%zu", number);
	rig_begin(&world->rig, name);
	if (configurations[number].has & HAS_NAMES)
		set_ports(world, &configurations[number].ports);
	world->rules.limit = configurations[number].limit;
	if (world->rules.limit)
		rig_answer_limit(&world->rig, world->rules.limit);
	if (configurations[number].guesses)
		guess(world);
	list_all(world, universe, configurations[number].has);
	if (world->rules.policy != POLICY_ENFORCE)
		rig_policy(&world->rig, world->rules.policy);
	if (configurations[number].knows)
		begin_known(world, universe);
	list_addresses(world, universe, configurations[number].has, true);
	world->program = rig_entry(&world->rig);
	must(xb_anchor_open(world->rig.pins, &world->anchor), "link");
	if (configurations[number].watched)
		watch(world);
	if (world->rules.slot == SLOT_EMPTY)
		empty_slot(world);
	if (world->rules.slot == SLOT_ROLLED_BACK)
		roll_back(world);
}

static void end(struct world *world)
{
	sources_free(world->rules.sources);
	if (world->rules.known)
		sources_free(world->rules.known);
	for (size_t i = 0; world->rules.has_scopes && i < SCOPED_LISTS; i++)
		sources_free(world->rules.scoped[i].sources);
	domains_free(&world->rules.listed);
	domains_free(&world->rules.exempt);
	xb_guard_close(&world->guard);
	xb_anchor_close(&world->anchor);
	close(world->program);
	rig_end(&world->rig);
}

void worlds_begin(struct world worlds[WORLDS], const struct universe *universe)
{
	for (size_t i = 0; i < WORLDS; i++)
		begin(&worlds[i], i, universe);
}

bool worlds_are_as_built(struct world worlds[WORLDS])
{
	bool equal = true;

	for (size_t i = 0; i < WORLDS; i++)
		if (worlds[i].rules.slot == SLOT_FILTER && !worlds[i].rules.known &&
		    !rig_matches_rebuild(&worlds[i].rig)) {
			printf("\"%s\" is another than one that is built anew\n", worlds[i].name);
			equal = false;
		}
	return equal;
}

void worlds_end(struct world worlds[WORLDS])
{
	for (size_t i = 0; i < WORLDS; i++)
		end(&worlds[i]);
}
