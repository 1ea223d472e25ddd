/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On whose behalf this process changes the store: what the log of changes says. */
#ifndef XB_BASE_AUTHOR_H
#define XB_BASE_AUTHOR_H

#include <stdint.h>

#define XB_AUTHOR_WHO  32  /* bytes, without terminator */
#define XB_AUTHOR_WHAT 200 /* the same */

struct xb_author {
	uint32_t uid; /* the real one of the process */
	/* Clean for a terminal; longer texts are cut off. */
	char who[XB_AUTHOR_WHO + 1];   /* who called it by sudo, as the environment says; or "" */
	char what[XB_AUTHOR_WHAT + 1]; /* "bloomctl add 192.0.2.1", "bloomd feed drop" */
};

/* What the changes are made by from now on, behind the name of the program. */
__attribute__((format(printf, 1, 2))) void xb_author_set(const char *format, ...);

/* The same: the words of the command. */
void xb_author_sign(int argc, char *const *argv);

void xb_author_get(struct xb_author *author);

#endif
