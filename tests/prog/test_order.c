/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between any two single changes of one change: who is dropped before and after it is dropped, who
 * passes before and after it passes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/error.h"
#include "filter/apply.h"
#include "store/membership.h"
#include "support/cmocka.h"
#include "support/dns.h"
#include "support/rig.h"
#include "support/service_frame.h"

/* What a row leaves out is the plain case. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static struct rig rig;
static int program;

/* --- changes in words
 * ------------------------------------------------------------------------------
 * "+ENTRY" adds to list `default`, "-ENTRY" deletes from it; "+ENTRY@LIST" and "-ENTRY@LIST"; "a+"
 * and "a-" mean the allowlist. All words are one transaction, in order. */

static int do_word(struct xb_writer *writer, char *word)
{
	bool allow = *word == 'a', added = word[allow] == '+';
	char *text = word + allow + 1, *at = strchr(text, '@');
	struct xb_membership member = {.added = writer->now};
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	enum xb_removal removal;
	struct xb_list *list;
	enum xb_put put;
	int error;

	if (at)
		*at = '\0';
	error = xb_entry_parse(text, strlen(text), form, &entry, NULL);
	if (!error && allow)
		entry = xb_entry_allow(&entry);
	if (!error)
		error = xb_list_need(writer->txn, at ? at + 1 : "default", &list);
	if (error)
		return error;
	member.list = list->id;
	return added ? xb_member_put(writer->txn, &entry, &member, 0, &put)
		     : xb_member_remove(writer->txn, &entry, list->id, &removal);
}

static int words_body(struct xb_writer *writer, void *context)
{
	char copy[4096], *rest = copy, *word;
	int error = 0;

	snprintf(copy, sizeof(copy), "%s", (const char *)context);
	while (!error && (word = strsep(&rest, " ")))
		if (*word)
			error = do_word(writer, word);
	return error;
}

static void change(const char *words)
{
	if (xb_write(&rig.paths, 0, words_body, (void *)(uintptr_t)words, &rig.written))
		fail_msg("%s: %s", words, xb_error_message());
}

/* --- whom it is asked of
 * -------------------------------------------------------------------------- */

#define PROBES_MAX 512
#define STEPS_MAX  256

struct probe {
	char text[64];
	struct xb_entry source;
	struct dns_frame query;
	struct service_frame to;
	bool asks;   /* for a name */
	bool serves; /* for a service */
};

static struct probe probes[PROBES_MAX];
static size_t probe_count;

/* "ADDRESS>SERVICE", as 192.0.2.1>tcp/25: a frame to that port. */
static void probe_service(struct probe *one, const char *service)
{
	size_t size = (size_t)(service - one->text);
	struct xb_service to;

	assert_int_equal(xb_entry_parse(one->text, size, NULL, &one->source, NULL), 0);
	assert_int_equal(xb_service_parse(service + 1, &to), 0);
	one->to = frame_to(&one->source, (enum xb_service_protocol)to.protocol, to.first,
			   FRAME_PLAIN);
	one->serves = true;
}

static void probe(const char *text)
{
	struct probe *one = &probes[probe_count++];
	const char *service;

	assert_true(probe_count <= PROBES_MAX);
	*one = (struct probe){.asks = false};
	snprintf(one->text, sizeof(one->text), "%s", text);
	service = strchr(one->text, '>');
	if (service) {
		probe_service(one, service);
		return;
	}
	one->asks = xb_entry_parse(text, strlen(text), NULL, &one->source, NULL);
	if (one->asks)
		dns_query(text, false, &one->query);
}

static void probe_words(const char *words)
{
	char copy[1024], *rest = copy, *word;

	probe_count = 0;
	snprintf(copy, sizeof(copy), "%s", words);
	while ((word = strsep(&rest, " ")))
		probe(word);
}

/* Verdicts of all, as they are now. */
struct verdicts {
	uint8_t of[PROBES_MAX];
};

