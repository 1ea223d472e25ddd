/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The test installation. */
#include "rig.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <endian.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/pin.h"
#include "base/error.h"
#include "engine/repair.h"
#include "engine/rotate.h"
#include "filter/build.h"
#include "filter/snapshot.h"
#include "machine/lifelines.h"
#include "store/membership.h"
#include "store/wanted.h"

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, xb_error_message());
	exit(1);
}

static void quiet(enum xb_notice_kind kind, const char *message)
{
	(void)kind;
	(void)message;
}

static int want_absent_interface(struct xb_writer *writer, void *context)
{
	struct xb_wanted wanted = {.name = "xbabsent0", .mode = XB_MODE_AUTO};

	(void)context;
	/* The machine the tests run on must not decide what they see. */
	writer->txn->meta.refused = XB_LIFELINE_ALL;
	writer->txn->meta.answer_limit = 0; /* test runs come as fast as they can */
	return xb_wanted_put(writer->txn, &wanted);
}

static int want_nothing(struct xb_writer *writer, void *context)
{
	bool found;

	(void)context;
	return xb_wanted_remove(writer->txn, "xbabsent0", &found);
}

void rig_begin(struct rig *rig, const char *name)
{
	const char *bpffs = getenv("XB_TEST_BPFFS"), *directory = getenv("XB_TEST_DIR");
	struct xb_link link;

	if (!bpffs || !directory) {
		fprintf(stderr,
			"XB_TEST_BPFFS and XB_TEST_DIR must be set; scripts/test sets them\n");
		exit(1);
	}
	libbpf_set_print(NULL);
	xb_notice_sink(quiet);
	snprintf(rig->state, sizeof(rig->state), "%s/%s-%d", directory, name, (int)getpid());
	snprintf(rig->run, sizeof(rig->run), "%s/%s-%d-run", directory, name, (int)getpid());
	snprintf(rig->pins, sizeof(rig->pins), "%s/%s-%d", bpffs, name, (int)getpid());
	rig->paths = (struct xb_paths){rig->state, rig->pins, rig->run};
	must(xb_write(&rig->paths, true, want_absent_interface, NULL), "begin");
	/* Test runs need an entry of our own; the dispatcher has it as an extension. */
	must(xb_link_create(rig->pins, XB_FLAVOUR_LINK, &link), "link");
	xb_link_close(&link);
	must(xb_write(&rig->paths, true, NULL, NULL), "begin");
}

void rig_end(struct rig *rig)
{
	char command[1024];

	must(xb_write(&rig->paths, true, want_nothing, NULL), "end");
	must(xb_write(&rig->paths, true, NULL, NULL), "end");
	rmdir(rig->pins);
	snprintf(command, sizeof(command), "rm -rf '%s' '%s'", rig->state, rig->run);
	if (system(command))
		fprintf(stderr, "cannot remove %s\n", rig->state);
}

struct edit {
	const struct xb_entry *entries;
	size_t count;
	const char *list;
	bool removed;
};

static int add_body(struct xb_writer *writer, void *context)
{
	const struct edit *edit = context;
	struct xb_list *list;
	int error = xb_list_need(writer->txn, edit->list, &list);

	for (size_t i = 0; !error && i < edit->count; i++) {
		struct xb_membership member = {.list = list->id, .added = writer->now};
		enum xb_put put;

		error = xb_member_put(writer->txn, &edit->entries[i], &member, 0, &put);
	}
	return error;
}

/* Out of every list, all of them. */
static int del_all_body(struct xb_writer *writer, void *context)
{
	const struct edit *edit = context;
	int error = 0;

	for (size_t i = 0; !error && i < edit->count; i++) {
		enum xb_removal removal;

		error = xb_member_remove(writer->txn, &edit->entries[i], XB_ANY_LIST, &removal);
	}
	return error;
}

static int del_body(struct xb_writer *writer, void *context)
{
	struct edit *edit = context;
	enum xb_removal removal;
	uint32_t id = XB_ANY_LIST;
	int error;

	if (edit->list) {
		struct xb_list *list = xb_list_find(writer->txn, edit->list);

		if (!list)
			return 0;
		id = list->id;
	}
	error = xb_member_remove(writer->txn, edit->entries, id, &removal);
	edit->removed = removal != XB_REMOVAL_ABSENT;
	return error;
}

/* A domain is good until the next call. */
static struct xb_entry parsed(const char *text)
{
	static uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;

	must(xb_entry_parse(text, strlen(text), form, &entry, NULL), "parse");
	return entry;
}

