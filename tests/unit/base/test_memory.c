/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory there is, from files of the kernel that the test writes: cgroups of both
 * versions, their parents, no limit, and files that are not there. The identity of the boot, too.
 */
#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/boot.h"
#include "base/memory.h"
#include "support/child.h"
#include "support/cmocka.h"

#define MIB	UINT64_C(1048576)
#define MEMINFO "MemTotal: 9999999 kB\nMemFree: 1 kB\nMemAvailable: 4096 kB\n"
#define BOOT	"/proc/sys/kernel/random/boot_id"

/* Files of a cgroup below /sys/fs/cgroup: "" for the root, "/a/b". */
#define FILE_OF(group, name, text) group "/" name "=" text "\n;"
#define LIMITS(group, most, used)                                                                  \
	FILE_OF(group, "memory.max", most) FILE_OF(group, "memory.current", used)
#define LIMITS_V1(group, most, used)                                                               \
	FILE_OF("/memory" group, "memory.limit_in_bytes", most)                                    \
	FILE_OF("/memory" group, "memory.usage_in_bytes", used)

/* What the kernel says to a process; NULL: as it is. */
struct world {
	const char *groups, *files, *meminfo, *status, *boot;
	uint64_t limit; /* RLIMIT_DATA; 0: as it is */
};

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

static void cover_own(const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)getpid(), name);
	cover(path, text);
}

static void write_files(const char *files)
{
	char path[256], text[256];
	int taken;

	for (; sscanf(files, "%255[^=]=%255[^;];%n", path, text, &taken) == 2; files += taken) {
		char at[300];

		snprintf(at, sizeof(at), "/sys/fs/cgroup%s", path);
		for (char *slash = strchr(at + 14, '/'); slash; slash = strchr(slash + 1, '/')) {
			*slash = '\0';
			mkdir(at, 0755);
			*slash = '/';
		}
		write_file(at, text);
	}
}

static void enter(const struct world *world)
{
	struct rlimit low = {.rlim_cur = world->limit, .rlim_max = RLIM_INFINITY};

	if (own_mounts() || mount("xbt", "/mnt", "tmpfs", 0, "mode=0755") ||
	    mount("xbt", "/sys/fs/cgroup", "tmpfs", 0, "mode=0755"))
		_exit(1);
	cover("/proc/meminfo", world->meminfo ?: MEMINFO);
	if (world->groups)
		cover_own("cgroup", world->groups);
	if (world->files)
		write_files(world->files);
	if (world->status)
		cover_own("status", world->status);
	if (world->boot)
		cover(BOOT, world->boot);
	if (world->limit)
		setrlimit(RLIMIT_DATA, &low);
}

/* What a process finds there. */
static void find(const struct world *world, void (*look)(uint64_t found[2]), uint64_t found[2])
{
	struct child child = child_begin();

	if (!child.pid) {
		enter(world);
		fflush(stdout);
		look(found);
		child_tell(&child, found, 2 * sizeof(*found));
		_exit(0);
	}
	if (!child_told(&child, found, 2 * sizeof(*found)))
		fail_msg("the files cannot be made");
	child_end(&child, 0);
}

static void look_available(uint64_t found[2])
{
	found[0] = xb_memory_available();
}

#define X50   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X1000 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50

static void is_available(const char *what, const struct world *world, uint64_t expected)
{
	uint64_t found[2] = {0};

	find(world, look_available, found);
	if (found[0] != expected)
		fail_msg("%s: %" PRIu64 " instead of %" PRIu64, what, found[0], expected);
}

