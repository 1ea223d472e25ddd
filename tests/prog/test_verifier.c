/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far the kernel's verifier has to go: it gives up at a million instructions, and later kernels
 * may count otherwise. Prints the table of docs/design.md. */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "base/error.h"
#include "engine/rotate.h"
#include "known.skel.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/knowing.h"
#include "support/rig.h"

#define LIMIT 1000000
#define SPARE 4 /* times below it */

struct row {
	const char *name;
	bool addresses, names, ports, allow_only, known;
	const char *scope; /* of a list that has all lengths */
	bool counts;	   /* another list counts, for any packet */
	bool limits;	   /* of all that can be counted, one of them for all packets */
	bool registered;   /* a limit of names */
};

#define MAIL "tcp/25,tcp/465,tcp/587"
#define ALL  "tcp/25,udp/53,icmp"

static const struct row rows[] = {
	{"addresses", .addresses = true},
	{"addresses, allow-only", .addresses = true, .allow_only = true},
	{"addresses, allow-only, known", .addresses = true, .allow_only = true, .known = true},
	{"domains", .names = true},
	{"domains, addresses", .names = true, .addresses = true},
	{"domains, addresses, allow-only", .names = true, .addresses = true, .allow_only = true},
	{"domains, addresses, TLS and HTTP", .names = true, .addresses = true, .ports = true},
	{"domains, addresses, TLS and HTTP, allow-only", .names = true, .addresses = true,
	 .ports = true, .allow_only = true},
	{"scope", .scope = MAIL},
	{"scope, addresses", .scope = MAIL, .addresses = true},
	{"scope of all protocols, addresses", .scope = ALL, .addresses = true},
	{"scope, counting, addresses", .scope = MAIL, .counts = true, .addresses = true},
	{"scope of all protocols, counting, addresses", .scope = ALL, .counts = true,
	 .addresses = true},
	{"counting", .counts = true},
	{"counting, addresses", .counts = true, .addresses = true},
	{"limits", .limits = true},
	{"limits, addresses", .limits = true, .addresses = true},
	{"limits, addresses, known", .limits = true, .addresses = true, .known = true},
	{"limits, of names as well", .limits = true, .registered = true},
	{"scope, limits, addresses", .scope = MAIL, .limits = true, .addresses = true},
	{"scope, counting, addresses, allow-only", .scope = ALL, .counts = true, .addresses = true,
	 .allow_only = true},
	{"scope of all protocols, counting, limits, addresses", .scope = ALL, .counts = true,
	 .limits = true, .addresses = true},
	{"everything, no limits of names", .names = true, .addresses = true, .ports = true,
	 .allow_only = true, .scope = ALL, .counts = true, .limits = true},
	{"everything", .names = true, .addresses = true, .ports = true, .allow_only = true,
	 .scope = ALL, .counts = true, .limits = true, .registered = true},
	{"everything, known", .names = true, .addresses = true, .ports = true, .allow_only = true,
	 .scope = ALL, .counts = true, .limits = true, .registered = true, .known = true},
};

static void add_limits(const struct row *row, struct rig *rig)
{
	static const char *const services[XB_LIMIT_UNITS] = {"all", "udp,icmp", "tcp/443",
							     "udp/53"};

	for (int of = 0; of < XB_LIMIT_UNITS; of++) {
		struct xb_limit limit = {.of = (enum xb_limit_unit)of,
					 .rate = 100000,
					 .period = 1,
					 .burst = 200000,
					 .bits4 = 24,
					 .bits6 = 48,
					 .capacity = 10,
					 .list = "bad",
					 .timeout = 600,
					 .longest = 600,
					 .forgeable = true,
					 .known = row->known ? 10 : 1,
					 .counts = of == XB_LIMIT_BYTES};

		snprintf(limit.name, sizeof(limit.name), "%s", xb_limit_units[of]);
		rig_must(xb_scope_parse(services[of], &limit.scope), "scope");
		rig_limit(rig, &limit);
	}
}

static void add_registered(struct rig *rig)
{
	struct xb_limit limit = rig_limit_of("registered", "udp/53", 10);

	limit.of = XB_LIMIT_QUERIES;
	rig_must(xb_limit_parse_per("name", &limit), "per");
	xb_limit_over_by_default(&limit);
	rig_limit(rig, &limit);
}

