/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/machineid.h"

#include <stdio.h>
#include <string.h>

/* 32 hexadecimal digits. */
void xb_machine_identity(uint8_t machine[16])
{
	FILE *file = fopen("/etc/machine-id", "re");
	unsigned int byte;
	int got = 0;

	for (; file && got < 16 && fscanf(file, "%2x", &byte) == 1; got++)
		machine[got] = (uint8_t)byte;
	if (got < 16)
		memset(machine, 0, 16);
	if (file)
		fclose(file);
}
