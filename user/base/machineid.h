/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which machine this is: machine-id(5), which a copy of its disks has as well until it is made a
 * machine of its own. */
#ifndef XB_BASE_MACHINEID_H
#define XB_BASE_MACHINEID_H

#include <stdint.h>

/* Its identity; zero where it cannot be determined. */
void xb_machine_identity(uint8_t machine[16]);

#endif
