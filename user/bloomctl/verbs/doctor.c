/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl doctor: is this machine ready, and what to do about the rest. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/magic.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "attach/anchor.h"
#include "base/capability.h"
#include "base/error.h"
#include "base/holder.h"
#include "base/memory.h"
#include "base/netns.h"
#include "bloomctl/cli.h"
#include "store/readers.h"
#include "store/store.h"

enum level { GOOD, WORSE, BAD };

static const char *const level_names[] = {"ok", "warning", "missing"};

struct finding {
	enum level level;
	char says[256];
	char advice[256];
};

__attribute__((format(printf, 3, 4))) static void find(struct finding *finding, enum level level,
						       const char *format, ...)
{
	va_list arguments;

	finding->level = level;
	va_start(arguments, format);
	vsnprintf(finding->says, sizeof(finding->says), format, arguments);
	va_end(arguments);
}

static void advise(struct finding *finding, const char *advice)
{
	snprintf(finding->advice, sizeof(finding->advice), "%s", advice);
}

/* The message of what failed. */
static void find_message(struct finding *finding)
{
	find(finding, BAD, "%s", xb_error_message());
	xb_error_clear();
}

static void check_kernel(const struct cli *cli, struct finding *finding)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	(void)cli;
	uname(&name);
	sscanf(name.release, "%u.%u", &major, &minor);
	find(finding, major > 6 || (major == 6 && minor >= 1) ? GOOD : BAD, "Linux %s",
	     name.release);
	if (finding->level)
		advise(finding, "Linux 6.1 or later is needed");
}

static void check_jit(const struct cli *cli, struct finding *finding)
{
	FILE *file = fopen("/proc/sys/net/core/bpf_jit_enable", "re");
	int value = 1;

	(void)cli;
	if (file) {
		if (fscanf(file, "%d", &value) != 1)
			value = 1;
		fclose(file);
	}
	find(finding, value ? GOOD : WORSE, "BPF JIT %s", value ? "on" : "off");
	if (!value)
		advise(finding, "without it packets are filtered some ten times slower: sysctl "
				"net.core.bpf_jit_enable=1");
}

static void check_bpffs(const struct cli *cli, struct finding *finding)
{
	const char *place = cli->paths.pins;
	char parent[XB_PATH_MAX];
	struct statfs fs;

	if (statfs(place, &fs) < 0) {
		if (xb_path_parent(parent, place)) {
			find_message(finding);
			return;
		}
		place = parent;
	}
	if (!statfs(place, &fs) && fs.f_type == BPF_FS_MAGIC) {
		find(finding, GOOD, "bpf file system at %s", place);
		return;
	}
	find(finding, BAD, "no bpf file system at %s", place);
	/* One that is mounted in a mount namespace of a command ends with that command. */
	advise(finding,
	       xb_netns_hides_sys()
		       ? "it is hidden here, as by `ip netns exec`: use nsenter --net=... instead"
		       : "mount -t bpf bpf /sys/fs/bpf");
}

static void check_capabilities(const struct cli *cli, struct finding *finding)
{
	char missing[64];

	(void)cli;
	xb_capabilities_missing(missing, sizeof(missing));
	find(finding, missing[0] ? BAD : GOOD, "capabilities%s%s",
	     missing[0] ? ", without " : " to load and attach", missing);
	if (missing[0])
		advise(finding, "run as root, or grant them (bloomctl(8), WITHOUT ROOT)");
}

static void check_xdp(const struct cli *cli, struct finding *finding)
{
	bool loads = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, NULL) == 1;

	(void)cli;
	find(finding, loads ? GOOD : BAD, "XDP programs %s", loads ? "load" : "are refused");
	if (!loads)
		advise(finding, "run as root, on a kernel with CONFIG_BPF_SYSCALL");
}

static void check_dispatcher(const struct cli *cli, struct finding *finding)
{
	(void)cli;
	if (xb_anchor_flavour() == XB_FLAVOUR_DISPATCHER) {
		find(finding, GOOD,
		     "shares interfaces with other XDP programs (libxdp dispatcher)");
		return;
	}
	find(finding, WORSE, "%s allows one XDP program per interface",
	     xb_capability_by_id()
		     ? "this kernel, where the filter cannot join libxdp's dispatcher,"
		     : "libxdp without CAP_SYS_ADMIN");
	advise(finding, "`attach` refuses an interface on which another XDP program runs");
}

