/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of verdicts, .rows files of tests/prog/verdicts: what the filter has, and frames with
 * the reason that each has to be counted for. A new case is a line; tests/prog/verdicts/README.md
 * has the words.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/classcounts.h"
#include "attach/drops.h"
#include "model/reason.h"
#include "store/limits.h"
#include "support/cmocka.h"
#include "support/dns.h"
#include "support/hello.h"
#include "support/rig.h"
#include "support/rowtext.h"
#include "support/service_frame.h"

#define LINES_MAX 1024
#define PARTS	  6

static struct {
	struct rig rig;
	int program;
	struct xb_anchor anchor;
	struct xb_counts counts; /* as last read */
	struct rowtext lets;
	char *line[LINES_MAX];
	size_t lines, at; /* at: the line that is being read */
	uint64_t generation, tally;
	char *part[PARTS]; /* of the word whose turn it is in an `each` */
	int parts;
} world;

#define WRONG(...)                                                                                 \
	do {                                                                                       \
		print_message("line %zu%s%s: ", world.at + 1, world.parts ? ", each " : "",        \
			      world.parts ? world.part[0] : "");                                   \
		fail_msg(__VA_ARGS__);                                                             \
	} while (0)

static const char *needed(char **words)
{
	const char *word = rowtext_word(words);

	if (!word)
		WRONG("a word is missing");
	return word;
}

static int one_of(const char *word, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(names[i], word))
			return i;
	WRONG("%s is none of %s, ...", word, names[0]);
	return -1;
}