static struct verdicts look(void)
{
	struct verdicts now = {{0}};

	for (size_t i = 0; i < probe_count; i++) {
		const struct probe *one = &probes[i];

		now.of[i] = (uint8_t)(one->asks ? rig_run(program, one->query.byte, one->query.size)
				      : one->serves ? rig_run(program, one->to.byte, one->to.size)
						    : rig_run_from(program, &one->source));
	}
	return now;
}

static struct verdicts seen[STEPS_MAX];
static size_t steps;

static void step(void)
{
	assert_true(steps < STEPS_MAX);
	seen[steps++] = look();
}

/* How many sources kept their verdict, for a test that asks nobody says nothing. */
static size_t check(const char *words)
{
	struct verdicts before = look(), after;
	size_t stayed = 0;

	steps = 0;
	xb_apply_stepped = step;
	change(words);
	xb_apply_stepped = NULL;
	after = look();
	for (size_t i = 0; i < probe_count; i++) {
		stayed += before.of[i] == after.of[i];
		for (size_t at = 0; at < steps && before.of[i] == after.of[i]; at++)
			if (seen[at].of[i] != before.of[i])
				fail_msg("%s: after step %zu of %zu the verdict of %s is %u, "
					 "before and after all it is %u",
					 words, at + 1, steps, probes[i].text, seen[at].of[i],
					 before.of[i]);
	}
	return stayed;
}

/* --- the world: every stage is there, so that nothing needs a new generation
 * ----------------------- */

#define STAGES                                                                                     \
	"+192.0.2.1 +192.0.3.0/24 +2001:db8:ffff::/64 +elsewhere.example +counted.example@count "  \
	"a+192.0.2.2 a+2001:db8:fffe::1 a+allowed.example "                                        \
	"+192.0.2.9@mail +192.0.2.9@post +192.0.2.9@web +192.0.2.9@trial +2001:db8:9::/64@mail"

static int begin(void **state)
{
	rig_begin(&rig, "order");
	program = rig_entry(&rig);
	change(STAGES);
	rig_verdict(&rig, "count", XB_DOMAIN_COUNT);
	rig_scope(&rig, "mail", "tcp/25,tcp/587");
	rig_scope(&rig, "post", "tcp/25,udp/53");
	rig_scope(&rig, "web", "tcp/80,icmp");
	rig_scope(&rig, "trial", "tcp/25,tcp/80");
	rig_verdict(&rig, "trial", XB_DOMAIN_COUNT);
	return 0;
}

static int end(void **state)
{
	close(program);
	rig_end(&rig);
	return 0;
}

