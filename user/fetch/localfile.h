/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a file: URL, which bloomd has opened. */
#ifndef XB_FETCH_LOCALFILE_H
#define XB_FETCH_LOCALFILE_H

#include "fetch/body.h"

/* Copies it into the body, and fills in the result; its identity and time stand for an ETag. */
void localfile_run(const struct fetch_request *request, struct body *body,
		   struct fetch_result *result);

#endif
