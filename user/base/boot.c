/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/boot.h"

#include <stdio.h>
#include <string.h>

/* 32 hexadecimal digits, with dashes among them. */
void xb_boot_identity(uint8_t boot[16])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	unsigned int byte;
	int got = 0;

	for (; file && got < 16 && fscanf(file, "%2x-", &byte) == 1; got++)
		boot[got] = (uint8_t)byte;
	if (got < 16)
		memset(boot, 0, 16);
	if (file)
		fclose(file);
}
