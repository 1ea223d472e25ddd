/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's sentence: heard from libbpf, and still told to whom libbpf told it before. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/extack.h"
#include "attach/ifpins.h"
#include "support/cmocka.h"

static char printed[1024];
static int lines;

static int note(enum libbpf_print_level level, const char *format, va_list arguments)
{
	lines++;
	return vsnprintf(printed, sizeof(printed), format, arguments);
}

static int alone(void **state)
{
	return unshare(CLONE_NEWNET);
}

/* A program that passes everything, loaded without libbpf, which first asks the kernel with bytes
 * that valgrind takes for undefined. */
static int load(void)
{
	static const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr asked;

	memset(&asked, 0, sizeof(asked));
	asked.prog_type = BPF_PROG_TYPE_XDP;
	asked.insns = (uintptr_t)pass;
	asked.insn_cnt = sizeof(pass) / sizeof(pass[0]);
	asked.license = (uintptr_t) "GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &asked, sizeof(asked));
}

/* lo has no native XDP in any kernel, and the kernel says so. */
static void refuse(int program)
{
	assert_true(bpf_xdp_attach(1, program, XDP_FLAGS_DRV_MODE, NULL) < 0);
}

TEST(a_sentence_is_heard)
{
	int program = load();

	assert_true(program >= 0);
	libbpf_set_print(note);
	lines = 0;
	xb_extack_begin();
	assert_string_equal(xb_extack(), "");
	refuse(program);
	xb_extack_end();
	assert_non_null(strcasestr(xb_extack(), "driver does not support XDP in native mode"));
	assert_null(strpbrk(xb_extack(), "\n:"));
	/* Nor is anything taken from him who listened before. */
	assert_int_equal(lines, 1);
	assert_non_null(strstr(printed, xb_extack()));
	assert_ptr_equal(libbpf_set_print(NULL), note);
	close(program);
}

TEST(what_was_heard_is_forgotten)
{
	int program = load();

	libbpf_set_print(NULL);
	xb_extack_begin();
	refuse(program);
	xb_extack_begin();
	assert_string_equal(xb_extack(), "");
	xb_extack_end();
	/* The outer one still listens. */
	refuse(program);
	assert_string_not_equal(xb_extack(), "");
	xb_extack_end();
	xb_extack_begin();
	xb_extack_end();
	assert_string_equal(xb_extack(), "");
	refuse(program);
	assert_string_equal(xb_extack(), "");
	assert_null(libbpf_set_print(NULL));
	close(program);
}

TEST(a_link_is_refused_with_a_sentence)
{
	int program = load();
	bool told = true;

	xb_extack_begin();
	assert_int_equal(xb_ifpin_attach("/nonexistent", 1, program, false, &told), -EOPNOTSUPP);
	xb_extack_end();
	assert_false(told);
	assert_non_null(strcasestr(xb_extack(), "driver does not support XDP in native mode"));
	close(program);
}

ALL_TESTS(alone, NULL);
