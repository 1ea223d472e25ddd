/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which boot of the machine this is. */
#ifndef XB_BASE_BOOT_H
#define XB_BASE_BOOT_H

#include <stdint.h>

/* A random identity of this boot; zero where it cannot be determined. */
void xb_boot_identity(uint8_t boot[16]);

#endif