#define ONE_OF(word, ...)                                                                          \
	one_of(word, (const char *const[]){__VA_ARGS__},                                           \
	       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* ---- Frames ---- */

/* Words KEY=NUMBER in front of a frame's data say how it is made: see the README. */
enum key {
	ONLY,
	LINK,
	PORT,
	PROTO,
	FIELD,
	IP_MORE,
	UDP_MORE,
	FILL,
	REPLY,
	WORDS,
	LIE,
	SESSION,
	CIPHERS,
	BEFORE,
	AFTER,
	FILLER,
	VERSION,
	INNER,
	NAMELESS,
	KEYS,
};

static const char *const keys[] = {
	"only",	   "link",  "port",	"proto",   "field",   "ip",	"udp",	 "fill",
	"reply",   "words", "lie",	"session", "ciphers", "before", "after", "filler",
	"version", "inner", "nameless", "opt",	   "ext",     "at", /* KEY=BYTES */
};

#define PATCHES 8

struct form {
	long number[KEYS];
	bool has[KEYS];
	char options[128], extensions[512]; /* in hexadecimal */
	char *patch[PATCHES];		    /* PLACE+N:BYTES */
	int patches;
};

static void hex_of(const char *text, char *out)
{
	uint8_t bytes[256];
	uint32_t size = rowtext_bytes(&world.lets, text, bytes);

	for (uint32_t i = 0; i < size; i++)
		sprintf(out + 2 * i, "%02x", bytes[i]);
}

static void read_form(char **words, struct form *form)
{
	*form = (struct form){0};
	for (;;) {
		char *at = *words + strspn(*words, " \t"), *value;
		size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
		int key;

		if (!length || at[length] != '=')
			return;
		at = rowtext_word(words);
		value = at + length + 1;
		value[-1] = '\0';
		key = one_of(at, keys, sizeof(keys) / sizeof(keys[0]));
		if (key < KEYS) {
			form->number[key] = strtol(value, NULL, 0);
			form->has[key] = true;
			if (key == FIELD)
				form->number[ONLY] = 4;
		} else if (key == KEYS + 2) {
			assert_true(form->patches < PATCHES);
			form->patch[form->patches++] = value;
		} else {
			hex_of(value, key == KEYS ? form->options : form->extensions);
			form->number[ONLY] = key == KEYS ? 4 : 6;
		}
	}
}

static struct dns_shape shape_of(const struct form *form, bool ipv6, uint32_t link)
{
	return (struct dns_shape){
		.ipv6 = ipv6,
		.link = link,
		.reply = form->number[REPLY],
		.port = (uint16_t)form->number[PORT],
		.field = (uint16_t)form->number[FIELD],
		.protocol = (uint8_t)form->number[PROTO],
		.options = *form->options ? form->options : NULL,
		.extensions = *form->extensions ? form->extensions : NULL,
		.ip_more = (int)form->number[IP_MORE],
		.udp_more = (int)form->number[UDP_MORE],
		.fill = (uint32_t)form->number[FILL],
	};
}

/* Bytes at a place of what has these offsets take the place of what is there. */
static void patch(const struct form *form, const char *const *places, const uint32_t *offsets,
		  uint8_t *byte)
{
	for (int i = 0; i < form->patches; i++) {
		char place[32];
		int more = 0, behind = 0;

		if (sscanf(form->patch[i], "%31[a-z]%d:%n", place, &more, &behind) != 2)
			WRONG("%s is no patch", form->patch[i]);
		for (int j = 0; places[j]; j++)
			if (!strcmp(places[j], place))
				rowtext_bytes(&world.lets, form->patch[i] + behind,
					      byte + offsets[j] + more);
	}
}

/* ---- What becomes of them ---- */

static enum xb_reason reason_named(const char *name)
{
	for (unsigned int i = 0; i < XB_REASON_COUNT; i++)
		if (!strcmp(xb_reason_name(i), name))
			return i;
	WRONG("there is no reason %s", name);
	return XB_REASON_COUNT;
}

/* The frame is counted once, for this reason, has its verdict, and passes as it came. *left: what
 * it has become. */
static void check_frame(const char *what, const uint8_t *frame, uint32_t bytes,
			enum xb_reason reason, struct dns_frame *left)
{
	uint32_t verdict, wanted = xb_reason_drops(reason)     ? XDP_DROP
				   : xb_reason_answers(reason) ? XDP_TX
							       : XDP_PASS;
	struct xb_counts before = world.counts;
	int wrong = -1;

	left->size = sizeof(left->byte);
	verdict = rig_run_out(world.program, frame, bytes, left->byte, &left->size);
	rig_must(xb_anchor_counts(&world.anchor, 0, &world.counts), "counts");
	for (unsigned int i = 0; i < XB_REASON_COUNT; i++) {
		uint64_t packets = world.counts.reason[i].packets - before.reason[i].packets;
		uint64_t counted = world.counts.reason[i].bytes - before.reason[i].bytes;

		if (packets != (i == reason) || counted != (i == reason ? left->size : 0))
			wrong = i == reason && wrong >= 0 ? wrong : (int)i;
	}
	if (wrong >= 0)
		WRONG("%s: counted wrongly as %s; expected is %s, once", what,
		      xb_reason_name((unsigned int)wrong), xb_reason_name(reason));
	if (verdict != wanted)
		WRONG("%s: verdict %u, expected %u", what, verdict, wanted);
	if (verdict != XDP_TX && (left->size != bytes || memcmp(left->byte, frame, bytes)))
		WRONG("%s: it went on, but not as it came", what);
}

/* The query in this shape was answered by this frame. */
static void check_answer(const char *what, struct dns_shape shape, const uint8_t *query,
			 enum xb_reason reason, const struct dns_frame *left)
{
	uint8_t code = reason == XB_NAME_REFUSED ? 5 : reason == XB_NAME_NXDOMAIN ? 3 : 0;
	uint8_t answer[DNS_FRAME_MAX];
	struct dns_frame expected;

	shape.reply = true;
	shape.fill = 0;
	dns_wrap(&shape, answer,
		 dns_answer(query, reason == XB_NAME_TRUNCATED || reason == XB_OVER_TRUNCATED, code,
			    answer),
		 &expected);
	for (uint32_t i = 0; i < expected.size; i++)
		if (left->byte[i] != expected.byte[i])
			WRONG("%s: byte %u of the answer is %02x, expected %02x", what, i,
			      left->byte[i], expected.byte[i]);
	assert_int_equal(left->size, expected.size);
}

/* ---- Rows ---- */

static void check_raw(char *words, enum xb_reason reason)
{
	static struct dns_frame left;
	uint8_t frame[DNS_FRAME_MAX];

	check_frame("frame", frame, rowtext_bytes(&world.lets, words, frame), reason, &left);
}

/* Data behind UDP, or behind TCP, in both families and all that may stand below. */
static void check_shapes(const struct form *form, bool tcp, uint16_t port, const uint8_t *data,
			 uint32_t size, enum xb_reason reason)
{
	static const char *const places[] = {"eth", "ip", "udp", "data", NULL};
	static struct dns_frame frame, left;

	for (uint32_t kind = 0; kind < 2 * DNS_LINKS; kind++) {
		bool ipv6 = kind & 1;
		struct wrap wrap = {.shape = shape_of(form, ipv6, kind / 2),
				    .words = (uint32_t)form->number[WORDS],
				    .lie = form->has[LIE] ? (uint32_t)form->number[LIE] + 1 : 0};
		char what[64];

		if ((form->number[ONLY] && form->number[ONLY] != (ipv6 ? 6 : 4)) ||
		    (form->has[LINK] && form->number[LINK] != kind / 2))
			continue;
		if (tcp)
			wrap_tcp(&wrap, port, data, size, &frame);
		else
			dns_wrap(&wrap.shape, data, size, &frame);
		patch(form, places, (const uint32_t[]){0, frame.network, frame.udp, frame.message},
		      frame.byte);
		snprintf(what, sizeof(what), "IPv%d, link %u", ipv6 ? 6 : 4, kind / 2);
		check_frame(what, frame.byte, frame.size, reason, &left);
		if (xb_reason_answers(reason))
			check_answer(what, wrap.shape, data, reason, &left);
	}
}

static void check_dns(char *words, enum xb_reason reason)
{
	uint8_t message[DNS_FRAME_MAX];
	struct form form;

	read_form(&words, &form);
	check_shapes(&form, false, 0, message, rowtext_bytes(&world.lets, words, message), reason);
}

static void check_tcp(char *words, enum xb_reason reason)
{
	uint8_t data[DNS_FRAME_MAX];
	struct form form;

	read_form(&words, &form);
	check_shapes(&form, true, HTTP_PORT, data, rowtext_bytes(&world.lets, words, data), reason);
}

static void check_tls(char *words, enum xb_reason reason)
{
	static const char *const places[] = {"hello",	   "sid",  "suites", "methods",
					     "extensions", "name", NULL};
	static struct hello hello;
	uint8_t name[DNS_FRAME_MAX];
	struct form form;
	uint32_t size;

	read_form(&words, &form);
	size = rowtext_bytes(&world.lets, words, name);
	make_hello(&(struct hello_shape){.session = (uint32_t)form.number[SESSION],
					 .ciphers = (uint32_t)form.number[CIPHERS],
					 .before = (uint32_t)form.number[BEFORE],
					 .after = (uint32_t)form.number[AFTER],
					 .filler = (uint32_t)form.number[FILLER],
					 .version = (uint16_t)form.number[VERSION],
					 .inner = (uint16_t)form.number[INNER],
					 .nameless = form.number[NAMELESS]},
		   name, size, &hello);
	patch(&form, places,
	      (const uint32_t[]){0, hello.session, hello.ciphers, hello.methods, hello.extensions,
				 hello.name},
	      hello.byte);
	check_shapes(&form, true, TLS_PORT, hello.byte, hello.size, reason);
}

/* A host in hellos and in requests; the reason is that of hellos. */
static void check_host(char *words, enum xb_reason reason)
{
	static const char *const requests[] = {"LINE \"Host: \" %s EMPTY EMPTY",
					       "LINE \"Host:\" %s EMPTY \"Accept: *\\r\\n\\r\\n\"",
					       "\"GET / HTTP/1.1\\nHost: \" %s \"\\n\\n\"",
					       "LINE \"A: b\\r\\nhOST:\\t\" %s \":80\\r\\n\\r\\n\"",
					       "LINE \"Host: \" %s \" \\r\\n\""};
	enum xb_reason http = reason == XB_TLS_DROPPED	  ? XB_HTTP_DROPPED
			      : reason == XB_TLS_NAMELESS ? XB_HTTP_NAMELESS
							  : reason;
	char text[ROW_TEXT];

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		snprintf(text, sizeof(text), requests[i], words);
		check_tcp(text, http);
	}
	check_tls(words, reason);
	snprintf(text, sizeof(text), "before=2 after=2 filler=5 %s", words);
	check_tls(text, reason);
}

