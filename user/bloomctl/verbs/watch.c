/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl watch: drops as they happen, with what had them dropped. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "attach/drops.h"
#include "base/error.h"
#include "base/patience.h"
#include "base/text.h"
#include "bloomctl/blame.h"
#include "bloomctl/cli.h"
#include "bloomctl/display.h"
#include "model/reason.h"
#include "model/verdict.h"
#include "store/covers.h"

#define DEFAULT_RATE 10
#define STOP	     (-ECANCELED)

/* As nft(8) calls them. */
static const char *const protocol_names[256] = {
	[IPPROTO_HOPOPTS] = "hopopt",  [IPPROTO_ICMP] = "icmp",	    [IPPROTO_IGMP] = "igmp",
	[IPPROTO_IPIP] = "ipip",       [IPPROTO_TCP] = "tcp",	    [IPPROTO_UDP] = "udp",
	[IPPROTO_DCCP] = "dccp",       [IPPROTO_IPV6] = "ipv6",	    [IPPROTO_ROUTING] = "rt",
	[IPPROTO_FRAGMENT] = "frag",   [IPPROTO_GRE] = "gre",	    [IPPROTO_ESP] = "esp",
	[IPPROTO_AH] = "ah",	       [IPPROTO_ICMPV6] = "icmpv6", [IPPROTO_NONE] = "none",
	[IPPROTO_DSTOPTS] = "dst",     [IPPROTO_COMP] = "comp",	    [IPPROTO_SCTP] = "sctp",
	[IPPROTO_UDPLITE] = "udplite",
};

enum column { INTERFACE, VERDICT, SOURCE, DESTINATION, PROTOCOL, PORTS, REASON, COLUMNS };

/* Enough for IPv4. A wider cell widens its column from its line on. */
static const int usual_widths[COLUMNS] = {
	[INTERFACE] = 4, [VERDICT] = 4, [SOURCE] = 15, [DESTINATION] = 15,
	[PROTOCOL] = 4,	 [PORTS] = 11,	[REASON] = 18,
};

struct session {
	const struct cli *cli;
	struct xb_drops watcher;
	uint64_t rate, lines, count; /* count 0: until a signal comes */
	int error;		     /* why see() stopped; 0: all is told that was asked for */
	/* During one batch only: an open transaction keeps old pages from being used again. */
	struct xb_store *store;
	struct xb_txn *txn; /* NULL: there is no store */
	bool opened;
	int widths[COLUMNS];
};

/* A drop in words. */
struct told {
	char time[32], interface[IF_NAMESIZE], number[8], ports[16];
	char source[INET6_ADDRSTRLEN], destination[INET6_ADDRSTRLEN];
	const char *verdict, *protocol, *reason;
	char name[XB_NAME_TEXT];   /* empty: the source was judged */
	char limit[XB_LIMIT_NAME]; /* that it is over; empty: none, or one that is gone */
	bool covered;
	struct blame blame;
	struct xb_entry asked; /* the source, or the name */
	uint8_t form[XB_NAME_BYTES];
	struct xb_covers covers;
	struct xb_members members;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* A wait or a write in progress must end, so no SA_RESTART. */
static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = interrupt};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int64_t milliseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void format_time(uint64_t nanoseconds, char out[32])
{
	int64_t when = milliseconds(CLOCK_REALTIME) - milliseconds(CLOCK_MONOTONIC) +
		       (int64_t)(nanoseconds / 1000000);

	xb_time_format((uint64_t)(when / 1000), out);
	snprintf(out + strlen(out) - 1, 8, ".%03dZ", (int)(when % 1000));
}

static int open_store(struct session *session)
{
	int error;

	xb_patience_renew();
	error = xb_store_begin_reading(session->cli->paths.state, &session->store, &session->txn);
	session->opened = true;
	return error == -ENOENT ? 0 : error;
}

static void close_store(struct session *session)
{
	xb_store_end_reading(session->store, session->txn);
	session->txn = NULL;
	session->store = NULL;
	session->opened = false;
}

/* Or the limit. */
static int find_entry(struct session *session, const struct xb_drop *drop, struct told *told)
{
	int error = session->opened ? 0 : open_store(session), found;

	told->covered = false;
	told->limit[0] = '\0';
	if (error || !session->txn)
		return error;
	if (xb_reason_is_over_limit(drop->reason))
		return blame_limit(session->txn, drop->limit, told->limit);
	found = blame_find(session->txn, &told->blame, &told->asked, &told->covers, &told->members);
	told->covered = found > 0;
	return found < 0 ? found : 0;
}

