/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int config_set_text(char **text, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return xb_out_of_memory();
	free(*text);
	*text = copy;
	return 0;
}