void rig_add(struct rig *rig, const char *text, const char *list)
{
	struct xb_entry entry = parsed(text);
	struct edit edit = {.entries = &entry, .count = 1, .list = list};

	must(xb_write(&rig->paths, false, add_body, &edit), "add");
	xb_write_settle(&rig->paths);
}

bool rig_del(struct rig *rig, const char *text, const char *list)
{
	struct xb_entry entry = parsed(text);
	struct edit edit = {.entries = &entry, .count = 1, .list = list};

	must(xb_write(&rig->paths, false, del_body, &edit), "del");
	return edit.removed;
}

void rig_add_all(struct rig *rig, const struct xb_entry *entries, size_t count)
{
	rig_add_all_to(rig, entries, count, "default");
}

void rig_add_all_to(struct rig *rig, const struct xb_entry *entries, size_t count, const char *list)
{
	struct edit edit = {.entries = entries, .count = count, .list = list};

	must(xb_write(&rig->paths, false, add_body, &edit), "add");
	xb_write_settle(&rig->paths);
}

void rig_change_all(struct rig *rig, const struct xb_entry *entries, size_t count, bool listed)
{
	struct edit edit = {.entries = entries, .count = count, .list = "default"};

	must(xb_write(&rig->paths, 0, listed ? add_body : del_all_body, &edit), "change");
}

void rig_allow(struct rig *rig, const char *text)
{
	struct xb_entry listed = parsed(text), entry = xb_entry_allow(&listed);

	rig_change_all(rig, &entry, 1, true);
}

bool rig_disallow(struct rig *rig, const char *text)
{
	struct xb_entry listed = parsed(text), entry = xb_entry_allow(&listed);
	struct edit edit = {.entries = &entry, .count = 1};

	must(xb_write(&rig->paths, 0, del_body, &edit), "disallow");
	return edit.removed;
}

static int policy_body(struct xb_writer *writer, void *context)
{
	writer->txn->meta.policy = *(const uint32_t *)context;
	writer->txn->edits++;
	return 0;
}

void rig_policy(struct rig *rig, uint32_t policy)
{
	must(xb_write(&rig->paths, 0, policy_body, &policy), "policy");
}

struct judgement {
	const char *list;
	enum xb_domain_verdict verdict;
};

static int verdict_body(struct xb_writer *writer, void *context)
{
	const struct judgement *judgement = context;
	struct xb_list *list;
	int error = xb_list_need(writer->txn, judgement->list, &list);

	if (error)
		return error;
	list->verdict = judgement->verdict;
	xb_changes_set_bulk(&writer->txn->change);
	writer->txn->edits++;
	return 0;
}

void rig_verdict(struct rig *rig, const char *list, enum xb_domain_verdict verdict)
{
	struct judgement judgement = {.list = list, .verdict = verdict};

	must(xb_write(&rig->paths, XB_WRITE_HEAVY, verdict_body, &judgement), "verdict");
}

static int ports_body(struct xb_writer *writer, void *context)
{
	memcpy(writer->txn->meta.ports.dns, context, sizeof(writer->txn->meta.ports.dns));
	xb_changes_set_bulk(&writer->txn->change);
	writer->txn->edits++;
	return 0;
}

void rig_dns_ports(struct rig *rig, const uint16_t ports[XB_NAME_PORTS])
{
	uint16_t copy[XB_NAME_PORTS];

	memcpy(copy, ports, sizeof(copy));
	must(xb_write(&rig->paths, XB_WRITE_HEAVY, ports_body, copy), "ports");
}

static int limit_body(struct xb_writer *writer, void *context)
{
	writer->txn->meta.answer_limit = *(const uint32_t *)context;
	xb_changes_set_bulk(&writer->txn->change);
	writer->txn->edits++;
	return 0;
}

void rig_answer_limit(struct rig *rig, uint32_t limit)
{
	must(xb_write(&rig->paths, XB_WRITE_HEAVY, limit_body, &limit), "limit");
}

static int all_ports_body(struct xb_writer *writer, void *context)
{
	writer->txn->meta.ports = *(const struct xb_name_ports *)context;
	xb_changes_set_bulk(&writer->txn->change);
	writer->txn->edits++;
	return 0;
}

void rig_ports(struct rig *rig, const struct xb_name_ports *ports)
{
	struct xb_name_ports copy = *ports;

	must(xb_write(&rig->paths, XB_WRITE_HEAVY, all_ports_body, &copy), "ports");
}