/* Queries for names in text. */
static void check_names(char *words, enum xb_reason reason)
{
	static struct dns_frame frame, left;
	char *name;

	while ((name = rowtext_word(&words))) {
		dns_query(name, false, &frame);
		check_frame(name, frame.byte, frame.size, reason, &left);
	}
}

static struct xb_entry address(const char *text)
{
	struct xb_entry entry;

	rig_must(xb_entry_parse(text, strlen(text), NULL, &entry, NULL), text);
	return entry;
}

/* from SOURCE...; to SOURCE,SOURCE... SERVICE..., where a word of enum frame_form may be among the
 * services: those behind it have that form. */
static void check_from(char *words, enum xb_reason reason)
{
	static struct dns_frame left;
	char *word;

	while ((word = rowtext_word(&words))) {
		struct xb_entry source = address(word);
		struct service_frame frame = frame_to(&source, XB_SERVICE_ICMP, 0, FRAME_PLAIN);

		check_frame(word, frame.byte, frame.size, reason, &left);
	}
}

static void check_to(char *words, enum xb_reason reason)
{
	static const char *const forms[] = {"plain", "options", "first", "later", "vlan"};
	static struct dns_frame left;
	const char *sources = needed(&words);
	enum frame_form form = FRAME_PLAIN;
	char *word, one[64], what[160];

	while ((word = rowtext_word(&words))) {
		struct xb_service service;

		if (!strpbrk(word, "/") && strcmp(word, "icmp")) {
			form = (enum frame_form)one_of(word, forms, FRAME_FORMS);
			continue;
		}
		rig_must(xb_service_parse(word, &service), word);
		for (const char *at = sources; *at; at += strcspn(at, ",") + !!strchr(at, ',')) {
			struct service_frame frame;
			struct xb_entry source;

			snprintf(one, strcspn(at, ",") + 1, "%s", at);
			source = address(one);
			frame = frame_to(&source, (enum xb_service_protocol)service.protocol,
					 service.first, form);
			snprintf(what, sizeof(what), "%s to %s", one, word);
			check_frame(what, frame.byte, frame.size, reason, &left);
		}
	}
}

