/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that keeps store and kernel open between its writes, while others change both: it never
 * writes into what is no longer in force. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/error.h"
#include "engine/edit.h"
#include "engine/session.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/rig.h"

static struct rig rig;

static int begin(void **state)
{
	rig_begin(&rig, "session");
	xb_session_begin(3600);
	return 0;
}

static int end(void **state)
{
	xb_session_end();
	rig_end(&rig);
	return 0;
}

static int note_resumed(struct xb_writer *writer, void *context)
{
	*(bool *)context = writer->resumed;
	return 0;
}

/* Whether a write finds everything as the one before has left it. */
static bool resumes(void)
{
	bool resumed = false;

	rig_must(xb_write(&rig.paths, 0, note_resumed, &resumed, &rig.written), "write");
	return resumed;
}

static uint32_t verdict(const char *text)
{
	struct xb_entry entry;
	int program = rig_entry(&rig);
	uint32_t result;

	assert_int_equal(xb_entry_parse(text, strlen(text), NULL, &entry, NULL), 0);
	result = rig_run_from(program, &entry);
	close(program);
	return result;
}

static void assert_dropped(const char *text)
{
	if (verdict(text) != XDP_DROP)
		fail_msg("%s passes", text);
}

static void assert_passed(const char *text)
{
	if (verdict(text) != XDP_PASS)
		fail_msg("%s is dropped", text);
}

/* As bloomctl does: in a process without a session. */
static void elsewhere(void (*what)(const char *), const char *text)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		xb_session_end();
		what(text);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void add(const char *text)
{
	rig_add(&rig, text, "default");
}

static void del(const char *text)
{
	rig_del(&rig, text, "default");
}

static void rotate(const char *text)
{
	rig_rotate(&rig);
}

static void monitor(const char *text)
{
	rig_policy(&rig, *text ? XB_POLICY_MONITOR : XB_POLICY_ENFORCE);
}

static void unpin(const char *text)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -r '%s/%s'", rig.pins, text);
	assert_int_equal(system(command), 0);
}

TEST(it_goes_on_with_what_is_open)
{
	add("192.0.2.1");
	assert_true(resumes());
	add("192.0.2.2");
	assert_dropped("192.0.2.1");
	assert_dropped("192.0.2.2");
	assert_passed("192.0.2.3");
	assert_true(resumes());
	xb_session_distrust();
	assert_false(resumes());
	assert_true(resumes());
	assert_true(rig_matches_rebuild(&rig));
}

TEST(it_notices_what_others_change)
{
	static const struct {
		void (*what)(const char *);
		const char *text;
	} others[] = {{add, "192.0.2.7"},      {del, "192.0.2.7"}, {rotate, ""},
		      {monitor, "x"},	       {monitor, ""},	   {rotate, ""},
		      {add, "198.51.100.0/24"}};

	add("192.0.2.1");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_true(resumes());
		elsewhere(others[i].what, others[i].text);
		assert_false(resumes());
		add("192.0.2.2");
		if (others[i].what != monitor || !*others[i].text)
			assert_dropped("192.0.2.2");
		del("192.0.2.2");
		assert_passed("192.0.2.2");
		assert_true(rig_matches_rebuild(&rig));
	}
	assert_dropped("192.0.2.1");
	assert_dropped("198.51.100.9");
}

TEST(it_notices_lost_pins)
{
	add("192.0.2.1");
	assert_true(resumes());
	unpin("link");
	assert_false(resumes());
	add("192.0.2.2");
	assert_true(resumes());
}

static int give_up(struct xb_writer *writer, void *context)
{
	return xb_input_error("no");
}

TEST(a_write_that_fails_leaves_nothing)
{
	add("192.0.2.1");
	assert_true(resumes());
	assert_int_equal(xb_write(&rig.paths, 0, give_up, NULL, &rig.written), -EINVAL);
	assert_false(resumes());
	add("192.0.2.2");
	assert_dropped("192.0.2.1");
	assert_dropped("192.0.2.2");
	assert_true(rig_matches_rebuild(&rig));
}

/* Heavy writes are repaired first, always. */
TEST(heavy_writes_look_at_all)
{
	bool resumed = true;

	add("192.0.2.1");
	rig_must(xb_write(&rig.paths, XB_WRITE_HEAVY, note_resumed, &resumed, &rig.written),
		 "write");
	assert_false(resumed);
	assert_true(resumes());
}

TEST(trust_ends_with_time)
{
	xb_session_begin(0);
	add("192.0.2.1");
	assert_false(resumes());
}

