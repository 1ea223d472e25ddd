/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * List files: the first byte says of which format, for some the second how it is read, the rest is
 * the file. It is read at once, and again in pieces, and its lines are taken one by one with
 * nothing behind them: all have to find the same. What is refused is told with its line.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/merge.h"
#include "fuzz.h"
#include "lists/packing.h"
#include "lists/reader.h"
#include "lists/table.h"
#include "store/membership.h"

/* 'a' is the first of "plain, netset, ..."; NULL before 'a', or behind the last: told by the file.
 */
static const char *format_of(uint8_t byte)
{
	static char names[1024];
	char *name;

	snprintf(names, sizeof(names), "%s", xb_listfile_formats());
	for (name = strtok(names, ", "); name && byte-- != 'a'; name = strtok(NULL, ", "))
		;
	return name;
}

/* How the list is to be read. */
struct asked {
	const char *format;
	struct xb_list_choice choice;
};

static const char *const columns[] = {"1", "2", "ip", "1..2", "1/2", "1+2", "a..b", "3"};
static const char *const paths[] = {".",
				    "[]",
				    "a[].ip,b",
				    "[t=x].\"i p\"",
				    "n[].set.elem[]",
				    "[][]",
				    "[].ip/len",
				    "a[n>=5,x.y!=b|c].f..t"};

#define PICK(list, byte) ((list)[(byte) % (sizeof(list) / sizeof((list)[0]))])

static bool has_columns(const char *format)
{
	static const char *const formats[] = {"csv", "semicolons", "tsv", "pipes", "table"};

	for (size_t i = 0; format && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(format, formats[i]))
			return true;
	return false;
}

/* Of files that say where networks are, by a capital letter: 'M' and 'T' are databases. */
static bool ask_places(uint8_t byte, uint8_t how, struct asked *asked)
{
	static const struct xb_list_choice choices[] = {
		{.country = "DE,AT"}, {.not_country = "DE"}, {.continent = "EU"},
		{.asn = "64500,AS1"}, {.mmdb = "."},	     {.mmdb = "country.iso_code=DE|1|true"},
		{.mmdb = "[],[][].a"}};
	bool database = byte == 'M' || byte == 'T';

	if (!database && byte != 'D' && byte != 'P' && byte != 'Q')
		return false;
	asked->choice = choices[how % (database ? 7 : 4)];
	asked->format = byte == 'M'   ? "mmdb"
			: byte == 'D' ? "delegated"
			: byte == 'P' ? "places"
				      : NULL;
	return true;
}

/* Takes the bytes that say so off the input. A capital letter: told by the file, but for the
 * choice. */
static struct asked ask(const uint8_t **data, size_t *size)
{
	uint8_t byte = **data, how = *size > 1 ? (*data)[1] : 0;
	struct asked asked = {.format = format_of(byte)};
	bool json = asked.format && !strcmp(asked.format, "json");
	bool chooses = has_columns(asked.format) || json || (byte >= 'A' && byte <= 'Z');
	size_t taken = chooses && *size > 1 ? 2 : 1;

	*data += taken;
	*size -= taken;
	if (!chooses || ask_places(byte, how, &asked))
		return asked;
	if (json || byte == 'J')
		asked.choice.json = PICK(paths, how);
	else if (byte == 'N')
		asked.choice.set = how & 1 ? "bad" : "a";
	else if (byte != 'S')
		asked.choice.column = PICK(columns, how);
	if (asked.choice.column && how & 0x40)
		asked.choice.where = how & 0x20 ? "2=DE|5" : "cc=DE,3=,\"2\">=5";
	asked.choice.bounded = byte == 'S' || how & 0x10;
	asked.choice.most_wrong = how & 3;
	return asked;
}

static struct xb_listfile_terms terms_of(const struct asked *asked)
{
	return (struct xb_listfile_terms){
		.name = "list", .format = asked->format, .choice = asked->choice};
}

