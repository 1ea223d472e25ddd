/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thousand swaps under full-rate traffic on two interfaces. Sockets behind the filter see what
 * really passed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <net/if.h>

#include "core/wanted.h"
#include "sender.skel.h"
#include "support/rig.h"

#define INTERFACES 2
#define SWAPS	   1000
#define LISTED	   1024

static struct rig rig;
static struct sender_bpf *sender;
static volatile bool stop;

struct sender_state {
	uint32_t ifindex;
	uint64_t listed, clean;
	uint64_t padding[5];
};

static void run(const char *command)
{
	if (system(command)) {
		fprintf(stderr, "failed: %s\n", command);
		exit(1);
	}
}

/* A socket that counts IPv4 frames whose source begins with this byte. */
static int counter(const char *name, uint8_t first)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 26),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 64),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = {.len = 4, .filter = code};
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP)};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), little = 4096;

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
	address.sll_ifindex = (int)if_nametoindex(name);
	assert_int_equal(bind(fd, (void *)&address, sizeof(address)), 0);
	return fd;
}

/* Frames since the last call, kept or not. */
static uint64_t counted(int fd)
{
	struct tpacket_stats stats;
	socklen_t size = sizeof(stats);

	assert_int_equal(getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size), 0);
	return stats.tp_packets;
}

static int want(struct xb_writer *writer, void *context)
{
	struct xb_wanted wanted = {.mode = XB_MODE_NATIVE};

	(void)context;
	for (int i = 0; i < INTERFACES; i++) {
		snprintf(wanted.name, sizeof(wanted.name), "in%d", i);
		if (xb_wanted_put(writer->txn, &wanted))
			return -EIO;
	}
	return 0;
}

static int unwant(struct xb_writer *writer, void *context)
{
	bool found;

	(void)context;
	return xb_wanted_remove(writer->txn, "in0", &found) ||
	       xb_wanted_remove(writer->txn, "in1", &found);
}

static void *send_all(void *context)
{
	uint32_t number = (uint32_t)(uintptr_t)context;
	int program =
		bpf_program__fd(number ? sender->progs.send_second : sender->progs.send_first);
	struct {
		struct ethhdr ethernet;
		struct iphdr ip;
		uint8_t rest[26];
	} __attribute__((packed)) frame = {
		.ethernet = {.h_dest = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
			     .h_proto = htons(ETH_P_IP)},
		.ip = {.version = 4, .ihl = 5, .tot_len = htons(46), .ttl = 64, .protocol = 17},
	};

	while (!stop) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = &frame,
			    .data_size_in = sizeof(frame), .repeat = 1 << 14,
			    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = 64);

		if (bpf_prog_test_run_opts(program, &options)) {
			fprintf(stderr, "live frames: %s\n", strerror(errno));
			exit(1);
		}
	}
	return NULL;
}

/* The statistics of in0 and in1. */
static void read_counts(const struct xb_link *link, struct xb_counts counts[INTERFACES])
{
	struct xb_enrolled *all;
	size_t count;

	assert_int_equal(xb_link_enrolled(link, &all, &count), 0);
	assert_int_equal(count, INTERFACES);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(xb_link_counts(link, all[i].row, &counts[all[i].name[2] - '0']),
				 0);
	free(all);
}

/* Packets the interface has received by its own count. (/sys shows another namespace's.) */
static uint64_t received(const char *name)
{
	FILE *file = fopen("/proc/net/dev", "r");
	unsigned long bytes, packets = 0;
	char line[512], device[64];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " %63[^:]: %lu %lu", device, &bytes, &packets) == 3 &&
		    !strcmp(device, name))
			break;
	fclose(file);
	return packets;
}

static void begin_traffic(pthread_t *threads)
{
	sender = sender_bpf__open_and_load();
	assert_non_null(sender);
	for (uint32_t i = 0; i < INTERFACES; i++) {
		struct sender_state state = {0};
		char name[IF_NAMESIZE];

		snprintf(name, sizeof(name), "out%u", i);
		state.ifindex = if_nametoindex(name);
		assert_int_equal(
			bpf_map_update_elem(bpf_map__fd(sender->maps.senders), &i, &state, 0), 0);
	}
	for (uintptr_t i = 0; i < INTERFACES; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, send_all, (void *)i), 0);
}

