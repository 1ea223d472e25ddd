/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What add and del do, refuse, and say of what they did. */
#include <string.h>

#include "engine/edit.h"
#include "support/cmocka.h"
#include "support/storechanges.h"
#include "support/waiting.h"
#include "support/writer.h"

#define WIDE	"+192.0.2.0/24 wide; +192.0.0.0/16 wider; "
#define IS_WIDE "192.0.0.0/16 wider; 192.0.2.0/24 wide"

#define A_WIDER "within 192.0.0.0/16 a"
#define INSIDE                                                                                     \
	"+192.0.0.0/16 a; +192.0.2.0/24 a; +192.0.2.0/28 b; +192.0.2.255 a; +192.0.2.255 b; "      \
	"+192.0.3.0 a; +2001:db8::/32 a; +example.com a; +www.example.com b; +!192.0.2.1 office"

/* What there was, what is asked, what is said of it, and what there is then. */
struct row {
	const char *before, *asked, *said, *after;
};

static const struct row rows[] = {
	/* Entries go to the list of their side. */
	{"", "add 192.0.2.1", "added 1", "192.0.2.1 default"},
	{"+192.0.2.1 default", "add list=mine 192.0.2.1", "added 1", "192.0.2.1 default mine"},
	{"+192.0.2.1 default", "add allow 192.0.2.1", "added 1",
	 "192.0.2.1 default; !192.0.2.1 allow"},
	{"", "add allow list=mine example.com", "added 1", "!example.com mine"},
	/* Without `exist` an entry that is there is refused; with it, it takes what is given
	 * anew. */
	{"", "add timeout=60 comment=why 192.0.2.1", "added 1",
	 "192.0.2.1 default until 1060 (why)"},
	{"+192.0.2.1 default 1060 why", "add 192.0.2.1", "192.0.2.1 is in default",
	 "192.0.2.1 default until 1060 (why)"},
	{"+192.0.2.1 default 1060 why", "add exist 192.0.2.1", "unchanged 1",
	 "192.0.2.1 default until 1060 (why)"},
	{"+192.0.2.1 default 1060 why", "add exist timeout=90 192.0.2.1", "renewed 1",
	 "192.0.2.1 default until 1090 (why)"},
	/* Too wide, unless that is meant; and to take such out is no matter. */
	{"", "add 10.0.0.0/7", "10.0.0.0/7 is too wide", ""},
	{"", "add 2000::/15", "2000::/15 is too wide", ""},
	{"", "add localhost", "localhost is too wide", ""},
	{"", "add force 10.0.0.0/7 2000::/15 localhost", "added 3",
	 "10.0.0.0/7 default; 2000::/15 default; localhost default"},
	{"", "del exist 10.0.0.0/7 2000::/15 localhost", "absent 3", ""},
	/* Named twice. */
	{"", "add example.com 192.0.2.1", "added 2", "192.0.2.1 default; example.com default"},
	{"", "add example.com 192.0.2.1 EXAMPLE.com", "example.com is repeated", ""},
	{"", "add exist example.com EXAMPLE.com", "added 1, unchanged 1", "example.com default"},
	/* Out of one list or of all. */
	{WIDE "+192.0.2.1 a; +192.0.2.1 b", "del list=b 192.0.2.1",
	 "removed 1, 192.0.2.1 from b within 192.0.2.0/24 wide", IS_WIDE "; 192.0.2.1 a"},
	{WIDE "+192.0.2.1 a; +192.0.2.1 b", "del 192.0.2.1",
	 "removed 1, 192.0.2.1 from a b within 192.0.2.0/24 wide", IS_WIDE},
	{WIDE, "del exist 192.0.2.1", "absent 1", IS_WIDE},
	/* What is not there, and why. */
	{WIDE, "del 203.0.113.1", "203.0.113.1 is absent", IS_WIDE},
	{WIDE, "del 192.0.2.7", "192.0.2.7 is absent within 192.0.2.0/24 wide", IS_WIDE},
	{"+example.com a", "del www.example.com", "www.example.com is absent within example.com a",
	 "example.com a"},
	{"+192.0.2.1 a; +198.51.100.1 b", "del list=a 198.51.100.1",
	 "198.51.100.1 is absent from a but in b", "192.0.2.1 a; 198.51.100.1 b"},
	{"+=example.net a", "del example.net", "example.net is absent beside =example.net",
	 "=example.net a"},
	{"+192.0.2.1 a", "del list=new 192.0.2.1", "there is no list new", "192.0.2.1 a"},
	{"+192.0.2.1 a", "del list=new exist 192.0.2.1", "absent 1", "192.0.2.1 a"},
	/* All that lies in an entry, and itself; nothing beside it. */
	{INSIDE, "del within 192.0.2.0/24",
	 "removed 3, 192.0.2.0/24 from a " A_WIDER ", 192.0.2.0/28 from b " A_WIDER
	 ", 192.0.2.255 from a b " A_WIDER,
	 "192.0.0.0/16 a; 192.0.3.0 a; 2001:db8::/32 a; example.com a; www.example.com b; "
	 "!192.0.2.1 office"},
	{INSIDE, "del within list=b 192.0.2.0/24",
	 "removed 2, 192.0.2.0/28 from b within 192.0.2.0/24 a, 192.0.2.255 from b within "
	 "192.0.2.0/24 a",
	 "192.0.0.0/16 a; 192.0.2.0/24 a; 192.0.2.255 a; 192.0.3.0 a; 2001:db8::/32 a; "
	 "example.com a; www.example.com b; !192.0.2.1 office"},
	{INSIDE, "del within 192.0.2.240/28",
	 "removed 1, 192.0.2.255 from a b within 192.0.2.0/24 a",
	 "192.0.0.0/16 a; 192.0.2.0/24 a; 192.0.2.0/28 b; 192.0.3.0 a; 2001:db8::/32 a; "
	 "example.com a; www.example.com b; !192.0.2.1 office"},
	{"+2001:db8::1 a; +2001:db9:: a", "del within 2001:db8::/32",
	 "removed 1, 2001:db8::1 from a", "2001:db9:: a"},
	{"+example.com a; +=ok.example.com a; +notexample.com a", "del within example.com",
	 "removed 2, example.com from a, =ok.example.com from a", "notexample.com a"},
	{"+!192.0.2.1 office; +192.0.2.1 a", "del allow within 192.0.2.0/24",
	 "removed 1, 192.0.2.1 from office", "192.0.2.1 a"},
	{"+192.0.2.1 a", "del within 198.51.100.0/24", "nothing is in 198.51.100.0/24",
	 "192.0.2.1 a"},
	{"+192.0.2.1 a; +192.0.3.1 b", "del within list=b 192.0.2.0/24",
	 "nothing is in 192.0.2.0/24 of b", "192.0.2.1 a; 192.0.3.1 b"},
	{"+192.0.2.1 a", "del within exist 198.51.100.0/24", "", "192.0.2.1 a"},
	{"+192.0.2.1 a", "del within list=new 192.0.2.0/24", "there is no list new", "192.0.2.1 a"},
	{"+192.0.2.1 a", "del within list=new exist 192.0.2.0/24", "", "192.0.2.1 a"},
	{"+!192.0.2.1 auto:gateway 0 default route; +!192.0.2.2 office",
	 "del allow within 192.0.2.0/24", "192.0.2.1 is of the gateway (default route)",
	 "!192.0.2.1 auto:gateway (default route); !192.0.2.2 office"},
	/* It would come back with the next survey of the machine. */
	{"+!192.0.2.1 auto:gateway 0 default route", "del allow 192.0.2.1",
	 "192.0.2.1 is of the gateway (default route)", "!192.0.2.1 auto:gateway (default route)"},
	/* What the allowlist exempts. */
	{"+!192.0.2.0/24 office", "add 192.0.2.9", "added 1, 1 exempt by 192.0.2.0/24: list office",
	 "192.0.2.9 default; !192.0.2.0/24 office"},
};