/* The name as it was asked for goes into told->name; entries have no capitals. */
static void find_name(const struct xb_drop *drop, struct told *told)
{
	const struct xb_name_drop *named = (const void *)drop;
	uint8_t bytes;

	told->asked = xb_drop_source(drop);
	told->name[0] = '\0';
	if (!drop->name_bytes ||
	    !xb_name_from_wire(named->name, drop->name_bytes, told->form, &bytes))
		return;
	xb_name_format(told->form, bytes, told->name);
	for (uint8_t i = 0; i < bytes; i++)
		if (told->form[i] >= 'A' && told->form[i] <= 'Z')
			told->form[i] = (uint8_t)(told->form[i] - 'A' + 'a');
	told->asked = (struct xb_entry){.kind = XB_NAME, .name = told->form, .length = bytes};
}

static const char *verdict_of(const struct xb_drop *drop)
{
	if (drop->monitored)
		return "would-drop";
	switch (drop->reason) {
	case XB_NAME_REFUSED:
		return xb_domain_verdict_name(XB_DOMAIN_REFUSED);
	case XB_NAME_NXDOMAIN:
		return xb_domain_verdict_name(XB_DOMAIN_NXDOMAIN);
	case XB_NAME_TRUNCATED:
	case XB_OVER_TRUNCATED:
		return xb_domain_verdict_name(XB_DOMAIN_TRUNCATE);
	case XB_NAME_COUNTED:
		return xb_domain_verdict_name(XB_DOMAIN_COUNT);
	default:
		return "drop";
	}
}

static void format_ports(const struct xb_drop *drop, char out[16])
{
	if (drop->sport || drop->dport)
		snprintf(out, 16, "%u>%u", ntohs(drop->sport), ntohs(drop->dport));
	else
		strcpy(out, "-");
}

static int put_in_words(struct session *session, const struct xb_drop *drop, struct told *told)
{
	int family = drop->family == 6 ? AF_INET6 : AF_INET;

	format_time(drop->time, told->time);
	display_interface(drop->ifindex, told->interface);
	inet_ntop(family, drop->source, told->source, sizeof(told->source));
	inet_ntop(family, drop->destination, told->destination, sizeof(told->destination));
	format_ports(drop, told->ports);
	snprintf(told->number, sizeof(told->number), "%u", drop->protocol);
	told->protocol =
		protocol_names[drop->protocol] ? protocol_names[drop->protocol] : told->number;
	told->verdict = verdict_of(drop);
	told->reason = xb_reason_name(drop->reason);
	find_name(drop, told);
	told->blame =
		blame_of(drop->reason, drop->family == 6, drop->protocol, drop->sport, drop->dport);
	return find_entry(session, drop, told);
}

static void print_cell(struct session *session, enum column column, const char *text)
{
	int *width = &session->widths[column], length = (int)strlen(text);

	if (*width < length)
		*width = length;
	printf(" %-*s", *width, text);
}

static void print_lists(struct xb_txn *txn, const struct told *told)
{
	struct xb_members members = told->members;
	struct xb_membership member;

	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (!list || !blame_is(&told->blame, &told->asked, list))
			continue;
		printf(" list %s", list->name);
		if (member.comment_size)
			printf(" comment \"%.*s\"", (int)member.comment_size, member.comment);
	}
}

/* The line has the name or the source already: an entry of the same text would say it twice. */
static void print_entry(const struct session *session, const struct told *told)
{
	char text[XB_ENTRY_TEXT];

	if (*told->name)
		printf(" %s", told->name);
	if (!told->covered) {
		fputs(*told->limit ? " limit " : " -", stdout);
		fputs(told->limit, stdout);
		return;
	}
	xb_entry_format(&told->covers.entry, text);
	if (strcasecmp(text, *told->name ? told->name : told->source) != 0)
		printf(" %s", text);
	print_lists(session->txn, told);
}

static void print_text(struct session *session, const struct told *told)
{
	fputs(told->time, stdout);
	print_cell(session, INTERFACE, told->interface);
	print_cell(session, VERDICT, told->verdict);
	print_cell(session, SOURCE, told->source);
	fputs(" >", stdout);
	print_cell(session, DESTINATION, told->destination);
	print_cell(session, PROTOCOL, told->protocol);
	print_cell(session, PORTS, told->ports);
	print_cell(session, REASON, told->reason);
	print_entry(session, told);
	putchar('\n');
}

