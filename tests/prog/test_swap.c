/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thousand swaps under full-rate traffic on two interfaces. Sockets behind the filter see what
 * really passed. */
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
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <net/if.h>

#include "sender.skel.h"
#include "store/wanted.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/rig.h"

#define INTERFACES 2
#define SWAPS	   amount(200, 1000)
#define FLIPS	   amount(12, 40)
#define LISTED	   1024

static struct rig rig;
static struct sender_bpf *sender;
static bool stop;

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

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
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
static void read_counts(const struct xb_anchor *anchor, struct xb_counts counts[INTERFACES])
{
	struct xb_enrolled *all;
	size_t count;

	assert_int_equal(xb_anchor_enrolled(anchor, &all, &count), 0);
	assert_int_equal(count, INTERFACES);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(
			xb_anchor_counts(anchor, all[i].row, &counts[all[i].name[2] - '0']), 0);
	free(all);
}

/* The interface's own count. (/sys shows another namespace's.) */
static uint64_t figure(const char *name, int column)
{
	FILE *file = fopen("/proc/net/dev", "r");
	char line[512], device[64], *at;
	uint64_t value = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %63[^:]:", device) != 1 || strcmp(device, name) != 0)
			continue;
		at = strchr(line, ':') + 1;
		for (int i = 0; i <= column; i++)
			value = strtoul(at, &at, 10);
		break;
	}
	fclose(file);
	return value;
}

static uint64_t received(const char *name)
{
	return figure(name, 1);
}

/* What was sent and did not get into the queue. */
static uint64_t refused(const char *name)
{
	return figure(name, 11);
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

/* The second half is listed for the service that the frames ask for. */
static void list_sources(void)
{
	struct xb_entry entries[LISTED];

	for (uint32_t i = 0; i < LISTED; i++)
		entries[i] = (struct xb_entry){
			.hi = (uint64_t)(0x0a010000 + i) << 32, .kind = XB_HOST4, .length = 32};
	rig_add_all(&rig, entries, LISTED / 2);
	rig_add_all_to(&rig, entries + LISTED / 2, LISTED / 2, "scoped");
	rig_scope(&rig, "scoped", "udp");
	rig_add(&rig, "10.2.0.0/16", "default");
}

/* What was sent, what arrived, what each side counted: all must agree. confirmed: the exact stage
 * was there throughout. */
static void check_interface(uint32_t i, const struct xb_counts *counts, uint64_t listed_passed,
			    uint64_t clean_passed, uint64_t arrived, bool confirmed)
{
	uint64_t dropped = counts->reason[XB_LISTED_IPV4_HOST].packets +
			   counts->reason[XB_LISTED_IPV4_PREFIX].packets +
			   counts->reason[XB_SCOPED_DROPPED].packets;
	uint64_t clean = counts->reason[XB_CLEAN].packets + counts->reason[XB_UNCONFIRMED].packets;
	uint64_t all = 0;
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
		assert_true((double)(dropped - sent.listed) <=
			    (confirmed ? 0 : 1.1 * XB_DEFAULT_RATE) * (double)sent.clean);
	}
}

/* Traffic on both interfaces, and what is known of it. */
struct watch {
	pthread_t threads[INTERFACES];
	int listed_counter[INTERFACES], clean_counter[INTERFACES];
	uint64_t listed_passed[INTERFACES], clean_passed[INTERFACES];
	uint64_t received[INTERFACES], refused[INTERFACES];
	struct xb_counts counts[INTERFACES];
};

static void read_all_counts(struct xb_counts counts[INTERFACES])
{
	struct xb_anchor anchor;

	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	read_counts(&anchor, counts);
	xb_anchor_close(&anchor);
}

static void begin_watch(struct watch *watch)
{
	*watch = (struct watch){0};
	for (int i = 0; i < INTERFACES; i++) {
		char name[IF_NAMESIZE];

		snprintf(name, sizeof(name), "in%d", i);
		watch->listed_counter[i] = counter(name, 10);
		watch->clean_counter[i] = counter(name, 172);
		watch->received[i] = received(name);
		snprintf(name, sizeof(name), "out%d", i);
		watch->refused[i] = refused(name);
	}
	read_all_counts(watch->counts);
	__atomic_store_n(&stop, false, __ATOMIC_RELAXED);
	begin_traffic(watch->threads);
}

static void look(struct watch *watch)
{
	for (int i = 0; i < INTERFACES; i++) {
		watch->listed_passed[i] += counted(watch->listed_counter[i]);
		watch->clean_passed[i] += counted(watch->clean_counter[i]);
	}
}

/* Less what was counted before. */
static void subtract(struct xb_counts *counts, const struct xb_counts *before)
{
	for (int reason = 0; reason < XB_REASON_COUNT; reason++)
		counts->reason[reason].packets -= before->reason[reason].packets;
}

static bool all_has_arrived(const struct watch *watch)
{
	for (uint32_t i = 0; i < INTERFACES; i++) {
		struct sender_state sent;
		char in[IF_NAMESIZE], out[IF_NAMESIZE];

		snprintf(in, sizeof(in), "in%u", i);
		snprintf(out, sizeof(out), "out%u", i);
		assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(sender->maps.senders), &i, &sent),
				 0);
		if (received(in) - watch->received[i] + refused(out) - watch->refused[i] <
		    sent.listed + sent.clean)
			return false;
	}
	return true;
}

