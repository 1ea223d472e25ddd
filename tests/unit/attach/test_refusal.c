/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why an interface cannot be attached: errors of drivers, what they are known to do wrong, other
 * programs, and kinds of devices. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <net/if_arp.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/driver.h"
#include "attach/medium.h"
#include "attach/refusal.h"
#include "base/error.h"
#include "base/program.h"
#include "support/cmocka.h"

static const char *advice(enum xb_advice which)
{
	return which == XB_ADVICE_MODE_SKB	     ? " [skb]"
	       : which == XB_ADVICE_MODE_SKB_OR_AUTO ? " [skb or auto]"
	       : which == XB_ADVICE_DETACH_THERE     ? " [there]"
						     : " [wrong advice]";
}

/* Of another machine: /class/net/eth0 with what a test writes there. */
static char sysfs[] = "/tmp/test_refusal-XXXXXX";

static int begin_alone(void **state)
{
	static const char *const below[] = {"/class", "/class/net", "/class/net/eth0",
					    "/class/net/eth0/device"};
	char path[64];

	xb_program_set("test", advice);
	assert_non_null(mkdtemp(sysfs));
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", sysfs, below[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	return unshare(CLONE_NEWNET);
}

static int end_alone(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", sysfs);
	return system(command);
}

#define NO_QUEUES "veth: XDP expects number of rx queues not less than peer tx queues"
#define NO_BOND	  "Slave device does not support XDP."
#define NO_RINGS  "Too few free TX rings available"
#define GRO_HW	  "Can't set XDP while host is implementing GRO_HW/CSUM, disable GRO_HW/CSUM first"

static const struct words {
	const char *kind;
	enum xb_mode mode, wanted;
	int error;
	const char *sentence, *message;
} refusals[] = {
	/* The kernel gave no sentence. */
	{"", XB_MODE_NATIVE, XB_MODE_AUTO, ENODEV, "", "lo: the interface is gone"},
	{"", XB_MODE_NATIVE, XB_MODE_AUTO, EBUSY, "",
	 "lo: another XDP program holds the interface; take it off first"},
	{"", XB_MODE_SKB, XB_MODE_SKB, EEXIST, "",
	 "lo: another XDP program holds the interface; take it off first"},
	{"", XB_MODE_NATIVE, XB_MODE_AUTO, EPERM, "",
	 "lo: cannot attach (root, or CAP_BPF and CAP_NET_ADMIN, and for libxdp's dispatcher "
	 "CAP_SYS_ADMIN, is needed): Operation not permitted"},
	{"", XB_MODE_NATIVE, XB_MODE_NATIVE, ERANGE, "",
	 "lo: cannot attach in native mode (Numerical result out of range); its MTU is 65536, "
	 "lower it (ip link set dev lo mtu 1500) [skb]"},
	{"", XB_MODE_NATIVE, XB_MODE_NATIVE, ENOSPC, "",
	 "lo: cannot attach in native mode (No space left on device); XDP needs queues of its own, "
	 "so use fewer channels (ethtool -L lo combined N) [skb]"},
	{"", XB_MODE_NATIVE, XB_MODE_NATIVE, ENOMEM, "",
	 "lo: cannot attach in native mode (Cannot allocate memory)"},
	{"", XB_MODE_NATIVE, XB_MODE_NATIVE, EOPNOTSUPP, "",
	 "lo: cannot attach in native mode (Operation not supported) [skb or auto]"},
	{"", XB_MODE_NATIVE, XB_MODE_NATIVE, EINVAL, "",
	 "lo: cannot attach in native mode (Invalid argument) [skb or auto]"},
	{"", XB_MODE_NATIVE, XB_MODE_NATIVE, E2BIG, "",
	 "lo: cannot attach in native mode (Argument list too long)"},
	/* The sentence says what it is, whatever the number. */
	{"veth", XB_MODE_NATIVE, XB_MODE_NATIVE, ERANGE, "veth: Peer MTU is too large to set XDP",
	 "lo: the kernel refused native mode: \"veth: Peer MTU is too large to set XDP\" "
	 "(Numerical result out of range); lower the MTU of its peer [skb]"},
	{"", XB_MODE_NATIVE, XB_MODE_NATIVE, EINVAL, "MTU too large for linear frame",
	 "lo: the kernel refused native mode: \"MTU too large for linear frame\" (Invalid "
	 "argument); its MTU is 65536, lower it (ip link set dev lo mtu 1500) [skb]"},
	{"veth", XB_MODE_NATIVE, XB_MODE_NATIVE, ENOSPC, NO_QUEUES,
	 "lo: the kernel refused native mode: \"" NO_QUEUES "\" (No space left on device); it "
	 "needs as many rx queues as its peer has tx queues (ethtool -L) [skb]"},
	{"", XB_MODE_NATIVE, XB_MODE_NATIVE, ENOMEM, NO_RINGS,
	 "lo: the kernel refused native mode: \"" NO_RINGS "\" (Cannot allocate memory); XDP needs "
	 "queues of its own, so use fewer channels (ethtool -L lo combined N) [skb]"},
	{"bond", XB_MODE_NATIVE, XB_MODE_NATIVE, EOPNOTSUPP, NO_BOND,
	 "lo: the kernel refused native mode: \"" NO_BOND "\" (Operation not supported) [skb or "
	 "auto]"},
	{"", XB_MODE_NATIVE, XB_MODE_NATIVE, EOPNOTSUPP, GRO_HW,
	 "lo: the kernel refused native mode: \"" GRO_HW "\" (Operation not supported) [skb or "
	 "auto]"},
	{"", XB_MODE_NATIVE, XB_MODE_NATIVE, EBUSY, "XDP program already attached",
	 "lo: another XDP program holds the interface; take it off first (the kernel: \"XDP "
	 "program already attached\")"},
	{"", XB_MODE_NATIVE, XB_MODE_NATIVE, EBUSY, "Firmware update is under way",
	 "lo: the kernel refused native mode: \"Firmware update is under way\" (Device or resource "
	 "busy) [skb or auto]"},
	/* Who asked for auto, or was refused skb mode, gets no advice of another mode, and who
	 * asked for auto hears of none. */
	{"bond", XB_MODE_NATIVE, XB_MODE_AUTO, EOPNOTSUPP, NO_BOND,
	 "lo: the kernel refused XDP in its driver: \"" NO_BOND "\" (Operation not supported)"},
	{"veth", XB_MODE_NATIVE, XB_MODE_AUTO, ERANGE, "veth: Peer MTU is too large to set XDP",
	 "lo: the kernel refused XDP in its driver: \"veth: Peer MTU is too large to set XDP\" "
	 "(Numerical result out of range); lower the MTU of its peer"},
	{"", XB_MODE_SKB, XB_MODE_SKB, EOPNOTSUPP, "",
	 "lo: cannot attach in skb mode (Operation not supported)"},
	{"", XB_MODE_SKB, XB_MODE_AUTO, EINVAL, "",
	 "lo: cannot attach in skb mode (Invalid argument)"},
};