static const struct {
	const char *name;
	void (*check)(char *words, enum xb_reason reason);
} kinds[] = {
	{"frame", check_raw}, {"dns", check_dns},   {"tcp", check_tcp},	  {"tls", check_tls},
	{"host", check_host}, {"ask", check_names}, {"from", check_from}, {"to", check_to},
};

/* ---- What the filter has ---- */

static void do_let(char *words)
{
	rowtext_let(&world.lets, words);
}

static void do_list(char *words)
{
	const char *list = needed(&words), *entry;

	while ((entry = rowtext_word(&words)))
		rig_add(&world.rig, entry, list);
}

static void do_unlist(char *words)
{
	const char *list = needed(&words), *entry;

	while ((entry = rowtext_word(&words)))
		if (!rig_del(&world.rig, entry, strcmp(list, "*") ? list : NULL))
			WRONG("%s was not listed", entry);
}

static void do_allow(char *words)
{
	const char *entry;

	while ((entry = rowtext_word(&words)))
		rig_allow(&world.rig, entry);
}

static void do_disallow(char *words)
{
	const char *entry;

	while ((entry = rowtext_word(&words)))
		if (!rig_disallow(&world.rig, entry))
			WRONG("%s was not allowed", entry);
}

static void do_policy(char *words)
{
	rig_policy(&world.rig,
		   (uint32_t)ONE_OF(needed(&words), "enforce", "monitor", "allow-only"));
}

static void do_scope(char *words)
{
	const char *list = needed(&words);

	rig_scope(&world.rig, list, needed(&words));
}