static int print_json(const struct session *session, const struct xb_drop *drop,
		      const struct told *told)
{
	json_t *object = json_pack("{s:i,s:s,s:s,s:I,s:s,s:s,s:s,s:s,s:i}", "schema", 1, "time",
				   told->time, "interface", told->interface, "ifindex",
				   (json_int_t)drop->ifindex, "verdict", told->verdict, "source",
				   told->source, "destination", told->destination, "protocol",
				   told->protocol, "protocol_number", drop->protocol);
	json_t *by = told->covered ? blame_json(session->txn, &told->blame, &told->asked,
						&told->covers.entry, told->members)
				   : json_pack("{s:n,s:[]}", "entry", "lists");
	int failed;

	if (drop->sport || drop->dport) {
		json_object_set_new(object, "source_port", json_integer(ntohs(drop->sport)));
		json_object_set_new(object, "destination_port", json_integer(ntohs(drop->dport)));
	}
	json_object_set_new(object, "reason", json_string(told->reason));
	if (*told->name)
		json_object_set_new(object, "name", json_string(told->name));
	if (xb_reason_is_over_limit(drop->reason))
		json_object_set_new(object, "limit",
				    *told->limit ? json_string(told->limit) : json_null());
	failed = !object || !by || json_object_update(object, by);
	if (!failed) {
		json_dumpf(object, stdout, session->cli->pretty ? JSON_INDENT(2) : JSON_COMPACT);
		putchar('\n');
	}
	json_decref(object);
	json_decref(by);
	return failed ? xb_out_of_memory() : 0;
}

/* Whoever stops reading has seen enough. */
static int flush(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	if (interrupted || errno == EPIPE)
		return STOP;
	return xb_system_error(errno, "cannot write the answer");
}

static int tell(struct session *session, const struct xb_drop *drop)
{
	struct told told;
	int error = put_in_words(session, drop, &told);

	if (error)
		return error;
	if (session->cli->json)
		error = print_json(session, drop, &told);
	else
		print_text(session, &told);
	return error ? error : flush();
}

static int see(const struct xb_drop *drop, void *context)
{
	struct session *session = context;
	int error = interrupted ? STOP : tell(session, drop);

	if (error && error != STOP)
		session->error = error;
	return error || ++session->lines == session->count ? STOP : 0;
}

static int tell_untold(struct session *session)
{
	uint64_t count;
	int error = xb_drops_untold(&session->watcher, &count);

	if (!error && count)
		xb_notice("%llu more drops not shown (--rate %llu)", (unsigned long long)count,
			  (unsigned long long)session->rate);
	return error;
}

static int watch(struct session *session)
{
	int64_t second = milliseconds(CLOCK_MONOTONIC);

	while (!interrupted && !cli_is_unread()) {
		int error = xb_drops_poll(&session->watcher);

		close_store(session);
		if (error == STOP)
			return session->error;
		if (error == -ENOENT)
			return xb_system_error(0, "nothing is attached any more");
		if (!error && !session->cli->quiet &&
		    milliseconds(CLOCK_MONOTONIC) - second >= 1000) {
			second = milliseconds(CLOCK_MONOTONIC);
			error = tell_untold(session);
		}
		if (error)
			return error;
	}
	return 0;
}

static int fail(const struct session *session, int error)
{
	if (error == -EALREADY)
		xb_system_error(0,
				"another `bloomctl watch` or `bloomctl top` reads the drops of %s",
				session->cli->paths.pins);
	return cli_fail();
}

static const struct option_spec options[] = {
	{"rate", "NUMBER", 'r', .help = "show at most this many drops a second (default 10)"},
	{"count", "NUMBER", 'c', .help = "stop after this many lines"},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	struct session session = {.cli = cli, .rate = DEFAULT_RATE};
	int option, error;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option == '?' ||
		    (option == 'r' &&
		     !cli_number(cli, "--rate", optarg, 1, XB_DROPS_RATE_MAX, &session.rate)) ||
		    (option == 'c' &&
		     !cli_number(cli, "--count", optarg, 1, UINT32_MAX, &session.count)))
			return EXIT_USAGE;
	}
	if (optind != argc)
		return cli_usage(cli, "watch takes no interfaces");
	memcpy(session.widths, usual_widths, sizeof(session.widths));
	catch_signals();
	error = xb_drops_open(&session.watcher, cli->paths.pins, (uint32_t)session.rate, see,
			      &session);
	if (error == -ENOENT)
		xb_system_error(0, "nothing is attached: there are no drops to watch");
	if (error)
		return fail(&session, error);
	error = watch(&session);
	xb_drops_close(&session.watcher);
	return error ? fail(&session, error) : EXIT_DONE;
}

const struct verb verb_watch = {
	.name = "watch",
	.summary = "show drops as they happen",
	.options = options,
	.run = run,
	.examples = {"watch", "watch --rate 100 --count 20"},
};