static int explain(const char *name, const struct words *row)
{
	const struct xb_refusal refusal = {.name = name,
					   .kind = row->kind,
					   .mode = row->mode,
					   .wanted = row->wanted,
					   .error = row->error,
					   .sentence = row->sentence};

	xb_error_clear();
	return xb_refusal_explain(&refusal);
}

TEST(each_refusal_has_its_words)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		assert_int_equal(explain("lo", &refusals[i]),
				 refusals[i].error == EPERM ? -EPERM : -EIO);
		assert_string_equal(xb_error_message(), refusals[i].message);
		assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	}
}

/* Names as long as may be, and devices that are gone by now: each error is one all the same. */
TEST(a_device_that_is_gone)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		assert_true(explain("a23456789abcdef", &refusals[i]) < 0);
		assert_int_equal(strncmp(xb_error_message(), "a23456789abcdef: ", 17), 0);
		assert_null(strstr(xb_error_message(), "wrong advice"));
	}
}

/* A program that passes everything. */
static int load(const char *name, uint32_t *id)
{
	static const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	union bpf_attr asked;
	int fd;

	/* Not by libbpf, which first asks the kernel with bytes that valgrind takes for undefined.
	 */
	memset(&asked, 0, sizeof(asked));
	asked.prog_type = BPF_PROG_TYPE_XDP;
	asked.insns = (uintptr_t)pass;
	asked.insn_cnt = sizeof(pass) / sizeof(pass[0]);
	asked.license = (uintptr_t) "GPL";
	memcpy(asked.prog_name, name, strlen(name));
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &asked, sizeof(asked));
	assert_true(fd >= 0);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	*id = info.id;
	return fd;
}

