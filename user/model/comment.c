/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/comment.h"

#include "base/error.h"
#include "base/text.h"

int xb_comment_check(const char *comment, size_t size)
{
	if (size > XB_COMMENT_MAX)
		return xb_input_error("a comment has at most %d bytes", XB_COMMENT_MAX);
	while (size) {
		size_t bytes = xb_utf8_character(comment, size);

		if (!bytes)
			return xb_input_error("a comment must be UTF-8");
		if (xb_utf8_is_control(comment, size))
			return xb_input_error("a comment has no control characters");
		comment += bytes;
		size -= bytes;
	}
	return 0;
}
