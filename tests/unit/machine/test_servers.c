/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where servers are looked for, by two who watch these places. */
#include <stdio.h>
#include <string.h>

#include "machine/servers.h"
#include "support/cmocka.h"

#define WATCHED "PathChanged="

TEST(systemd_watches_the_same_places)
{
	FILE *unit = fopen("packaging/xdp-bloom-online.path", "re");
	char line[256];
	size_t count = 0;

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
