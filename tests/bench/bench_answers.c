/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_answers IFACE MAC FROM TO NAMES: for each COUNT in the input, asks so many questions for
 * names of NAMES listed ones, as fast as they can be made, out of IFACE to the machine with this
 * MAC and address, and counts what comes back. Prints a line with one JSON object for each:
 * nanoseconds of the generator alone, of all, and answers by response code. Runs in the namespace
 * of IFACE.
 */
#include <arpa/inet.h>
#include <linux/if_link.h>
#include <unistd.h>

#include "bench/live.h"
#include "bench/question.h"
#include "support/seconds.h"

#include "ask.skel.h" /* behind the structures it names */

#define CODES 16

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

/* Wall time: the receiver's work is done by softirqs on the CPU that sends. */
static void ask_all(struct ask_bpf *skeleton, const struct dns_frame *frame, uint32_t count)
{
	int map = bpf_map__fd(skeleton->maps.answers);
	uint64_t before[CODES], after[CODES];
	double start = seconds(), alone, over;
	json_t *codes = json_object();

	live_run(skeleton->progs.ask_nobody, frame->byte, frame->size, count);
	alone = seconds() - start;
	read_answers(map, before);
	start = seconds();
	live_run(skeleton->progs.ask_over, frame->byte, frame->size, count);
	over = seconds() - start;
	usleep(20000); /* what is still on the way */
	read_answers(map, after);
	for (int code = 0; code < CODES; code++) {
		char name[8];

		snprintf(name, sizeof(name), "%d", code);
		if (after[code] > before[code])
			json_object_set_new(codes, name,
					    json_integer((json_int_t)(after[code] - before[code])));
	}
	print_json(json_pack("{s:I,s:f,s:f,s:o}", "asked", (json_int_t)count, "alone_ns",
			     1e9 * alone, "ns", 1e9 * over, "answers", codes));
}

int main(int argc, char **argv)
{
	struct dns_frame frame;
	struct ask_bpf *skeleton;
	uint32_t count;
	uint16_t sum = 0;
	struct ask *ask;
	int ifindex;

	must_have_arguments(argc == 6, "IFACE MAC FROM TO NAMES");
	libbpf_set_print(NULL);
	ifindex = (int)index_of(argv[1]);
	skeleton = ask_bpf__open_and_load();
	must(skeleton ? 0 : -errno, "load");
	ask = &skeleton->bss->ask;
	frame = question_frame("????????.example.com", ask);
	parse_mac(argv[2], frame.byte);
	for (int i = 0; i < 2; i++)
		must(inet_pton(AF_INET, argv[3 + i], frame.byte + QUESTION_SOURCE + 4 * i) == 1
			     ? 0
			     : -EINVAL,
		     argv[3 + i]);
	memcpy(frame.byte + QUESTION_IP_SUM, &sum, sizeof(sum));
	sum = htons(dns_checksum(frame.byte + QUESTION_IP, 20, 0));
	memcpy(frame.byte + QUESTION_IP_SUM, &sum, sizeof(sum));
	memcpy(ask->head, frame.byte, sizeof(ask->head));
	ask->ifindex = (uint32_t)ifindex;
	ask->first = 'n';
	ask->count = number_of(argv[5]);
	must(bpf_xdp_attach(ifindex, bpf_program__fd(skeleton->progs.collect), XDP_FLAGS_DRV_MODE,
			    NULL),
	     "attach");
	while (scanf("%u", &count) == 1)
		ask_all(skeleton, &frame, count);
	bpf_xdp_detach(ifindex, XDP_FLAGS_DRV_MODE, NULL);
	ask_bpf__destroy(skeleton);
	return 0;
}
