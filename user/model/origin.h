/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the addresses of a list come from if nobody added them one by one. */
#ifndef XB_MODEL_ORIGIN_H
#define XB_MODEL_ORIGIN_H

#include <stdint.h>

/* The numbers stand in stores: append, never insert. */
enum xb_origin {
	XB_ORIGIN_IMPORT,   /* a file that somebody imported */
	XB_ORIGIN_FEED,	    /* a feed of bloomd */
	XB_ORIGIN_CROWDSEC, /* decisions of CrowdSec */
	XB_ORIGIN_FLEET,    /* other hosts of a fleet */
	XB_ORIGIN_LIMIT,    /* sources over a limit */
	XB_ORIGINS,
};

const char *xb_origin_name(uint32_t origin);

/* *origin: of the name. An input error if it is none. */
int xb_origin_parse(const char *text, uint32_t *origin);

#endif
