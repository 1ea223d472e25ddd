/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are packed, or UTF-16: whole, in parts, damaged, and too large when unpacked. */
#include <fcntl.h>
#include <zlib.h>

#include "lists/unpack.h"
#include "support/listfile.h"

#define LINES	"192.0.2.1\n192.0.2.2 # \xc3\xa4\xf0\x9f\x98\x80\n"
#define OUTCOME "plain: 192.0.2.1, 192.0.2.2 (\xc3\xa4\xf0\x9f\x98\x80)"

static size_t pack(const char *text, size_t size, unsigned char *out, size_t room)
{
	z_stream stream = {.next_in = (unsigned char *)(uintptr_t)text,
			   .avail_in = (unsigned int)size,
			   .next_out = out,
			   .avail_out = (unsigned int)room};

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return room - stream.avail_out;
}

static void check_bytes(const void *bytes, size_t size, const char *outcome)
{
	struct xb_listfile file;

	write_list(bytes, size);
	if (*outcome == ':') {
		check_refused(NULL, outcome);
		return;
	}
	xb_error_clear();
	if (xb_listfile_read(path, NULL, &file))
		fail_msg("%s", xb_error_message());
	assert_described(&file, outcome);
	assert_int_equal(file.bytes, size);
	xb_listfile_free(&file);
}

TEST(test_gzip)
{
	unsigned char packed[400], all[900] = {0};
	size_t size = pack(LINES, strlen(LINES), packed, sizeof(packed));

	check_bytes(packed, size, OUTCOME);
	memcpy(all, packed, size);
	memcpy(all + size, packed, size);
	check_bytes(all, size * 2, OUTCOME "; 2 repeats");
	memset(all + size, 0, 300);
	check_bytes(all, size + 300, OUTCOME);
	all[size + 100] = 'x';
	check_bytes(all, size + 300, ": the gzip stream is damaged");
}

/* However much is missing, half a list is none. */
TEST(test_gzip_cut_off)
{
	unsigned char packed[400];
	size_t size = pack(LINES, strlen(LINES), packed, sizeof(packed));

	for (size_t part = 2; part < size; part++)
		check_bytes(packed, part,
			    ": the gzip stream ends early: the file may have been cut off");
}

TEST(test_gzip_damaged)
{
	unsigned char packed[400];
	size_t size = pack(LINES, strlen(LINES), packed, sizeof(packed));

	packed[size - 6] ^= 1; /* of the check sum */
	check_bytes(packed, size, ": the gzip stream is damaged");
}

TEST(test_other_packings)
{
	check_bytes("\xfd"
		    "7zXZ\0abc",
		    9, ": packed by xz: unpack it first");
	check_bytes("BZh91AY&SY", 10, ": packed by bzip2: unpack it first");
	check_bytes("PK\3\4abc", 7, ": packed by zip: unpack it first");
	check_bytes("7z\xbc\xaf\x27\x1c", 6, ": packed by 7-Zip: unpack it first");
	check_bytes("BZhost.example\n", 15, "domains: bzhost.example");
	check_bytes("PK.example\n", 11, "domains: pk.example");
}

/* By zstd(1): LINES, as one frame. */
static const unsigned char by_zstd[] = {
	0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0xe9, 0x00, 0x00, 0x31, 0x39, 0x32, 0x2e, 0x30,
	0x2e, 0x32, 0x2e, 0x31, 0x0a, 0x31, 0x39, 0x32, 0x2e, 0x30, 0x2e, 0x32, 0x2e, 0x32,
	0x20, 0x23, 0x20, 0xc3, 0xa4, 0xf0, 0x9f, 0x98, 0x80, 0x0a, 0x34, 0x70, 0xa2, 0xd9};

TEST(test_zstd)
{
	unsigned char twice[sizeof(by_zstd) * 2];

	check_bytes(by_zstd, sizeof(by_zstd), OUTCOME);
	memcpy(twice, by_zstd, sizeof(by_zstd));
	memcpy(twice + sizeof(by_zstd), by_zstd, sizeof(by_zstd));
	check_bytes(twice, sizeof(twice), OUTCOME "; 2 repeats");
	for (size_t part = 4; part < sizeof(by_zstd); part++)
		check_bytes(by_zstd, part,
			    ": the zstd stream ends early: the file may have been cut off");
	twice[sizeof(by_zstd) - 1] ^= 1; /* of the check sum */
	check_bytes(twice, sizeof(by_zstd), ": the zstd stream is damaged");
}

static size_t widen(const char *text, bool little, unsigned char *out)
{
	size_t size = 0;

	out[size++] = little ? 0xff : 0xfe;
	out[size++] = little ? 0xfe : 0xff;
	for (; *text; text++) {
		out[size + (little ? 0 : 1)] = (unsigned char)*text;
		out[size + (little ? 1 : 0)] = 0;
		size += 2;
	}
	return size;
}

TEST(test_utf16)
{
	unsigned char wide[200];
	/* U+00E4, U+1F600, and half of one. */
	static const char marked[] =
		"\xff\xfe"
		"1\0.\0002\0.\0003\0.\0004\0#\0\xe4\0\x3d\xd8\x00\xde\x3d\xd8\n";

	check_bytes(wide, widen("192.0.2.1\r\n192.0.2.2", true, wide),
		    "plain: 192.0.2.1, 192.0.2.2");
	check_bytes(wide, widen("192.0.2.1\r\n192.0.2.2", false, wide),
		    "plain: 192.0.2.1, 192.0.2.2");
	check_bytes(marked, sizeof(marked),
		    "plain: 1.2.3.4 (\xc3\xa4\xf0\x9f\x98\x80\xef\xbf\xbd)");
	check_bytes(wide, widen("192.0.2.1\n", true, wide) - 1,
		    ": the UTF-16 text ends within a character");
	check_bytes(wide, widen("", true, wide), ": no entries");
}

TEST(test_utf16_that_is_packed)
{
	unsigned char wide[200], packed[400];
	size_t size = widen("192.0.2.1\n", true, wide);

	check_bytes(packed, pack((char *)wide, size, packed, sizeof(packed)), "plain: 192.0.2.1");
}

/* Much of it comes out of little. */
TEST(test_limit)
{
	static char text[200000];
	static unsigned char packed[10000];
	struct xb_listfile_terms terms = {.most = sizeof(text)};
	struct xb_listfile file;
	char expected[200];

	for (size_t i = 0; i < sizeof(text); i += 10)
		memcpy(text + i, "192.0.2.1\n", 10);
	write_list(packed, pack(text, sizeof(text), packed, sizeof(packed)));
	assert_int_equal(xb_listfile_read_as(-1, path, &terms, &file), 0);
	assert_int_equal(file.repeats, sizeof(text) / 10 - 1);
	xb_listfile_free(&file);
	terms.most--;
	assert_int_equal(xb_listfile_read_as(-1, path, &terms, &file), -EINVAL);
	snprintf(expected, sizeof(expected), "%s: unpacked, it has more bytes than are allowed",
		 path);
	assert_string_equal(xb_error_message(), expected);
	assert_empty(&file);
}

/* The message has the name once. */
TEST(test_document_cut_off)
{
	static const char text[] = "{\"a\":\n[\"192.0.2.1\",\"192.0.2.2\",\"192.0.2.3\"]}";
	unsigned char packed[400];
	size_t size = pack(text, strlen(text), packed, sizeof(packed));

	write_list(packed, size - 4);
	check_refused("json", ": the gzip stream ends early: the file may have been cut off");
}

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);
