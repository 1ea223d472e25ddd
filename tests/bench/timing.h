/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * XDP programs timed in turns: each run gets a fresh source and is handed on to the program. Needs
 * the counters of a link, by which it tells what became of the runs.
 */
#ifndef XB_BENCH_TIMING_H
#define XB_BENCH_TIMING_H

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "bench/home.h"
#include "bench/lists.h"
#include "bench/measure.h"
#include "measure.skel.h"

#define TIMED_MAX 64

/* NEAR: listed sources for which the gate in front of the allowlist opens in vain. BELOW: clean
 * ones below the /32 of a listed prefix. */
enum traffic { CLEAN, HIT, NEAR, BELOW, TRAFFICS };

static const char *const traffic_names[] = {"clean", "hit", "near", "below"};

struct timed {
	const char *name;
	int program;
	bool blind;	/* passes every source */
	bool allows;	/* has an allowlist */
	bool near;	/* timed with that traffic, too */
	double rate;	/* of clean sources dropped by mistake */
	uint32_t fewer; /* slow: only one in so many runs; 0: all */
	uint16_t port;	/* of TCP, to which its packets go; 0: they have no protocol */
	uint32_t lines; /* that it reads one of; 0: as many as were set */
	bool ipv6;	/* its packets are from XB_BENCH_NET6 and the 32 bits of an address */
	/* Not 0: its packets have whole addresses of IPv6. Those listed begin at this line of the
	 * table; TABLE_LINES behind it those whose /32 counts for BELOW. */
	uint32_t table6;
};

/* One figure a round. */
struct cell {
	const struct timed *timed;
	enum traffic traffic;
	uint64_t runs, dropped;
	json_t *samples;
};

struct timing {
	struct home home;
	struct measure_bpf *measure;
	size_t near_count;
	uint32_t repeats;
	struct timed timed[TIMED_MAX];
	size_t timed_count;
	struct cell cells[TIMED_MAX * TRAFFICS];
	size_t cell_count;
};

static inline void timing_end(struct timing *timing)
{
	measure_bpf__destroy(timing->measure);
	home_close(&timing->home);
}

/* The maps of timing->measure can be sized until timing_load(). */
static inline void timing_open(struct timing *timing, uint32_t repeats)
{
	home_open(&timing->home);
	timing->repeats = repeats;
	timing->measure = measure_bpf__open();
	must(timing->measure ? 0 : -errno, "open");
}

static inline void timing_fill_table(const struct timing *timing, uint32_t first_line,
				     const uint32_t *addresses, size_t count)
{
	int map = bpf_map__fd(timing->measure->maps.table);

	for (uint32_t i = 0; i < TABLE_LINES; i++) {
		uint32_t index = first_line + i;
		struct table_line line;

		for (uint32_t k = 0; k < TABLE_LINE; k++) {
			uint32_t number = i * TABLE_LINE + k;

			line.address[k] = addresses ? addresses[number % count]
						    : address_number(number % (uint32_t)count);
		}
		must(bpf_map_update_elem(map, &index, &line, BPF_ANY) ? -errno : 0, "table");
	}
}

/* Afterwards there are the programs of timing->measure, and sources that are listed. */
static inline void timing_load(struct timing *timing, const struct xb_contents *keys)
{
	struct measure_bpf *measure = timing->measure;
	uint32_t *near = calloc(TABLE_ADDRESSES, sizeof(*near));

	must(near ? 0 : -ENOMEM, "addresses");
	home_count_into(&timing->home, measure->obj, measure->maps.ifaces, measure->maps.stats);
	must(measure_bpf__load(measure), "load");
	timing->near_count = near_allowed(keys, near, TABLE_ADDRESSES);
	timing_fill_table(timing, 0, NULL, keys->host4_count);
	if (timing->near_count)
		timing_fill_table(timing, TABLE_LINES, near, timing->near_count);
	free(near);
}

static inline void timing_add(struct timing *timing, struct timed timed)
{
	must(timing->timed_count < TIMED_MAX ? 0 : -E2BIG, "programs");
	timing->timed[timing->timed_count++] = timed;
}

struct verdicts {
	uint64_t dropped, allowed, passed; /* allowed: those that passed by the allowlist */
};

