/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs need to be timed: pins of their own, and a link whose counters tell what became of
 * the runs. */
#ifndef XB_BENCH_HOME_H
#define XB_BENCH_HOME_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <jansson.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/anchor.h"
#include "base/error.h"
#include "base/paths.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define LOOPBACK	1

struct home {
	char pins[256];
	struct xb_paths paths;
	struct xb_anchor anchor;
};

/* Ends the process; what is to be removed is left to atexit(). */
static inline void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		xb_error_class() ? xb_error_message() : strerror(-error));
	exit(1);
}

/* Pins go below XB_TEST_BPFFS, counters below XB_TEST_DIR. */
static inline void home_open(struct home *home)
{
	const char *bpffs = getenv("XB_TEST_BPFFS"), *directory = getenv("XB_TEST_DIR");

	must(bpffs && directory ? 0 : -ENOENT, "XB_TEST_BPFFS, XB_TEST_DIR");
	libbpf_set_print(NULL);
	snprintf(home->pins, sizeof(home->pins), "%s/bench-%d", bpffs, (int)getpid());
	home->paths = (struct xb_paths){directory, home->pins, directory};
	home->anchor = (struct xb_anchor){.identity = -1,
					  .slot = -1,
					  .ifaces = -1,
					  .stats = -1,
					  .watch = -1,
					  .drops = -1,
					  .entry = -1};
	must(xb_anchor_create(home->pins, XB_FLAVOUR_LINK, &home->anchor), "link");
	must(xb_anchor_enrol(&home->anchor, LOOPBACK, "lo"), "enrol");
}

static inline void home_close(struct home *home)
{
	xb_anchor_close(&home->anchor);
	xb_anchor_destroy(home->pins);
	rmdir(home->pins);
}

/* Before the object is loaded. Programs share a program array, so they must agree on multi-buffer
 * support. */
static inline void home_count_into(const struct home *home, struct bpf_object *object,
				   struct bpf_map *ifaces, struct bpf_map *stats)
{
	struct bpf_program *program;

	must(bpf_map__reuse_fd(ifaces, home->anchor.ifaces), "reuse");
	must(bpf_map__reuse_fd(stats, home->anchor.stats), "reuse");
	bpf_object__for_each_program (program, object)
		bpf_program__set_flags(program, BPF_F_XDP_HAS_FRAGS);
}

/* Of all runs so far. */
static inline struct xb_counts home_counts(const struct home *home)
{
	struct xb_iface_cell cell = {0};
	uint32_t index = LOOPBACK;
	struct xb_counts counts;

	must(bpf_map_lookup_elem(home->anchor.ifaces, &index, &cell) ? -errno : 0, "row");
	must(cell.ifindex == LOOPBACK ? 0 : -ENOENT, "row");
	must(xb_anchor_counts(&home->anchor, cell.row, &counts), "statistics");
	return counts;
}

/* Not the wall's: what other processes take of this CPU is not the program's cost. */
static inline double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline void print_report(json_t *report)
{
	must(report ? 0 : -ENOMEM, "report");
	json_dumpf(report, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(report);
}

#endif
