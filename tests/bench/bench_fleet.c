/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_fleet FIRST CHANGES ALONE HOST SERVER PORT PINS...: lists CHANGES addresses, one by one, by
 * the socket HOST of a bloomd in a fleet, and waits for each until the filters with these pins, one
 * for each host of the fleet, drop its packets. Between them it asks the fleet's server PING, and
 * lists one by the socket ALONE of a bloomd in no fleet, which shows what a commit takes. Prints
 * one JSON object with seconds of each.
 */
#include <arpa/inet.h>
#include <bpf/libbpf.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/anchor.h"
#include "bench/must.h"
#include "filter/testrun.h"
#include "support/seconds.h"

#define HOSTS_MAX 64
#define PINGS	  3
#define PATIENCE  10.0	/* seconds until a host must drop */
#define PAUSE	  30000 /* us between changes, so that each is one of its own */
#define BETWEEN	  20	/* us between looks: hosts need this processor, too */

struct hosts {
	struct xb_anchor anchor[HOSTS_MAX];
	size_t count;
};

static int connect_to(int family, const void *address, socklen_t size, const char *what)
{
	int fd = socket(family, SOCK_STREAM, 0);

	must(fd < 0 || connect(fd, address, size) ? -errno : 0, what);
	return fd;
}

static int connect_socket(const char *path)
{
	struct sockaddr_un place = {.sun_family = AF_UNIX};

	snprintf(place.sun_path, sizeof(place.sun_path), "%s", path);
	return connect_to(AF_UNIX, &place, sizeof(place), path);
}

static int connect_server(const char *host, const char *port)
{
	struct sockaddr_in place = {.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};

	must(inet_pton(AF_INET, host, &place.sin_addr) == 1 ? 0 : -EINVAL, host);
	return connect_to(AF_INET, &place, sizeof(place), "server");
}

/* Seconds until the answer, which has to be this one. */
static double ask(int fd, const char *request, const char *answer)
{
	double start = seconds();
	char got[64] = "";
	size_t size = 0;

	must(send(fd, request, strlen(request), 0) == (ssize_t)strlen(request) ? 0 : -EIO, "send");
	while (!memchr(got, '\n', size) && size + 1 < sizeof(got)) {
		ssize_t more = recv(fd, got + size, sizeof(got) - 1 - size, 0);

		must(more > 0 ? 0 : -EPIPE, "answer");
		size += (size_t)more;
	}
	if (strcmp(got, answer) != 0) {
		fprintf(stderr, "bench_fleet: %s", got);
		exit(1);
	}
	return seconds() - start;
}

static double list(int fd, uint32_t address)
{
	struct in_addr in = {.s_addr = htonl(address)};
	char text[INET_ADDRSTRLEN], request[128];

	inet_ntop(AF_INET, &in, text, sizeof(text));
	snprintf(request, sizeof(request), "*3\r\n$4\r\nSADD\r\n$7\r\ndefault\r\n$%zu\r\n%s\r\n",
		 strlen(text), text);
	return ask(fd, request, ":1\r\n");
}

static bool drops(const struct xb_anchor *anchor, const struct xb_entry *entry)
{
	enum xb_testrun_verdict verdict;

	must(xb_testrun(anchor, entry, NULL, &verdict), "filter");
	return verdict == XB_TESTRUN_DROP;
}

/* Seconds from now until each host drops, at most. */
static json_t *wait_for_all(const struct hosts *hosts, uint32_t address)
{
	const struct xb_entry entry = {
		.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};
	double start = seconds(), taken[HOSTS_MAX] = {0};
	json_t *all = json_array();
	size_t left = hosts->count;

	while (left && seconds() - start < PATIENCE) {
		for (size_t i = 0; i < hosts->count; i++) {
			if (taken[i] > 0 || !drops(&hosts->anchor[i], &entry))
				continue;
			taken[i] = seconds() - start;
			left--;
		}
		usleep(BETWEEN);
	}
	must(left ? -ETIMEDOUT : 0, "a host does not drop");
	for (size_t i = 0; i < hosts->count; i++)
		json_array_append_new(all, json_real(taken[i]));
	return all;
}

static void open_hosts(struct hosts *hosts, char **pins, int count)
{
	must(count > 0 && count <= HOSTS_MAX ? 0 : -EINVAL, "hosts");
	for (int i = 0; i < count; i++)
		must(xb_anchor_open(pins[i], &hosts->anchor[hosts->count++]), pins[i]);
}

int main(int argc, char **argv)
{
	json_t *pings = json_array(), *commits = json_array(), *answers = json_array(),
	       *drop = json_array();
	static struct hosts hosts;
	uint32_t first, changes;
	int alone, host, server;

	must_have_arguments(argc >= 8, "FIRST CHANGES ALONE HOST SERVER PORT PINS...");
	libbpf_set_print(NULL);
	first = number_of(argv[1]);
	changes = number_of(argv[2]);
	alone = connect_socket(argv[3]);
	host = connect_socket(argv[4]);
	server = connect_server(argv[5], argv[6]);
	open_hosts(&hosts, argv + 7, argc - 7);
	for (uint32_t i = 0; i < changes; i++) {
		for (int k = 0; k < PINGS; k++)
			json_array_append_new(pings,
					      json_real(ask(server, "PING\r\n", "+PONG\r\n")));
		json_array_append_new(commits, json_real(list(alone, first + i)));
		usleep(PAUSE);
		json_array_append_new(answers, json_real(list(host, first + i)));
		json_array_append_new(drop, wait_for_all(&hosts, first + i));
		usleep(PAUSE);
	}
	print_json(json_pack("{s:o,s:o,s:o,s:o}", "pings", pings, "commits", commits, "answers",
			     answers, "drops", drop));
	return 0;
}
