/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

int config_set_text(char **text, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return xb_out_of_memory();
	free(*text);
	*text = copy;
	return 0;
}

int config_set_mode(const char *value, unsigned int *mode)
{
	char *end;
	unsigned long number = strtoul(value, &end, 8);

	if (end == value || *end || number > 0777 || number & 0111)
		return xb_input_error("'%s' is not the mode of a socket, such as 0660 or 0666",
				      XB_SHOW(value));
	*mode = (unsigned int)number;
	return 0;
}