static const struct {
	const char *name, *before, *words, *probes;
	bool none; /* it comes to nothing: there is no step */
} table[] = {
	{"a /24 becomes two /25", "+10.1.1.0/24", "-10.1.1.0/24 +10.1.1.0/25 +10.1.1.128/25",
	 "10.1.1.0 10.1.1.127 10.1.1.128 10.1.1.255 10.1.0.255 10.1.2.0"},
	{"and back", "", "-10.1.1.0/25 -10.1.1.128/25 +10.1.1.0/24",
	 "10.1.1.0 10.1.1.127 10.1.1.128 10.1.1.255 10.1.0.255 10.1.2.0"},
	{"a /16 becomes a /17 and hosts", "+10.2.0.0/16",
	 "-10.2.0.0/16 +10.2.128.0/17 +10.2.0.1 +10.2.3.0/24",
	 "10.2.0.1 10.2.0.2 10.2.3.4 10.2.128.0 10.2.255.255"},
	{"a /17 becomes a /16", "", "-10.2.128.0/17 -10.2.0.1 +10.2.0.0/16 -10.2.3.0/24",
	 "10.2.0.1 10.2.0.2 10.2.3.4 10.2.128.0 10.2.255.255"},
	{"IPv6: a /48 becomes two /49", "+2001:db8:1::/48",
	 "-2001:db8:1::/48 +2001:db8:1::/49 +2001:db8:1:8000::/49",
	 "2001:db8:1::1 2001:db8:1:7fff::1 2001:db8:1:8000::1 2001:db8:2::"},
	{"and back", "", "-2001:db8:1::/49 -2001:db8:1:8000::/49 +2001:db8:1::/48",
	 "2001:db8:1::1 2001:db8:1:7fff::1 2001:db8:1:8000::1 2001:db8:2::"},
	{"from list to list", "+10.3.0.1 +10.3.1.0/24@one +2001:db8:3::1@one",
	 "-10.3.0.1 -10.3.1.0/24@one -2001:db8:3::1@one +10.3.0.1@two +10.3.1.0/24@two "
	 "+2001:db8:3::1@two",
	 "10.3.0.1 10.3.1.1 2001:db8:3::1", true},
	{"listed and allowed at once", "",
	 "+10.4.0.0/16 +2001:db8:4::/48 +10.9.9.9 a+10.4.4.0/24 a+2001:db8:4:4::/64 a+10.9.9.9",
	 "10.4.4.1 10.4.5.1 2001:db8:4:4::1 2001:db8:4:5::1 10.9.9.9"},
	{"allowed by other prefixes", "",
	 "a-10.4.4.0/24 a+10.4.4.0/25 a+10.4.4.128/25 a-2001:db8:4:4::/64 a+2001:db8:4::/60",
	 "10.4.4.1 10.4.4.200 10.4.5.1 2001:db8:4:4::1 2001:db8:4:ffff::1"},
	{"neither any more", "",
	 "a-10.4.4.0/25 a-10.4.4.128/25 -10.4.0.0/16 a-2001:db8:4::/60 -2001:db8:4::/48 "
	 "a-10.9.9.9 -10.9.9.9",
	 "10.4.4.1 10.4.4.200 10.4.5.1 2001:db8:4:4::1 10.9.9.9"},
	{"come and gone in one", "+10.5.0.1 +10.5.0.2",
	 "+10.5.0.3 -10.5.0.3 -10.5.0.1 +10.5.0.1 +10.5.0.4", "10.5.0.1 10.5.0.2 10.5.0.3"},
	{"from one scope to another", "+10.6.0.1@mail +10.6.1.0/24@mail +2001:db8:6::/48@mail",
	 "-10.6.0.1@mail +10.6.0.1@post -10.6.1.0/24@mail +10.6.1.0/24@post "
	 "-2001:db8:6::/48@mail +2001:db8:6::/48@post",
	 "10.6.0.1>tcp/25 10.6.0.1>tcp/587 10.6.0.1>udp/53 10.6.1.7>tcp/25 10.6.1.7>udp/53 "
	 "2001:db8:6::1>tcp/25 2001:db8:6::1>tcp/587 2001:db8:6::1>udp/53 10.6.0.1>tcp/80"},
	{"from a scope to everything", "",
	 "-10.6.0.1@post +10.6.0.1 -10.6.1.0/24@post +10.6.1.0/24 -2001:db8:6::/48@post "
	 "+2001:db8:6::/48",
	 "10.6.0.1>tcp/25 10.6.0.1>tcp/80 10.6.1.7>tcp/25 10.6.1.7>udp/53 2001:db8:6::1>tcp/25 "
	 "2001:db8:6::1>tcp/80"},
	{"and back", "",
	 "+10.6.0.1@mail -10.6.0.1 +10.6.1.0/24@mail -10.6.1.0/24 +2001:db8:6::/48@mail "
	 "-2001:db8:6::/48",
	 "10.6.0.1>tcp/25 10.6.0.1>tcp/80 10.6.1.7>tcp/25 10.6.1.7>udp/53 2001:db8:6::1>tcp/25 "
	 "2001:db8:6::1>tcp/80"},
	{"from what drops to what counts", "",
	 "-10.6.0.1@mail +10.6.0.1@trial +10.6.0.0/16@post -10.6.1.0/24@mail",
	 "10.6.0.1>tcp/25 10.6.0.1>tcp/587 10.6.0.1>tcp/80 10.6.1.7>tcp/25 10.6.1.7>tcp/587"},
	{"a scoped prefix becomes two", "",
	 "-10.6.0.0/16@post +10.6.0.0/17@post +10.6.128.0/17@mail -2001:db8:6::/48@mail "
	 "+2001:db8:6::/49@mail +2001:db8:6:8000::/49@post",
	 "10.6.0.1>tcp/25 10.6.0.1>udp/53 10.6.200.1>tcp/25 10.6.200.1>udp/53 "
	 "2001:db8:6::1>tcp/25 2001:db8:6:8000::1>tcp/25 2001:db8:6:8000::1>tcp/587"},
	{"listed for a service and allowed at once", "+10.7.0.0/16@trial",
	 "+10.7.0.1@mail a+10.7.0.1 +2001:db8:7::/48@web a+2001:db8:7:7::/64",
	 "10.7.0.1>tcp/25 10.7.0.1>tcp/80 2001:db8:7:7::1>tcp/80 2001:db8:7:7::1>icmp"},
	{"and no more", "", "-10.7.0.1@mail a-10.7.0.1 -2001:db8:7::/48@web a-2001:db8:7:7::/64",
	 "10.7.0.1>tcp/25 10.7.0.1>tcp/80 2001:db8:7:7::1>tcp/80 2001:db8:7:7::1>icmp"},
	{"a name and one below it", "+a.example", "-a.example +b.a.example +=a.example",
	 "b.a.example c.b.a.example a.example x.a.example"},
	{"and back", "", "-b.a.example -=a.example +a.example",
	 "b.a.example c.b.a.example a.example x.a.example"},
	{"a name gets another verdict", "+d.example +c.example@count",
	 "-d.example +d.example@count +e.d.example -c.example@count +c.example",
	 "e.d.example d.example c.example"},
	{"one stricter and one less", "+g.example@count +f.g.example",
	 "-f.g.example +f.g.example@count -g.example@count +g.example",
	 "f.g.example g.example h.f.g.example"},
	{"a name that is allowed", "", "+h.example a+i.h.example", "i.h.example k.i.h.example"},
	{"by another one", "", "a-i.h.example a+k.i.h.example a+=i.h.example",
	 "i.h.example k.i.h.example"},
	{"and no more", "", "a-k.i.h.example a-=i.h.example -h.example",
	 "i.h.example k.i.h.example"},
};

