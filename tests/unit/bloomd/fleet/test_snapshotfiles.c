/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A snapshot as files: what is in the directory is always one whole snapshot, with what those may
 * still ask for who began with the one before. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/fleet/chunkfile.h"
#include "bloomd/fleet/snapshotfiles.h"
#include "support/cmocka.h"
#include "support/fleethosts.h"

static char directory[] = "/tmp/xb-files-XXXXXX";

/* The tests are in the directory themselves. */
static int begin(void **state)
{
	strcpy(directory, "/tmp/xb-files-XXXXXX");
	return !mkdtemp(directory) || chdir(directory) || begin_hosts(state);
}

static int end(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	return chdir("/") | system(command) | end_hosts(state);
}

static bool is_there(const char *name)
{
	return !access(name, F_OK);
}

static size_t count_files(void)
{
	DIR *names = opendir(".");
	size_t count = 0;

	assert_non_null(names);
	while (readdir(names))
		count++;
	closedir(names);
	return count - 2; /* . and .. */
}

static void fill_names(const char *list, uint32_t count)
{
	char text[64], comment[201] = "";

	memset(comment, 'c', sizeof(comment) - 1);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "some-longer-name-%u.example.com", i);
		list_with(at(&maker), text, list, 0, comment);
	}
}

/* A snapshot of its own, in the place of the one before. */
static void make_next(void)
{
	manifest_free(&manifest);
	assert_int_equal(ftruncate(chunks, 0) | lseek(chunks, 0, SEEK_SET), 0);
	make();
}

static int write_files(void)
{
	return snapshotfiles_write(directory, &manifest, &key, chunks);
}

/* As one who loads the files does; what he has not loaded is not in the file. */
static int load_chunks(int file)
{
	static uint8_t bytes[2 * CHUNK_BYTES];
	char name[SNAPSHOT_NAME];
	int error = 0;

	for (size_t i = manifest.chunk_count; !error && i > 0; i--) {
		int fd = open(snapshotfile_name(&manifest, i - 1, name), O_RDONLY);
		ssize_t size = read(fd, bytes, sizeof(bytes));

		close(fd);
		assert_true(size >= 0);
		error = chunk_store(&manifest, i - 1, &key, file, bytes, (size_t)size);
	}
	return error;
}

/* The taker takes what was loaded into the file. */
static struct snapshot_result take_from(int file)
{
	struct snapshot_terms terms = terms_of(false);
	struct snapshot_result result;

	terms.chunks = file;
	assert_int_equal(try_take(&terms, &result), 0);
	return result;
}

TEST(who_loads_them_has_the_snapshot)
{
	int file = memfd_create("loaded", MFD_CLOEXEC);
	struct stat about;

	fill_names("bans", 20000);
	list_with(at(&maker), "a.example.com", "names", 0, "comment");
	make();
	assert_true(manifest.chunk_count > 3);
	assert_int_equal(write_files(), 0);
	assert_int_equal(count_files(), manifest.chunk_count + 1);
	assert_int_equal(stat(SNAPSHOT_MANIFEST, &about), 0);
	assert_int_equal(about.st_mode & 07777, 0644);
	manifest_free(&manifest);
	assert_int_equal(snapshotfiles_read(directory, &key, &manifest), 1);
	assert_int_equal(load_chunks(file), 0);
	assert_int_equal(take_from(file).added, 20001);
	assert_int_equal(take_from(file).unchanged, 20001);
	close(file);
}

/* Of a list that the taker does not follow, the file may have a hole. */
TEST(lists_that_are_not_followed_need_no_chunks)
{
	static uint8_t bytes[2 * CHUNK_BYTES];
	int file = memfd_create("loaded", MFD_CLOEXEC);

	list_all(at(&maker), "192.0.2.1 bans; a.example.com names");
	assert_int_equal(xb_share_set(at(&taker), "bans", 0), 0);
	settle(&taker);
	make();
	assert_int_equal(manifest.chunk_count, 2);
	assert_int_equal(chunk_load(&manifest, 1, &key, chunks, bytes), 0);
	assert_int_equal(chunk_store(&manifest, 1, &key, file, bytes, manifest.chunks[1].size), 0);
	take_from(file);
	assert_store(at(&taker), "a.example.com names");
	close(file);
}

