/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the web server answers: a table of paths. Everything is read-only. */
#ifndef XB_BLOOMD_SITE_H
#define XB_BLOOMD_SITE_H

#include <microhttpd.h>
#include <stdbool.h>

#include "bloomd/http/history.h"
#include "bloomd/http/look.h"

struct site {
	struct look look;
	const struct history *history;
	/* Answers only to names that mean this machine: a page from elsewhere, whose name was made
	 * to mean 127.0.0.1, must not read what only this machine may. */
	bool checks_host;
};

/* Whether a Host header is localhost or an address; NULL: it is missing. */
bool site_takes_host(const char *host);

enum MHD_Result site_answer(struct site *site, struct MHD_Connection *connection, const char *path,
			    const char *method);

#endif
