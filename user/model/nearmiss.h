/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that is no entry, but shows which entry somebody meant. */
#ifndef XB_MODEL_NEARMISS_H
#define XB_MODEL_NEARMISS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * For text that was just refused: if it is a range of addresses, records a message that says what
 * to write instead. With names, so too for a URL and for a domain behind "*.". Otherwise the
 * recorded message stays.
 */
void xb_near_miss_explain(const char *text, size_t size, bool names);

#endif
