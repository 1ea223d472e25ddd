/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory there is, from files of the kernel that the test writes: cgroups of both
 * versions, their parents, no limit, and files that are not there. The identity of the boot, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/boot.h"
#include "base/memory.h"
#include "support/cmocka.h"

#define MIB UINT64_C(1048576)

static const char cgroups[] = "/sys/fs/cgroup", folder[] = "/mnt";

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) < 0 || fclose(file)) {
		printf("cannot write %s\n", path);
		_exit(1);
	}
}

/* Puts the text in the place of a file in /proc. */
static void cover(const char *path, const char *text)
{
	char name[] = "/mnt/XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0)
		_exit(1);
	close(fd);
	write_file(name, text);
	if (mount(name, path, "none", MS_BIND, NULL)) {
		printf("cannot mount on %s\n", path);
		_exit(1);
	}
}

/* One of a cgroup: "" for the root, "/a/b". */
static void group_file(const char *group, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", cgroups, group);
	for (char *at = strchr(path + sizeof(cgroups), '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
	mkdir(path, 0755);
	strncat(path, "/", sizeof(path) - strlen(path) - 1);
	strncat(path, name, sizeof(path) - strlen(path) - 1);
	write_file(path, text);
}

static void limits(const char *group, const char *most, const char *used, const char *stat)
{
	group_file(group, "memory.max", most);
	group_file(group, "memory.current", used);
	if (stat)
		group_file(group, "memory.stat", stat);
}

static void limits_v1(const char *group, const char *most, const char *used)
{
	group_file(group, "memory.limit_in_bytes", most);
	group_file(group, "memory.usage_in_bytes", used);
}

static void of_groups(const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)getpid());
	cover(path, text);
}

/* What a process finds for which `make` has made the files. */
static uint64_t found(void (*make)(void), uint64_t (*what)(void))
{
	uint64_t number = 0;
	int told[2], status;
	pid_t child;

	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
		    mount("xbt", folder, "tmpfs", 0, "mode=0755") ||
		    mount("xbt", cgroups, "tmpfs", 0, "mode=0755"))
			_exit(1);
		cover("/proc/meminfo",
		      "MemTotal: 9999999 kB\nMemFree: 1 kB\nMemAvailable: 4096 kB\n");
		make();
		fflush(stdout);
		number = what();
		_exit(write(told[1], &number, sizeof(number)) != sizeof(number));
	}
	close(told[1]);
	if (read(told[0], &number, sizeof(number)) != sizeof(number))
		fail_msg("the files cannot be made");
	close(told[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return number;
}

static void is_available(void (*make)(void), uint64_t expected)
{
	uint64_t available = found(make, xb_memory_available);

	if (available != expected)
		fail_msg("%" PRIu64 " instead of %" PRIu64, available, expected);
}

static void no_group(void)
{
	of_groups("");
}

static void no_limit(void)
{
	of_groups("0::/a\n");
	limits("/a", "max\n", "1048576\n", NULL);
	limits("", "max\n", "1048576\n", NULL);
}

static void no_limit_v1(void)
{
	of_groups("4:memory:/a\n");
	limits_v1("/memory/a", "9223372036854771712\n", "1048576\n");
}

static void no_meminfo(void)
{
	cover("/proc/meminfo", "MemTotal: 5 kB\n");
	of_groups("");
}

TEST(the_machine_has)
{
	is_available(no_group, 4 * MIB);
	is_available(no_limit, 4 * MIB);
	is_available(no_limit_v1, 4 * MIB);
	is_available(no_meminfo, UINT64_MAX);
}

static void own_limit(void)
{
	of_groups("0::/a/b\n");
	limits("/a/b", "3145728\n", "1048576\n", NULL);
	limits("/a", "max\n", "1048576\n", NULL);
}

static void limit_of_a_parent(void)
{
	of_groups("0::/a/b\n");
	limits("/a/b", "3145728\n", "1048576\n", NULL);
	limits("/a", "2097152\n", "1048576\n", NULL);
}

static void limit_of_the_root(void)
{
	of_groups("0::/\n");
	limits("", "1048577\n", "1048576\n", NULL);
	limits("/a", "0\n", "0\n", NULL);
}

static void more_than_the_machine(void)
{
	of_groups("0::/a\n");
	limits("/a", "1099511627776\n", "0\n", NULL);
}

static void over_its_limit(void)
{
	of_groups("0::/a\n");
	limits("/a", "1048576\n", "2097152\n", NULL);
}

static void of_nothing(void)
{
	of_groups("0::/a\n");
	limits("/a", "0\n", "0\n", NULL);
}

static void limit_v1(void)
{
	of_groups("12:cpu,cpuacct:/other\n11:memory:/a\n0::/\n");
	limits_v1("/memory/a", "2097152\n", "1048576\n");
	limits_v1("/memory/other", "0\n", "0\n");
}

static void limit_hybrid(void)
{
	of_groups("0::/a\n");
	group_file("/unified/a", "memory.max", "2097152\n");
	group_file("/unified/a", "memory.current", "1048576\n");
}

static void without_usage(void)
{
	of_groups("0::/a\n");
	group_file("/a", "memory.max", "2097152\n");
}

TEST(a_group_leaves)
{
	is_available(own_limit, 2 * MIB);
	is_available(limit_of_a_parent, 1 * MIB);
	is_available(limit_of_the_root, 1);
	is_available(more_than_the_machine, 4 * MIB);
	is_available(over_its_limit, 0);
	is_available(of_nothing, 0);
	is_available(limit_v1, 1 * MIB);
	is_available(limit_hybrid, 1 * MIB);
	is_available(without_usage, 4 * MIB);
}

static void pages_of_files(void)
{
	of_groups("0::/a\n");
	limits("/a", "2097152\n", "1048576\n",
	       "anon 5\nfile 9999999\nshmem 100\ninactive_file 1000\nactive_file 24\n"
	       "total_inactive_file 77777\n");
}

static void more_pages_than_used(void)
{
	of_groups("0::/a\n");
	limits("/a", "2097152\n", "1000\n", "inactive_file 2000\n");
}

TEST(pages_are_given_back)
{
	is_available(pages_of_files, MIB + 1024);
	is_available(more_pages_than_used, 2 * MIB);
}

/* Names as people may give them, and lines that are none. */
static void strange_groups(void)
{
	of_groups("nonsense\n:\n0:\n0::\n0::/a:b c/../..\n0::/a:b c\n");
	limits("/a:b c", "2097152\n", "1048576\n", NULL);
}

static void group_that_is_too_long(void)
{
	static char text[5000];

	memset(text, 'x', sizeof(text) - 2);
	memcpy(text, "0::/", 4);
	text[sizeof(text) - 2] = '\n';
	of_groups(text);
}

TEST(lines_of_all_kinds)
{
	is_available(strange_groups, 1 * MIB);
	is_available(group_that_is_too_long, 4 * MIB);
}

static uint64_t bound(void)
{
	struct rlimit limit;

	xb_memory_bound_soon();
	xb_memory_bound();
	return getrlimit(RLIMIT_DATA, &limit) ? 0 : limit.rlim_cur;
}

/* Larger than what the sanitizer has reserved. */
#define DATA (UINT64_C(64) << 40)

static void data_and_limit(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)getpid());
	cover(path, "Name: x\nVmData:\t  68719476736 kB\n");
	own_limit();
}