void rig_confirm(struct rig *rig, bool confirm)
{
	const struct xb_rotate_request rotation = {.set_confirm = true, .confirm = confirm};

	must(xb_rotate(&rig->paths, &rotation, NULL), "rotate");
}

void rig_rotate(struct rig *rig)
{
	const struct xb_rotate_request rotation = {0};

	must(xb_rotate(&rig->paths, &rotation, NULL), "rotate");
}

struct xb_generation *rig_generation(struct rig *rig)
{
	struct xb_generation *generation;
	struct xb_link link;

	must(xb_link_open(rig->pins, &link), "link");
	must(xb_generation_open(&rig->paths, &link, &generation), "generation");
	xb_link_close(&link);
	return generation;
}

int rig_entry(struct rig *rig)
{
	char directory[XB_PATH_MAX];
	int fd;

	xb_pin_path(directory, rig->pins, XB_LINK_PINS);
	fd = xb_pin_open(directory, "entry");
	must(fd < 0, "entry");
	return fd;
}

uint32_t rig_bytes(const char *hex, uint8_t *out)
{
	uint32_t size = 0;

	while (*hex) {
		unsigned int byte;

		if (*hex == ' ') {
			hex++;
			continue;
		}
		must(sscanf(hex, "%2x", &byte) != 1, "frame");
		out[size++] = (uint8_t)byte;
		hex += 2;
	}
	return size;
}

uint32_t rig_run(int program, const void *frame, uint32_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = size,
		    .repeat = 1);

	if (bpf_prog_test_run_opts(program, &options)) {
		fprintf(stderr, "test run of %u bytes: %s\n", size, strerror(errno));
		exit(1);
	}
	return options.retval;
}

uint32_t rig_run_out(int program, const void *frame, uint32_t bytes, void *out, uint32_t *size)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = bytes,
		    .data_out = out, .data_size_out = *size, .repeat = 1);

	if (bpf_prog_test_run_opts(program, &options)) {
		fprintf(stderr, "test run of %u bytes: %s\n", bytes, strerror(errno));
		exit(1);
	}
	*size = options.data_size_out;
	return options.retval;
}

uint32_t rig_run_ipv4(int program, uint32_t source)
{
	struct {
		struct ethhdr ethernet;
		struct iphdr ip;
		uint8_t rest[26];
	} __attribute__((packed)) frame = {
		.ethernet.h_proto = htons(ETH_P_IP),
		.ip = {.version = 4,
		       .ihl = 5,
		       .tot_len = htons(46),
		       .ttl = 64,
		       .saddr = htonl(source)},
	};

	return rig_run(program, &frame, sizeof(frame));
}

uint32_t rig_run_ipv6(int program, uint64_t hi, uint64_t lo)
{
	struct {
		struct ethhdr ethernet;
		struct ipv6hdr ip;
		uint8_t rest[8];
	} __attribute__((packed)) frame = {
		.ethernet.h_proto = htons(ETH_P_IPV6),
		.ip = {.version = 6, .payload_len = htons(8), .hop_limit = 64},
	};
	uint64_t source[2] = {htobe64(hi), htobe64(lo)};

	memcpy(&frame.ip.saddr, source, sizeof(source));
	return rig_run(program, &frame, sizeof(frame));
}

uint32_t rig_run_from(int program, const struct xb_entry *address)
{
	return xb_entry_is_ipv4(address) ? rig_run_ipv4(program, xb_entry_ipv4(address))
					 : rig_run_ipv6(program, address->hi, address->lo);
}

void rig_counts(struct rig *rig, struct xb_counts *counts)
{
	struct xb_link link;

	must(xb_link_open(rig->pins, &link), "link");
	must(xb_link_counts(&link, 0, counts), "counts");
	xb_link_close(&link);
}

/* Counters that stuck may differ: a stuck one is at its end however it got there. */
static bool same_counters(const struct xb_counters *a, const struct xb_counters *b, uint32_t blocks,
			  const char *stage)
{
	for (uint32_t block = 0; block < blocks; block++) {
		for (int i = 0; i < XB_BLOCK_BITS / 2; i++) {
			for (int shift = 0; shift < 8; shift += 4) {
				int left = a[block].byte[i] >> shift & 15,
				    right = b[block].byte[i] >> shift & 15;

				if (left != right && left != XB_COUNTER_STUCK) {
					fprintf(stderr,
						"%s: counter of block %u, place %d: %d, rebuilt "
						"%d\n",
						stage, block, 2 * i + shift / 4, left, right);
					return false;
				}
			}
		}
	}
	return true;
}

