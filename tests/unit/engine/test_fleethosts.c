/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How hosts are judged by their reports. */
#include "engine/fleethosts.h"
#include "support/cmocka.h"

/* Of a host, as of that time; its list is what the digest says. */
struct told {
	int at;
	const char *digest;
};

static json_t *report_of(const char *host, struct told told)
{
	return json_pack("{s:s,s:s,s:i,s:i,s:i,s:f,s:f,s:{s:s}}", "host", host, "epoch", "e",
			 "position", 7, "at", told.at, "outbox", 0, "skew", 0.0, "seen", 100.0,
			 "digests", "list", told.digest);
}

/* How host a judges b. former: its own report of the time before, or none. */
TEST(by_times_and_digests)
{
	static const struct {
		struct told own, former, other;
		bool differs;
	} rows[] = {
		{{20, "1"}, {0}, {20, "1"}, false},
		{{20, "1"}, {0}, {20, "2"}, true},
		/* One that differs does so as well while this host alone has reported again. */
		{{30, "1"}, {0}, {20, "2"}, false},
		{{30, "1"}, {20, "1"}, {20, "2"}, true},
		{{30, "3"}, {20, "1"}, {20, "1"}, false},
		/* It is well again by its next report. */
		{{30, "1"}, {20, "2"}, {30, "1"}, false},
		{{30, "1"}, {20, "1"}, {10, "2"}, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *fleet =
			json_pack("{s:s,s:f,s:[o,o]}", "host", "a", "reports_read", 100.0, "hosts",
				  report_of("a", rows[i].own), report_of("b", rows[i].other));

		if (rows[i].former.at)
			json_object_set_new(fleet, "former", report_of("a", rows[i].former));
		if (xb_fleet_judge(fleet, xb_fleet_own_report(fleet),
				   json_array_get(json_object_get(fleet, "hosts"), 1)) !=
		    (rows[i].differs ? XB_HOST_DIFFERS : 0))
			fail_msg("row %zu", i);
		json_decref(fleet);
	}
}