static const char *held_by(const char *name)
{
	struct xb_netdev device = {.ifindex = 1, .name = "lo"};
	int fd = load(name, &device.program);

	xb_error_clear();
	assert_int_equal(xb_refusal_held(&device), -EIO);
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	close(fd);
	return xb_error_message();
}

TEST(programs_of_others_and_ours)
{
	const struct xb_netdev gone = {.name = "lo", .program = UINT32_MAX};
	const char *message;

	message = held_by("theirs");
	assert_non_null(
		strstr(message, "lo: another XDP program holds the interface (theirs, id "));
	assert_non_null(strstr(message, "ip link set dev lo xdp off"));
	message = held_by("xdp_bloom_entr");
	assert_non_null(strstr(message, "(xdp_bloom_entr, id "));
	assert_non_null(strstr(message, "it goes on filtering [there]"));
	assert_null(strstr(message, "xdp off"));
	message = held_by("xdp_bloo");
	assert_non_null(strstr(message, "xdp off"));
	message = held_by("");
	assert_non_null(strstr(message, "(no name, id "));
	assert_int_equal(xb_refusal_held(&gone), -EIO);
	assert_non_null(strstr(xb_error_message(), "(no name, id 4294967295)"));
}

static int check(uint16_t type, const char *kind)
{
	struct xb_netdev device = {.ifindex = 5, .name = "dev0", .type = type};

	snprintf(device.kind, sizeof(device.kind), "%s", kind);
	xb_error_clear();
	return xb_medium_check(&device);
}

TEST(devices_with_ethernet)
{
	assert_int_equal(check(ARPHRD_ETHER, ""), 0);
	assert_int_equal(check(ARPHRD_ETHER, "veth"), 0);
	assert_int_equal(check(ARPHRD_ETHER, "ifbx"), 0);
	assert_int_equal(check(ARPHRD_LOOPBACK, ""), 0);
	assert_string_equal(xb_error_message(), "");
}

