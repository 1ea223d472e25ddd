/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, times and sizes of a command line: what is one, and where they end. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "support/cmocka.h"
#include "support/heard.h"

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

static void check(reader *read, const char *text, uint64_t least, uint64_t most, uint64_t expected)
{
	uint64_t number = 0;

	if (!reads(read, text, least, most, &number))
		fail_msg("'%s' was refused: %s", text, xb_error_message());
	assert_true(number == expected);
}

/* It leaves the number as it was, and shows the text. */
static void refuse(reader *read, const char *text, uint64_t least, uint64_t most)
{
	char shown[128];
	uint64_t number = 77;

	if (reads(read, text, least, most, &number))
		fail_msg("'%s' was taken", text);
	assert_int_equal(number, 77);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	snprintf(shown, sizeof(shown), ", not '%s'" USAGE, text);
	assert_non_null(strstr(xb_error_message(), shown));
}

static const char *const no_numbers[] = {"",
					 " ",
					 " 5",
					 "5 ",
					 "-",
					 "-5",
					 "+5",
					 "x",
					 "5x",
					 "5,",
					 "5 6",
					 "nan",
					 "inf",
					 "18446744073709551616",
					 "99999999999999999999999999"};

TEST(numbers)
{
	uint64_t number;

	check(cli_number, "0", 0, 0, 0);
	check(cli_number, "007", 0, 10, 7);
	check(cli_number, "5", 5, 6, 5);
	check(cli_number, "6", 5, 6, 6);
	check(cli_number, "18446744073709551615", 0, UINT64_MAX, UINT64_MAX);
	refuse(cli_number, "4", 5, 6);
	refuse(cli_number, "7", 5, 6);
	refuse(cli_number, "0x5", 0, 10);
	refuse(cli_number, "5.0", 0, 10);
	refuse(cli_number, "1e1", 0, 10);
	refuse(cli_number, "1K", 0, 9999);
	for (size_t i = 0; i < sizeof(no_numbers) / sizeof(no_numbers[0]); i++)
		refuse(cli_number, no_numbers[i], 0, UINT64_MAX);
	reads(cli_number, "7", 5, 6, &number);
	assert_string_equal(xb_error_message(),
			    "--option takes a whole number from 5 to 6, not '7'" USAGE);
}

TEST(seconds)
{
	check(cli_seconds, "0", 0, 9, 0);
	check(cli_seconds, "90", 0, 90, 90);
	check(cli_seconds, "90s", 0, 90, 90);
	check(cli_seconds, "15m", 900, 900, 900);
	check(cli_seconds, "1h", 0, UINT32_MAX, 3600);
	check(cli_seconds, "30d", 0, UINT32_MAX, 2592000);
	check(cli_seconds, "2w", 0, UINT32_MAX, 1209600);
	check(cli_seconds, "0w", 0, 1, 0);
	check(cli_seconds, "18446744073709551615s", 0, UINT64_MAX, UINT64_MAX);
	refuse(cli_seconds, "91s", 0, 90);
	refuse(cli_seconds, "14m", 900, 901);
	refuse(cli_seconds, "16m", 900, 901);
	/* 2^64 seconds and 32 more. */
	refuse(cli_seconds, "307445734561825861m", 0, UINT64_MAX);
	refuse(cli_seconds, "30500568904944w", 0, UINT64_MAX);
	for (size_t i = 0; i < sizeof(no_numbers) / sizeof(no_numbers[0]); i++)
		refuse(cli_seconds, no_numbers[i], 0, UINT64_MAX);
	refuse(cli_seconds, "1 h", 0, UINT32_MAX);
	refuse(cli_seconds, "1H", 0, UINT32_MAX);
	refuse(cli_seconds, "1hs", 0, UINT32_MAX);
	refuse(cli_seconds, "1h30m", 0, UINT32_MAX);
	refuse(cli_seconds, "1.5h", 0, UINT32_MAX);
	refuse(cli_seconds, "h", 0, UINT32_MAX);
}

TEST(sizes)
{
	uint64_t bytes;

	check(cli_size, "0", 0, 1, 0);
	check(cli_size, "1000", 0, 1000, 1000);
	check(cli_size, "512K", 0, 524288, 524288);
	check(cli_size, "64M", 0, UINT32_MAX, 64 << 20);
	check(cli_size, "1.5G", 0, UINT32_MAX, 1610612736);
	check(cli_size, "2T", 0, 1ULL << 42, 1ULL << 41);
	check(cli_size, "0.5K", 512, 512, 512);
	refuse(cli_size, "0.4K", 512, 600);
	refuse(cli_size, "513K", 0, 524288);
	refuse(cli_size, "0x10", 0, UINT32_MAX);
	refuse(cli_size, "0x10K", 0, UINT32_MAX);
	refuse(cli_size, "1e3", 0, UINT32_MAX);
	refuse(cli_size, "1.5.5K", 0, UINT32_MAX);
	refuse(cli_size, "1e300T", 0, 1ULL << 60);
	refuse(cli_size, "1e400", 0, 1ULL << 60);
	for (size_t i = 0; i < sizeof(no_numbers) / sizeof(no_numbers[0]); i++)
		refuse(cli_size, no_numbers[i], 0, 1ULL << 60);
	check(cli_size, "1k", 0, 1 << 20, 1024);
	refuse(cli_size, "1KB", 0, 1 << 20);
	refuse(cli_size, "1KK", 0, 1 << 20);
	refuse(cli_size, "1 K", 0, 1 << 20);
	refuse(cli_size, "K", 0, 1 << 20);
	refuse(cli_size, ".5K", 0, 1 << 20);
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
