/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of a store as they are shown: in words, as JSON and as metrics. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/limitjson.h"
#include "engine/metrics.h"
#include "support/cmocka.h"
#include "support/scratch_txn.h"

static struct xb_limits_wanted wanted;
static struct xb_limit_figures figures;

static void limit(const char *name, const char *services, struct xb_limit one)
{
	snprintf(one.name, sizeof(one.name), "%s", name);
	assert_int_equal(xb_scope_parse(services, &one.scope), 0);
	assert_int_equal(xb_limits_put(txn, &one), 0);
}

/* Two, with a number between them that is free again. */
static void two_limits(void)
{
	bool found;

	limit("web", "tcp/443,udp/443",
	      (struct xb_limit){.bits4 = 32,
				.bits6 = 64,
				.of = XB_LIMIT_PACKETS,
				.period = 1,
				.rate = 100,
				.burst = 200,
				.capacity = 16384,
				.list = "over",
				.timeout = 600,
				.longest = 86400,
				.forgeable = true,
				.known = 10});
	limit("gone", "icmp",
	      (struct xb_limit){.bits4 = 32,
				.bits6 = 64,
				.period = 1,
				.rate = 1,
				.burst = 5,
				.capacity = 1,
				.known = 1});
	limit("bytes", "all",
	      (struct xb_limit){.counts = true,
				.bits4 = 24,
				.bits6 = 48,
				.of = XB_LIMIT_BYTES,
				.period = 60,
				.rate = 5000000,
				.burst = 65536,
				.capacity = 100,
				.known = XB_LIMIT_EXEMPT});
	assert_int_equal(xb_limits_remove(txn, "gone", &found), 0);
	assert_int_equal(xb_limits_get(txn, &wanted), 0);
	assert_int_equal(xb_limit_figures_read(NULL, &wanted, &figures), 0);
	assert_int_equal(figures.count, 2);
	figures.item[0].over = (struct xb_count){.packets = 7, .bytes = 700};
}

TEST(numbers)
{
	two_limits();
	assert_int_equal(figures.item[0].number, 1);
	assert_int_equal(figures.item[1].number, 3);
	assert_int_equal(figures.item[1].over.packets, 0);
}

TEST(words)
{
	char text[XB_LIMIT_TEXT];

	two_limits();
	assert_string_equal(xb_limit_describe(&figures.item[0].limit, text),
			    "100/s packets per /32 and /64 to tcp/443,udp/443");
	assert_string_equal(xb_limit_over(&figures.item[0].limit), "drop");
	assert_string_equal(xb_limit_describe(&figures.item[1].limit, text),
			    "5000000/m bytes per /24 and /48 to all");
	assert_string_equal(xb_limit_over(&figures.item[1].limit), "count");
}

TEST(json)
{
	json_t *all;
	char *text;

	two_limits();
	all = xb_limit_figures_json(&figures);
	text = json_dumps(all, JSON_COMPACT);
	assert_string_equal(
		text,
		"[{\"name\":\"web\",\"to\":\"tcp/443,udp/443\",\"rate\":\"100/s\","
		"\"burst\":200,\"of\":\"packets\",\"per4\":32,\"per6\":64,\"over\":\"drop\","
		"\"capacity\":16384,\"known\":\"10x\",\"list\":\"over\",\"timeout\":600,"
		"\"longest\":86400,\"forgeable\":true,\"over_packets\":7,\"over_bytes\":700},"
		"{\"name\":\"bytes\",\"to\":\"all\",\"rate\":\"5000000/m\","
		"\"burst\":65536,\"of\":\"bytes\",\"per4\":24,\"per6\":48,\"over\":\"count\","
		"\"capacity\":100,\"known\":\"exempt\",\"over_packets\":0,\"over_bytes\":0}]");
	free(text);
	json_decref(all);
}

/* Whether the line is among the metrics. */
static bool has(const char *metrics, const char *line)
{
	const char *found = strstr(metrics, line);

	return found && found > metrics && found[-1] == '\n' && found[strlen(line)] == '\n';
}

TEST(metrics)
{
	static struct xb_figures shown;
	const struct xb_paths paths = {.state = directory, .pins = directory, .run = directory};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	two_limits();
	shown.health.limits = &figures;
	xb_metrics_write(&paths, &shown, out);
	fclose(out);
	assert_true(has(text, "# TYPE xdp_bloom_limit_over_packets_total counter"));
	assert_true(has(text, "xdp_bloom_limit_over_packets_total{limit=\"web\"} 7"));
	assert_true(has(text, "xdp_bloom_limit_over_bytes_total{limit=\"web\"} 700"));
	assert_true(has(text, "xdp_bloom_limit_over_packets_total{limit=\"bytes\"} 0"));
	free(text);
}

EACH_TEST(begin_txn, end_txn);