static void check_item(const struct xb_listfile *file, const struct xb_item *item)
{
	const char *comment = xb_listfile_comment(file, item);
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry again;
	char text[XB_ENTRY_TEXT];

	must(!xb_comment_check(comment, strlen(comment)));
	if (*comment)
		must_be_clear(comment);
	must(item->entry.line && item->entry.line <= file->lines && !item->doubtful);
	xb_entry_format(&item->entry, text);
	must(!xb_entry_parse_listed(text, strlen(text), form, &again, NULL));
	if (xb_entry_is_allow(&item->entry))
		again = xb_entry_allow(&again);
	must(!xb_entry_compare(&again, &item->entry));
}

/* A line is understood, or left out as a whole; but where lines are judged together, some of what
 * a line says may have no effect, and a line of JSON, XML or any text may have several values. */
static void check_unknown(const struct xb_listfile *file)
{
	static const char *const in_parts[] = {"dnsmasq", "smartdns",  "hosts",	  "adblock",
					       "json",	  "firewalld", "extract", "crowdsec",
					       "unbound", "nft"};
	bool in_part = false;
	uint64_t line = 0;

	for (size_t i = 0; i < sizeof(in_parts) / sizeof(in_parts[0]); i++)
		in_part |= !strcmp(file->format, in_parts[i]);
	for (size_t i = 0; i < file->unknown; i++) {
		must(file->first_unknown[i].line >= line && file->first_unknown[i].line);
		line = file->first_unknown[i].line;
		must_be_clear(file->first_unknown[i].text);
		for (size_t j = 0; !in_part && j < file->count; j++)
			must(xb_listfile_at(file, j).entry.line != line);
	}
	must(line <= file->lines);
}

static void check(const struct xb_listfile *file)
{
	uint64_t allowed = 0, exceptions = 0;

	must(file->format && file->count && file->count + file->repeats <= UINT32_MAX);
	for (size_t i = 0; i < file->count; i++) {
		struct xb_item item = xb_listfile_at(file, i), before = {0};

		if (i)
			before = xb_listfile_at(file, i - 1);
		must(!i || xb_entry_compare(&before.entry, &item.entry) < 0);
		allowed += xb_entry_is_allow(&item.entry);
		exceptions += item.entry.kind == XB_EXCEPT_NAME;
		check_item(file, &item);
	}
	must(allowed == file->allowed && exceptions == file->exceptions);
	must(!file->host_bits == !file->first_host_bits_line);
	check_unknown(file);
}

static void must_be_same(const struct xb_listfile *a, const struct xb_listfile *b)
{
	must(a->count == b->count && a->allowed == b->allowed && a->lines == b->lines);
	must(a->repeats == b->repeats && a->host_bits == b->host_bits && a->unknown == b->unknown);
	must(a->format == b->format);
	for (size_t i = 0; i < a->count; i++) {
		struct xb_item first = xb_listfile_at(a, i), second = xb_listfile_at(b, i);

		must(!xb_entry_compare(&first.entry, &second.entry));
		must(first.entry.line == second.entry.line && first.timeout == second.timeout);
		must(!strcmp(xb_listfile_comment(a, &first), xb_listfile_comment(b, &second)));
	}
	for (size_t i = 0; i < a->unknown; i++)
		must(a->first_unknown[i].line == b->first_unknown[i].line &&
		     !strcmp(a->first_unknown[i].text, b->first_unknown[i].text));
}

/* "list: why" or "list:LINE: why". Returns the line, 0 without one. */
static uint64_t refused_line(void)
{
	const char *message = xb_error_message();
	char *end;
	uint64_t line;

	must(xb_error_class() == XB_ERROR_INPUT);
	must_be_clear(message);
	must(!strncmp(message, "list:", 5));
	if (message[5] == ' ')
		return 0;
	line = strtoull(message + 5, &end, 10);
	must(line && !strncmp(end, ": ", 2) && end[2]);
	return line;
}

