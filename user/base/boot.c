/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/boot.h"

#include <stdio.h>

/* 32 hexadecimal digits, with dashes among them. */
void xb_boot_identity(uint8_t boot[16])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	unsigned int byte;

	for (int i = 0; file && i < 16; i++)
		if (fscanf(file, "%2x-", &byte) == 1)
			boot[i] = (uint8_t)byte;
	if (file)
		fclose(file);
}