/* Runs since the last call, by the statistics of the link. */
static inline struct verdicts verdicts_since(const struct timing *timing)
{
	static struct xb_counts last;
	struct verdicts since = {0};
	struct xb_counts now = home_counts(&timing->home);

	for (uint32_t i = 0; i < XB_REASON_COUNT; i++) {
		uint64_t more = now.reason[i].packets - last.reason[i].packets;

		if (xb_drop_reasons >> i & 1)
			since.dropped += more;
		else if (i == XB_ALLOWED)
			since.allowed += more;
		else
			since.passed += more;
	}
	last = now;
	return since;
}

/* The random prefixes and loopback allow one listed source in 200. */
#define ALLOWED_SHARE 0.01
#define DROPPED_SHARE 0.01 /* of clean traffic: some of it is listed */

static inline bool as_named(const struct cell *cell, struct verdicts found, uint32_t runs)
{
	const struct timed *timed = cell->timed;
	double all = runs;

	if (found.dropped + found.allowed + found.passed != runs)
		return false;
	if ((double)found.allowed > (timed->allows ? ALLOWED_SHARE * all : 0))
		return false;
	if (timed->blind)
		return !found.dropped;
	if (cell->traffic == CLEAN || cell->traffic == BELOW)
		return (double)found.dropped < (DROPPED_SHARE + 2 * timed->rate) * all;
	return !found.passed;
}

struct frame4 {
	struct ethhdr ethernet;
	struct iphdr ip;
	uint16_t source_port, port;
	uint8_t rest[22];
} __attribute__((packed));

struct frame6 {
	struct ethhdr ethernet;
	struct ipv6hdr ip;
	uint16_t source_port, port;
	uint8_t rest[22];
} __attribute__((packed));

static inline struct frame4 timing_frame4(uint16_t port)
{
	return (struct frame4){
		.ethernet.h_proto = htons(ETH_P_IP),
		.ip = {.version = 4,
		       .ihl = 5,
		       .tot_len = htons(46),
		       .ttl = 64,
		       .protocol = port ? IPPROTO_TCP : 0},
		.port = htons(port),
	};
}

static inline struct frame6 timing_frame6(uint16_t port)
{
	const uint64_t net = htobe64(XB_BENCH_NET6);
	struct frame6 frame = {
		.ethernet.h_proto = htons(ETH_P_IPV6),
		.ip = {.version = 6,
		       .payload_len = htons(26),
		       .nexthdr = port ? IPPROTO_TCP : IPPROTO_NONE,
		       .hop_limit = 64},
		.port = htons(port),
	};

	memcpy(&frame.ip.saddr, &net, sizeof(net));
	return frame;
}

/* The program that sends it its packets. */
static inline int timing_sender(const struct timing *timing, const struct cell *cell)
{
	const struct measure_bpf *measure = timing->measure;

	if (cell->timed->table6)
		return bpf_program__fd(cell->traffic == CLEAN	? measure->progs.from_anywhere128
				       : cell->traffic == BELOW ? measure->progs.from_below128
								: measure->progs.from_table128);
	if (cell->timed->ipv6)
		return bpf_program__fd(cell->traffic == CLEAN ? measure->progs.from_anywhere6
							      : measure->progs.from_table6);
	return bpf_program__fd(cell->traffic == CLEAN ? measure->progs.from_anywhere
						      : measure->progs.from_table);
}

/* The line its sources begin with. */
static inline uint32_t timing_table(const struct cell *cell)
{
	if (cell->timed->table6)
		return cell->timed->table6 + (cell->traffic == BELOW ? TABLE_LINES : 0);
	return cell->traffic == NEAR ? TABLE_LINES : 0;
}