static void do_verdict(char *words)
{
	const char *list = needed(&words);

	rig_verdict(&world.rig, list,
		    (enum xb_domain_verdict)ONE_OF(needed(&words), "drop", "refused", "nxdomain",
						   "truncate", "count"));
}

/* KIND=PORT,PORT...; a kind that is not named has none. */
static void do_ports(char *words)
{
	struct xb_name_ports ports = {0};
	char *word;

	while ((word = rowtext_word(&words))) {
		uint16_t *of = *word == 'd' ? ports.dns : *word == 't' ? ports.tls : ports.http;
		char *at = strchr(word, '=');

		for (int i = 0; at && i < XB_NAME_PORTS; at = strchr(at + 1, ','), i++)
			of[i] = (uint16_t)atoi(at + 1);
	}
	rig_ports(&world.rig, &ports);
}

static void do_confirm(char *words)
{
	rig_confirm(&world.rig, ONE_OF(needed(&words), "off", "on"));
}

static void do_rotate(char *words)
{
	rig_rotate(&world.rig);
}

static void do_rebuilt(char *words)
{
	if (!rig_matches_rebuild(&world.rig))
		WRONG("a filter that is built anew is another");
}

static void fill(void *bits, uint64_t bytes)
{
	if (bits)
		memset(bits, 0xff, bytes);
}

/* Every bit of the Bloom filters is on: all is a guess, and only the exact look-up knows. */
static void do_fill(char *words)
{
	struct xb_generation *generation = rig_generation(&world.rig);
	const struct xb_params *params = &generation->params;

	rig_must(xb_generation_map_all(generation), "map");
	fill(generation->host4.bits.base, xb_map_bytes(XB_MAP_HOST4, params));
	fill(generation->net6.bits.base, xb_map_bytes(XB_MAP_NET6, params));
	fill(generation->names.bits.base, xb_map_bytes(XB_MAP_NAMES, params));
	fill(generation->scoped.bits.base, xb_map_bytes(XB_MAP_SCOPED, params));
	xb_generation_close(generation);
}

/* Nothing is in force, until the next change. */
static void do_empty(char *words)
{
	uint32_t first = 0;

	assert_int_equal(bpf_map_delete_elem(world.anchor.slot, &first), 0);
}

/* Test runs have the first row: their frames come from no attached interface. */
static void do_mute(char *words)
{
	struct xb_iface_note note;

	rig_must(xb_anchor_note_get(&world.anchor, 0, &note), "note");
	note.mute = (uint32_t)ONE_OF(needed(&words), "none", "vlans", "unseen");
	rig_must(xb_anchor_note_put(&world.anchor, 0, &note), "note");
}

static uint64_t generation_now(void)
{
	struct xb_generation *generation = rig_generation(&world.rig);
	uint64_t number = generation->params.generation;

	xb_generation_close(generation);
	return number;
}

/* note: the generation in force is remembered; same: it still is. */
static void do_generation(char *words)
{
	if (ONE_OF(needed(&words), "note", "same") == 0)
		world.generation = generation_now();
	else if (generation_now() != world.generation)
		WRONG("another generation is in force");
}

/* The packets that were counted for the class of a list. */
static uint64_t tally_of(const char *list)
{
	struct xb_generation *generation = rig_generation(&world.rig);
	struct xb_store *store;
	struct xb_count sum;
	struct xb_txn *txn;
	uint32_t class;

	rig_must(xb_store_open(world.rig.state, XB_STORE_READ, &store), "store");
	rig_must(xb_store_read(store, &txn), "store");
	class = xb_list_find(txn, list)->class;
	xb_txn_abort(txn);
	xb_store_close(store);
	rig_must(xb_class_counts_read(&world.anchor, class,
				      generation->params.scopes.identity[class], &sum),
		 "counts");
	xb_generation_close(generation);
	assert_true(sum.bytes >= 54 * sum.packets);
	return sum.packets;
}

/* tally LIST NUMBER: so many packets since the list has its scope; note, +NUMBER: more since then.
 */
static void do_tally(char *words)
{
	const char *list = needed(&words), *number = needed(&words);
	uint64_t packets = tally_of(list);

	if (!strcmp(number, "note"))
		world.tally = packets;
	else if (packets != strtoull(number, NULL, 0) + (*number == '+' ? world.tally : 0))
		WRONG("%lu packets were counted for %s", packets, list);
}

