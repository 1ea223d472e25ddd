/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known sources by the million in the kernel's own code: turns, renewals, growth, the file, and
 * strangers. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "bloom/sizing.h"
#include "engine/known.h"
#include "engine/knownfile.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/knowing.h"
#include "support/source.h"
#include "support/visitors.h"

#define KNOWN	  amount(400000, 1000000)
#define STRANGER  (1U << 28)
#define STRANGERS amount(1500000, 10000000)
#define RATE	  1e-3

static struct rig rig;

static void settle(void)
{
	knowing_settle(&rig);
}

static void want(bool on, uint64_t capacity, double rate)
{
	knowing_wants(&rig, on, capacity, rate);
}

static void policy(uint32_t word, bool known)
{
	knowing_policy(&rig, word, known);
}

static void begin_known(uint64_t capacity)
{
	rig_must(xb_known_clear(&rig.paths), "clear");
	want(true, capacity, RATE);
	policy(XB_POLICY_ALLOW_ONLY, true);
}

static void end_known(void)
{
	policy(XB_POLICY_ENFORCE, false);
	want(false, 1, RATE);
}

static struct visitors all(bool ipv6, bool come, uint32_t first, uint32_t count, uint32_t step)
{
	return (struct visitors){&rig, first, first + count, step, ipv6, come, 0};
}

/* Both processors: the second has the other half. */
static void send_all(struct visitors visitors, void (*meanwhile)(void))
{
	struct visitors half[2] = {visitors, visitors};
	pthread_t threads[2];
	uint32_t middle = (visitors.end - visitors.first) / visitors.step / 2 * visitors.step;

	half[0].end = half[1].first = visitors.first + middle;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, visitors_go, &half[i]), 0);
	if (meanwhile)
		meanwhile();
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(half[i].lost, 0);
	}
}

static void meet(bool ipv6, uint32_t first, uint32_t count, uint32_t step)
{
	send_all(all(ipv6, false, first, count, step), NULL);
}

/* How many of them the filter admits; all others it drops. */
static uint64_t admitted(bool ipv6, uint32_t first, uint32_t count, uint32_t step)
{
	struct xb_counts before, after;
	uint64_t known, dropped;

	rig_counts(&rig, &before);
	send_all(all(ipv6, true, first, count, step), NULL);
	rig_counts(&rig, &after);
	known = after.reason[XB_ADMITTED_KNOWN].packets - before.reason[XB_ADMITTED_KNOWN].packets;
	dropped = after.reason[XB_NOT_ADMITTED].packets - before.reason[XB_NOT_ADMITTED].packets;
	assert_int_equal(known + dropped, (count + step - 1) / step);
	return known;
}

static void open_known(struct xb_knownpins *known)
{
	rig_must(xb_knownpins_open(rig.pins, known), "open");
}

/* The time of the present period is over. */
static void turn(void)
{
	struct xb_knownpins known;

	open_known(&known);
	xb_known_turn(known.known, (uint32_t)(known.known->period >> 32));
	xb_knownpins_close(&known);
}

static struct xb_known_view look(void)
{
	struct xb_known_view view;

	rig_must(xb_known_look(&rig.paths, &view), "look");
	return view;
}

static double promised(void)
{
	struct xb_knownpins known;
	double rate;

	open_known(&known);
	memcpy(&rate, &known.known->set[known.known->learner].rate, sizeof(rate));
	xb_knownpins_close(&known);
	return rate;
}

/* With both periods as full as they were sized for, and the share of those who are not known. */
TEST(half_are_renewed)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		double share;

		begin_known(KNOWN);
		meet(ipv6, 0, KNOWN, 1);
		assert_int_equal(admitted(ipv6, 0, KNOWN, 1), KNOWN);
		turn();
		assert_int_equal(admitted(ipv6, 0, KNOWN, 1), KNOWN);
		meet(ipv6, 0, KNOWN, 2);
		meet(ipv6, KNOWN, KNOWN / 2,
		     1); /* others fill the place of those who stayed away */
		assert_int_equal(admitted(ipv6, 0, KNOWN, 1), KNOWN);
		share = (double)admitted(ipv6, STRANGER, STRANGERS, 1) / STRANGERS;
		printf("IPv%d: strangers %.3g, promised %.3g\n", ipv6 ? 6 : 4, share, promised());
		assert_true(share < 1.1 * promised() && share > 0.75 * promised());
		assert_true(share < 1.1 * RATE);
		assert_true(look().rate < 1.25 * share && look().rate > 0.8 * share);
		turn();
		assert_int_equal(admitted(ipv6, 0, KNOWN, 2), KNOWN / 2);
		share = (double)admitted(ipv6, 1, KNOWN, 2) / ((double)KNOWN / 2);
		printf("those who were not renewed: %.3g\n", share);
		assert_true(share < 1.25 * promised());
		turn();
		assert_true(admitted(ipv6, 0, KNOWN, 1) == 0);
		end_known();
	}
}

static void turn_in_the_middle(void)
{
	usleep(20000);
	turn();
}

/* Both processors learn while the period turns under them: whoever was met is known in the next. */
TEST(turns_under_writers)
{
	begin_known(KNOWN / 10);
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t first = i * (KNOWN / 10);

		send_all(all(i & 1, false, first, KNOWN / 10, 1), turn_in_the_middle);
		assert_int_equal(admitted(i & 1, first, KNOWN / 10, 1), KNOWN / 10);
	}
	end_known();
}

/* Ten thousand come where a thousand were expected, and nobody is lost; when all that the former
 * sets have is forgotten, they go. */
