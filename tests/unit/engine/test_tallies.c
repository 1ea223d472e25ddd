/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tallies add up over processes, outlive them, and never stand in the way; and the text of metrics:
 * every byte of a sample, and labels that try to end it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/exposition.h"
#include "engine/metrics.h"
#include "engine/tallies.h"
#include "support/cmocka.h"

static char state_directory[64], run_directory[64];
static struct xb_paths here = {.state = state_directory, .run = run_directory, .pins = "/none"};

static int begin(void **state)
{
	strcpy(state_directory, "/tmp/xb-tallies-XXXXXX");
	if (!mkdtemp(state_directory))
		return -1;
	snprintf(run_directory, sizeof(run_directory), "%s/run", state_directory);
	return 0;
}

static int end(void **state)
{
	char command[96];

	xb_tallies_close();
	snprintf(command, sizeof(command), "rm -r %s", state_directory);
	return system(command);
}

/* What xb_tally_each() shows, a line a cell: LABEL1/LABEL2=VALUE. */
struct shown {
	char text[4096];
	size_t count;
};

static void show(const struct xb_tally_cell *cell, void *context)
{
	struct shown *shown = context;
	size_t size = strlen(shown->text);

	shown->count++;
	snprintf(shown->text + size, sizeof(shown->text) - size, "%s/%s=%llu ", cell->label[0],
		 cell->label[1], (unsigned long long)cell->value);
}

static struct shown look(enum xb_tally family)
{
	struct shown shown = {.count = 0};

	xb_tally_each(&here, family, show, &shown);
	return shown;
}

static void assert_shown(enum xb_tally family, const char *text)
{
	struct shown shown = look(family);

	assert_string_equal(shown.text, text);
}