/* limit NAME SCOPE RATE [KEY=VALUE...], as bloomctl has them. */
static void do_limit(char *words)
{
	struct xb_limit limit = xb_limit_defaults;
	const char *word;

	limit.capacity = 100;
	snprintf(limit.name, sizeof(limit.name), "%s", needed(&words));
	rig_must(xb_scope_parse(needed(&words), &limit.scope), "scope");
	rig_must(xb_limit_parse_rate(needed(&words), &limit.rate, &limit.period), "rate");
	while ((word = rowtext_word(&words))) {
		const char *value = strchr(word, '=') + 1;
		uint64_t number = strtoull(value, NULL, 0);

		switch (ONE_OF(strtok((char *)word, "="), "burst", "per4", "per6", "of", "over",
			       "capacity", "per")) {
		case 0:
			limit.burst = number;
			break;
		case 1:
			limit.bits4 = (uint8_t)number;
			break;
		case 2:
			limit.bits6 = (uint8_t)number;
			break;
		case 3:
			limit.of =
				(enum xb_limit_unit)one_of(value, xb_limit_units, XB_LIMIT_UNITS);
			break;
		case 4:
			rig_must(xb_limit_parse_over(value, &limit), "over");
			break;
		case 5:
			limit.capacity = number;
			break;
		default:
			rig_must(xb_limit_parse_per(value, &limit), "per");
		}
	}
	if (!limit.burst)
		limit.burst = xb_limit_burst_for(limit.of, limit.rate, limit.period);
	rig_limit(&world.rig, &limit);
}

static void do_unlimit(char *words)
{
	const char *name = needed(&words);

	if (!rig_unlimit(&world.rig, name))
		WRONG("there is no limit %s", name);
}

static uint64_t over_of(const char *name)
{
	struct xb_generation *generation = rig_generation(&world.rig);
	struct xb_limits_wanted wanted;
	struct xb_store *store;
	struct xb_count sum;
	struct xb_txn *txn;
	uint32_t number;

	rig_must(xb_store_open(world.rig.state, XB_STORE_READ, &store), "store");
	rig_must(xb_store_read(store, &txn), "store");
	rig_must(xb_limits_get(txn, &wanted), "limits");
	number = xb_limits_find(&wanted, name);
	xb_txn_abort(txn);
	xb_store_close(store);
	rig_must(xb_class_counts_read(&world.anchor, XB_CLASSES + number,
				      generation->params.limits.of.identity[number], &sum),
		 "counts");
	xb_generation_close(generation);
	return sum.packets;
}

/* over NAME NUMBER: so many packets were over the limit since there is one of this name. */
static void do_over(char *words)
{
	const char *name = needed(&words);
	uint64_t wanted = strtoull(needed(&words), NULL, 0), packets = over_of(name);

	if (packets != wanted)
		WRONG("%lu packets were over %s", packets, name);
}

static void run_lines(size_t from, size_t to);

/* The `end` behind a line. */
static size_t end_of(size_t first)
{
	while (first < world.lines && strcmp(world.line[first], "end"))
		first++;
	if (first == world.lines)
		WRONG("there is no end");
	return first;
}

/* The rows between `table NAME` and `end`, once more. */
static void do_again(char *words)
{
	const char *name = needed(&words);
	size_t kept = world.at, first;
	char head[64];

	snprintf(head, sizeof(head), "table %s", name);
	for (first = 0; first < world.lines && strcmp(world.line[first], head); first++)
		;
	if (first == world.lines)
		WRONG("there is no table %s", name);
	run_lines(first + 1, end_of(first));
	world.at = kept;
}

/* The rows up to `end` for each word, whose parts between commas are $1, $2 and so on in them. */
static void do_each(char *words)
{
	size_t first = world.at + 1, last = end_of(first);
	char *word, *part;

	while ((word = rowtext_word(&words))) {
		for (world.parts = 0; (part = strsep(&word, ",")); world.parts++) {
			assert_true(world.parts < PARTS);
			world.part[world.parts] = part;
		}
		run_lines(first, last);
	}
	world.parts = 0;
	world.at = last;
}

