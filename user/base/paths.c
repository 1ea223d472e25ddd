/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/paths.h"

#include <libgen.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* A message cannot hold such a path. */
static int too_long(const char *path)
{
	return xb_input_error("%.64s...: path too long", path);
}

int xb_path_join(char path[XB_PATH_MAX], const char *directory, const char *name)
{
	return snprintf(path, XB_PATH_MAX, "%s/%s", directory, name) < XB_PATH_MAX
		       ? 0
		       : too_long(directory);
}

int xb_path_parent(char parent[XB_PATH_MAX], const char *path)
{
	char copy[XB_PATH_MAX];

	if (strlen(path) >= sizeof(copy))
		return too_long(path);
	strcpy(copy, path);
	strcpy(parent, dirname(copy));
	return 0;
}