static bool same_bits(const struct xb_window *a, const struct xb_window *b, size_t bytes,
		      const char *stage)
{
	for (size_t i = 0; i < bytes; i++) {
		if (a->base[i] != b->base[i]) {
			fprintf(stderr, "%s: byte %zu: %02x, rebuilt %02x\n", stage, i, a->base[i],
				b->base[i]);
			return false;
		}
	}
	return true;
}

static int compare_words(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct xb_allow6_key));
}

/* Every slot of the table, sorted; and how often 0.0.0.0 stands in it. */
static uint64_t *slots_of(struct xb_confirm *confirm, size_t *count)
{
	uint32_t buckets = confirm->geometry.parts * confirm->geometry.size;
	const uint64_t *words = (const uint64_t *)(void *)confirm->buckets.base;
	const uint32_t *halves = (const uint32_t *)(void *)confirm->buckets.base;
	uint64_t *slots;

	*count = (size_t)buckets * (confirm->slots == XB_SLOTS_ADDRESS ? 16 : 8) + 1;
	slots = calloc(*count, sizeof(*slots));
	for (size_t i = 0; i + 1 < *count; i++)
		slots[i] = confirm->slots == XB_SLOTS_ADDRESS ? halves[i] : words[i];
	slots[*count - 1] = ~words[(size_t)buckets * 8 + XB_BUCKET_ZERO];
	qsort(slots, *count, sizeof(*slots), compare_words);
	return slots;
}

/* As multisets: where a key stands depends on the order in which they came. */
static bool same_buckets(struct xb_confirm *a, struct xb_confirm *b, const char *stage)
{
	size_t left, right;
	uint64_t *in_a, *in_b;
	bool equal;

	if (!a->geometry.parts && !b->geometry.parts)
		return true;
	in_a = slots_of(a, &left);
	in_b = slots_of(b, &right);
	equal = left == right && !memcmp(in_a, in_b, left * sizeof(*in_a));
	if (!equal)
		fprintf(stderr, "%s: other keys than a rebuilt one\n", stage);
	free(in_a);
	free(in_b);
	return equal;
}

/* Every key of a trie, sorted; each as large as the larger kind. */
static struct xb_allow6_key *keys_of(int trie, size_t *count)
{
	struct xb_allow6_key *keys = NULL, key, next;
	size_t room = 0;

	memset(&key, 0, sizeof(key));
	memset(&next, 0, sizeof(next));
	*count = 0;
	while (!bpf_map_get_next_key(trie, *count ? &key : NULL, &next)) {
		if (*count == room) {
			room = room ? 2 * room : 64;
			keys = realloc(keys, room * sizeof(*keys));
		}
		keys[(*count)++] = key = next;
	}
	if (*count)
		qsort(keys, *count, sizeof(*keys), compare_keys);
	return keys;
}

static bool same_trie(int a, int b, const char *stage)
{
	size_t left, right;
	struct xb_allow6_key *in_a = keys_of(a, &left), *in_b = keys_of(b, &right);
	bool equal = left == right && (!left || !memcmp(in_a, in_b, left * sizeof(*in_a)));

	if (!equal)
		fprintf(stderr, "%s: %zu keys, rebuilt %zu\n", stage, left, right);
	free(in_a);
	free(in_b);
	return equal;
}

uint64_t rig_moves(const struct xb_confirm *confirm)
{
	const struct xb_bucket *buckets =
		(const struct xb_bucket *)(const void *)confirm->buckets.base;
	uint32_t last = xb_buckets_count(confirm->geometry.parts, confirm->geometry.size);

	return __atomic_load_n(&buckets[last].word[XB_BUCKET_MOVES], __ATOMIC_SEQ_CST);
}

/* They may only lead to more look-ups. */
static bool deep_enough(const struct xb_generation *now, const struct xb_generation *fresh)
{
	const struct xb_depths *a = (const struct xb_depths *)(const void *)now->depths.base;
	const struct xb_depths *b = (const struct xb_depths *)(const void *)fresh->depths.base;

	if (!now->params.names.blocks)
		return true;
	if ((!b->first || (a->first && a->first <= b->first)) && a->last >= b->last &&
	    a->exact >= b->exact && a->allowed >= b->allowed)
		return true;
	fprintf(stderr, "depths: %u to %u, %u, %u; rebuilt %u to %u, %u, %u\n", a->first, a->last,
		a->exact, a->allowed, b->first, b->last, b->exact, b->allowed);
	return false;
}

