/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Domain names: their text, and the form in which they are stored and hashed. */
#ifndef XB_MODEL_NAME_H
#define XB_MODEL_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp_bloom/layout.h"

/*
 * The form: labels as in a DNS message, length byte first, small letters, but from the last to the
 * first: 3 com 7 example. All that lie below a domain begin with it, and stand behind it in order.
 * A label of no bytes at the end stands for "this name alone".
 */

#define XB_NAME_TEXT 256 /* bytes, terminator included: '=', 253 characters */

/*
 * text: size bytes, a name in ASCII or UTF-8 (which becomes its A-labels, RFC 5890), perhaps with a
 * dot behind it; '=' in front: this name alone. Letters, digits, '-' and '_'; labels up to 63
 * bytes, the name up to 255 with its length bytes; the last label has a letter and does not begin
 * with '-'. Writes the form and *used, its bytes.
 */
int xb_name_parse(const char *text, size_t size, uint8_t form[XB_NAME_BYTES], uint8_t *used);

/* Writes the text, in ASCII, with '=' if it stands for itself alone; returns out. */
const char *xb_name_format(const uint8_t *form, uint8_t used, char out[XB_NAME_TEXT]);

/*
 * Makes the form of a name as it stands in a DNS message: size bytes of labels, without the root.
 * For display; false if these are no labels. Capitals stay; '?' stands for bytes that do not print,
 * and for dots.
 */
bool xb_name_from_wire(const uint8_t *wire, size_t size, uint8_t form[XB_NAME_BYTES],
		       uint8_t *used);

/* How many labels the name has, without the one that stands for "alone". */
uint32_t xb_name_labels(const uint8_t *form, uint8_t used);

bool xb_name_is_exact(const uint8_t *form, uint8_t used);

/* Bytes of the next wider domain that holds it ("alone" first, then label by label); 0: none. */
uint8_t xb_name_wider(const uint8_t *form, uint8_t used);

/* See xdp_bloom/hash.h. */
uint64_t xb_name_hash(const struct xb_name_key *key, const uint8_t *form, uint8_t used);

#endif