static void check_state(const struct cli *cli, struct finding *finding)
{
	char store[XB_PATH_MAX];
	struct stat st;

	if (xb_path_join(store, cli->paths.state, XB_STORE_FILE)) {
		find_message(finding);
		return;
	}
	/* A group may be let write to the store, and put nothing beside it. */
	if (!stat(cli->paths.state, &st) && S_ISDIR(st.st_mode) &&
	    !access(access(store, F_OK) ? cli->paths.state : store, W_OK)) {
		find(finding, GOOD, "state directory %s", cli->paths.state);
		return;
	}
	if (errno == ENOENT) {
		find(finding, GOOD, "state directory %s (made by the first command)",
		     cli->paths.state);
		return;
	}
	if (errno == EROFS) {
		find(finding, BAD, "state directory %s is on a read-only file system",
		     cli->paths.state);
		advise(finding, "reading and `detach` work; make it writable, or choose another "
				"with --state");
		return;
	}
	find(finding, BAD, "state directory %s is not writable", cli->paths.state);
	advise(finding, "run as root or as a member of its group, or choose another with --state");
}

/* A command whose output nobody takes, or that was stopped. */
static void check_readers(const struct cli *cli, struct finding *finding)
{
	struct xb_reader last = {0};
	struct xb_store *store;
	char text[256];
	int error = xb_store_open(cli->paths.state, XB_STORE_READ, &store);

	if (error && error != -ENOENT) {
		find(finding, WORSE, "cannot find out who reads the store: %s", xb_error_message());
		xb_error_clear();
		return;
	}
	if (!error)
		last = xb_readers_last(store->env);
	xb_store_close(store);
	if (!last.behind) {
		find(finding, GOOD, "no reader keeps the store from using its room again");
		return;
	}
	find(finding, WORSE,
	     "%s holds a state of the store that is %zu transactions old; until it ends, the file "
	     "grows "
	     "with each change",
	     xb_process_describe((uint32_t)last.process, text, sizeof(text)), last.behind);
	advise(finding, "end it if it does not go on");
}

static void check_memory(const struct cli *cli, struct finding *finding)
{
	uint64_t available = xb_memory_available();

	(void)cli;
	/* About 15 bytes an IPv4 address at the default rate, filter and counters. */
	find(finding, available > 64 << 20 ? GOOD : WORSE,
	     "%s of free memory: about %llu million IPv4 addresses", cli_bytes(available),
	     (unsigned long long)(available / 15 / 1000000));
	if (finding->level)
		advise(finding, "`bloomctl plan` tells what a list takes");
}

static const struct {
	const char *name;
	void (*check)(const struct cli *cli, struct finding *finding);
} checks[] = {
	{"kernel", check_kernel}, {"jit", check_jit},
	{"bpffs", check_bpffs},	  {"capabilities", check_capabilities},
	{"xdp", check_xdp},	  {"dispatcher", check_dispatcher},
	{"state", check_state},	  {"readers", check_readers},
	{"memory", check_memory},
};

/* The driver of each real interface; XDP support itself shows only on attach. */
static void list_drivers(json_t *out)
{
	struct if_nameindex *all = if_nameindex();

	for (struct if_nameindex *one = all; one && one->if_index; one++) {
		char path[128], target[256];
		const char *driver;
		ssize_t size;

		snprintf(path, sizeof(path), "/sys/class/net/%s/device/driver", one->if_name);
		size = readlink(path, target, sizeof(target) - 1);
		if (size <= 0)
			continue;
		target[size] = '\0';
		driver = strrchr(target, '/');
		json_object_set_new(out, one->if_name, json_string(driver ? driver + 1 : target));
	}
	if_freenameindex(all);
}

static int run(struct cli *cli, int argc, char **argv)
{
	json_t *findings, *drivers, *driver;
	const char *name;
	bool bad = false;
	int code = 0;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "doctor takes no arguments");
	findings = json_array();
	drivers = json_object();
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct finding finding = {0};

		checks[i].check(cli, &finding);
		bad |= finding.level == BAD;
		json_array_append_new(findings,
				      json_pack("{s:s,s:s,s:s,s:s}", "check", checks[i].name,
						"state", level_names[finding.level], "says",
						finding.says, "advice", finding.advice));
		if (!cli->json)
			printf("%-8s %s%s%s\n", level_names[finding.level], finding.says,
			       finding.advice[0] ? ": " : "", finding.advice);
	}
	list_drivers(drivers);
	if (!cli->json)
		json_object_foreach(drivers, name, driver) printf(
			"%-8s interface %s, driver %s; attach tells whether it has native XDP\n",
			"info", name, json_string_value(driver));
	if (cli->json)
		code = cli_json(cli, json_pack("{s:b,s:O,s:O}", "ready", !bad, "checks", findings,
					       "drivers", drivers));
	json_decref(findings);
	json_decref(drivers);
	code = code ? code : cli_done(EXIT_DONE);
	return code ? code : bad ? EXIT_SYSTEM : EXIT_DONE;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.summary = "check whether this machine is ready, and say what to do",
	.run = run,
	.examples = {"doctor", "-p doctor"},
};
