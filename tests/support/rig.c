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
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/pin.h"
#include "base/error.h"
#include "engine/repair.h"
#include "engine/rotate.h"
#include "filter/inforce.h"
#include "machine/lifelines.h"
#include "store/limits.h"
#include "store/listclass.h"
#include "store/listverdict.h"
#include "store/membership.h"
#include "store/wanted.h"
#include "mapbytes.h"

void rig_must(int error, const char *what)
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
	struct xb_anchor anchor;

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
	rig->written = (struct xb_written){0};
	rig->paths = (struct xb_paths){rig->state, rig->pins, rig->run};
	rig_must(xb_write(&rig->paths, true, want_absent_interface, NULL, &rig->written), "begin");
	/* Test runs need an entry of our own; the dispatcher has it as an extension. */
	rig_must(xb_anchor_create(rig->pins, XB_FLAVOUR_LINK, &anchor), "link");
	xb_anchor_close(&anchor);
	rig_must(xb_write(&rig->paths, true, NULL, NULL, &rig->written), "begin");
}

void rig_end(struct rig *rig)
{
	char command[1024];

	rig_must(xb_write(&rig->paths, true, want_nothing, NULL, &rig->written), "end");
	rig_must(xb_write(&rig->paths, true, NULL, NULL, &rig->written), "end");
	xb_written_free(&rig->written);
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

	rig_must(xb_entry_parse(text, strlen(text), form, &entry, NULL), "parse");
	return entry;
}

void rig_add(struct rig *rig, const char *text, const char *list)
{
	struct xb_entry entry = parsed(text);
	struct edit edit = {.entries = &entry, .count = 1, .list = list};

	rig_must(xb_write(&rig->paths, false, add_body, &edit, &rig->written), "add");
	xb_write_settle(&rig->paths, &rig->written);
}

bool rig_del(struct rig *rig, const char *text, const char *list)
{
	struct xb_entry entry = parsed(text);
	struct edit edit = {.entries = &entry, .count = 1, .list = list};

	rig_must(xb_write(&rig->paths, false, del_body, &edit, &rig->written), "del");
	return edit.removed;
}

void rig_add_all(struct rig *rig, const struct xb_entry *entries, size_t count)
{
	rig_add_all_to(rig, entries, count, "default");
}

void rig_add_all_to(struct rig *rig, const struct xb_entry *entries, size_t count, const char *list)
{
	struct edit edit = {.entries = entries, .count = count, .list = list};

	rig_must(xb_write(&rig->paths, false, add_body, &edit, &rig->written), "add");
	xb_write_settle(&rig->paths, &rig->written);
}

void rig_change_all(struct rig *rig, const struct xb_entry *entries, size_t count, bool listed)
{
	struct edit edit = {.entries = entries, .count = count, .list = "default"};

	rig_must(xb_write(&rig->paths, 0, listed ? add_body : del_all_body, &edit, &rig->written),
		 "change");
}

struct moves {
	const struct rig_move *move;
	size_t count;
};

static int move_one(struct xb_writer *writer, const struct rig_move *move)
{
	struct edit edit = {.entries = &move->entry, .count = 1, .list = move->from};
	int error = move->from ? del_body(writer, &edit) : 0;

	edit.list = move->to;
	return error || !move->to ? error : add_body(writer, &edit);
}

static int moves_body(struct xb_writer *writer, void *context)
{
	const struct moves *moves = context;
	int error = 0;

	for (size_t i = 0; !error && i < moves->count; i++)
		error = move_one(writer, &moves->move[i]);
	return error;
}

void rig_move_all(struct rig *rig, const struct rig_move *moves, size_t count)
{
	struct moves all = {moves, count};

	rig_must(xb_write(&rig->paths, 0, moves_body, &all, &rig->written), "move");
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

	rig_must(xb_write(&rig->paths, 0, del_body, &edit, &rig->written), "disallow");
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
	rig_must(xb_write(&rig->paths, 0, policy_body, &policy, &rig->written), "policy");
}

struct scoping {
	const char *list;
	struct xb_scope scope;
};

static int scope_body(struct xb_writer *writer, void *context)
{
	const struct scoping *scoping = context;
	struct xb_list *list;
	int error = xb_list_need(writer->txn, scoping->list, &list);

	return error ? error : xb_list_scope_set(writer->txn, list, &scoping->scope);
}

void rig_scope(struct rig *rig, const char *list, const char *scope)
{
	struct scoping scoping = {.list = list};

	rig_must(xb_scope_parse(scope, &scoping.scope), "scope");
	rig_must(xb_write(&rig->paths, XB_WRITE_HEAVY, scope_body, &scoping, &rig->written),
		 "scope");
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
	xb_changes_set_bulk(&writer->txn->change);
	writer->txn->edits++;
	return xb_domain_verdict_set(writer->txn, list, judgement->verdict);
}

