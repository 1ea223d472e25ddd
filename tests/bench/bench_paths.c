/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_paths 4|6 BYTES PERCENT ENTRIES|FILE: sends frames of so many bytes, of whose sources so
 * many percent are listed: among the first ENTRIES addresses of bench_addresses, or in a prefix of
 * FILE (one a line, of that family). For each line "IFACE MAC FIRST COUNT" of the input, it sends
 * COUNT of them, from the FIRST of a fixed order on, out of IFACE to this MAC as fast as they can
 * be made, and prints a line with one JSON object: how many were sent, how many of these were
 * listed, nanoseconds a frame, of the generator alone and of all. COUNT is in batches of 64. Runs
 * in the namespace of IFACE.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "bench/live.h"
#include "bench/shared.h"
#include "bench/sources.h"
#include "support/dns.h"

#include "flood.skel.h" /* behind the structures it names */

#define BYTES_MAX 2048

/* Where a packet that passes ends, the same for all: it is for a multicast group that nobody is in
 * (RFC 6676, RFC 4291), so routing drops it right behind the prerouting hooks, unanswered and
 * without a look at its source. */
#define GROUP4 "233.252.0.1"
#define GROUP6 "ff0e::db8"

static struct flood_bpf *skeleton;
static bool *listed; /* of each source in the table */
static uint32_t count_of_sources;
static unsigned char bytes[BYTES_MAX];

static void put_frame(uint32_t family, size_t size)
{
	size_t rest = size - sizeof(struct ethhdr);
	struct ethhdr ethernet = {.h_source = {2},
				  .h_proto = htons(family == 6 ? ETH_P_IPV6 : ETH_P_IP)};
	struct iphdr ip4 = {.version = 4,
			    .ihl = 5,
			    .ttl = 64,
			    .protocol = IPPROTO_UDP,
			    .tot_len = htons((uint16_t)rest)};
	struct ipv6hdr ip6 = {.version = 6, .hop_limit = 64, .nexthdr = IPPROTO_UDP};
	struct udphdr udp = {.source = htons(40000), .dest = htons(9)};
	size_t head = family == 6 ? sizeof(ip6) : sizeof(ip4);

	must(size >= FLOOD_HEAD && size <= BYTES_MAX ? 0 : -EINVAL, "BYTES");
	inet_pton(AF_INET, GROUP4, &ip4.daddr);
	inet_pton(AF_INET6, GROUP6, &ip6.daddr);
	ip6.payload_len = udp.len = htons((uint16_t)(rest - head));
	udp.check = htons(family == 6); /* nobody reads as far as that */
	memcpy(bytes, &ethernet, sizeof(ethernet));
	memcpy(bytes + sizeof(ethernet), family == 6 ? (void *)&ip6 : (void *)&ip4, head);
	memcpy(bytes + sizeof(ethernet) + head, &udp, sizeof(udp));
	skeleton->bss->flood.sum =
		(uint16_t)~htons(dns_checksum((const uint8_t *)&ip4, sizeof(ip4), 0));
	skeleton->bss->flood.family = family;
}

static void fill_table(struct sources *sources, uint32_t percent)
{
	bool six = skeleton->bss->flood.family == 6;
	uint32_t each = six ? TABLE_LINE6 : TABLE_LINE;
	int map = bpf_map__fd(skeleton->maps.table);

	count_of_sources = TABLE_LINES * each;
	listed = calloc(count_of_sources, sizeof(*listed));
	must(listed ? 0 : -ENOMEM, "sources");
	for (uint32_t i = 0; i < count_of_sources; i++)
		listed[i] = sources_draw(sources) % 100 < percent;
	for (uint32_t i = 0; i < TABLE_LINES; i++) {
		const bool *of_line = listed + i * each;
		struct table_line line;
		uint64_t address[2];

		for (uint32_t k = 0; k < each; k++) {
			if (six) {
				source6(sources, of_line[k], address);
				memcpy(line.address + k * TABLE_WORDS6, address, sizeof(address));
			} else {
				line.address[k] =
					of_line[k] ? source_listed(sources) : source_clean(sources);
			}
		}
		must(bpf_map_update_elem(map, &i, &line, BPF_ANY) ? -errno : 0, "table");
	}
}

static double flood(const struct bpf_program *program, uint32_t size, uint32_t first,
		    uint32_t count)
{
	skeleton->bss->drawn = first;
	return live_run(program, bytes, size, count);
}

static void send_frames(uint32_t size, const char *interface, const char *mac, uint32_t first,
			uint32_t count)
{
	struct flood *to = &skeleton->bss->flood;
	uint32_t sent, of_them = 0;
	double alone, over;

	must(count && count % LIVE_BATCH == 0 ? 0 : -EINVAL, "COUNT");
	to->ifindex = index_of(interface);
	parse_mac(mac, bytes);
	memcpy(to->head, bytes, sizeof(to->head));
	alone = flood(skeleton->progs.flood_nobody, size, first, count);
	over = flood(skeleton->progs.flood_over, size, first, count);
	sent = skeleton->bss->drawn - first;
	for (uint32_t i = 0; i < sent; i++)
		of_them += listed[(first + i) % count_of_sources];
	print_json(json_pack("{s:I,s:I,s:f,s:f}", "sent", (json_int_t)sent, "listed",
			     (json_int_t)of_them, "alone_ns", alone, "ns", over));
}

int main(int argc, char **argv)
{
	uint32_t family = argc == 5 ? number_of(argv[1]) : 0, size, first, count;
	struct sources sources = {.seed = 1};
	char interface[IF_NAMESIZE], mac[18];

	must_have_arguments(family == 4 || family == 6, "4|6 BYTES PERCENT ENTRIES|FILE");
	libbpf_set_print(NULL);
	size = number_of(argv[2]);
	sources.entries = number_of(argv[4]);
	if (!sources.entries)
		sources_read(&sources, argv[4]);
	skeleton = flood_bpf__open_and_load();
	must(skeleton ? 0 : -errno, "load");
	put_frame(family, size);
	fill_table(&sources, number_of(argv[3]));
	while (scanf("%15s %17s %u %u", interface, mac, &first, &count) == 4)
		send_frames(size, interface, mac, first, count);
	flood_bpf__destroy(skeleton);
	free(listed);
	free(sources.of_file);
	oracle_free(&sources.oracle);
	return 0;
}
