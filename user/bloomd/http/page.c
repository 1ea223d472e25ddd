/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/http/page.h"

/* From the folder where make runs; the Makefile says that this depends on it. */
__asm__(".section .rodata.page, \"a\"\n"
	".globl page_text\n"
	"page_text: .incbin \"user/bloomd/http/page.html\"\n"
	".globl page_end\n"
	"page_end: .byte 0\n"
	".previous\n");

extern const char page_end[];

size_t page_size(void)
{
	return (size_t)(page_end - page_text);
}