static int read_whole(const struct asked *asked, const uint8_t *data, size_t size,
		      struct xb_listfile *file)
{
	static int list = -1;
	struct xb_listfile_terms terms;
	char path[64];

	if (list < 0)
		list = memfd_create("list", MFD_CLOEXEC);
	must(list >= 0 && !ftruncate(list, 0));
	must(pwrite(list, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", list);
	terms = terms_of(asked);
	terms.bare = true;
	return xb_listfile_read_as(-1, path, &terms, file);
}

#define PIECES 50 /* fewer than a pipe holds */

/* In a pipe that keeps packets apart, each is a read of its own. */
static int read_in_pieces(const struct asked *asked, const uint8_t *data, size_t size,
			  struct xb_listfile *file)
{
	struct xb_listfile_terms terms = terms_of(asked);
	size_t most = size / PIECES + 1;
	char path[64];
	int ends[2], error;

	must(!pipe2(ends, O_DIRECT | O_CLOEXEC));
	must(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0);
	for (size_t at = 0, piece; at < size; at += piece) {
		piece = size - at < most ? size - at : most;
		must(write(ends[1], data + at, piece) == (ssize_t)piece);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", dup2(ends[0], ends[0]));
	close(ends[1]);
	error = xb_listfile_read_as(-1, path, &terms, file);
	close(ends[0]);
	return error;
}

/* A line of its own size. What may be read behind it are digits or letters: it counts for nothing.
 */
static int take_line(struct xb_reading *reading, const uint8_t *data, size_t size, char behind)
{
	char *line;
	int error;

	if (size > XB_LIST_LINE_PART)
		size = XB_LIST_LINE_PART;
	line = malloc(size + 1 + XB_LIST_SLACK);
	must(line);
	memcpy(line, data, size);
	line[size] = '\0';
	memset(line + size + 1, behind, XB_LIST_SLACK);
	reading->file->lines++;
	error = xb_listformat_take(reading, line, size);
	free(line);
	return error < 0 ? error : 0;
}

/* Of a document all that is left at once. */
static int take_rest(struct xb_reading *reading, const uint8_t *data, size_t size)
{
	return xb_listformat_add(reading, (const char *)data, size);
}

static int take_lines(const struct asked *asked, const uint8_t *data, size_t size, char behind,
		      struct xb_listfile *file)
{
	struct xb_reading reading = {.file = file, .choice = &asked->choice};
	int error = 0;

	memset(file, 0, sizeof(*file));
	must(!asked->format || !xb_listformat_choose(&reading, asked->format));
	must(!xb_listformat_begin(&reading));
	for (size_t at = 0, end; !error && at < size; at = end + 1) {
		const uint8_t *newline = memchr(data + at, '\n', size - at);

		end = newline ? (size_t)(newline - data) : size;
		if (!xb_listformat_is_document(&reading))
			error = take_line(&reading, data + at, end - at, behind);
		if (error || !xb_listformat_is_document(&reading))
			continue;
		error = take_rest(&reading, data + at, size - at);
		break;
	}
	if (!error)
		error = xb_listformat_finish(&reading);
	xb_listformat_end(&reading);
	return error;
}

/* Before repeats are dropped. */
static void check_lines(const struct asked *asked, const uint8_t *data, size_t size, int error,
			const struct xb_listfile *whole)
{
	struct xb_listfile digits, letters;
	int with_digits = take_lines(asked, data, size, '9', &digits);
	int with_letters = take_lines(asked, data, size, 'a', &letters);

	must(with_digits == with_letters);
	must(with_digits == error || !digits.count || asked->choice.bounded);
	if (!with_digits && !error) {
		must(digits.lines == whole->lines && digits.count == letters.count);
		must(digits.count + digits.repeats == whole->count + whole->repeats);
	}
	xb_listfile_free(&digits);
	xb_listfile_free(&letters);
}

/* Whether the format takes such a word although it is no entry: a range, an address with a port or
 * a netmask, or a comment. */
static bool may_be_more(const char *word, size_t bytes)
{
	return memchr(word, '-', bytes) || memchr(word, ':', bytes) || memchr(word, '/', bytes);
}

/* Every line of a list of addresses is an entry that the parser of entries takes, and is in the
 * list. Lines that begin with '!' are comments until the format has been recognised. */
static void check_addresses(const uint8_t *data, size_t size, bool recognised,
			    const struct xb_listfile *file)
{
	uint64_t number = 0;

	for (size_t at = 0, end; at < size; at = end + 1) {
		const uint8_t *newline = memchr(data + at, '\n', size - at);
		const char *word = (const char *)data + at;
		struct xb_entry entry;
		bool found = false, wrong;
		size_t bytes = 0;

		end = newline ? (size_t)(newline - data) : size;
		if (!number++ && end - at >= 3 && !memcmp(word, "\xef\xbb\xbf", 3))
			word += 3;
		for (; word < (const char *)data + end && strchr(" \t\r", *word); word++)
			;
		while (word + bytes < (const char *)data + end && !strchr(" \t\r#;", word[bytes]))
			bytes++;
		if (!bytes || (!recognised && *word == '!'))
			continue;
		recognised = true;
		wrong = xb_entry_parse(word, bytes, NULL, &entry, NULL);
		xb_error_clear();
		must(!wrong || may_be_more(word, bytes));
		/* The first of a range that has blanks. */
		if (wrong || memchr(word, '-', (size_t)((const char *)data + end - word)))
			continue;
		for (size_t i = 0; !found && i < file->count; i++) {
			struct xb_item item = xb_listfile_at(file, i);

			found = !xb_entry_compare(&item.entry, &entry);
		}
		must(found);
	}
}

/* Into an empty list, and as what it becomes. */
static void check_merge(const struct xb_listfile *file)
{
	struct xb_writer writer = fuzz_begin();
	struct xb_list *list;
	struct xb_merge merge;

	must(!xb_list_need(writer.txn, "list", &list));
	merge = (struct xb_merge){.file = file, .list = list->id, .now = writer.now};
	xb_error_clear();
	if (!xb_merge_check(&merge)) {
		must(!xb_merge_add(writer.txn, &merge));
		must(merge.added == file->count && list->members == file->count);
		merge = (struct xb_merge){.file = file, .list = list->id, .now = writer.now};
		must(!xb_merge_replace(writer.txn, &merge));
		must(merge.unchanged == file->count && !merge.added && !merge.removed);
	} else {
		must_be_clear(xb_error_message());
	}
	xb_txn_abort(writer.txn);
}

/* Whether the bytes are read as they are. */
static bool is_unpacked(const uint8_t *data, size_t size)
{
	return !xb_packing_of(data, size) &&
	       (size < 2 || (memcmp(data, "\xff\xfe", 2) && memcmp(data, "\xfe\xff", 2)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xb_listfile whole, pieces;
	struct asked asked;
	uint64_t line = 0;
	int error;

	if (!size)
		return 0;
	asked = ask(&data, &size);
	xb_error_clear();
	error = read_whole(&asked, data, size, &whole);
	must(!error == !xb_error_class());
	if (error)
		line = refused_line();
	xb_error_clear();
	must(read_in_pieces(&asked, data, size, &pieces) == error);
	/* Damage may come before or behind the line that is wrong, as the bytes come. */
	must(!error || refused_line() == line || !is_unpacked(data, size));
	must_be_same(&whole, &pieces);
	if (is_unpacked(data, size))
		check_lines(&asked, data, size, error, &whole);
	if (error) {
		must(!whole.items && !whole.bare && !whole.count && (!line || error == -EINVAL));
		return 0;
	}
	check(&whole);
	if (!strcmp(whole.format, "plain") && is_unpacked(data, size) && !asked.choice.bounded)
		check_addresses(data, size, asked.format, &whole);
	check_merge(&whole);
	xb_listfile_free(&whole);
	xb_listfile_free(&pieces);
	return 0;
}