TEST(no_verdict_between)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		probe_words(table[i].probes);
		change(table[i].before);
		if (!check(table[i].words))
			fail_msg("%s: every verdict changes", table[i].name);
		if (!steps != table[i].none)
			fail_msg("%s: %zu single changes", table[i].name, steps);
	}
	assert_true(rig_matches_rebuild(&rig));
}

/* --- anything at once in a small universe
 * ----------------------------------------------------------- */

#define ROUNDS 150

static void random_word(uint64_t *seed, char *out, size_t size)
{
	static const int lengths4[] = {20, 21, 22, 23, 24, 25, 26, 28, 31, 32};
	static const int lengths6[] = {16, 32, 40, 48, 49, 63, 64, 65, 127, 128};
	static const char *const names[] = {"r.test",	  "=r.test",	 "a.r.test",
					    "=a.r.test",  "b.a.r.test",	 "c.r.test",
					    "d.c.r.test", "=d.c.r.test", "e.d.c.r.test"};
	static const char *const signs[] = {"+", "-", "a+", "a-"};
	static const char *const lists[] = {"",	     "@one", "@count", "@mail",
					    "@post", "@web", "@trial"};
	uint64_t random = rig_random(seed);
	const char *sign = signs[random % 4], *list = lists[(random >> 8) % 7];

	switch ((random >> 16) % 3) {
	case 0:
		snprintf(out, size, " %s10.20.%u.%u/%d%s", sign, (unsigned)(random >> 24 & 7),
			 (unsigned)(random >> 32 & 3) << 6, lengths4[(random >> 40) % 10], list);
		break;
	case 1:
		snprintf(out, size, " %s2001:db8:20:%x::%x/%d%s", sign,
			 (unsigned)(random >> 24 & 3) << 14, (unsigned)(random >> 32 & 1),
			 lengths6[(random >> 40) % 10], list);
		break;
	default:
		snprintf(out, size, " %s%s%s", sign, names[(random >> 24) % 9], list);
	}
}