/* The one file of counters. */
static const char *path_of_file(void)
{
	static char path[512];
	char pattern[sizeof(run_directory) + sizeof(XB_COUNTERS_DIRECTORY) + 4];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/" XB_COUNTERS_DIRECTORY "/*", run_directory);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
	globfree(&found);
	return path;
}

TEST(adds_by_label)
{
	xb_tally_add(&here, XB_TALLY_API_REQUESTS, "SADD", "ok", 2);
	xb_tally_add(&here, XB_TALLY_API_REQUESTS, "SADD", "error", 0);
	xb_tally_add(&here, XB_TALLY_API_REQUESTS, "PING", "ok", 1);
	xb_tally_add(&here, XB_TALLY_API_REQUESTS, "SADD", "ok", 3);
	assert_shown(XB_TALLY_API_REQUESTS, "SADD/ok=5 SADD/error=0 PING/ok=1 ");
	assert_shown(XB_TALLY_FEED_FETCHES, "");
}

static void copy(const struct xb_tally_cell *cell, void *context)
{
	memcpy(context, cell, sizeof(*cell));
}

TEST(has_a_histogram)
{
	struct xb_tally_cell cell;

	xb_tally_time(&here, XB_TALLY_COMMIT_SECONDS, xb_tally_bounds[0]);
	xb_tally_time(&here, XB_TALLY_COMMIT_SECONDS, xb_tally_bounds[0] + 1);
	xb_tally_time(&here, XB_TALLY_COMMIT_SECONDS, UINT64_C(3600) * 1000000000);
	xb_tally_each(&here, XB_TALLY_COMMIT_SECONDS, copy, &cell);
	assert_int_equal(cell.bucket[0], 1);
	assert_int_equal(cell.bucket[1], 1);
	assert_int_equal(cell.bucket[XB_TALLY_BOUNDS], 1);
	assert_int_equal(cell.value, 2 * xb_tally_bounds[0] + 1 + UINT64_C(3600) * 1000000000);
	for (size_t i = 1; i < XB_TALLY_BOUNDS; i++)
		assert_true(xb_tally_bounds[i] > xb_tally_bounds[i - 1]);
}

#define ADDERS 4
#define ROUNDS 20000

static void expire(uint64_t count)
{
	xb_tally_add(&here, XB_TALLY_EXPIRED, NULL, NULL, count);
}

static _Noreturn void add_much(void)
{
	char name[16];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		snprintf(name, sizeof(name), "feed%u", i % 50);
		xb_tally_add(&here, XB_TALLY_FEED_FETCHES, name, "ok", 1);
		expire(1);
	}
	kill(getpid(), SIGKILL);
	_exit(1);
}

static void add_value(const struct xb_tally_cell *cell, void *context)
{
	*(uint64_t *)context += cell->value;
}

static uint64_t total(enum xb_tally family)
{
	uint64_t sum = 0;

	xb_tally_each(&here, family, add_value, &sum);
	return sum;
}

/* They also find and make the file at the same time. */
TEST(adds_up_over_processes_that_are_killed)
{
	pid_t child[ADDERS];

	for (unsigned int i = 0; i < ADDERS; i++) {
		child[i] = fork();
		if (!child[i])
			add_much();
	}
	for (unsigned int i = 0; i < ADDERS; i++)
		assert_int_equal(waitpid(child[i], NULL, 0), child[i]);
	assert_int_equal(total(XB_TALLY_EXPIRED), ADDERS * ROUNDS);
	assert_int_equal(total(XB_TALLY_FEED_FETCHES), ADDERS * ROUNDS);
	assert_int_equal(look(XB_TALLY_FEED_FETCHES).count, 50); /* no labels twice */
}

TEST(outlives_a_restart)
{
	int status;
	pid_t child;

	expire(7);
	xb_tally_set(&here, XB_TALLY_FEED_ENTRIES, "drop", 100);
	xb_tallies_close();
	expire(1);
	/* The child has the descriptor, and not the mapping. */
	child = fork();
	if (!child) {
		expire(2);
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_shown(XB_TALLY_EXPIRED, "/=10 ");
	assert_shown(XB_TALLY_FEED_ENTRIES, "drop/=100 ");
}

TEST(begins_anew_where_the_file_is_wrong)
{
	static const off_t damages[] = {0, 8, -1}; /* the byte that is changed; -1: it is cut */

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		const char *path;
		uint8_t byte;
		int fd;

		expire(7);
		xb_tallies_close();
		path = path_of_file();
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (damages[i] < 0) {
			assert_int_equal(ftruncate(fd, 5000), 0);
		} else {
			assert_int_equal(pread(fd, &byte, 1, damages[i]), 1);
			byte ^= 1;
			assert_int_equal(pwrite(fd, &byte, 1, damages[i]), 1);
		}
		close(fd);
		assert_shown(XB_TALLY_EXPIRED, "/=0 ");
		expire(1);
		assert_shown(XB_TALLY_EXPIRED, "/=1 ");
		path_of_file();
		xb_tallies_close();
		unlink(path_of_file());
	}
}

/* What another has put there is neither followed nor written. */
TEST(does_not_follow_a_link)
{
	char target[96], path[512];
	struct stat st;

	expire(1);
	xb_tallies_close();
	snprintf(path, sizeof(path), "%s", path_of_file());
	snprintf(target, sizeof(target), "%s/moved", state_directory);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink(target, path), 0);
	assert_shown(XB_TALLY_EXPIRED, "/=0 ");
	expire(5);
	assert_shown(XB_TALLY_EXPIRED, "/=5 ");
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

TEST(looks_for_the_file_again)
{
	expire(7);
	xb_tallies_look(&here);
	assert_shown(XB_TALLY_EXPIRED, "/=7 ");
	unlink(path_of_file());
	expire(1); /* into what nobody sees */
	xb_tallies_look(&here);
	expire(2);
	assert_shown(XB_TALLY_EXPIRED, "/=2 ");
}

TEST(bounds_its_labels)
{
	struct shown shown;
	char name[200];

	for (unsigned int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "cause%u", i);
		xb_tally_add(&here, XB_TALLY_FLEET_RESYNCS, name, NULL, 1);
	}
	shown = look(XB_TALLY_FLEET_RESYNCS);
	assert_int_equal(shown.count, 32);
	assert_non_null(strstr(shown.text, "_other/=369 "));
	assert_int_equal(total(XB_TALLY_FLEET_RESYNCS), 400);
	/* Of a gauge, what finds no cell is nowhere. */
	for (unsigned int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "feed%u", i);
		xb_tally_set(&here, XB_TALLY_FEED_ENTRIES, name, 1);
	}
	assert_int_equal(total(XB_TALLY_FEED_ENTRIES), 199);
	/* A long one is cut. */
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	xb_tally_add(&here, XB_TALLY_API_REQUESTS, name, NULL, 1);
	assert_int_equal(strcspn(look(XB_TALLY_API_REQUESTS).text, "/"), XB_TALLY_LABEL - 1);
}

TEST(forgets_what_is_gone)
{
	xb_tally_add(&here, XB_TALLY_FEED_FETCHES, "a", "ok", 3);
	xb_tally_add(&here, XB_TALLY_FEED_FETCHES, "b", "ok", 1);
	xb_tally_add(&here, XB_TALLY_API_REQUESTS, "a", "ok", 1);
	xb_tally_set(&here, XB_TALLY_FEED_ENTRIES, "a", 5);
	xb_tally_forget(&here, XB_TALLY_FEED_ENTRIES, "a");
	assert_shown(XB_TALLY_FEED_FETCHES, "b/ok=1 ");
	assert_shown(XB_TALLY_FEED_ENTRIES, "");
	assert_shown(XB_TALLY_API_REQUESTS, "a/ok=1 ");
	xb_tally_add(&here, XB_TALLY_FEED_FETCHES, "a", "ok", 1);
	assert_shown(XB_TALLY_FEED_FETCHES, "a/ok=4 b/ok=1 ");
}