static void data_and_lower_limit(void)
{
	const struct rlimit low = {.rlim_cur = DATA - MIB, .rlim_max = RLIM_INFINITY};

	data_and_limit();
	setrlimit(RLIMIT_DATA, &low);
}

TEST(the_process_is_bound)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_DATA, &limit), 0);
	assert_true(found(no_limit, bound) == limit.rlim_cur);
	assert_true(found(data_and_limit, bound) == DATA + 2 * MIB);
	assert_true(found(data_and_lower_limit, bound) == DATA - MIB);
}

static uint64_t first_of_boot(void)
{
	uint8_t boot[16];
	uint64_t number;

	memset(boot, 0xa5, sizeof(boot));
	xb_boot_identity(boot);
	memcpy(&number, boot, sizeof(number));
	return number;
}

static uint64_t second_of_boot(void)
{
	uint8_t boot[16];
	uint64_t number;

	memset(boot, 0xa5, sizeof(boot));
	xb_boot_identity(boot);
	memcpy(&number, boot + 8, sizeof(number));
	return number;
}

#define BOOT "/proc/sys/kernel/random/boot_id"

static void a_boot(void)
{
	cover(BOOT, "00112233-4455-6677-8899-aabbccddeeff\n");
}

static void no_boot(void)
{
	cover(BOOT, "");
}

static void half_a_boot(void)
{
	cover(BOOT, "00112233-4455-6677-88");
}

static void boot_that_is_no_file(void)
{
	mount("xbt", "/proc/sys/kernel", "tmpfs", 0, "mode=0755");
}

TEST(the_boot)
{
	static const uint8_t bytes[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
					  0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
	uint64_t parts[2] = {found(a_boot, first_of_boot), found(a_boot, second_of_boot)};

	assert_memory_equal(parts, bytes, sizeof(bytes));
	assert_true(found(no_boot, first_of_boot) == 0);
	assert_true(found(no_boot, second_of_boot) == 0);
	assert_true(found(boot_that_is_no_file, first_of_boot) == 0);
	assert_true(found(boot_that_is_no_file, second_of_boot) == 0);
	assert_true(found(half_a_boot, first_of_boot) == 0);
	assert_true(found(half_a_boot, second_of_boot) == 0);
}