void rig_verdict(struct rig *rig, const char *list, enum xb_domain_verdict verdict)
{
	struct judgement judgement = {.list = list, .verdict = verdict};

	rig_must(xb_write(&rig->paths, XB_WRITE_HEAVY, verdict_body, &judgement, &rig->written),
		 "verdict");
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
	rig_must(xb_write(&rig->paths, XB_WRITE_HEAVY, limit_body, &limit, &rig->written), "limit");
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

	rig_must(xb_write(&rig->paths, XB_WRITE_HEAVY, all_ports_body, &copy, &rig->written),
		 "ports");
}

static int put_limit_body(struct xb_writer *writer, void *context)
{
	return xb_limits_put(writer->txn, context);
}

struct xb_limit rig_limit_of(const char *name, const char *scope, uint64_t burst)
{
	struct xb_limit limit = xb_limit_defaults;

	limit.rate = burst / 24 + 1;
	limit.period = 3600;
	limit.burst = burst;
	limit.capacity = 1;
	snprintf(limit.name, sizeof(limit.name), "%s", name);
	rig_must(xb_scope_parse(scope, &limit.scope), "scope");
	return limit;
}

void rig_limit(struct rig *rig, const struct xb_limit *limit)
{
	struct xb_limit copy = *limit;

	rig_must(xb_limit_check(&copy), "limit");
	rig_must(xb_write(&rig->paths, XB_WRITE_HEAVY, put_limit_body, &copy, &rig->written),
		 "limit");
}

struct unlimiting {
	const char *name;
	bool found;
};

static int remove_limit_body(struct xb_writer *writer, void *context)
{
	struct unlimiting *unlimiting = context;

	return xb_limits_remove(writer->txn, unlimiting->name, &unlimiting->found);
}

bool rig_unlimit(struct rig *rig, const char *name)
{
	struct unlimiting unlimiting = {.name = name};

	rig_must(xb_write(&rig->paths, XB_WRITE_HEAVY, remove_limit_body, &unlimiting,
			  &rig->written),
		 "limit");
	return unlimiting.found;
}

int rig_processor(int number)
{
	cpu_set_t set;

	rig_must(sched_getaffinity(0, sizeof(set), &set), "processors");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && !number--)
			return cpu;
	return -1;
}

void rig_confirm(struct rig *rig, bool confirm)
{
	const struct xb_rotate_request rotation = {.set_confirm = true, .confirm = confirm};

	rig_must(xb_rotate(&rig->paths, &rotation, NULL, &rig->written), "rotate");
}

void rig_rotate_for(struct rig *rig, uint64_t capacity)
{
	const struct xb_rotate_request rotation = {.set_capacity = true, .capacity = capacity};

	rig_must(xb_rotate(&rig->paths, &rotation, NULL, &rig->written), "rotate");
}

void rig_rotate(struct rig *rig)
{
	const struct xb_rotate_request rotation = {0};

	rig_must(xb_rotate(&rig->paths, &rotation, NULL, &rig->written), "rotate");
}

struct xb_generation *rig_generation(struct rig *rig)
{
	struct xb_generation *generation;
	struct xb_anchor anchor;

	rig_must(xb_anchor_open(rig->pins, &anchor), "link");
	rig_must(xb_generation_open(&rig->paths, &anchor, &generation), "generation");
	xb_anchor_close(&anchor);
	return generation;
}

int rig_entry(struct rig *rig)
{
	int fd = xb_pin_open(rig->pins, XB_ANCHOR_PINS, "entry");

	rig_must(fd < 0, "entry");
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
		rig_must(sscanf(hex, "%2x", &byte) != 1, "frame");
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
	struct xb_anchor anchor;

	rig_must(xb_anchor_open(rig->pins, &anchor), "link");
	rig_must(xb_anchor_counts(&anchor, 0, counts), "counts");
	xb_anchor_close(&anchor);
}

uint64_t rig_memory(struct rig *rig)
{
	struct xb_generation *generation = rig_generation(rig);
	uint64_t bytes = 0;
	struct xb_anchor anchor;

	for (int i = 0; i < XB_MAPS; i++)
		bytes += generation->map[i] >= 0 ? map_bytes(generation->map[i]) : 0;
	xb_generation_close(generation);
	rig_must(xb_anchor_open(rig->pins, &anchor), "link");
	bytes += map_bytes(anchor.ifaces) + map_bytes(anchor.stats) + map_bytes(anchor.watch) +
		 map_bytes(anchor.notes) + map_bytes(anchor.drops) + map_bytes(anchor.hits) +
		 map_bytes(anchor.hits_names);
	xb_anchor_close(&anchor);
	return bytes;
}

uint64_t rig_random(uint64_t *state)
{
	/* SplitMix64 */
	*state += 0x9e3779b97f4a7c15ULL;
	return xb_mix64(*state);
}