static void probe_services(const char *source)
{
	static const char *const services[] = {"tcp/25", "tcp/80", "tcp/587", "udp/53", "icmp"};

	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%.40s>%s", source, services[i]);
		probe(text);
	}
}

static void probe_universe(void)
{
	char text[64];

	probe_words("r.test a.r.test b.a.r.test c.r.test d.c.r.test e.d.c.r.test x.r.test");
	for (unsigned int third = 0; third < 8; third++)
		for (unsigned int fourth = 0; fourth < 256; fourth += 64) {
			snprintf(text, sizeof(text), "10.20.%u.%u", third, fourth);
			probe(text);
			snprintf(text, sizeof(text), "10.20.%u.%u", third, fourth + 17);
			probe(text);
			probe_services(text);
		}
	for (unsigned int part = 0; part < 4; part++)
		for (unsigned int last = 0; last < 3; last++) {
			snprintf(text, sizeof(text), "2001:db8:20:%x::%x", part << 14, last);
			probe(text);
			probe_services(text);
		}
}

static void nothing_between_at_random(uint32_t policy)
{
	uint64_t seed = 20261122 + policy;
	size_t all = 0;

	rig_policy(&rig, policy);
	probe_universe();
	for (int round = 0; round < ROUNDS; round++) {
		char words[2048] = "";
		int count = 1 + (int)(rig_random(&seed) % 12);

		for (int i = 0; i < count; i++)
			random_word(&seed, words + strlen(words), sizeof(words) - strlen(words));
		check(words);
		all += steps;
	}
	if (all < ROUNDS)
		fail_msg("%zu single changes in %d rounds", all, ROUNDS);
	assert_true(rig_matches_rebuild(&rig));
}

TEST(at_random_while_the_listed_are_dropped)
{
	nothing_between_at_random(XB_POLICY_ENFORCE);
}

TEST(at_random_while_only_the_listed_pass)
{
	nothing_between_at_random(XB_POLICY_ALLOW_ONLY);
	rig_policy(&rig, XB_POLICY_ENFORCE);
}

/* A policy of the same transaction: nothing is dropped that passes before and after. */
static int monitor_body(struct xb_writer *writer, void *context)
{
	writer->txn->meta.policy = XB_POLICY_MONITOR;
	return words_body(writer, context);
}

static int enforce_body(struct xb_writer *writer, void *context)
{
	writer->txn->meta.policy = XB_POLICY_ENFORCE;
	return words_body(writer, context);
}

static void check_body(int (*body)(struct xb_writer *, void *), const char *words)
{
	steps = 0;
	xb_apply_stepped = step;
	assert_int_equal(xb_write(&rig.paths, 0, body, (void *)(uintptr_t)words, &rig.written), 0);
	xb_apply_stepped = NULL;
	assert_int_equal(steps, 1);
	assert_int_equal(seen[0].of[0], XDP_PASS);
}

TEST(a_policy_with_the_allowlist)
{
	probe_words("10.30.0.1");
	change("+10.30.0.1 a+10.30.0.1");
	check_body(monitor_body, "a-10.30.0.1");
	check_body(enforce_body, "a+10.30.0.1");
	change("-10.30.0.1 a-10.30.0.1");
}

ALL_TESTS(begin, end);