#define FOLLOWED "list theirs follows fleet f: change it on a host that publishes it"
#define BOTH	 "+192.0.2.1 theirs; +192.0.2.2 ours"
#define ARE_BOTH "192.0.2.1 theirs; 192.0.2.2 ours"

/* What a fleet has in `theirs` is changed elsewhere, `ours` is published here. */
static const struct row shared_rows[] = {
	{BOTH, "add list=theirs 192.0.2.9", FOLLOWED, ARE_BOTH},
	{BOTH, "del list=theirs 192.0.2.1", FOLLOWED, ARE_BOTH},
	{BOTH, "del 192.0.2.1", FOLLOWED, ARE_BOTH},
	{BOTH, "del within 192.0.2.0/24", FOLLOWED, ARE_BOTH},
	{BOTH, "del within list=ours 192.0.2.0/24", "removed 1, 192.0.2.2 from ours",
	 "192.0.2.1 theirs"},
	{BOTH, "add allow list=theirs 192.0.2.1", "added 1", ARE_BOTH "; !192.0.2.1 theirs"},
	{BOTH, "add list=ours 192.0.2.9", "added 1", ARE_BOTH "; 192.0.2.9 ours"},
	{BOTH, "del 192.0.2.2", "removed 1, 192.0.2.2 from ours", "192.0.2.1 theirs"},
};

