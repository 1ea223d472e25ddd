/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own sentence about a refusal, which comes with the answer of netlink (extended ack).
 * libbpf and libxdp only print it, so who wants to know listens to what libbpf prints. */
#ifndef XB_ATTACH_EXTACK_H
#define XB_ATTACH_EXTACK_H

#define XB_EXTACK_BYTES 256

/* Forgets the last sentence, and listens until xb_extack_end(), which ends the innermost. All that
 * libbpf prints meanwhile still goes to whom it went before. One thread listens. */
void xb_extack_begin(void);
void xb_extack_end(void);

/* The last sentence since xb_extack_begin(), valid until the next; "": the kernel gave none. */
const char *xb_extack(void);

#endif
