/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/http/page.h"

/* From the folder where make runs; the Makefile says that this depends on it. */
__asm__(".section .rodata.page, \"a\"\n"
	".balign 8\n"
	".globl page_bytes\n"
	"page_bytes: .8byte page_end - page_text\n"
	".globl page_text\n"
	"page_text: .incbin \"user/bloomd/http/page.html\"\n"
	"page_end:\n"
	".previous\n");
