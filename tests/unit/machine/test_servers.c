/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where servers are looked for, by two who watch these places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine/servers.h"

#define WATCHED "PathChanged="

static void systemd_watches_the_same_places(void **state)
{
	FILE *unit = fopen("packaging/xdp-bloom-online.path", "re");
	char line[256];
	size_t count = 0;

	(void)state;
	assert_non_null(unit);
	while (fgets(line, sizeof(line), unit)) {
		if (strncmp(line, WATCHED, strlen(WATCHED)) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		assert_non_null(xb_server_places[count]);
		assert_string_equal(line + strlen(WATCHED), xb_server_places[count]);
		count++;
	}
	assert_null(xb_server_places[count]);
	fclose(unit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(systemd_watches_the_same_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
