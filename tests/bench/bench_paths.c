/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_paths 4|6 BYTES PERCENT ENTRIES|FILE: sends frames of so many bytes, of whose sources so
 * many percent are listed: among the first ENTRIES addresses of bench_addresses, or in a prefix of
 * FILE (IPv4, one a line). For each line "IFACE MAC FIRST COUNT" of the input, it sends COUNT of
 * them, from the FIRST of a fixed order on, out of IFACE to this MAC as fast as they can be made,
 * and prints a line with one JSON object: how many were sent, how many of these were listed,
 * nanoseconds a frame, of the generator alone and of all. COUNT is in batches of 64. Runs in the
 * namespace of IFACE.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/if.h>

#include "bench/checksum.h"
#include "bench/live.h"
#include "bench/sources.h"

#include "bench/flood.h"
#include "bench/table.h"
#include "flood.skel.h" /* behind the structures it names */

#define BYTES_MAX 2048

struct bench {
	struct flood_bpf *skeleton;
	bool *listed; /* of each source in the table */
	uint32_t count;
	unsigned char frame[BYTES_MAX];
	uint32_t bytes;
};

/* Where a packet that passes ends, the same for all: it is for a multicast group that nobody is in
 * (RFC 6676, RFC 4291), so routing drops it right behind the prerouting hooks, unanswered and
 * without a look at its source. */
#define GROUP4 "233.252.0.1"
#define GROUP6 "ff0e::db8"

static void put_udp(struct udphdr *udp, size_t size)
{
	udp->source = htons(40000);
	udp->dest = htons(9);
	udp->len = htons((uint16_t)size);
}

static void put_frame4(struct bench *bench)
{
	struct iphdr ip = {.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP};
	size_t size = bench->bytes - sizeof(struct ethhdr);
	struct udphdr udp = {};

	ip.tot_len = htons((uint16_t)size);
	inet_pton(AF_INET, GROUP4, &ip.daddr);
	bench->skeleton->bss->flood.sum = (uint16_t)~header_sum(&ip);
	put_udp(&udp, size - sizeof(ip));
	memcpy(bench->frame + sizeof(struct ethhdr), &ip, sizeof(ip));
	memcpy(bench->frame + sizeof(struct ethhdr) + sizeof(ip), &udp, sizeof(udp));
}

static void put_frame6(struct bench *bench)
{
	struct ipv6hdr ip = {.version = 6, .hop_limit = 64, .nexthdr = IPPROTO_UDP};
	size_t size = bench->bytes - sizeof(struct ethhdr) - sizeof(ip);
	struct udphdr udp = {.check = htons(1)}; /* nobody reads as far as that */

	ip.payload_len = htons((uint16_t)size);
	inet_pton(AF_INET6, GROUP6, &ip.daddr);
	put_udp(&udp, size);
	memcpy(bench->frame + sizeof(struct ethhdr), &ip, sizeof(ip));
	memcpy(bench->frame + sizeof(struct ethhdr) + sizeof(ip), &udp, sizeof(udp));
}

static void put_frame(struct bench *bench, uint32_t family, uint32_t bytes)
{
	struct ethhdr ethernet = {.h_source = {2}};

	must(bytes >= FLOOD_HEAD && bytes <= BYTES_MAX ? 0 : -EINVAL, "BYTES");
	bench->bytes = bytes;
	ethernet.h_proto = htons(family == 6 ? ETH_P_IPV6 : ETH_P_IP);
	memcpy(bench->frame, &ethernet, sizeof(ethernet));
	if (family == 6)
		put_frame6(bench);
	else
		put_frame4(bench);
	bench->skeleton->bss->flood.family = family;
}

static void put_line(struct bench *bench, struct sources *sources, struct table_line *line,
		     const bool *listed)
{
	uint64_t address[2];

	if (bench->skeleton->bss->flood.family == 4) {
		for (int i = 0; i < TABLE_LINE; i++)
			line->address[i] =
				listed[i] ? source_listed(sources) : source_clean(sources);
		return;
	}
	for (int i = 0; i < TABLE_LINE6; i++) {
		source6(sources, listed[i], address);
		memcpy(line->address + i * TABLE_WORDS6, address, sizeof(address));
	}
}

static void fill_table(struct bench *bench, struct sources *sources, uint32_t percent)
{
	uint32_t each = bench->skeleton->bss->flood.family == 6 ? TABLE_LINE6 : TABLE_LINE;
	int map = bpf_map__fd(bench->skeleton->maps.table);

	bench->count = TABLE_LINES * each;
	bench->listed = calloc(bench->count, sizeof(*bench->listed));
	must(bench->listed ? 0 : -ENOMEM, "sources");
	for (uint32_t i = 0; i < bench->count; i++)
		bench->listed[i] = sources_draw(sources) % 100 < percent;
	for (uint32_t i = 0; i < TABLE_LINES; i++) {
		struct table_line line;

		put_line(bench, sources, &line, bench->listed + i * each);
		must(bpf_map_update_elem(map, &i, &line, BPF_ANY) ? -errno : 0, "table");
	}
}

static double flood(struct bench *bench, struct bpf_program *program, uint32_t first,
		    uint32_t count)
{
	bench->skeleton->bss->drawn = first;
	return live_run(bpf_program__fd(program), bench->frame, bench->bytes, count);
}

static void send_frames(struct bench *bench, const char *interface, const char *mac, uint32_t first,
			uint32_t count)
{
	struct flood *to = &bench->skeleton->bss->flood;
	uint32_t sent, listed = 0;
	double alone, over;

	must(count && count % LIVE_BATCH == 0 ? 0 : -EINVAL, "COUNT");
	to->ifindex = if_nametoindex(interface);
	must(to->ifindex ? 0 : -errno, interface);
	parse_mac(mac, bench->frame);
	memcpy(to->head, bench->frame, sizeof(to->head));
	alone = flood(bench, bench->skeleton->progs.flood_nobody, first, count);
	over = flood(bench, bench->skeleton->progs.flood_over, first, count);
	sent = bench->skeleton->bss->drawn - first;
	for (uint32_t i = 0; i < sent; i++)
		listed += bench->listed[(first + i) % bench->count];
	printf("{\"sent\":%u,\"listed\":%u,\"alone_ns\":%.0f,\"ns\":%.0f}\n", sent, listed, alone,
	       over);
	must(fflush(stdout) ? -errno : 0, "output");
}

int main(int argc, char **argv)
{
	struct sources sources = {};
	struct bench bench = {};
	char interface[IF_NAMESIZE], mac[18];
	uint32_t family, first, count;

	family = argc == 5 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	if (family != 4 && family != 6) {
		fprintf(stderr, "usage: bench_paths 4|6 BYTES PERCENT ENTRIES|FILE; scripts/bench "
				"does it\n");
		return 2;
	}
	libbpf_set_print(NULL);
	sources.entries = (uint32_t)strtoul(argv[4], NULL, 10);
	if (!sources.entries)
		must(family == 4 ? sources_read(&sources, argv[4]) : -EINVAL, argv[4]);
	bench.skeleton = flood_bpf__open_and_load();
	must(bench.skeleton ? 0 : -errno, "load");
	put_frame(&bench, family, (uint32_t)strtoul(argv[2], NULL, 10));
	fill_table(&bench, &sources, (uint32_t)strtoul(argv[3], NULL, 10));
	while (scanf("%15s %17s %u %u", interface, mac, &first, &count) == 4)
		send_frames(&bench, interface, mac, first, count);
	flood_bpf__destroy(bench.skeleton);
	free(bench.listed);
	free(sources.ranges);
	return 0;
}