TEST(never_stands_in_the_way)
{
	struct xb_paths nowhere = here;

	nowhere.state = "/nowhere";
	xb_tally_add(&nowhere, XB_TALLY_EXPIRED, NULL, NULL, 1);
	nowhere = here;
	nowhere.run = "/proc/nowhere";
	xb_tally_add(&nowhere, XB_TALLY_EXPIRED, NULL, NULL, 1);
	xb_tally_set(&nowhere, XB_TALLY_FEED_ENTRIES, "a", 1);
	xb_tally_forget(&nowhere, XB_TALLY_FEED_ENTRIES, "a");
	xb_tally_time(&nowhere, XB_TALLY_COMMIT_SECONDS, 1);
	xb_tallies_look(&nowhere);
	expire(1);
	assert_shown(XB_TALLY_EXPIRED, "/=1 ");
}

/* --- the text of metrics ---------------------------------------------------------------------- */

static char *text;
static size_t text_size;
static FILE *out;

static int open_text(void **state)
{
	out = open_memstream(&text, &text_size);
	return out ? begin(state) : -1;
}

static int close_text(void **state)
{
	fclose(out);
	free(text);
	return end(state);
}

static void sample(const char *suffix, struct xb_label one, struct xb_label other, uint64_t value)
{
	xb_exposition_sample(out, "a", suffix,
			     (struct xb_label[XB_LABELS]){one, {NULL, "none"}, other}, value);
}

TEST_WITH(families_and_samples, open_text, close_text)
{
	xb_exposition_family(out, "trial_active", "gauge", "Whether one is on.");
	sample("", (struct xb_label){0}, (struct xb_label){0}, 0);
	sample("_bucket", (struct xb_label){"le", "+Inf"}, (struct xb_label){0}, UINT64_MAX);
	sample("", (struct xb_label){"x", "1"}, (struct xb_label){"y", ""}, 7);
	sample("", (struct xb_label){"x", "\"} 1\n\\\xff\t\xc3\xa4"}, (struct xb_label){0}, 1);
	xb_exposition_seconds(out, "a", "_sum", (struct xb_label[XB_LABELS]){{0}},
			      UINT64_C(12000000345));
	fflush(out);
	assert_string_equal(text, "# HELP xdp_bloom_trial_active Whether one is on.\n"
				  "# TYPE xdp_bloom_trial_active gauge\n"
				  "xdp_bloom_a 0\n"
				  "xdp_bloom_a_bucket{le=\"+Inf\"} 18446744073709551615\n"
				  "xdp_bloom_a{x=\"1\",y=\"\"} 7\n"
				  "xdp_bloom_a{x=\"\\\"} 1?\\\\??\xc3\xa4\"} 1\n"
				  "xdp_bloom_a_sum 12.000000345\n");
}

TEST_WITH(long_labels_are_cut_between_characters, open_text, close_text)
{
	char value[400];

	for (size_t i = 0; i < sizeof(value) - 1; i += 2)
		memcpy(value + i, "\xc3\xa4", 2);
	value[398] = '\0';
	sample("", (struct xb_label){"x", value}, (struct xb_label){0}, 1);
	fflush(out);
	assert_true(text_size < 200);
	assert_null(strchr(text, '?'));
	assert_string_equal(text + text_size - 4, "\"} 1\n" + 1);
}

/* A family that is in a file has its lines even before anything was added; looking makes none. */
TEST_WITH(without_a_file, open_text, close_text)
{
	static const char *const lines[] = {
		"expired_total 0",
		"commit_duration_seconds_bucket{le=\"0.0005\"} 0",
		"commit_duration_seconds_bucket{le=\"10\"} 0",
		"commit_duration_seconds_bucket{le=\"+Inf\"} 0",
		"commit_duration_seconds_sum 0.000000000",
		"commit_duration_seconds_count 0",
	};

	assert_shown(XB_TALLY_EXPIRED, "/=0 ");
	assert_shown(XB_TALLY_API_REQUESTS, "");
	xb_metrics_write_tallies(&here, out);
	fflush(out);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char line[128];

		snprintf(line, sizeof(line), "\nxdp_bloom_%s\n", lines[i]);
		if (!strstr(text, line))
			fail_msg("%s", lines[i]);
	}
	assert_non_null(strstr(text, "# TYPE xdp_bloom_api_requests_total counter\n"));
	assert_int_equal(access(run_directory, F_OK), -1);
}

EACH_TEST(begin, end);
