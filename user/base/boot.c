/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/boot.h"

#include <stdio.h>
#include <string.h>

#include "base/procfile.h"

/* 32 hexadecimal digits, with dashes among them. */
void xb_boot_identity(uint8_t boot[16])
{
	char text[64], *at = text;
	int got = 0, used;

	xb_procfile_read("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	for (; got < 16 && sscanf(at, "%2hhx%n", &boot[got], &used) == 1; got++) {
		at += used;
		at += *at == '-';
	}
	if (got < 16)
		memset(boot, 0, 16);
}
