/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps of which each CPU has values of its own. */
#ifndef XB_ATTACH_PERCPU_H
#define XB_ATTACH_PERCPU_H

/* How many values such a map has for a key: one for each CPU that there can be. At least 1, or an
 * error with its message. */
int xb_percpu_values(void);

#endif