TEST(available)
{
	static const struct {
		const char *what, *groups, *files;
		uint64_t expected;
	} rows[] = {
		{"no group", "", "", 4 * MIB},
		{"no limit", "0::/a\n", LIMITS("/a", "max", "1048576") LIMITS("", "max", "1048576"),
		 4 * MIB},
		{"none of version 1", "4:memory:/a\n",
		 LIMITS_V1("/a", "9223372036854771712", "1048576"), 4 * MIB},
		{"its own", "0::/a/b\n",
		 LIMITS("/a/b", "3145728", "1048576") LIMITS("/a", "max", "1048576"), 2 * MIB},
		{"that of a parent", "0::/a/b\n",
		 LIMITS("/a/b", "3145728", "1048576") LIMITS("/a", "2097152", "1048576"), 1 * MIB},
		{"that of the root", "0::/\n",
		 LIMITS("", "1048577", "1048576") LIMITS("/a", "0", "0"), 1},
		{"more than the machine", "0::/a\n", LIMITS("/a", "1099511627776", "0"), 4 * MIB},
		{"over its limit", "0::/a\n", LIMITS("/a", "1048576", "2097152"), 0},
		{"of nothing", "0::/a\n", LIMITS("/a", "0", "0"), 0},
		{"version 1", "12:cpu,cpuacct:/other\n11:memory:/a\n0::/\n",
		 LIMITS_V1("/a", "2097152", "1048576") LIMITS_V1("/other", "0", "0"), 1 * MIB},
		{"both versions", "0::/a\n", LIMITS("/unified/a", "2097152", "1048576"), 1 * MIB},
		{"no usage", "0::/a\n", FILE_OF("/a", "memory.max", "2097152"), 4 * MIB},
		{"pages of files are given back", "0::/a\n",
		 LIMITS("/a", "2097152", "1048576")
			 FILE_OF("/a", "memory.stat",
				 "anon 5\nfile 9999999\nshmem 100\ninactive_file 1000\nactive_file "
				 "24\ntotal_inactive_file 77777"),
		 MIB + 1024},
		{"more of them than it uses", "0::/a\n",
		 LIMITS("/a", "2097152", "1000") FILE_OF("/a", "memory.stat", "inactive_file 2000"),
		 2 * MIB},
		/* Names as people may give them, and lines that are none. */
		{"strange groups", "nonsense\n:\n0:\n0::\n0::/a:b c/../..\n0::/a:b c\n",
		 LIMITS("/a:b c", "2097152", "1048576"), 1 * MIB},
		{"a group that is too long", "0::/" X1000 X1000 X1000 X1000 X1000 "\n", "",
		 4 * MIB},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_available(rows[i].what,
			     &(struct world){.groups = rows[i].groups, .files = rows[i].files},
			     rows[i].expected);
	is_available("no number of the machine",
		     &(struct world){.groups = "", .meminfo = "MemTotal: 5 kB\n"}, UINT64_MAX);
}

static void look_bound(uint64_t found[2])
{
	struct rlimit limit;

	xb_memory_bound_soon();
	xb_memory_bound();
	found[0] = getrlimit(RLIMIT_DATA, &limit) ? 0 : limit.rlim_cur;
}

/* Larger than what the sanitizer has reserved. */
#define DATA (UINT64_C(64) << 40)

TEST(the_process_is_bound)
{
	struct world no_limit = {.groups = "0::/a\n", .files = LIMITS("/a", "max", "1048576")};
	struct world world = {.groups = "0::/a\n",
			      .files = LIMITS("/a", "3145728", "1048576"),
			      .status = "Name: x\nVmData:\t  68719476736 kB\n"};
	struct rlimit limit;
	uint64_t found[2] = {0};

	assert_int_equal(getrlimit(RLIMIT_DATA, &limit), 0);
	find(&no_limit, look_bound, found);
	assert_true(found[0] == limit.rlim_cur);
	find(&world, look_bound, found);
	assert_true(found[0] == DATA + 2 * MIB);
	world.limit = DATA - MIB;
	find(&world, look_bound, found);
	assert_true(found[0] == DATA - MIB);
}

static void look_boot(uint64_t found[2])
{
	uint8_t boot[16];

	memset(boot, 0xa5, sizeof(boot));
	xb_boot_identity(boot);
	memcpy(found, boot, sizeof(boot));
}

static void look_boot_that_is_no_file(uint64_t found[2])
{
	mount("xbt", "/proc/sys/kernel", "tmpfs", 0, "mode=0755");
	look_boot(found);
}

TEST(the_boot)
{
	static const uint8_t bytes[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
					  0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff},
			     none[16];
	uint64_t found[2];

	find(&(struct world){.boot = "00112233-4455-6677-8899-aabbccddeeff\n"}, look_boot, found);
	assert_memory_equal(found, bytes, sizeof(bytes));
	find(&(struct world){.boot = ""}, look_boot, found);
	assert_memory_equal(found, none, sizeof(none));
	find(&(struct world){.boot = "00112233-4455-6677-88"}, look_boot, found);
	assert_memory_equal(found, none, sizeof(none));
	find(&(struct world){0}, look_boot_that_is_no_file, found);
	assert_memory_equal(found, none, sizeof(none));
}
