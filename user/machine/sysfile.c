/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glob(3) and getline(3). */
#include "machine/sysfile.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int read_lines(const char *path, xb_sysfile_line *each, void *context)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int error = 0;

	if (!file) {
		if (errno != ENOENT && errno != ENOTDIR)
			xb_notice("cannot read %s: %s", path, strerror(errno));
		return 0;
	}
	while (!error && getline(&line, &room, file) >= 0) {
		line[strcspn(line, "\r\n")] = '\0';
		error = each(line, path, context);
	}
	if (!error && ferror(file))
		xb_notice("cannot read %s to its end", path);
	free(line);
	fclose(file);
	return error;
}

int xb_sysfile_lines(const char *pattern, xb_sysfile_line *each, void *context)
{
	glob_t found;
	int error = 0;

	switch (glob(pattern, 0, NULL, &found)) {
	case 0:
		for (size_t i = 0; !error && i < found.gl_pathc; i++)
			error = read_lines(found.gl_pathv[i], each, context);
		break;
	case GLOB_NOSPACE:
		error = xb_out_of_memory();
		break;
	}
	globfree(&found);
	return error;
}