static void list_sources(void)
{
	struct xb_entry entries[LISTED];

	for (uint32_t i = 0; i < LISTED; i++)
		entries[i] = (struct xb_entry){
			.hi = (uint64_t)(0x0a010000 + i) << 32, .kind = XB_HOST4, .length = 32};
	rig_add_all(&rig, entries, LISTED);
	rig_add(&rig, "10.2.0.0/16", "default");
}

/* What was sent, what arrived, what each side counted: all must agree. */
static void check_interface(uint32_t i, const struct xb_counts *counts, uint64_t listed_passed,
			    uint64_t clean_passed, uint64_t arrived)
{
	uint64_t dropped = counts->reason[XB_LISTED_IPV4_HOST].packets +
			   counts->reason[XB_LISTED_IPV4_PREFIX].packets;
	uint64_t clean = counts->reason[XB_CLEAN].packets, all = 0;
	struct sender_state sent;

	for (int reason = 0; reason < XB_REASON_COUNT; reason++)
		all += counts->reason[reason].packets;
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(sender->maps.senders), &i, &sent), 0);
	printf("in%u: sent %lu listed and %lu clean, arrived %lu, dropped %lu, passed %lu clean "
	       "and %lu listed\n",
	       i, sent.listed, sent.clean, arrived, dropped, clean_passed, listed_passed);
	assert_int_equal(listed_passed, 0);
	assert_int_equal(counts->reason[XB_NO_GENERATION].packets, 0);
	assert_int_equal(all, arrived);
	assert_true(arrived <= sent.listed + sent.clean);
	assert_true(arrived >= (sent.listed + sent.clean) / 2);
	assert_true(clean_passed <= clean &&
		    clean - clean_passed <= counts->reason[XB_NOT_IP].packets + 64);
	if (arrived == sent.listed + sent.clean) {
		assert_true(dropped >= sent.listed);
		assert_true((double)(dropped - sent.listed) <= 1.1e-4 * (double)sent.clean);
	}
}

static void a_thousand_swaps_under_traffic(void **state)
{
	pthread_t threads[INTERFACES];
	uint64_t listed_passed[INTERFACES] = {0}, clean_passed[INTERFACES] = {0},
		 before[INTERFACES];
	int listed_counter[INTERFACES], clean_counter[INTERFACES];
	struct xb_link link;
	struct xb_counts counts[INTERFACES];

	(void)state;
	for (int i = 0; i < INTERFACES; i++) {
		char name[IF_NAMESIZE];

		snprintf(name, sizeof(name), "in%d", i);
		listed_counter[i] = counter(name, 10);
		clean_counter[i] = counter(name, 172);
		before[i] = received(name);
	}
	begin_traffic(threads);
	for (int swap = 0; swap < SWAPS; swap++) {
		rig_rotate(&rig);
		for (int i = 0; i < INTERFACES; i++) {
			listed_passed[i] += counted(listed_counter[i]);
			clean_passed[i] += counted(clean_counter[i]);
		}
	}
	stop = true;
	for (int i = 0; i < INTERFACES; i++)
		pthread_join(threads[i], NULL);
	usleep(200000);
	assert_int_equal(xb_link_open(rig.pins, &link), 0);
	read_counts(&link, counts);
	for (uint32_t i = 0; i < INTERFACES; i++) {
		char name[IF_NAMESIZE];

		snprintf(name, sizeof(name), "in%u", i);
		listed_passed[i] += counted(listed_counter[i]);
		clean_passed[i] += counted(clean_counter[i]);
		check_interface(i, &counts[i], listed_passed[i], clean_passed[i],
				received(name) - before[i]);
	}
	xb_link_close(&link);
	sender_bpf__destroy(sender);
}

static int begin(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWNET))
		return -1;
	run("ip link set lo up");
	for (int i = 0; i < INTERFACES; i++) {
		char command[512];

		snprintf(command, sizeof(command),
			 "sysctl -qw net.ipv6.conf.default.disable_ipv6=1;"
			 "ip link add out%d type veth peer name in%d && ip link set out%d up && ip "
			 "link set in%d up",
			 i, i, i, i);
		run(command);
	}
	rig_begin(&rig, "swap");
	list_sources();
	if (xb_write(&rig.paths, true, want, NULL))
		return -1;
	rig_add(&rig, "192.0.2.1", "default");
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (xb_write(&rig.paths, true, unwant, NULL))
		return -1;
	rig_end(&rig);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_swaps_under_traffic),
	};

	return cmocka_run_group_tests_name("swap", tests, begin, end);
}
