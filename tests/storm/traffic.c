/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traffic SEED: floods out0 and out1, and counts on in0 and in1 what has come through the filter.
 * Reads words, a line each, and answers each with a line:
 *
 * look: for each interface what was sent and what has passed, of each kind, as JSON. go: a look,
 * and the flood begins. rest: it ends, and a look at all that was under way. list: what is listed
 * for all packets, an entry a line, and an empty line. scoped: the same of what is listed for
 * STORM_PORT.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storm/storm.h"
#include "storm.skel.h"
#include "support/dns.h"

#define INTERFACES 2
#define BATCH	   (1 << 13) /* frames, after which a sender looks whether it is to go on */
#define STILL	   5	     /* looks at queues that do not move, until they are empty */
#define PATIENCE   3000	     /* looks at frames that neither came nor found a full queue */

struct side {
	struct storm_bpf *skeleton;
	pthread_t thread;
};

static struct side sides[INTERFACES];
static volatile bool stop = true;

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void make_frame(enum storm_kind kind, void *out)
{
	static const char *const names[STORM_KINDS] = {[STORM_NAME] = "www.listed.storm.test",
						       [STORM_CLEAN_NAME] = "www.clean.storm.test"};
	bool scoped = kind == STORM_SCOPED4 || kind == STORM_SCOPED6;
	struct dns_shape shape = {.ipv6 = kind == STORM_NET6 || kind == STORM_SCOPED6 ||
					  kind == STORM_CLEAN6,
				  .port = scoped ? STORM_PORT : 9};
	struct dns_frame frame = {0};

	if (names[kind])
		dns_query(names[kind], false, &frame);
	else
		dns_wrap(&shape, (const uint8_t *)"storm", 5, &frame);
	must(frame.size <= STORM_FRAME, "frame");
	frame.byte[STORM_KIND_AT] = (uint8_t)kind;
	memcpy(out, frame.byte, STORM_FRAME);
}

static uint32_t index_of(const char *name, int number)
{
	char text[IF_NAMESIZE];
	uint32_t ifindex;

	snprintf(text, sizeof(text), "%s%d", name, number);
	ifindex = if_nametoindex(text);
	must(ifindex, text);
	return ifindex;
}

static void open_side(int number, uint32_t seed)
{
	struct storm_bpf *skeleton = storm_bpf__open();
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)index_of("in", number),
		    .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, attach);

	must(skeleton, "open");
	skeleton->rodata->ifindex = index_of("out", number);
	skeleton->rodata->seed = seed;
	/* Each its own part of the numbers. */
	skeleton->bss->number = (uint64_t)number << 30;
	for (int kind = 0; kind < STORM_KINDS; kind++)
		make_frame(kind, (void *)&skeleton->rodata->frames[kind]);
	must(!storm_bpf__load(skeleton), "load");
	attach.prog_fd = bpf_program__fd(skeleton->progs.storm_receive);
	must(!bpf_tc_hook_create(&hook) && !bpf_tc_attach(&hook, &attach), "receiver");
	sides[number].skeleton = skeleton;
}

static void *flood(void *context)
{
	int program = bpf_program__fd(((struct side *)context)->skeleton->progs.storm_send);
	uint8_t frame[STORM_FRAME] = {0};

	while (!stop) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame,
			    .data_size_in = sizeof(frame), .repeat = BATCH,
			    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = 64);

		must(!bpf_prog_test_run_opts(program, &options) || errno == EINTR, "live frames");
	}
	return NULL;
}

static void go(void)
{
	stop = false;
	for (int i = 0; i < INTERFACES; i++)
		must(!pthread_create(&sides[i].thread, NULL, flood, &sides[i]), "thread");
}

/* Of the interfaces, drops by XDP among them: frames that came into the queues, and that found them
 * full. */
