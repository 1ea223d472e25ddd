/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of the file with other bytes, with other headers, and in places of others: whatever reads
 * or writes comes to an end, and it is no signal. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mapfault.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/random.h"
#include "support/scratch_store.h"

#define PAGE	4096
#define PAGES	1024
#define ENTRIES 6000
#define SECONDS 120 /* what takes longer has no end */

static void put_many(unsigned int first)
{
	static const char *const forms[] = {"%s10.0.%u.%u", "%s2001:db8:%x:%x::/64",
					    "%sa%u.b%u.example"};
	struct xb_txn *txn;
	char text[64];

	assert_int_equal(xb_store_write(store, &txn), 0);
	for (unsigned int i = first; i < first + ENTRIES; i++) {
		snprintf(text, sizeof(text), forms[i % 3], i % 40 < 3 ? "!" : "", i >> 8, i & 255);
		list_with(txn, text, "default", 0, "as long as a comment may well be");
	}
	assert_int_equal(xb_txn_commit(txn), 0);
}

static void walk_all(void)
{
	const struct xb_entry sides[] = {XB_WALK_LISTED, XB_WALK_ALLOW, XB_WALK_NAMES};
	struct xb_txn *txn;

	if (xb_store_read(store, &txn))
		return;
	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		struct xb_walk walk;

		if (xb_walk_begin(&walk, txn, &sides[i]))
			continue;
		while (xb_walk_next(&walk) > 0)
			;
		xb_walk_end(&walk);
	}
	xb_txn_abort(txn);
}

static void add_some(void)
{
	struct xb_membership member = {0};
	struct xb_list *list;
	struct xb_txn *txn;
	int error;

	if (xb_store_write(store, &txn))
		return;
	error = xb_list_need(txn, "default", &list);
	if (!error)
		member.list = list->id;
	for (unsigned int i = 0; !error && i < 20; i++) {
		struct xb_entry entry = {
			.kind = XB_HOST4, .length = 32, .hi = (uint64_t)random_word() << 32};
		enum xb_put result;

		error = xb_member_put(txn, &entry, &member, 0, &result);
	}
	if (error)
		xb_txn_abort(txn);
	else
		xb_txn_commit(txn);
}

static void leave(const char *message)
{
	_exit(3);
}

/* A fault elsewhere takes the default action. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	if (xb_mapfault_message(number, info))
		leave(NULL);
}

static void end_at_damage(void)
{
	const struct sigaction action = {.sa_sigaction = on_fault,
					 .sa_flags = SA_SIGINFO | SA_RESETHAND};

	xb_mapfault_set_end(leave);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGABRT, &action, NULL);
}

/* In a process of its own: LMDB may fail an assertion, or read where nothing is mapped. */
static void assert_it_ends(const char *done, size_t page)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		alarm(SECONDS);
		end_at_damage();
		if (!freopen("/dev/null", "w", stderr) ||
		    xb_store_open(directory, XB_STORE_WRITE, &store))
			_exit(0);
		walk_all();
		add_some();
		add_some();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		fail_msg("%s at page %zu: signal %d", done, page, WTERMSIG(status));
}

static uint8_t good[PAGES][PAGE];
static size_t page_count;
static int file;

static int begin_filled(void **state)
{
	char path[128];
	struct stat st;

	if (begin(state))
		return -1;
	random_begin();
	put_many(0);
	put_many(ENTRIES / 2); /* frees pages of the first time */
	xb_store_close(store);
	store = NULL;
	snprintf(path, sizeof(path), "%s/" XB_STORE_FILE, directory);
	file = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(file, &st), 0);
	page_count = (size_t)st.st_size / PAGE;
	assert_in_range(page_count, 20, PAGES);
	assert_int_equal(pread(file, good, page_count * PAGE, 0), page_count * PAGE);
	return 0;
}

static int end_filled(void **state)
{
	close(file);
	return xb_store_open(directory, XB_STORE_READ, &store) || end(state);
}

/* The page has other bytes; then the file is as it was. */
static void assert_survived(const char *done, size_t page, const uint8_t *bytes)
{
	assert_int_equal(pwrite(file, bytes, PAGE, (off_t)(page * PAGE)), PAGE);
	assert_it_ends(done, page);
	assert_int_equal(ftruncate(file, (off_t)(page_count * PAGE)), 0);
	assert_int_equal(pwrite(file, good, page_count * PAGE, 0), page_count * PAGE);
}

static size_t any_page(void)
{
	return 2 + random_word() % (page_count - 2);
}

TEST(every_damage_is_survived)
{
	const uint32_t tries = amount(75, 5000);

	for (uint32_t i = 0; i < tries; i++) {
		size_t page = any_page();
		uint8_t bytes[PAGE];

		memcpy(bytes, good[page], PAGE);
		for (uint32_t left = 1 + random_word() % 64; left; left--)
			bytes[random_word() % PAGE] = (uint8_t)random_word();
		assert_survived("other bytes", page, bytes);
		assert_survived("another page", page, good[any_page()]);
	}
}

/* Where LMDB has them in a page, two bytes each. */
#define FLAGS 10
#define LOWER 12
#define UPPER 14

static uint16_t pick(const uint16_t *values, size_t count)
{
	return values[random_word() % count];
}

#define PICK(values) pick(values, sizeof(values) / sizeof((values)[0]))

static void spoil_header(uint8_t *page, size_t place, uint16_t value)
{
	if (random_word() % 2)
		memcpy(page + place, &value, sizeof(value));
}

/* What dice seldom meet among 4096 bytes. The first of flags and of lower together were a search
 * without an end. */
TEST(every_header_is_survived)
{
	static const uint16_t flags[] = {0x22, 0x21, 0, 1, 2, 4, 0xffff},
			      lower[] = {0, 3, 15, 16, 19, 0x7ff, 0x1010, 0xffff},
			      upper[] = {0, 15, 0x1010, 0x7fff, 0xffff};
	const uint32_t rounds = amount(2, 100);

	for (uint32_t i = 0; i < rounds * page_count; i++) {
		size_t page = i % page_count;
		uint8_t bytes[PAGE];

		if (page < 2)
			continue;
		memcpy(bytes, good[page], PAGE);
		spoil_header(bytes, FLAGS, i % 4 ? PICK(flags) : flags[0]);
		spoil_header(bytes, LOWER, i % 4 ? PICK(lower) : lower[0]);
		spoil_header(bytes, UPPER, PICK(upper));
		assert_survived("another header", page, bytes);
	}
}

EACH_TEST(begin_filled, end_filled);