static void build(const struct row *row, struct rig *rig)
{
	const struct xb_name_ports ports = {.dns = {53}, .tls = {443}, .http = {80}};

	rig_begin(rig, "verifier");
	if (row->addresses) {
		rig_add(rig, "198.51.100.7", "default");
		rig_add(rig, "203.0.113.0/24", "default");
		rig_add(rig, "2001:db8::/64", "default");
		rig_allow(rig, "198.51.100.9");
	}
	if (row->names) {
		rig_add(rig, "example.com", "default");
		rig_allow(rig, "good.example.com");
	}
	if (row->scope) {
		rig_add(rig, "198.51.100.8", "scoped");
		rig_add(rig, "198.51.100.0/28", "scoped");
		rig_add(rig, "2001:db8::/48", "scoped");
		rig_scope(rig, "scoped", row->scope);
	}
	if (row->counts) {
		rig_add(rig, "198.51.100.8", "counted");
		rig_add(rig, "2001:db8::/47", "counted");
		rig_verdict(rig, "counted", XB_DOMAIN_COUNT);
	}
	if (row->limits)
		add_limits(row, rig);
	if (row->registered)
		add_registered(rig);
	rig_answer_limit(rig, XB_ANSWER_LIMIT);
	if (row->ports)
		rig_ports(rig, &ports);
	if (row->known)
		knowing_wants(rig, true, 1000, 1e-3);
	if (row->allow_only)
		knowing_policy(rig, XB_POLICY_ALLOW_ONLY, row->known);
	rig_rotate(rig);
}

static uint32_t verified(int program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(program, &info, &size), 0);
	return info.verified_insns;
}

static uint32_t verified_filter(struct rig *rig)
{
	struct xb_generation *generation = rig_generation(rig);
	uint32_t count = verified(generation->program);

	xb_generation_close(generation);
	return count;
}

/* It is not attached: no connection of the machine is heard. */
TEST(so_is_the_one_that_learns)
{
	struct known_bpf *skeleton = known_bpf__open_and_load();
	uint32_t count;

	assert_non_null(skeleton);
	count = verified(bpf_program__fd(skeleton->progs.xdp_bloom_known));
	known_bpf__destroy(skeleton);
	printf("%-50s %u\n", "the program that learns", count);
	assert_in_range(count, 1, LIMIT / SPARE);
}

/* The last rows are of the longest programs. */
TEST(far_below_the_limit)
{
	const size_t all = sizeof(rows) / sizeof(rows[0]);

	for (size_t i = all - amount(3, all); i < all; i++) {
		struct rig rig;
		uint32_t count;

		build(&rows[i], &rig);
		count = verified_filter(&rig);
		rig_end(&rig);
		printf("%-50s %u\n", rows[i].name, count);

		assert_in_range(count, 1, LIMIT / SPARE);
	}
}

static void list_stages(struct rig *other, unsigned int stages, bool listed)
{
	static const struct xb_entry of_stage[] = {
		{.hi = 0xc633640700000000, .kind = XB_HOST4, .length = 32},
		{.hi = 0xcb00710000000000, .kind = XB_PREFIX4, .length = 24},
		{.hi = 0x20010db800000000, .lo = 0xbad, .kind = XB_NET6, .length = 128},
	};

	for (int stage = 0; stage < 3; stage++)
		if (stages >> stage & 1)
			rig_change_all(other, &of_stage[stage], 1, listed);
}

/* Every program there can be is taken by this kernel, and drops what its stages know; with few
 * probes, in the short run only that of all stages. */
TEST(every_combination_of_stages)
{
	struct rig other;
	int program;

	rig_begin(&other, "stages");
	program = rig_entry(&other);
	for (unsigned int kind = 0; kind < 8 * 2 * 2 * 2; kind++) {
		const struct xb_rotate_request rotation = {
			.rate = kind & 8 ? 1e-4 : 1e-6, .set_confirm = true, .confirm = kind & 16};
		bool allow_only = kind & 32;
		uint32_t listed = allow_only ? XDP_PASS : XDP_DROP;
		uint32_t unlisted = allow_only ? XDP_DROP : XDP_PASS;

		if (allow_only && !rotation.confirm)
			continue; /* refused: guesses would be admitted */
		/* Fewer probes are a shorter program of the same stages. */
		if (kind & 8 && (kind & 7) != 7 && !amount(0, 1))
			continue;
		list_stages(&other, kind & 7, true);
		rig_policy(&other, allow_only ? XB_POLICY_ALLOW_ONLY : XB_POLICY_ENFORCE);
		if (xb_rotate(&other.paths, &rotation, NULL, &other.written))
			fail_msg("stages %#x: %s", kind, xb_error_message());
		assert_int_equal(rig_run_ipv4(program, 0xc6336407), kind & 1 ? listed : unlisted);
		assert_int_equal(rig_run_ipv4(program, 0xcb007109), kind & 2 ? listed : unlisted);
		assert_int_equal(rig_run_ipv6(program, 0x20010db800000000, 0xbad),
				 kind & 4 ? listed : unlisted);
		list_stages(&other, kind & 7, false);
	}
	close(program);
	rig_end(&other);
}

BEFORE_MAIN(prepare)
{
	leave_cgroups();
}