static void say_lists(struct listed_text *out, const char *before,
		      const struct xb_list_names *lists)
{
	add_text(out, "%s", before);
	for (size_t i = 0; i < lists->count; i++)
		add_text(out, " %s", lists->item[i].text);
}

static void say_entry(struct listed_text *out, const char *format, const struct xb_entry *entry)
{
	char text[XB_ENTRY_TEXT];

	add_text(out, format, xb_entry_format(entry, text));
}

static void say_cover(struct listed_text *out, const struct xb_cover *cover)
{
	if (!cover->found)
		return;
	say_entry(out, " within %s", &cover->entry);
	say_lists(out, "", &cover->lists);
}

static void say_absence(struct listed_text *out, const struct xb_edit_refusal *refusal)
{
	say_entry(out, "%s is absent", &refusal->entry);
	if (refusal->absence.kind == XB_ABSENCE_COVERED)
		say_cover(out, &refusal->absence.cover);
	if (refusal->absence.kind == XB_ABSENCE_TWIN)
		say_entry(out, " beside %s", &refusal->absence.twin);
	if (refusal->absence.kind != XB_ABSENCE_ELSEWHERE)
		return;
	add_text(out, " from %s but in", refusal->list);
	say_lists(out, "", &refusal->absence.lists);
}

static void say_refusal(struct listed_text *out, const struct xb_edit_refusal *refusal)
{
	char reason[64];

	snprintf(reason, sizeof(reason), "%.*s", (int)refusal->reason_size, refusal->reason ?: "");
	switch (refusal->why) {
	case XB_EDIT_TOO_WIDE:
		say_entry(out, *reason ? "%s is too wide" : "%s has no reason", &refusal->entry);
		break;
	case XB_EDIT_REPEATED:
		say_entry(out, "%s is repeated", &refusal->entry);
		break;
	case XB_EDIT_NO_LIST:
		add_text(out, "there is no list %s", refusal->list);
		break;
	case XB_EDIT_LISTED:
		say_entry(out, "%s is in ", &refusal->entry);
		add_text(out, "%s", refusal->list);
		break;
	case XB_EDIT_AUTOMATIC:
		say_entry(out, "%s is of the ", &refusal->entry);
		add_text(out, "%s", refusal->kind);
		add_text(out, " (%s)", reason);
		break;
	case XB_EDIT_ABSENT:
		say_absence(out, refusal);
		break;
	case XB_EDIT_VOID:
		say_entry(out, "nothing is in %s", &refusal->entry);
		if (refusal->list)
			add_text(out, " of %s", refusal->list);
		break;
	}
}