static uint64_t arrived(void)
{
	FILE *file = fopen("/proc/net/dev", "r");
	unsigned long packets, refused;
	uint64_t sum = 0;
	char line[512], device[64];

	must(file, "/proc/net/dev");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " %63[^:]: %*u %lu %*u %*u %*u %*u %*u %*u %*u %*u %*u %lu",
			   device, &packets, &refused) == 3)
			sum += !strncmp(device, "in", 2)    ? packets
			       : !strncmp(device, "out", 3) ? refused
							    : 0;
	fclose(file);
	return sum;
}

static uint64_t sent(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < INTERFACES; i++)
		for (int kind = 0; kind < STORM_KINDS; kind++)
			sum += ((const volatile __u64 *)sides[i].skeleton->bss->sent)[kind];
	return sum;
}

static void rest(void)
{
	uint64_t before = 0, now;

	if (stop)
		return;
	stop = true;
	for (int i = 0; i < INTERFACES; i++)
		pthread_join(sides[i].thread, NULL);
	/* The queue of a veth has 256 frames, which may wait for a processor that others have. */
	for (int still = 0, looks = 0; still < STILL;) {
		usleep(20000);
		now = arrived();
		still = now == before && (now >= sent() || ++looks > PATIENCE) ? still + 1 : 0;
		before = now;
	}
}

static void print_counts(const char *name, const __u64 *counts, const char *end)
{
	printf("\"%s\":[", name);
	for (int kind = 0; kind < STORM_KINDS; kind++)
		printf("%s%llu", kind ? "," : "", ((const volatile __u64 *)counts)[kind]);
	printf("]%s", end);
}

static void look(void)
{
	for (int i = 0; i < INTERFACES; i++) {
		printf(i ? ",{" : "[{");
		print_counts("sent", sides[i].skeleton->bss->sent, ",");
		print_counts("passed", sides[i].skeleton->bss->received, "}");
	}
	printf("]\n");
}

static void list_entry4(uint32_t address, int length)
{
	struct in_addr in = {htonl(address)};

	printf("%s/%d\n", inet_ntoa(in), length);
}

static void list_net6(uint64_t hi, int length)
{
	printf("%x:%x:%x:%x::/%d\n", (unsigned int)(hi >> 48), (unsigned int)(hi >> 32 & 0xffff),
	       (unsigned int)(hi >> 16 & 0xffff), (unsigned int)(hi & 0xffff), length);
}

static void list(uint32_t seed)
{
	for (uint32_t i = 0; i < STORM_HOSTS; i++)
		list_entry4(storm_host4(i, seed), 32);
	for (uint32_t i = 0; i < STORM_PREFIXES; i++)
		list_entry4(storm_prefix4(i, seed), 20);
	for (uint32_t i = 0; i < 2 * STORM_NETS6; i++)
		list_net6(storm_net6(i), i & 1 ? 64 : 32);
	list_entry4(STORM_ALLOWED4, 24);
	printf("\n");
}

static void list_scoped(uint32_t seed)
{
	for (uint32_t i = 0; i < STORM_SCOPED; i++)
		list_entry4(storm_scoped4(i, seed), 32);
	for (uint32_t i = 0; i < STORM_NETS6; i++)
		list_net6(storm_scoped6(i), 64);
	printf("\n");
}

int main(int argc, char **argv)
{
	uint32_t seed = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 0) : 0;
	char line[64];

	if (argc != 2) {
		fprintf(stderr, "usage: traffic SEED; the storm does it\n");
		return 2;
	}
	for (int i = 0; i < INTERFACES; i++)
		open_side(i, seed);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "list\n")) {
			list(seed);
		} else if (!strcmp(line, "scoped\n")) {
			list_scoped(seed);
		} else {
			if (!strcmp(line, "rest\n"))
				rest();
			look();
			if (!strcmp(line, "go\n"))
				go();
		}
		fflush(stdout);
	}
	rest();
	for (int i = 0; i < INTERFACES; i++)
		storm_bpf__destroy(sides[i].skeleton);
	return 0;
}