TEST(it_grows)
{
	begin_known(1000);
	for (uint32_t i = 1; i <= 20; i++) {
		meet(false, 1000 * (i - 1), 1000, 1);
		settle();
		assert_int_equal(admitted(false, 0, 1000 * i, 1), 1000 * i);
	}
	printf("%u sets, room for %lu\n", look().sets, look().capacity);
	assert_true(look().sets > 2 && look().capacity >= 20000);
	assert_true(fabs(look().sources / 20000 - 1) < 0.05);
	assert_true((double)admitted(false, STRANGER, STRANGERS, 1) < 1.1 * RATE * STRANGERS);
	turn();
	settle();
	assert_int_equal(admitted(false, 0, 20000, 1), 20000);
	meet(false, 0, 1000, 1);
	turn();
	settle();
	assert_int_equal(look().sets, 1);
	assert_int_equal(admitted(false, 0, 1000, 1), 1000);
	end_known();
}

/* A bit at a time: who is forgotten is gone, and few go with them, as many as it says. */
TEST(some_are_forgotten)
{
	const uint32_t count = 10000, forgotten = 200;
	double told = 0;
	uint64_t left;

	begin_known(count);
	meet(true, 0, count, 1);
	for (uint32_t i = 0; i < forgotten; i++) {
		bool was_known, known;
		double others;
		uint64_t hi = source_visitor6(i);

		rig_must(xb_known_forget(&rig.paths, false, hi, &was_known, &others), "forget");
		rig_must(xb_known_test(&rig.paths, false, hi, &known), "test");
		assert_false(known);
		told += was_known ? others : 0;
	}
	assert_true(admitted(true, 0, forgotten, 1) == 0);
	left = admitted(true, forgotten, count - forgotten, 1);
	printf("%lu others went, %.0f told\n", count - forgotten - left, told);
	assert_true(fabs((double)(count - forgotten - left) - told) < told / 2 + 10);
	meet(true, 0, forgotten, 1);
	assert_int_equal(admitted(true, 0, forgotten, 1), forgotten);
	end_known();
}

/* --- the file --- */

static void forget_the_kernel(void)
{
	policy(XB_POLICY_ENFORCE, false);
	xb_knownpins_destroy(rig.pins);
}

static void up(void)
{
	settle();
	policy(XB_POLICY_ALLOW_ONLY, true);
}

/* Puts the moment of the file so many seconds back, in another boot. */
static void age_file(int64_t seconds)
{
	char path[512];
	struct stat st;
	uint8_t *bytes;
	uint64_t written;
	uint32_t checksum;
	int fd;

	snprintf(path, sizeof(path), "%s/" XB_KNOWN_FILE, rig.state);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
	memcpy(&written, bytes + 8, sizeof(written));
	written -= (uint64_t)seconds;
	memcpy(bytes + 8, &written, sizeof(written));
	memset(bytes + 24, 0xee, 16);
	checksum = (uint32_t)crc32_z(0, bytes, (size_t)st.st_size - sizeof(checksum));
	memcpy(bytes + st.st_size - sizeof(checksum), &checksum, sizeof(checksum));
	assert_int_equal(pwrite(fd, bytes, (size_t)st.st_size, 0), st.st_size);
	close(fd);
	free(bytes);
}

TEST(it_survives_a_boot)
{
	static const struct {
		int64_t days;
		bool former, present; /* are known afterwards */
	} rows[] = {{0, true, true},
		    {-400, true, true},
		    {1, false, true},
		    {2, false, false},
		    {300, false, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t former, before;

		begin_known(20000);
		meet(false, 0, 10000, 1);
		turn();
		meet(true, 0, 10000, 1);
		before = (uint64_t)time(NULL);
		rig_must(xb_known_save(&rig.paths), "save");
		assert_in_range(xb_knownfile_saved(&rig.paths), before, (uint64_t)time(NULL));
		age_file(rows[i].days * 86400);
		forget_the_kernel();
		up();
		former = admitted(false, 0, 10000, 1);
		if (rows[i].former)
			assert_int_equal(former, 10000);
		else /* strangers to the sources of the present period, where there are any */
			assert_true(former <= (rows[i].present ? RATE * 10000 : 0));
		assert_int_equal(admitted(true, 0, 10000, 1), rows[i].present ? 10000 : 0);
		assert_true(look().left > 0 && look().left <= look().remember);
		end_known();
	}
}

/* Each byte of the file counts, and its length. */
TEST(a_damaged_file_is_left)
{
	char path[512];
	struct stat st;

	begin_known(100);
	meet(false, 0, 100, 1);
	rig_must(xb_known_save(&rig.paths), "save");
	snprintf(path, sizeof(path), "%s/" XB_KNOWN_FILE, rig.state);
	assert_int_equal(stat(path, &st), 0);
	for (off_t at = 0; at < st.st_size; at += at < 100 ? 1 : 251) {
		struct xb_knownpins known;
		int fd = open(path, O_RDWR | O_CLOEXEC);
		uint8_t byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x40;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		assert_int_equal(xb_knownfile_load(&rig.paths, &known), -EUCLEAN);
		byte ^= 0x40;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		close(fd);
	}
	assert_int_equal(truncate(path, st.st_size - 1), 0);
	forget_the_kernel();
	up();
	assert_int_equal(admitted(false, 0, 100, 1), 0);
	end_known();
}

static int begin(void **state)
{
	leave_cgroups();
	rig_begin(&rig, "known");
	return 0;
}

static int end(void **state)
{
	rig_end(&rig);
	return 0;
}

ALL_TESTS(begin, end);