/* Nanoseconds a run. */
static inline double timing_run(const struct timing *timing, const struct cell *cell, uint32_t runs)
{
	struct frame4 frame4 = timing_frame4(cell->timed->port);
	struct frame6 frame6 = timing_frame6(cell->timed->port);
	bool ipv6 = cell->timed->ipv6 || cell->timed->table6;
	uint32_t size = ipv6 ? sizeof(frame6) : sizeof(frame4);
	struct xdp_md context = {.data_end = size, .ingress_ifindex = LOOPBACK};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = ipv6 ? (void *)&frame6 : (void *)&frame4,
		    .data_size_in = size, .ctx_in = &context, .ctx_size_in = sizeof(context),
		    .repeat = (int)runs);
	int program = timing_sender(timing, cell);
	double start;

	timing->measure->bss->table_first = timing_table(cell);
	if (cell->timed->lines)
		timing->measure->bss->bare_lines = cell->timed->lines;
	start = now_ns();
	must(bpf_prog_test_run_opts(program, &options) ? -errno : 0, "run");
	return (now_ns() - start) / runs;
}

static inline void timing_measure(const struct timing *timing, struct cell *cell, bool keep)
{
	uint32_t zero = 0, fewer = cell->timed->fewer;
	uint32_t runs = timing->repeats / (fewer ? fewer : 1);
	int slot = bpf_map__fd(timing->measure->maps.measured);
	struct verdicts found;
	double ns;

	must(bpf_map_update_elem(slot, &zero, &cell->timed->program, BPF_ANY) ? -errno : 0, "slot");
	timing_run(timing, cell, runs); /* the last subject's lines leave the cache */
	verdicts_since(timing);
	ns = timing_run(timing, cell, runs);
	found = verdicts_since(timing);
	/* A figure is worth something only if every run went the way it is named for. */
	if (!as_named(cell, found, runs)) {
		fprintf(stderr, "%s: %s, %s: of %u runs %llu dropped, %llu allowed, %llu passed\n",
			program_invocation_short_name, cell->timed->name,
			traffic_names[cell->traffic], runs, (unsigned long long)found.dropped,
			(unsigned long long)found.allowed, (unsigned long long)found.passed);
		exit(1);
	}
	if (!keep)
		return;
	json_array_append_new(cell->samples, json_real(ns));
	cell->runs += runs;
	cell->dropped += found.dropped;
}

static inline bool timing_has(const struct timing *timing, const struct timed *timed,
			      enum traffic traffic)
{
	if (traffic == NEAR)
		return timed->near && timing->near_count;
	return traffic != BELOW || timed->table6;
}

/* Everything takes its turn in each round. */
static inline void timing_rounds(struct timing *timing, uint32_t rounds)
{
	for (enum traffic traffic = CLEAN; traffic < TRAFFICS; traffic++)
		for (size_t i = 0; i < timing->timed_count; i++)
			if (timing_has(timing, &timing->timed[i], traffic))
				timing->cells[timing->cell_count++] =
					(struct cell){.timed = &timing->timed[i],
						      .traffic = traffic,
						      .samples = json_array()};
	/* Round 0 is not kept. Where a round begins moves on, so that no subject is always first.
	 */
	for (uint32_t round = 0; round <= rounds; round++)
		for (size_t i = 0; i < timing->cell_count; i++)
			timing_measure(timing, &timing->cells[(i + round) % timing->cell_count],
				       round);
}

/* By traffic and name: nanoseconds per run, a number for each round (programs of one name behind
 * each other), and the share dropped. */
static inline void timing_report(const struct timing *timing, json_t *report)
{
	json_t *ns = json_object(), *dropped = json_object();

	for (enum traffic traffic = CLEAN; traffic < TRAFFICS; traffic++) {
		json_object_set_new(ns, traffic_names[traffic], json_object());
		json_object_set_new(dropped, traffic_names[traffic], json_object());
	}
	for (size_t i = 0; i < timing->cell_count; i++) {
		const struct cell *cell = &timing->cells[i];
		const char *traffic = traffic_names[cell->traffic];

		json_t *of_name = json_object_get(json_object_get(ns, traffic), cell->timed->name);

		if (of_name) {
			json_array_extend(of_name, cell->samples);
			json_decref(cell->samples);
			continue;
		}
		json_object_set_new(json_object_get(ns, traffic), cell->timed->name, cell->samples);
		json_object_set_new(json_object_get(dropped, traffic), cell->timed->name,
				    json_real((double)cell->dropped / (double)cell->runs));
	}
	json_object_set_new(report, "ns", ns);
	json_object_set_new(report, "dropped", dropped);
}

#endif