static void do_nothing(char *words)
{
}

static const struct {
	const char *name;
	void (*run)(char *words);
} changes[] = {
	{"let", do_let},	   {"list", do_list},
	{"unlist", do_unlist},	   {"allow", do_allow},
	{"disallow", do_disallow}, {"policy", do_policy},
	{"scope", do_scope},	   {"verdict", do_verdict},
	{"ports", do_ports},	   {"confirm", do_confirm},
	{"rotate", do_rotate},	   {"rebuilt", do_rebuilt},
	{"fill", do_fill},	   {"empty", do_empty},
	{"mute", do_mute},	   {"generation", do_generation},
	{"tally", do_tally},	   {"again", do_again},
	{"limit", do_limit},	   {"unlimit", do_unlimit},
	{"over", do_over},	   {"each", do_each},
	{"table", do_nothing},	   {"end", do_nothing},
};

static void run_line(char *words)
{
	const char *first = rowtext_word(&words);
	const char *kind;
	enum xb_reason reason;

	if (!first)
		return;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (!strcmp(changes[i].name, first)) {
			changes[i].run(words + strspn(words, " \t"));
			return;
		}
	reason = reason_named(first);
	kind = needed(&words);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, kind))
			continue;
		while (words) {
			char *more = strstr(words, " | ");

			if (more)
				*more = '\0';
			kinds[i].check(words, reason);
			words = more ? more + 3 : NULL;
		}
		return;
	}
	WRONG("there is no kind of row %s", kind);
}

static void fill_in(const char *text, char line[ROW_TEXT])
{
	size_t used = 0;

	for (; *text && used + 1 < ROW_TEXT; text++) {
		int number = world.parts && *text == '$' ? text[1] - '1' : -1;

		if (number >= 0 && number < world.parts) {
			used += (size_t)snprintf(line + used, ROW_TEXT - used, "%s",
						 world.part[number]);
			text++;
		} else {
			line[used++] = *text;
		}
	}
	assert_true(!*text && used < ROW_TEXT);
	line[used] = '\0';
}

static void run_lines(size_t from, size_t to)
{
	char line[ROW_TEXT];

	for (world.at = from; world.at < to; world.at++) {
		fill_in(world.line[world.at], line);
		run_line(line);
	}
}

/* Without what the line says behind " # " or "# " at its beginning. */
static void read_lines(const char *name)
{
	char path[64], line[ROW_TEXT], *comment;
	FILE *file;

	snprintf(path, sizeof(path), "tests/prog/verdicts/%s.rows", name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s cannot be read", path);
	for (world.lines = 0; fgets(line, sizeof(line), file); world.lines++) {
		assert_true(world.lines < LINES_MAX);
		line[strcspn(line, "\n")] = '\0';
		comment = *line == '#' ? line : strstr(line, " # ");
		if (comment)
			*comment = '\0';
		for (size_t end = strlen(line); end && line[end - 1] == ' ';)
			line[--end] = '\0';
		world.line[world.lines] = strdup(line);
	}
	fclose(file);
}

static void rows(void **state)
{
	memset(&world, 0, sizeof(world));
	/* One that failed leaves its own behind. */
	rig_begin(&world.rig, *state);
	world.program = rig_entry(&world.rig);
	rig_must(xb_anchor_open(world.rig.pins, &world.anchor), "link");
	rig_must(xb_anchor_counts(&world.anchor, 0, &world.counts), "counts");
	read_lines(*state);
	run_lines(0, world.lines);
	for (size_t i = 0; i < world.lines; i++)
		free(world.line[i]);
	xb_anchor_close(&world.anchor);
	close(world.program);
	rig_end(&world.rig);
}

#define ROWS(name) TEST_OF(name, rows, #name)

ROWS(sources);
ROWS(policies);
ROWS(scopes);
ROWS(scoped_hosts);
ROWS(names);
ROWS(first_names);
ROWS(queries);
ROWS(answers);
ROWS(hosts);
ROWS(limits);
ROWS(limit_names);