static void stop_traffic(struct watch *watch)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < INTERFACES; i++)
		pthread_join(watch->threads[i], NULL);
	for (int tries = 0; !all_has_arrived(watch) && tries < 3000; tries++)
		usleep(20000);
	usleep(200000); /* they are counted before the sockets have them */
}

static void end_watch(struct watch *watch)
{
	for (int i = 0; i < INTERFACES; i++) {
		close(watch->listed_counter[i]);
		close(watch->clean_counter[i]);
	}
	sender_bpf__destroy(sender);
}

static void check_watch(struct watch *watch, bool confirmed)
{
	struct xb_counts now[INTERFACES];

	look(watch);
	read_all_counts(now);
	for (uint32_t i = 0; i < INTERFACES; i++) {
		char name[IF_NAMESIZE];

		snprintf(name, sizeof(name), "in%u", i);
		subtract(&now[i], &watch->counts[i]);
		check_interface(i, &now[i], watch->listed_passed[i], watch->clean_passed[i],
				received(name) - watch->received[i], confirmed);
	}
}

/* A listed source of our own, which no interface sends: each acknowledged state is in force. */
static void allow_and_disallow(int program, int swap)
{
	const uint32_t source = 0xc0000201;

	assert_int_equal(rig_run_ipv4(program, source), swap % 2 ? XDP_PASS : XDP_DROP);
	if (swap % 2)
		assert_true(rig_disallow(&rig, "192.0.2.1"));
	else
		rig_allow(&rig, "192.0.2.1");
	assert_int_equal(rig_run_ipv4(program, source), swap % 2 ? XDP_DROP : XDP_PASS);
}

static void swap_under_traffic(int swaps, bool confirmed)
{
	int program = rig_entry(&rig);
	struct watch watch;

	begin_watch(&watch);
	for (int swap = 0; swap < swaps; swap++) {
		if (confirmed)
			rig_rotate(&rig);
		else
			rig_confirm(&rig, swap % 2);
		/* Another class, and a swap by itself. */
		if (swap % 8 == 0)
			rig_scope(&rig, "scoped", swap % 16 ? "udp" : "udp,icmp");
		allow_and_disallow(program, swap);
		look(&watch);
	}
	/* As it was, also after an odd number. */
	if (swaps % 2)
		assert_true(rig_disallow(&rig, "192.0.2.1"));
	stop_traffic(&watch);
	check_watch(&watch, confirmed);
	end_watch(&watch);
	close(program);
}

TEST(swaps_under_traffic)
{
	swap_under_traffic(SWAPS - SWAPS / 4, true);
}

/* Every other generation only guesses. */
TEST(swaps_between_guess_and_exact_under_traffic)
{
	swap_under_traffic(SWAPS / 4, false);
	rig_confirm(&rig, true);
}

/* Until so many frames more have arrived on each interface, whatever became of them. */
static void await_frames(uint64_t count)
{
	for (int i = 0; i < INTERFACES; i++) {
		uint64_t start;
		char name[IF_NAMESIZE];

		snprintf(name, sizeof(name), "in%d", i);
		start = received(name);
		for (int tries = 0; received(name) - start < count; tries++) {
			assert_true(tries < 60000);
			usleep(1000);
		}
	}
}

/* Under each policy, once frames that were under way have arrived, on both interfaces. */
TEST(policies_under_traffic)
{
	static const struct {
		uint32_t policy;
		bool listed, clean; /* which pass */
	} expected[] = {
		{XB_POLICY_MONITOR, true, true},
		{XB_POLICY_ENFORCE, false, true},
		{XB_POLICY_ALLOW_ONLY, true, false},
		{XB_POLICY_ENFORCE, false, true},
	};
	struct watch watch;

	begin_watch(&watch);
	for (uint32_t flip = 0; flip < FLIPS; flip++) {
		uint32_t which = flip % 4;

		rig_policy(&rig, expected[which].policy);
		await_frames(512);
		look(&watch);
		memset(watch.listed_passed, 0, sizeof(watch.listed_passed));
		memset(watch.clean_passed, 0, sizeof(watch.clean_passed));
		await_frames(4096);
		look(&watch);
		for (int i = 0; i < INTERFACES; i++)
			if ((watch.listed_passed[i] > 0) != expected[which].listed ||
			    (watch.clean_passed[i] > 0) != expected[which].clean)
				fail_msg("in%d under policy %u: %lu listed and %lu clean passed", i,
					 expected[which].policy, watch.listed_passed[i],
					 watch.clean_passed[i]);
	}
	stop_traffic(&watch);
	end_watch(&watch);
}

static int begin(void **state)
{
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
	if (xb_write(&rig.paths, true, want, NULL, &rig.written))
		return -1;
	rig_add(&rig, "192.0.2.1", "default");
	return 0;
}

static int end(void **state)
{
	if (xb_write(&rig.paths, true, unwant, NULL, &rig.written))
		return -1;
	rig_end(&rig);
	return 0;
}

ALL_TESTS(begin, end);
