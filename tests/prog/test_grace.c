/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the writer waits until no packet is in work. It stands between two words that a packet
 * reads in no certain order: what it writes to the kernel is recorded, with its waits, in order. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "store/membership.h"
#include "support/cmocka.h"
#include "support/rig.h"

static struct rig rig;

/* --- the record -----------------------------------------------------------------------------
 * A, D: an address comes to the allowlist, or goes; E, M: the policy becomes enforce, or monitor;
 * S: a program comes into the slot; q: the writer waits. */

static char record[256];

static void note(char what)
{
	size_t length = strlen(record);

	assert_true(length + 1 < sizeof(record));
	record[length] = what;
}

/* 0: it is left as it was. */
static char policy_becomes(const union bpf_attr *attr)
{
	uint32_t now, policy = *(const uint32_t *)(uintptr_t)attr->value;

	assert_int_equal(bpf_map_lookup_elem((int)attr->map_fd, (void *)(uintptr_t)attr->key, &now),
			 0);
	return policy == now ? 0 : policy == XB_POLICY_MONITOR ? 'M' : 'E';
}

static void note_map(uint32_t command, const union bpf_attr *attr)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);
	char what = 0;

	if (bpf_obj_get_info_by_fd((int)attr->map_fd, &info, &size))
		return;
	if (info.type == BPF_MAP_TYPE_LPM_TRIE)
		what = command == BPF_MAP_UPDATE_ELEM ? 'A' : 'D';
	else if (info.type == BPF_MAP_TYPE_PROG_ARRAY)
		what = 'S';
	else if (!strcmp(info.name, "policy"))
		what = policy_becomes(attr);
	if (what)
		note(what);
}

/* Instead of the C library's, for libbpf as well. Nobody passes a sixth word here; it would not
 * come in a register, so it must not be read either. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	unsigned long word[5];
	va_list words;

	va_start(words, number);
	for (int i = 0; i < 5; i++)
		word[i] = va_arg(words, unsigned long);
	va_end(words);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_membarrier)
		note('q');
	if (number == SYS_bpf && (word[0] == BPF_MAP_UPDATE_ELEM || word[0] == BPF_MAP_DELETE_ELEM))
		note_map((uint32_t)word[0], (const union bpf_attr *)word[1]); /* NOLINT */
	return real(number, word[0], word[1], word[2], word[3], word[4]);
}

/* --- the changes ---------------------------------------------------------------------------- */

/* An address on the allowlist, or off it, and a policy, in one transaction, as by a command that
 * finds a new ssh session. */
struct both {
	bool allowed;
	uint32_t policy;
};

static int both_body(struct xb_writer *writer, void *context)
{
	const struct both *both = context;
	struct xb_membership member = {.added = writer->now};
	struct xb_entry entry = {.hi = 0xc633640900000000, .kind = XB_ALLOW4, .length = 32};
	struct xb_list *list;
	enum xb_removal removal;
	enum xb_put put;
	int error = xb_list_need(writer->txn, "default", &list);

	if (error)
		return error;
	writer->txn->meta.policy = both->policy;
	writer->txn->edits++;
	member.list = list->id;
	return both->allowed ? xb_member_put(writer->txn, &entry, &member, 0, &put)
			     : xb_member_remove(writer->txn, &entry, list->id, &removal);
}

static void change(bool allowed, uint32_t policy)
{
	struct both both = {allowed, policy};

	memset(record, 0, sizeof(record));
	rig_must(xb_write(&rig.paths, 0, both_body, &both, &rig.written), "change");
}

TEST(none_is_dropped_before_it_is_allowed)
{
	rig_policy(&rig, XB_POLICY_MONITOR);
	change(true, XB_POLICY_ENFORCE);
	assert_string_equal(record, "AqE");
}

TEST(none_is_dropped_that_is_allowed_no_more)
{
	rig_policy(&rig, XB_POLICY_ENFORCE);
	change(false, XB_POLICY_MONITOR);
	assert_string_equal(record, "MqD");
}

TEST(a_policy_alone_waits_for_nobody)
{
	rig_policy(&rig, XB_POLICY_MONITOR);
	memset(record, 0, sizeof(record));
	rig_policy(&rig, XB_POLICY_ENFORCE);
	rig_policy(&rig, XB_POLICY_MONITOR);
	assert_string_equal(record, "EM");
}

/* Behind the swap nobody is in the old program any more; in front of it, where processors read out
 * of order, everybody sees what the new maps were filled with. */
TEST(a_swap_waits)
{
	rig_policy(&rig, XB_POLICY_ENFORCE);
	memset(record, 0, sizeof(record));
	rig_rotate(&rig);
#if defined(__x86_64__) || defined(__i386__)
	assert_string_equal(record, "Sq");
#else
	assert_string_equal(record, "qSq");
#endif
}

static int begin(void **state)
{
	rig_begin(&rig, "grace");
	rig_add(&rig, "198.51.100.9", "default");
	return 0;
}

static int end(void **state)
{
	rig_end(&rig);
	return 0;
}

ALL_TESTS(begin, end);
