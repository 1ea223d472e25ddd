/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_followers CONFIG DIRECTORY COUNT PROCESSES: hosts of a fleet without interfaces: all that
 * bloomd does to follow, up to the commit to a store of their own below DIRECTORY. bloomd-redis
 * has to lie beside this program. A line POSITION on standard input is answered by one of JSON:
 * how many hosts have that entry of the log, how many read, and when each of them got to where it
 * is (CLOCK_MONOTONIC).
 */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/patience.h"
#include "base/program.h"
#include "bloomd/base/log.h"
#include "bloomd/configfile.h"
#include "bloomd/fleet/fleet.h"
#include "bloomd/fleet/parts.h"

#define LOOK_EVERY 20000 /* us, whether the next one may start */

/* Of one host, for the process that answers. */
struct place {
	uint64_t position;
	double when;
	bool reads;
};

struct host {
	struct agent agent;
	struct fleet *fleet;
	char state[256], pins[256], run[256];
	struct place *place;
};

static struct host *hosts;
static size_t started, count;
static sd_event *loop;
static const struct config *config;

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "bench_followers: %s: %s\n", what, xb_error_message());
	exit(1);
}

/* Behind each event: which hosts have got on. */
static int on_event(sd_event_source *source, void *context)
{
	(void)source;
	(void)context;
	for (size_t i = 0; i < started; i++) {
		const struct fleet *fleet = hosts[i].fleet;
		struct place *place = hosts[i].place;

		place->reads = fleet->phase == FLEET_READING;
		if (place->position == fleet->view.fleet.position)
			continue;
		place->when = seconds_now();
		place->position = fleet->view.fleet.position;
	}
	return 0;
}

static void make(char path[256], const char *directory, size_t number, const char *name)
{
	snprintf(path, 256, "%s/%zu/%s", directory, number, name);
	mkdir(path, 0700);
}

static void prepare(struct host *host, const char *directory, size_t number, struct place *places)
{
	char top[256];

	snprintf(top, sizeof(top), "%s/%zu", directory, number);
	mkdir(top, 0700);
	make(host->state, directory, number, "state");
	make(host->pins, directory, number, "pins");
	make(host->run, directory, number, "run");
	host->agent = (struct agent){.paths = {host->state, host->pins, host->run},
				     .config = config,
				     .loop = loop,
				     .lock = -1};
	host->place = &places[number];
}

static void start(struct host *host)
{
	if (fleet_start(&host->agent, &host->fleet) || !host->fleet)
		fail("cannot start a host");
	started++;
}

/* A host starts two processes and asks for the whole list, for which others would have a machine of
 * their own. So the next one waits until it reads. */
static int on_start(sd_event_source *source, uint64_t time, void *context)
{
	(void)time;
	(void)context;
	if (!started || hosts[started - 1].place->reads)
		start(&hosts[started]);
	if (started == count)
		return 0;
	sd_event_source_set_time_relative(source, LOOK_EVERY);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* In the child: the hosts from `first` on. */
static _Noreturn void follow(const char *directory, size_t first, struct place *places)
{
	sigset_t signals;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	hosts = calloc(count, sizeof(*hosts));
	if (!hosts || sd_event_new(&loop) < 0)
		exit(1);
	for (size_t i = 0; i < count; i++)
		prepare(&hosts[i], directory, first + i, places);
	if (sd_event_add_time_relative(loop, NULL, CLOCK_MONOTONIC, 0, 0, on_start, NULL) < 0 ||
	    sd_event_add_post(loop, NULL, on_event, NULL) < 0)
		exit(1);
	exit(sd_event_loop(loop) ? 1 : 0);
}

static void answer(const struct place *places, size_t all, uint64_t position)
{
	json_t *times = json_array(), *told;
	size_t have = 0, read = 0;

	for (size_t i = 0; i < all; i++) {
		const struct place *place = &places[i];

		read += place->reads;
		if (place->position < position)
			continue;
		have++;
		json_array_append_new(times, json_real(place->when));
	}
	told = json_pack("{s:I,s:I,s:o}", "have", (json_int_t)have, "read", (json_int_t)read,
			 "times", times);
	json_dumpf(told, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
	putchar('\n');
	fflush(stdout);
	json_decref(told);
}

int main(int argc, char **argv)
{
	size_t all = argc == 5 ? strtoul(argv[3], NULL, 10) : 0,
	       processes = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
	struct place *places;
	struct config *read;
	char line[64];

	if (!all || !processes || all % processes) {
		fprintf(stderr, "usage: bench_followers CONFIG DIRECTORY COUNT PROCESSES, a part "
				"of COUNT; scripts/bench --fleet does it\n");
		return 2;
	}
	xb_program_set("bench_followers", NULL);
	log_begin();
	xb_patience_set(0);
	if (config_read(argv[1], true, &read))
		fail(argv[1]);
	config = read;
	places = mmap(NULL, all * sizeof(*places), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	count = all / processes;
	for (size_t i = 0; places != MAP_FAILED && i < processes; i++)
		if (!fork())
			follow(argv[2], i * count, places);
	while (places != MAP_FAILED && fgets(line, sizeof(line), stdin))
		answer(places, all, strtoull(line, NULL, 10));
	return 0;
}