static int add_one(struct xb_writer *writer, void *context)
{
	struct xb_edit_terms terms = {.add = true, .exist = true, .list = "default"};
	struct xb_edit_result result = {0};
	struct xb_edit_refusal refusal;
	struct xb_entry entry;
	int error = xb_entry_parse("192.0.2.9", 9, NULL, &entry, NULL);

	if (!error)
		error = xb_edit_begin(writer, &terms, &refusal);
	return error ? error : xb_edit_apply(writer, &terms, &entry, &result, &refusal);
}

static void in_state(const char *what)
{
	char command[1024];

	snprintf(command, sizeof(command), "cd '%s' && %s", rig.state, what);
	assert_int_equal(system(command), 0);
}

TEST(it_survives_a_lost_lock_file)
{
	add("192.0.2.1");
	in_state("rm store.mdb-lock");
	elsewhere(add, "192.0.2.2");
	add("192.0.2.3");
	assert_dropped("192.0.2.2");
	assert_dropped("192.0.2.3");
	assert_true(rig_matches_rebuild(&rig));
}

TEST(it_survives_an_older_store_in_place)
{
	add("192.0.2.1");
	in_state("cp store.mdb copy");
	add("192.0.2.2");
	in_state("dd if=copy of=store.mdb conv=notrunc status=none");
	assert_true(
		xb_write(&rig.paths, 0, NULL, NULL, &rig.written)); /* LMDB's lock file differs */
	add("192.0.2.3");
	assert_dropped("192.0.2.1");
	assert_dropped("192.0.2.3");
	assert_true(rig_matches_rebuild(&rig));
}

/* Into the same file, so that nothing but the history differs. */
TEST(it_notices_another_history_in_the_same_file)
{
	add("192.0.2.1");
	in_state("cp store.mdb copy");
	add("192.0.2.2");
	in_state("cp store.mdb other");
	in_state("mv copy store.mdb");
	add("192.0.2.4");
	in_state("cat other >store.mdb");
	add("192.0.2.2");
	assert_dropped("192.0.2.2");
	assert_passed("192.0.2.4");
	assert_true(rig_matches_rebuild(&rig));
}

/* What is listed in the one is not in force by the other. */
TEST(it_notices_a_store_of_the_same_number)
{
	add("192.0.2.1");
	in_state("cp store.mdb copy");
	add("192.0.2.2");
	in_state("cp store.mdb other");
	in_state("mv copy store.mdb");
	add("192.0.2.4");
	in_state("mv other store.mdb");
	add("192.0.2.2");
	assert_dropped("192.0.2.2");
	assert_passed("192.0.2.4");
	assert_true(rig_matches_rebuild(&rig));
}

static unsigned int meta_fails; /* writes of a part of a page */

static bool is_store(int fd)
{
	struct stat of_fd, of_store;
	char path[512];

	snprintf(path, sizeof(path), "%s/store.mdb", rig.state);
	return !fstat(fd, &of_fd) && !stat(path, &of_store) && of_fd.st_ino == of_store.st_ino;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	if (meta_fails && is_store(fd) && size < 4096) {
		meta_fails--;
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

/* LMDB refuses every transaction after it could not write a meta page. */
TEST(a_disk_that_recovers_is_used_again)
{
	add("192.0.2.1");
	meta_fails = 1;
	assert_true(xb_write(&rig.paths, 0, add_one, NULL, &rig.written));
	assert_int_equal(meta_fails, 0);
	add("192.0.2.3");
	assert_dropped("192.0.2.3");
	assert_true(rig_matches_rebuild(&rig));
}

#define KEYS 40

TEST(both_change_what_they_like)
{
	uint64_t seed = 20261123;
	bool listed[KEYS] = {false};

	for (uint32_t step = 0; step < amount(60, 600); step++) {
		uint64_t random = rig_random(&seed);
		uint32_t key = (uint32_t)(random % KEYS);
		void (*what)(const char *) = listed[key] ? del : add;
		char text[64];

		snprintf(text, sizeof(text), key & 1 ? "203.0.%u.0/24" : "203.1.1.%u", key);
		if (random >> 8 & 1)
			what(text);
		else
			elsewhere(what, text);
		listed[key] = !listed[key];
		if (!(random >> 16 & 15))
			elsewhere(rotate, "");
		snprintf(text, sizeof(text), key & 1 ? "203.0.%u.1" : "203.1.1.%u", key);
		if (listed[key])
			assert_dropped(text);
		else
			assert_passed(text);
	}
	assert_true(rig_matches_rebuild(&rig));
}

EACH_TEST(begin, end);
