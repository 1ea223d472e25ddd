/* SPDX-License-Identifier: GPL-2.0-or-later */
/* International domain names, by libidn2. */
#ifndef XB_MODEL_IDN_H
#define XB_MODEL_IDN_H

/*
 * The ASCII form by IDNA2008 with the mapping of UTS 46, as browsers do; the caller frees it. NULL:
 * the name has none, and *why says why; or an error with a message, and *why is NULL.
 */
char *xb_idn_to_ascii(const char *utf8, const char **why);

#endif
