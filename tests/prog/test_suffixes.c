/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which name the filter takes for the registered one, beside libpsl, for names of each rule of the
 * list and for names by chance. */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "model/name.h"
#include "model/suffix.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/dns.h"
#include "support/random.h"
#include "support/rig.h"

#include "registered.skel.h"

/* As libpsl.h has them. */
struct psl;
static struct {
	struct psl *(*load)(const char *path);
	const char *(*registrable)(const struct psl *psl, const char *domain);
} library;

static struct psl *oracle;
static struct rig rig;
static struct xb_generation *generation;
static struct registered_bpf *skeleton;
static struct xb_suffixes suffixes;

static void load_oracle(void)
{
	void *handle = dlopen("libpsl.so.5", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return;
	*(void **)&library.load = dlsym(handle, "psl_load_file");
	*(void **)&library.registrable = dlsym(handle, "psl_registrable_domain");
	assert_true(library.load && library.registrable);
	oracle = library.load(XB_SUFFIX_FILE);
	assert_non_null(oracle);
}

static void load_program(void)
{
	struct xb_anchor anchor;

	skeleton = registered_bpf__open();
	assert_non_null(skeleton);
	skeleton->rodata_params->params = generation->params;
	skeleton->rodata_name_key->name_key = generation->name_key;
	for (enum xb_map i = 0; i < XB_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(skeleton->obj, xb_map_name(i));

		if (generation->map[i] >= 0)
			assert_int_equal(bpf_map__reuse_fd(map, generation->map[i]), 0);
		else
			bpf_map__set_autocreate(map, false);
	}
	bpf_map__set_autocreate(skeleton->maps.known_state, false);
	bpf_map__set_autocreate(skeleton->maps.known_sets, false);
	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	assert_int_equal(xb_anchor_lend(&anchor, skeleton->obj), 0);
	assert_int_equal(registered_bpf__load(skeleton), 0);
	xb_anchor_close(&anchor);
}

static int begin(void **state)
{
	struct xb_limit limit = rig_limit_of("names", "udp/53", 10);

	random_begin();
	load_oracle();
	rig_begin(&rig, "suffixes");
	limit.of = XB_LIMIT_QUERIES;
	rig_must(xb_limit_parse_per("name", &limit), "per");
	rig_limit(&rig, &limit);
	generation = rig_generation(&rig);
	load_program();
	rig_must(xb_suffixes_read(XB_SUFFIX_FILE, &suffixes), "suffixes");
	return 0;
}

static int end(void **state)
{
	registered_bpf__destroy(skeleton);
	xb_generation_close(generation);
	xb_suffixes_free(&suffixes);
	rig_end(&rig);
	return 0;
}

/* 0: there is none. */
static uint64_t told(const char *name, bool ipv6)
{
	static struct dns_frame frame;

	dns_query(name, ipv6, &frame);
	skeleton->bss->registered_hash = 1;
	skeleton->bss->ipv6 = ipv6;
	rig_run(bpf_program__fd(skeleton->progs.tell_registered), frame.byte, frame.size);
	return skeleton->bss->registered_hash;
}

static uint64_t hash_of(const char *name)
{
	uint8_t form[XB_NAME_BYTES], used;

	rig_must(xb_name_parse(name, strlen(name), form, &used), name);
	return xb_fingerprint(xb_name_hash(&generation->name_key, form, used));
}

/* name: small letters. Capitals may stand in the query. */
static void check(const char *name, const char *asked, bool ipv6)
{
	const char *registered = library.registrable(oracle, name);
	uint64_t found = told(asked, ipv6);

	if (found != (registered ? hash_of(registered) : 0))
		fail_msg("of %s, %s is registered; the filter finds %s", asked,
			 registered ? registered : "nothing", found ? "another name" : "none");
}

static void put_label(char *out)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
	uint32_t length = random_word() % 16 ? 1 + random_word() % 9 : 1 + random_word() % 63;

	for (uint32_t i = 0; i < length; i++)
		out[i] = letters[random_word() % (sizeof(letters) - 1)];
	out[length] = '\0';
}

/* Up to so many labels, and behind them the name; too long ones get none. */
static void put_below(uint32_t labels, const char *name, char out[XB_NAME_TEXT])
{
	char label[64], longer[2 * XB_NAME_TEXT];

	snprintf(out, XB_NAME_TEXT, "%s", name);
	while (labels--) {
		put_label(label);
		snprintf(longer, sizeof(longer), "%s.%s", label, out);
		if (strlen(longer) < XB_NAME_TEXT - 3)
			strcpy(out, longer);
	}
}

static void capitalize(char *name)
{
	for (; *name; name++)
		if (random_word() % 2)
			*name = (char)toupper((unsigned char)*name);
}

static void check_below(uint32_t labels, const char *above)
{
	char name[XB_NAME_TEXT], asked[XB_NAME_TEXT];

	put_below(labels, above, name);
	strcpy(asked, name);
	capitalize(asked);
	check(name, asked, random_word() % 2);
}

TEST(names_of_each_rule)
{
	if (!oracle)
		skip();
	for (size_t i = 0; i < suffixes.count; i++) {
		const struct xb_suffix_item *item = &suffixes.item[i];
		char rule[XB_NAME_TEXT];

		xb_name_format(item->form, item->length, rule);
		for (uint32_t labels = 0; labels < 4; labels++)
			check_below(labels, rule);
	}
}

/* Labels of several rules one above the other, and top-level domains that nobody knows. */
TEST(names_by_chance)
{
	if (!oracle)
		skip();
	for (uint32_t i = amount(20000, 1000000); i; i--) {
		const struct xb_suffix_item *item = &suffixes.item[random_word() % suffixes.count];
		char rule[XB_NAME_TEXT], tail[2 * XB_NAME_TEXT];
		const char *cut;

		xb_name_format(item->form, item->length, rule);
		cut = strchr(rule, '.');
		/* The first label of one rule, in front of a part of another one, or of nothing. */
		snprintf(tail, sizeof(tail), "%.*s", cut ? (int)(cut - rule) : 60, rule);
		if (random_word() % 8) {
			item = &suffixes.item[random_word() % suffixes.count];
			xb_name_format(item->form, item->length, rule);
			snprintf(tail + strlen(tail), sizeof(tail) - strlen(tail), ".%s", rule);
		} else {
			strcat(tail, ".nosuchtld");
		}
		check_below(random_word() % 4, tail);
	}
}

/* As many labels as there can be. */
TEST(longest_names)
{
	char name[256];

	if (!oracle)
		skip();
	for (int i = 0; i < 253; i++)
		name[i] = i % 2 ? '.' : 'a';
	name[253] = '\0';
	check(name, name, false);
	memcpy(name + 253 - strlen("a.kawasaki.jp"), "a.kawasaki.jp", strlen("a.kawasaki.jp"));
	check(name, name, true);
}

ALL_TESTS(begin, end);
