/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_answers IFACE MAC FROM TO NAMES: for each COUNT in the input, asks so many questions for
 * names of NAMES listed ones, as fast as they can be made, out of IFACE to the machine with this
 * MAC and address, and counts what comes back. Prints a line with one JSON object for each:
 * nanoseconds of the generator alone, of all, of a frame by the kernel's clock, and answers by
 * response code. Runs in the namespace of IFACE.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <jansson.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/live.h"
#include "bench/question.h"

#include "ask.skel.h" /* behind the structures it names */

#define CODES 16

/* Wall time: the receiver's work is done by softirqs on the CPU that sends. *frame_ns: of a frame,
 * by the kernel's clock, see live_run(). */
static double run(int program, const struct frame *frame, uint32_t size, uint32_t count,
		  double *frame_ns)
{
	double start = now_ns();

	*frame_ns = live_run(program, frame, size, count);
	return now_ns() - start;
}

static void read_answers(int map, uint64_t answers[CODES])
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *each = calloc((size_t)cpus, sizeof(*each));

	must(each ? 0 : -ENOMEM, "answers");
	for (uint32_t code = 0; code < CODES; code++) {
		must(bpf_map_lookup_elem(map, &code, each) ? -errno : 0, "answers");
		answers[code] = 0;
		for (int cpu = 0; cpu < cpus; cpu++)
			answers[code] += each[cpu];
	}
	free(each);
}

static void ask_all(struct ask_bpf *skeleton, const struct frame *frame, uint32_t size,
		    uint32_t count)
{
	int map = bpf_map__fd(skeleton->maps.answers);
	uint64_t before[CODES], after[CODES];
	json_t *codes = json_object(), *all;
	double alone, over, frame_ns;

	alone = run(bpf_program__fd(skeleton->progs.ask_nobody), frame, size, count, &frame_ns);
	read_answers(map, before);
	over = run(bpf_program__fd(skeleton->progs.ask_over), frame, size, count, &frame_ns);
	usleep(20000); /* what is still on the way */
	read_answers(map, after);
	for (int code = 0; code < CODES; code++) {
		char name[8];

		snprintf(name, sizeof(name), "%d", code);
		if (after[code] > before[code])
			json_object_set_new(codes, name,
					    json_integer((json_int_t)(after[code] - before[code])));
	}
	all = json_pack("{s:I,s:f,s:f,s:f,s:o}", "asked", (json_int_t)count, "alone_ns", alone,
			"ns", over, "frame_ns", frame_ns, "answers", codes);
	json_dumpf(all, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(all);
	must(fflush(stdout) ? -errno : 0, "output");
}

int main(int argc, char **argv)
{
	struct frame frame = {.ip.protocol = IPPROTO_UDP,
			      .udp = {.source = htons(40000), .dest = htons(53)}};
	struct ask_bpf *skeleton;
	uint32_t size, count;
	int ifindex;

	if (argc != 6) {
		fprintf(stderr, "usage: bench_answers IFACE MAC FROM TO NAMES; scripts/bench does "
				"it\n");
		return 2;
	}
	libbpf_set_print(NULL);
	ifindex = (int)if_nametoindex(argv[1]);
	must(ifindex ? 0 : -errno, argv[1]);
	skeleton = ask_bpf__open_and_load();
	must(skeleton ? 0 : -errno, "load");
	parse_mac(argv[2], frame.ethernet.h_dest);
	frame.ethernet.h_source[0] = 2;
	must(inet_pton(AF_INET, argv[3], &frame.ip.saddr) == 1 ? 0 : -EINVAL, argv[3]);
	must(inet_pton(AF_INET, argv[4], &frame.ip.daddr) == 1 ? 0 : -EINVAL, argv[4]);
	size = put_question("????????.example.com", &frame, &skeleton->bss->ask);
	skeleton->bss->ask.ifindex = (uint32_t)ifindex;
	skeleton->bss->ask.first = 'n';
	skeleton->bss->ask.count = (uint32_t)strtoul(argv[5], NULL, 10);
	must(bpf_xdp_attach(ifindex, bpf_program__fd(skeleton->progs.collect), XDP_FLAGS_DRV_MODE,
			    NULL),
	     "attach");
	while (scanf("%u", &count) == 1)
		ask_all(skeleton, &frame, size, count);
	bpf_xdp_detach(ifindex, XDP_FLAGS_DRV_MODE, NULL);
	ask_bpf__destroy(skeleton);
	return 0;
}
