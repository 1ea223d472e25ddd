/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wrong lines that may be left out: of lists of addresses only as many as somebody allowed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/program.h"
#include "lists/format.h"
#include "lists/line.h"

static int refuse(struct xb_reading *reading)
{
	uint64_t most = reading->choice->most_wrong;
	char message[1024];

	snprintf(message, sizeof(message), "%s", xb_error_message());
	if (reading->file->unknown == reading->file->set_aside)
		return xb_input_error("%s%s", message, xb_advice(XB_ADVICE_SKIP_BAD));
	return xb_input_error("%s (%" PRIu64 " wrong line%s left out before it, the most allowed)",
			      message, most, most == 1 ? "" : "s");
}

int xb_line_leave_out(struct xb_reading *reading, size_t before, int error)
{
	struct xb_listfile *file = reading->file;
	const struct xb_list_choice *choice = reading->choice;
	int noted;

	if (error != -EINVAL || reading->hopeless || reading->format->strict || !choice)
		return error;
	if (!choice->bounded || file->unknown - file->set_aside >= choice->most_wrong)
		return refuse(reading);
	file->count = before;
	noted = xb_line_unknown(file, file->lines, "%s", xb_error_message());
	if (!noted)
		xb_error_clear();
	return noted;
}