static void say_count(struct listed_text *out, const char *word, uint64_t count)
{
	char number[32];

	if (!count)
		return;
	snprintf(number, sizeof(number), "%s %llu", word, (unsigned long long)count);
	add_text(out, out->used ? ", %s" : "%s", number);
}

static void say_result(struct listed_text *out, const struct xb_edit_result *result)
{
	say_count(out, "added", result->added);
	say_count(out, "renewed", result->renewed);
	say_count(out, "removed", result->removed);
	say_count(out, "unchanged", result->unchanged);
	say_count(out, "absent", result->absent);
	for (size_t i = 0; i < result->count; i++) {
		say_entry(out, ", %s", result->item[i].entry);
		say_lists(out, " from", &result->item[i].lists);
		say_cover(out, &result->item[i].cover);
	}
	if (!result->exempt.count)
		return;
	assert_int_equal(result->exempt.count, 1);
	say_entry(out, ", 1 exempt by %s", &result->exempt.allowed);
	add_text(out, ": %s", result->exempt.why);
}

/* Whether the word is one of the terms. */
static bool take_term(struct xb_edit_terms *terms, char *word)
{
	char *value = strchr(word, '=');
	bool *flag = !strcmp(word, "exist")    ? &terms->exist
		     : !strcmp(word, "allow")  ? &terms->allow
		     : !strcmp(word, "force")  ? &terms->force
		     : !strcmp(word, "within") ? &terms->within
					       : NULL;

	if (flag)
		*flag = true;
	else if (!strncmp(word, "list=", 5))
		terms->list = value + 1;
	else if (!strncmp(word, "comment=", 8))
		terms->comment = value + 1;
	else if (!strncmp(word, "timeout=", 8))
		terms->timeout = (uint32_t)atoi(value + 1);
	else
		return false;
	return true;
}

static void edit_as_asked(char *asked, struct xb_edit_result *result, struct listed_text *said)
{
	struct xb_edit edit = {.terms.add = !strcmp(strsep(&asked, " "), "add")};
	struct xb_edit_refusal refusal;
	char *word;
	int error = 0;

	while (!error && (word = strsep(&asked, " ")))
		if (!take_term(&edit.terms, word)) {
			const struct xb_entry entry = entry_of(word);

			error = xb_edit_take(&edit, &entry, &refusal);
		}
	if (!error)
		error = xb_edit_check(&edit, &refusal);
	if (!error)
		error = xb_edit_all(&writer, &edit, result, &refusal);
	if (error == XB_EDIT_REFUSED) {
		say_refusal(said, &refusal);
		xb_edit_refusal_free(&refusal);
	} else if (error) {
		add_text(said, "%s", xb_error_message());
	} else {
		say_result(said, result);
	}
	xb_edit_result_free(result);
	xb_edit_free(&edit);
}

static void take_rows(const struct row *row, size_t count)
{
	for (size_t i = 0; i < count; i++, row++) {
		struct xb_edit_result result = {.itemizes = true};
		struct listed_text said = {0};
		char asked[256];

		make_changes(txn, row->before);
		strcpy(asked, row->asked);
		edit_as_asked(asked, &result, &said);
		if (strcmp(said.text, row->said) != 0)
			fail_msg("%s: '%s', not '%s'", row->asked, said.text, row->said);
		assert_store(txn, row->after);
		xb_txn_abort(txn);
		assert_int_equal(open_txn(), 0);
	}
}

TEST_WITH(edits, begin_writer, end_txn)
{
	take_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

TEST_WITH(edits_of_shared_lists, begin_writer, end_txn)
{
	share("theirs", XB_SHARE_FOLLOW);
	share("ours", XB_SHARE_FOLLOW | XB_SHARE_PUBLISH);
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(open_txn(), 0);
	take_rows(shared_rows, sizeof(shared_rows) / sizeof(shared_rows[0]));
}