/* Its bytes are good for neither another place nor another identity. */
TEST(another_chunk_is_not_stored)
{
	static uint8_t bytes[2 * CHUNK_BYTES];
	int file = memfd_create("loaded", MFD_CLOEXEC);
	struct mac_key other = {{8}};
	struct stat about;

	list_all(at(&maker), "192.0.2.1 bans names");
	make();
	assert_int_equal(chunk_load(&manifest, 0, &key, chunks, bytes), 0);
	manifest.chunks[1] = manifest.chunks[0];
	assert_int_equal(chunk_store(&manifest, 1, &key, file, bytes, manifest.chunks[1].size),
			 -EINVAL);
	assert_int_equal(chunk_store(&manifest, 0, &other, file, bytes, manifest.chunks[0].size),
			 -EINVAL);
	manifest.id[0]++;
	assert_int_equal(chunk_store(&manifest, 0, &key, file, bytes, manifest.chunks[0].size),
			 -EINVAL);
	manifest.id[0]--;
	assert_int_equal(chunk_store(&manifest, 0, &key, file, bytes, 1), -EINVAL);
	assert_int_equal(chunk_store(&manifest, 2, &key, file, bytes, 1), -EINVAL);
	assert_int_equal(fstat(file, &about), 0);
	assert_int_equal(about.st_size, 0);
	close(file);
}

TEST(the_one_before_stays_until_the_next)
{
	char name[3][SNAPSHOT_NAME];

	for (int i = 0; i < 3; i++) {
		fill_bans(at(&maker), 0, (uint32_t)i + 1);
		make_next();
		snapshotfile_name(&manifest, 0, name[i]);
		assert_int_equal(write_files(), 0);
		assert_true(is_there(name[i]));
		assert_true(!i || is_there(name[i - 1]));
		/* What is not ours is nothing to us. */
		close(open("index.html", O_WRONLY | O_CREAT, 0644));
	}
	assert_false(is_there(name[0]));
	assert_true(is_there("index.html"));
	assert_int_equal(count_files(), 4);
}

TEST(what_a_killed_one_left_is_in_no_way)
{
	fill_bans(at(&maker), 0, 1);
	make();
	/* Nor is it followed. */
	assert_int_equal(symlink("elsewhere", ".new"), 0);
	assert_int_equal(write_files(), 0);
	assert_false(is_there("elsewhere"));
	assert_int_equal(count_files(), 2);
}

/* After a chunk or two. */
TEST(no_room_leaves_what_was_there)
{
	struct rlimit small = {1000, RLIM_INFINITY}, before;
	struct manifest found;
	char name[SNAPSHOT_NAME];
	uint8_t id[XB_FLEET_ID];

	list_entry(at(&maker), "192.0.2.1", "bans");
	make();
	memcpy(id, manifest.id, sizeof(id));
	snapshotfile_name(&manifest, 0, name);
	assert_int_equal(write_files(), 0);
	fill_bans(at(&maker), 0, 10);
	fill_names("names", 100);
	make_next();
	assert_int_equal(manifest.chunk_count, 2);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(write_files(), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_non_null(strstr(xb_error_message(), directory));
	assert_non_null(strstr(xb_error_message(), "cannot write"));
	assert_int_equal(count_files(), 2);
	assert_true(is_there(name));
	assert_int_equal(snapshotfiles_read(directory, &key, &found), 1);
	assert_memory_equal(found.id, id, sizeof(id));
	manifest_free(&found);
	assert_int_equal(write_files(), 0);
	assert_int_equal(count_files(), 4);
}

TEST(damage_and_manifests_of_others)
{
	struct mac_key other = {{8}};
	struct manifest found;

	fill_bans(at(&maker), 0, 3);
	make();
	assert_int_equal(snapshotfiles_read(directory, &key, &found), 0);
	assert_int_equal(write_files(), 0);
	assert_int_equal(snapshotfiles_read(directory, &other, &found), 0);
	manifest_free(&found);
	assert_int_equal(truncate(SNAPSHOT_MANIFEST, 20), 0);
	assert_int_equal(snapshotfiles_read(directory, &key, &found), 0);
	manifest_free(&found);
	assert_int_equal(snapshotfiles_read("/nowhere", &key, &found), 0);
	assert_int_equal(snapshotfiles_write("/nowhere", &manifest, &key, chunks), -ENOENT);
	make_next();
	assert_int_equal(pwrite(chunks, "x", 1, 3), 1);
	assert_int_equal(write_files(), -EINVAL);
	assert_int_equal(count_files(), 1); /* that of no manifest is cleaned away */
}

TEST(order_is_that_of_the_log)
{
	struct manifest one = {.term = 3, .position = 70};

	assert_false(manifest_is_before(&one, 3, 70));
	assert_true(manifest_is_before(&one, 3, 71));
	assert_false(manifest_is_before(&one, 3, 69));
	assert_true(manifest_is_before(&one, 4, 1));
	assert_false(manifest_is_before(&one, 2, 900));
}

EACH_TEST(begin, end);