TEST(devices_that_cannot_be_read)
{
	static const struct {
		uint16_t type;
		const char *kind, *words;
	} rows[] = {
		{ARPHRD_ETHER, "ifb", "no packet on ifb devices; filter the interface its traffic"},
		{ARPHRD_ETHER, "vrf", "no packet on vrf devices; filter the interfaces in it"},
		{ARPHRD_NONE, "wireguard", "this device (wireguard) have no Ethernet header"},
		{ARPHRD_NONE, "", "this device (type 65534) have no Ethernet header"},
		{ARPHRD_PPP, "ppp", "(PPPoE is looked into there)"},
		{ARPHRD_INFINIBAND, "", "this device (type 32) have no Ethernet header"},
		{0, "", "this device (type 0) have no Ethernet header"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(check(rows[i].type, rows[i].kind), -EINVAL);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		assert_non_null(strstr(xb_error_message(), rows[i].words));
		assert_int_equal(strncmp(xb_error_message(), "dev0: ", 6), 0);
	}
	check(ARPHRD_NONE, "tun");
	assert_null(strstr(xb_error_message(), "PPPoE"));
	/* A kind that fills its room. */
	check(ARPHRD_NONE, "a23456789a123456789a123456789ab");
	assert_non_null(strstr(xb_error_message(), "(a23456789a123456789a123456789ab)"));
}

/* --- what drivers are known to do wrong, on machines that are not this one ---------------------
 */

static void write_attribute(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/class/net/eth0/%s", sysfs, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	assert_int_equal(fclose(file), 0);
}

/* The bits of these numbers, as the kernel writes them; NULL: none. */
static void offer(const char *numbers)
{
	char text[65] = "", *end;

	if (numbers)
		memset(text, '0', sizeof(text) - 1);
	for (; numbers && *numbers; numbers = end)
		text[strtol(numbers, &end, 10)] = '1';
	write_attribute("device/features", text);
}

#define OLD XB_KERNEL(6, 1)
#define NEW XB_KERNEL(6, 18)

static const struct machine {
	const char *driver;
	uint32_t mtu;
	unsigned int kernel;
	const char *bits;
	bool wrong;
} machines[] = {
	/* Buffers that no program sees, unless they are merged (15). */
	{"virtio_net", 1500, OLD, "0 5 7 17", true},
	{"virtio_net", 1500, NEW, "0 5 7 17", true},
	{"virtio_net", 1500, NEW, "0 5 8 17", true},
	{"virtio_net", 1500, NEW, "0 5 9 17", true},
	{"virtio_net", 1500, NEW, "0 5 10 17", true},
	{"virtio_net", 1500, NEW, "0 5 7 8 9 10 15 17", false},
	{"virtio_net", 1500, NEW, "0 1 5 11 12 13 14 16", false},
	{"e1000", 1500, NEW, "0 5 7 17", false},
	/* The host sets the MTU (host_mtu). */
	{"virtio_net", 1500, NEW, "0 3 5", false},
	{"virtio_net", 3000, NEW, "0 3 5", true},
	/* UDP needs both. */
	{"virtio_net", 1500, NEW, "54", false},
	{"virtio_net", 1500, NEW, "55", false},
	{"virtio_net", 1500, NEW, "54 55", true},
	{"virtio_net", 1500, NEW, NULL, false},
	/* An MTU at which frames are lost. */
	{"virtio_net", 3494, OLD, "0 7 15", false},
	{"virtio_net", 3495, OLD, "0 7 15", true},
	{"virtio_net", 9000, XB_KERNEL(6, 2), "0 7 15", true},
	{"virtio_net", 9000, XB_KERNEL(6, 3), "0 7 15", false},
	{"virtio_net", 9000, NEW, "0 7 15", false},
	{"ena", 9000, OLD, "0 7 15", false},
	{"bond", 1500, OLD, NULL, true},
	{"bond", 1500, NEW, NULL, true},
	{"team", 1500, NEW, NULL, false},
	{"", 1500, NEW, NULL, false},
};

static int check_machine(const struct machine *machine, unsigned int page, const char *ifindex,
			 enum xb_mode asked)
{
	const struct xb_driver_place place = {
		.sysfs = sysfs, .kernel = machine->kernel, .page = page};
	const struct xb_netdev device = {.ifindex = 7, .name = "eth0", .mtu = machine->mtu};

	offer(machine->bits);
	write_attribute("ifindex", ifindex);
	xb_error_clear();
	return xb_driver_check_at(&place, machine->driver, &device, asked);
}

/* Who leaves the choice to us needs no advice. */
TEST(drivers_that_do_wrong)
{
	const struct machine small = {"virtio_net", 1500, NEW, "7", true};
	const struct machine large = {"virtio_net", 3495, OLD, "0 7 15", true};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const struct machine *machine = &machines[i];
		int error = machine->wrong ? -EIO : 0;

		if (check_machine(machine, 4096, "7", XB_MODE_NATIVE) != error)
			fail_msg("row %zu: %s", i, xb_error_message());
		assert_int_equal(strstr(xb_error_message(), " [skb]") != NULL, machine->wrong);
		assert_int_equal(check_machine(machine, 4096, "7", XB_MODE_AUTO), error);
		assert_null(strchr(xb_error_message(), '['));
		assert_int_equal(check_machine(machine, 4096, "7", XB_MODE_SKB), 0);
	}
	/* The features may be those of another device, in another namespace. */
	assert_int_equal(check_machine(&small, 4096, "70", XB_MODE_NATIVE), 0);
	assert_int_equal(check_machine(&large, 65536, "7", XB_MODE_NATIVE), 0);
	assert_int_equal(check_machine(&large, 4096, "7", XB_MODE_NATIVE), -EIO);
	assert_string_equal(xb_error_message(),
			    "eth0: virtio_net before Linux 6.3 loses frames in native mode above "
			    "MTU 3494, and the MTU is 3495; lower it (ip link set dev eth0 mtu "
			    "1500) [skb]");
}

TEST(drivers_that_forget)
{
	const struct xb_driver_place former = {.sysfs = sysfs, .kernel = OLD};
	const struct xb_driver_place present = {.sysfs = sysfs, .kernel = NEW};

	assert_false(xb_driver_forgets_at(&former, "vmxnet3"));
	assert_true(xb_driver_forgets_at(&present, "vmxnet3"));
	assert_false(xb_driver_forgets_at(&present, "igb"));
	assert_false(xb_driver_forgets_at(&present, ""));
}

/* On this machine: nothing is known of it, and nothing is said. */
TEST(loopback)
{
	const struct xb_netdev device = {.ifindex = 1, .name = "lo", .mtu = 65536};

	xb_error_clear();
	assert_int_equal(xb_driver_check(&device, XB_MODE_NATIVE), 0);
	assert_false(xb_driver_forgets(&device));
	xb_driver_announce(&device);
	assert_string_equal(xb_error_message(), "");
}

ALL_TESTS(begin_alone, end_alone);
