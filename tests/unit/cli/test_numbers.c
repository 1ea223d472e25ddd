/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, times and sizes of a command line: what is one, and where they end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "support/cmocka.h"
#include "support/heard.h"
#include "support/texts.h"

#define USAGE "; usage: xdp-bloom verb"

typedef bool reader(const struct cli *cli, const char *option, const char *text, uint64_t least,
		    uint64_t most, uint64_t *number);

static bool reads(reader *read, const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	static const struct verb verb = {.name = "verb"};
	static const struct cli cli = {.verb = &verb};
	struct hearing errors;
	bool right;

	xb_error_clear();
	hear(&errors, &stderr);
	right = read(&cli, "--option", text, least, most, number);
	heard(&errors);
	return right;
}

/* rows: "TEXT -> NUMBER; TEXT": a text alone is refused and shown, and leaves the number as it was.
 */
static void check(reader *read, uint64_t least, uint64_t most, const char *rows)
{
	struct texts texts = texts_of(rows);
	char *text, *wanted;

	while ((text = next_pair(&texts, &wanted))) {
		uint64_t number = 77, expected = wanted ? strtoull(wanted, NULL, 10) : 77;
		bool right = reads(read, text, least, most, &number);
		char shown[128];

		if (right != (wanted != NULL) || number != expected)
			fail_msg("'%s' is %llu: %s", text, (unsigned long long)number,
				 xb_error_message());
		if (right)
			continue;
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		snprintf(shown, sizeof(shown), ", not '%s'" USAGE, text);
		assert_non_null(strstr(xb_error_message(), shown));
	}
}

#define NO_NUMBERS                                                                                 \
	";  ;  5; 5 ; -; -5; +5; x; 5x; 5,; 5 6; nan; inf; 18446744073709551616; "                 \
	"99999999999999999999999999"

TEST(numbers)
{
	uint64_t number;

	check(cli_number, 0, 0, "0 -> 0");
	check(cli_number, 5, 6, "5 -> 5; 6 -> 6; 4; 7");
	check(cli_number, 0, 9999, "007 -> 7; 0x5; 5.0; 1e1; 1K");
	check(cli_number, 0, UINT64_MAX,
	      "18446744073709551615 -> 18446744073709551615; " NO_NUMBERS);
	reads(cli_number, "7", 5, 6, &number);
	assert_string_equal(xb_error_message(),
			    "--option takes a whole number from 5 to 6, not '7'" USAGE);
}

TEST(seconds)
{
	check(cli_seconds, 0, 90, "0 -> 0; 90 -> 90; 90s -> 90; 91s; 0w -> 0");
	check(cli_seconds, 900, 901, "15m -> 900; 14m; 16m");
	check(cli_seconds, 0, UINT32_MAX,
	      "1h -> 3600; 30d -> 2592000; 2w -> 1209600; 1 h; 1H; 1hs; 1h30m; 1.5h; h");
	check(cli_seconds, 0, UINT64_MAX,
	      "18446744073709551615s -> 18446744073709551615; " NO_NUMBERS);
	/* 2^64 seconds and 32 more. */
	check(cli_seconds, 0, UINT64_MAX, "307445734561825861m; 30500568904944w");
}

TEST(sizes)
{
	uint64_t bytes;

	check(cli_size, 0, 524288,
	      "0 -> 0; 1000 -> 1000; 1k -> 1024; 512K -> 524288; 513K; 1KB; 1KK; 1 K; K; .5K");
	check(cli_size, 0, 1ULL << 42, "64M -> 67108864; 1.5G -> 1610612736; 2T -> 2199023255552");
	check(cli_size, 512, 600, "0.5K -> 512; 0.4K");
	check(cli_size, 0, 1ULL << 60, "0x10; 0x10K; 1e3; 1.5.5K; 1e300T; 1e400; " NO_NUMBERS);
	reads(cli_size, "1", 1024, 3 << 19, &bytes);
	assert_string_equal(xb_error_message(),
			    "--option takes a size from 1.0 KiB to 1.5 MiB, such as 512M or 1.5G, "
			    "not '1'" USAGE);
}

TEST(bytes)
{
	const char *first;

	assert_string_equal(cli_bytes(1048524), "1023.9 KiB");
	assert_string_equal(cli_bytes(1048525), "1.0 MiB");
	assert_string_equal(cli_bytes((1 << 20) - 1), "1.0 MiB");
	assert_string_equal(cli_bytes((1ULL << 40) - 1), "1.0 TiB");
	first = cli_bytes(1);
	assert_string_equal(cli_bytes(0), "0 B");
	assert_string_equal(cli_bytes(1023), "1023 B");
	assert_string_equal(cli_bytes(1024), "1.0 KiB");
	assert_string_equal(cli_bytes(1536), "1.5 KiB");
	assert_string_equal(cli_bytes(1ULL << 40), "1.0 TiB");
	assert_string_equal(cli_bytes(UINT64_MAX), "16777216.0 TiB");
	/* Several may stand in one message. */
	assert_string_equal(first, "1 B");
}

TEST(times)
{
	char out[32];

	assert_ptr_equal(xb_time_format(0, out), out);
	assert_string_equal(out, "1970-01-01T00:00:00Z");
	assert_string_equal(xb_time_format(951782400, out), "2000-02-29T00:00:00Z");
	assert_string_equal(xb_time_format(UINT32_MAX, out), "2106-02-07T06:28:15Z");
}