static bool same(struct xb_generation *now, struct xb_generation *fresh)
{
	const struct xb_params *params = &now->params;

	if (memcmp(&now->params.host4, &fresh->params.host4, sizeof(now->params.host4)) ||
	    memcmp(&now->params.net6, &fresh->params.net6, sizeof(now->params.net6)) ||
	    memcmp(&now->params.names, &fresh->params.names, sizeof(now->params.names)) ||
	    now->params.prefix4 != fresh->params.prefix4) {
		fprintf(stderr, "the rebuilt generation has another size\n");
		return false;
	}
	if (now->header->host4_keys != fresh->header->host4_keys ||
	    now->header->net6_keys != fresh->header->net6_keys ||
	    now->header->names_keys != fresh->header->names_keys) {
		fprintf(stderr, "keys: %lu, %lu and %lu, rebuilt %lu, %lu and %lu\n",
			now->header->host4_keys, now->header->net6_keys, now->header->names_keys,
			fresh->header->host4_keys, fresh->header->net6_keys,
			fresh->header->names_keys);
		return false;
	}
	must(xb_generation_map_all(now), "map");
	must(xb_generation_map_all(fresh), "map");
	return same_counters(now->host4.counters, fresh->host4.counters, now->params.host4.blocks,
			     "host4") &&
	       same_counters(now->net6.counters, fresh->net6.counters, now->params.net6.blocks,
			     "net6") &&
	       same_bits(&now->host4.bits, &fresh->host4.bits, xb_map_bytes(XB_MAP_HOST4, params),
			 "host4") &&
	       same_bits(&now->net6.bits, &fresh->net6.bits, xb_map_bytes(XB_MAP_NET6, params),
			 "net6") &&
	       same_counters(now->names.counters, fresh->names.counters, now->params.names.blocks,
			     "names") &&
	       same_bits(&now->names.bits, &fresh->names.bits, xb_map_bytes(XB_MAP_NAMES, params),
			 "names") &&
	       same_buckets(&now->confirm_names, &fresh->confirm_names, "confirm_names") &&
	       same_trie(now->map[XB_MAP_ALLOW_NAMES], fresh->map[XB_MAP_ALLOW_NAMES],
			 "allow_names") &&
	       deep_enough(now, fresh) &&
	       same_bits(&now->prefix4, &fresh->prefix4, xb_map_bytes(XB_MAP_PREFIX4, params),
			 "prefix4") &&
	       same_bits(&now->allow.gate, &fresh->allow.gate, XB_GATE_BYTES, "allow_gate") &&
	       same_trie(now->map[XB_MAP_ALLOW4], fresh->map[XB_MAP_ALLOW4], "allow4") &&
	       same_trie(now->map[XB_MAP_ALLOW6], fresh->map[XB_MAP_ALLOW6], "allow6") &&
	       same_buckets(&now->confirm4, &fresh->confirm4, "confirm4") &&
	       same_buckets(&now->confirm6, &fresh->confirm6, "confirm6");
}

bool rig_matches_rebuild(struct rig *rig)
{
	struct xb_generation *now = rig_generation(rig), *fresh = NULL;
	struct xb_store *store;
	struct xb_keys keys;
	struct xb_link link;
	struct xb_txn *txn;
	struct xb_build build = {
		.paths = &rig->paths, .link = &link, .key = &now->params.key, .size = &now->params};
	bool equal;

	must(xb_link_open(rig->pins, &link), "link");
	must(xb_store_open(rig->state, XB_STORE_READ, &store), "store");
	must(xb_store_read(store, &txn), "store");
	must(xb_keys_collect(txn, &keys), "keys");
	must(xb_build(&build, &keys, &fresh), "build");
	equal = xb_generation_is_current(now, &txn->meta) && !now->header->dirty &&
		same(now, fresh);
	if (!xb_generation_is_current(now, &txn->meta))
		fprintf(stderr, "applied %lu of %lu\n", now->header->applied, txn->meta.sequence);
	xb_keys_free(&keys);
	xb_txn_abort(txn);
	xb_store_close(store);
	xb_link_close(&link);
	xb_generation_discard(&rig->paths, fresh);
	xb_generation_close(now);
	return equal;
}

uint64_t rig_random(uint64_t *state)
{
	/* SplitMix64 */
	*state += 0x9e3779b97f4a7c15ULL;
	return xb_mix64(*state);
}
