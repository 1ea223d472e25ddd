/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which boot of the machine this is. */
#ifndef XB_BASE_BOOT_H
#define XB_BASE_BOOT_H

#include <stdint.h>

/* Random, of this boot alone; zero where it cannot be told. */
void xb_boot_identity(uint8_t boot[16]);

#endif
