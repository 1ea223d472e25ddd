/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request as a command: every option is said, nothing that was not asked for is. */
#include <string.h>

#include "engine/requesttext.h"
#include "machine/lifelines.h"
#include "support/cmocka.h"
#include "xdp_bloom/layout.h"

static char eth0[] = "eth0", eth1[] = "eth1";
static char *const names[] = {eth0, eth1};

static const struct {
	struct xb_request request;
	const char *command;
} cases[] = {
	{{.kind = XB_REQUEST_ATTACH, .attach = {names, 1}}, "attach eth0"},
	{{.kind = XB_REQUEST_ATTACH,
	  .attach = {names, 2, XB_MODE_SKB, 1U << XB_LIFELINE_GATEWAY | 1U << XB_LIFELINE_SSH}},
	 "attach eth0 eth1 --mode skb --refuse gateway,ssh"},
	{{.kind = XB_REQUEST_POLICY, .policy = {XB_POLICY_MONITOR}}, "policy monitor"},
	{{.kind = XB_REQUEST_POLICY, .policy = {XB_POLICY_ALLOW_ONLY, true}},
	 "policy allow-only --force"},
	{{.kind = XB_REQUEST_VERDICT, .verdict = {"ads", XB_DOMAIN_NXDOMAIN}},
	 "verdict ads nxdomain"},
	{{.kind = XB_REQUEST_ROTATE}, "rotate"},
	{{.kind = XB_REQUEST_ROTATE, .rotate = {.confirm = true}}, "rotate"},
	{{.kind = XB_REQUEST_ROTATE,
	  .rotate = {.rate = 1e-5, .set_capacity = true, .set_confirm = true}},
	 "rotate --fpr 1e-5 --capacity 0 --no-confirm"},
	{{.kind = XB_REQUEST_ROTATE, .rotate = {.set_confirm = true, .confirm = true}},
	 "rotate --confirm"},
	{{.kind = XB_REQUEST_IMPORT, .import = {.file = "-", .list = XB_DEFAULT_LIST}}, "import -"},
	{{.kind = XB_REQUEST_IMPORT,
	  .import = {.file = "ads.txt",
		     .list = "ads",
		     .format = "hosts",
		     .end = "# end",
		     .replace = true,
		     .include_bogons = true,
		     .judges = true,
		     .verdict = XB_DOMAIN_COUNT,
		     .scopes = true,
		     .scope = {1, {{XB_SERVICE_TCP, 25, 25}}},
		     .least_entries = 7,
		     .least_bytes = 8,
		     .factor = 1.5}},
	 "import ads.txt --list ads --verdict count --scope tcp/25 --format hosts --replace "
	 "--max-change 1.5 --min-entries 7 --min-bytes 8 --expect-end # end --include-bogons"},
	{{.kind = XB_REQUEST_IMPORT,
	  .import = {.file = "a.csv",
		     .list = XB_DEFAULT_LIST,
		     .choice = {.column = "ip", .where = "cc=DE", .bounded = true}}},
	 "import a.csv --column ip --where cc=DE --skip-bad 0"},
	{{.kind = XB_REQUEST_IMPORT,
	  .import = {.file = "a.json",
		     .list = XB_DEFAULT_LIST,
		     .choice = {.json = "a[].b",
				.set = "s",
				.comment = "two words",
				.bounded = true,
				.most_wrong = 9}}},
	 "import a.json --json-path a[].b --set s --comment two words --skip-bad 9"},
	{{.kind = XB_REQUEST_IMPORT,
	  .import = {.file = "hosts", .list = XB_DEFAULT_LIST, .choice = {.below = true}}},
	 "import hosts --below"},
	{{.kind = XB_REQUEST_IMPORT,
	  .import = {.file = "a\nb", .list = XB_DEFAULT_LIST, .force = true}},
	 "import a?b --force"},
	{{.kind = XB_REQUEST_RESTORE, .restore = {"saved", false}}, "restore saved"},
	{{.kind = XB_REQUEST_RESTORE, .restore = {"-", true}}, "restore - --interfaces"},
	{{.kind = XB_REQUEST_SCOPE,
	  .scope = {"spam", {2, {{XB_SERVICE_TCP, 25, 25}, {XB_SERVICE_UDP, 6000, 6063}}}}},
	 "scope spam tcp/25,udp/6000-6063"},
	{{.kind = XB_REQUEST_SCOPE, .scope = {"spam", {0}}}, "scope spam all"},
	{{.kind = XB_REQUEST_LIMIT_ADD,
	  .limit_add = {.name = "dns",
			.bits4 = 32,
			.bits6 = 64,
			.period = 1,
			.rate = 100,
			.burst = 200,
			.capacity = XB_LIMIT_CAPACITY,
			.timeout = XB_LIMIT_TIMEOUT,
			.longest = XB_LIMIT_TIMEOUT,
			.known = 1}},
	 "limit add dns --to all --rate 100/s"},
	{{.kind = XB_REQUEST_LIMIT_ADD,
	  .limit_add = {.name = "a",
			.counts = true,
			.bits4 = 24,
			.bits6 = 48,
			.of = XB_LIMIT_QUERIES,
			.period = 60,
			.rate = 10,
			.burst = 6,
			.capacity = 1000,
			.list = "over",
			.timeout = 60,
			.longest = 86400,
			.forgeable = true,
			.known = 10,
			.scope = {1, {{XB_SERVICE_UDP, 53, 53}}}}},
	 "limit add a --to udp/53 --rate 10/m --burst 6 --per 24,48 --of queries --over count "
	 "--capacity 1000 --known 10x --list over --timeout 60..86400 --forgeable"},
	{{.kind = XB_REQUEST_LIMIT_ADD,
	  .limit_add = {.name = "a",
			.bits4 = 32,
			.bits6 = 48,
			.of = XB_LIMIT_BYTES,
			.period = 1,
			.rate = 1000000,
			.burst = 2000000,
			.capacity = XB_LIMIT_CAPACITY,
			.timeout = XB_LIMIT_TIMEOUT,
			.longest = XB_LIMIT_TIMEOUT,
			.known = 1}},
	 "limit add a --to all --rate 1000000/s --per 48 --of bytes"},
	{{.kind = XB_REQUEST_LIMIT_ADD,
	  .limit_add = {.name = "a",
			.bits4 = 32,
			.bits6 = 64,
			.of = XB_LIMIT_CONNECTIONS,
			.period = 1,
			.rate = 10,
			.burst = 20,
			.capacity = XB_LIMIT_CAPACITY,
			.list = "over",
			.timeout = 60,
			.longest = 60,
			.known = XB_LIMIT_EXEMPT}},
	 "limit add a --to all --rate 10/s --of connections --known exempt --list over --timeout "
	 "60"},
	{{.kind = XB_REQUEST_LIMIT_ADD,
	  .limit_add = {.name = "names",
			.truncates = true,
			.names = true,
			.bits4 = 32,
			.bits6 = 64,
			.of = XB_LIMIT_QUERIES,
			.period = 1,
			.rate = 100,
			.burst = 200,
			.capacity = XB_LIMIT_CAPACITY,
			.timeout = XB_LIMIT_TIMEOUT,
			.longest = XB_LIMIT_TIMEOUT,
			.known = 1,
			.scope = {1, {{XB_SERVICE_UDP, 53, 53}}}}},
	 "limit add names --to udp/53 --rate 100/s --of queries --per name"},
	{{.kind = XB_REQUEST_LIMIT_ADD,
	  .limit_add = {.name = "names",
			.names = true,
			.bits4 = 32,
			.bits6 = 64,
			.of = XB_LIMIT_QUERIES,
			.period = 1,
			.rate = 100,
			.burst = 200,
			.capacity = XB_LIMIT_CAPACITY,
			.timeout = XB_LIMIT_TIMEOUT,
			.longest = XB_LIMIT_TIMEOUT,
			.known = 1,
			.scope = {1, {{XB_SERVICE_UDP, 53, 53}}}}},
	 "limit add names --to udp/53 --rate 100/s --of queries --per name --over drop"},
	{{.kind = XB_REQUEST_LIMIT_DEL, .limit_del = "dns"}, "limit del dns"},
	{{0}, ""},
};

TEST(every_option_and_cut_anywhere)
{
	char text[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t length = strlen(cases[i].command);

		assert_true(length < sizeof(text));
		for (size_t size = sizeof(text); size > 0; size--) {
			memset(text, 'x', sizeof(text));
			xb_request_command(&cases[i].request, text, size);
			if (length < size)
				assert_string_equal(text, cases[i].command);
			assert_int_equal(strlen(text), length < size ? length : size - 1);
			assert_memory_equal(text, cases[i].command, strlen(text));
		}
	}
}
