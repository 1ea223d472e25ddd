/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of lists without a file. */
#ifndef XB_TESTS_LISTLINES_H
#define XB_TESTS_LISTLINES_H

#include "lists/table.h"
#include "support/listfile.h"

static struct xb_listfile file;
static struct xb_reading reading;

static inline int begin_reading(void **state)
{
	memset(&file, 0, sizeof(file));
	reading = (struct xb_reading){.file = &file};
	xb_error_clear();
	return 0;
}

static inline int end_reading(void **state)
{
	xb_listformat_end(&reading);
	xb_listfile_free(&file);
	return 0;
}

#endif
