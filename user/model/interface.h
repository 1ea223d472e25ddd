/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interface as somebody asks for it: by name, in a mode. */
#ifndef XB_MODEL_INTERFACE_H
#define XB_MODEL_INTERFACE_H

#include <net/if.h>

enum xb_mode { XB_MODE_AUTO, XB_MODE_NATIVE, XB_MODE_SKB };

struct xb_wanted {
	char name[IF_NAMESIZE];
	enum xb_mode mode;
};

const char *xb_mode_name(enum xb_mode mode);
int xb_mode_parse(const char *text, enum xb_mode *mode);

/* Checks whether the text can be the name of an interface: the kernel takes it, and it is UTF-8
 * without control characters. Otherwise an input error. */
int xb_wanted_check(const char *name);

#endif
