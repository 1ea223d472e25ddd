/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of metrics: every byte of a sample, and labels that try to end it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/exposition.h"
#include "engine/metrics.h"
#include "support/cmocka.h"

static char *text;
static size_t size;
static FILE *out;

static int begin(void **state)
{
	out = open_memstream(&text, &size);
	return out ? 0 : -1;
}

static int end(void **state)
{
	fclose(out);
	free(text);
	return 0;
}

static void assert_written(const char *expected)
{
	fflush(out);
	assert_string_equal(text, expected);
}

TEST(a_family)
{
	xb_exposition_family(out, "trial_active", "gauge", "Whether one is on.");
	assert_written("# HELP xdp_bloom_trial_active Whether one is on.\n"
		       "# TYPE xdp_bloom_trial_active gauge\n");
}

TEST(samples)
{
	xb_exposition_sample(out, "a", "", (struct xb_label[XB_LABELS]){{0}}, 0);
	xb_exposition_sample(out, "a", "_bucket", (struct xb_label[XB_LABELS]){{"le", "+Inf"}},
			     UINT64_MAX);
	xb_exposition_sample(out, "a", "",
			     (struct xb_label[XB_LABELS]){{"x", "1"}, {NULL, "none"}, {"y", ""}},
			     7);
	xb_exposition_seconds(out, "a", "_sum", (struct xb_label[XB_LABELS]){{0}},
			      UINT64_C(12000000345));
	assert_written("xdp_bloom_a 0\n"
		       "xdp_bloom_a_bucket{le=\"+Inf\"} 18446744073709551615\n"
		       "xdp_bloom_a{x=\"1\",y=\"\"} 7\n"
		       "xdp_bloom_a_sum 12.000000345\n");
}

TEST(labels_are_escaped)
{
	xb_exposition_sample(out, "a", "",
			     (struct xb_label[XB_LABELS]){{"x", "\"} 1\n\\\xff\t\xc3\xa4"}}, 1);
	assert_written("xdp_bloom_a{x=\"\\\"} 1?\\\\??\xc3\xa4\"} 1\n");
}

TEST(long_labels_are_cut_between_characters)
{
	char value[400];

	for (size_t i = 0; i < sizeof(value) - 1; i += 2)
		memcpy(value + i, "\xc3\xa4", 2);
	value[398] = '\0';
	xb_exposition_sample(out, "a", "", (struct xb_label[XB_LABELS]){{"x", value}}, 1);
	fflush(out);
	assert_true(size < 200);
	assert_null(strchr(text, '?'));
	assert_string_equal(text + size - 4, "\"} 1\n" + 1);
}

/* A family that is in a file has its lines even before anything was added. */
TEST(tallies_without_a_file)
{
	const struct xb_paths nowhere = {
		.state = "/nowhere", .run = "/nowhere", .pins = "/nowhere"};

	xb_metrics_write_tallies(&nowhere, out);
	fflush(out);
	assert_non_null(strstr(text, "\nxdp_bloom_expired_total 0\n"));
	assert_non_null(
		strstr(text, "\nxdp_bloom_commit_duration_seconds_bucket{le=\"0.0005\"} 0\n"));
	assert_non_null(strstr(text, "\nxdp_bloom_commit_duration_seconds_bucket{le=\"10\"} 0\n"));
	assert_non_null(
		strstr(text, "\nxdp_bloom_commit_duration_seconds_bucket{le=\"+Inf\"} 0\n"));
	assert_non_null(strstr(text, "\nxdp_bloom_commit_duration_seconds_sum 0.000000000\n"));
	assert_non_null(strstr(text, "\nxdp_bloom_commit_duration_seconds_count 0\n"));
	assert_non_null(strstr(text, "# TYPE xdp_bloom_api_requests_total counter\n"));
}

EACH_TEST(begin, end);
