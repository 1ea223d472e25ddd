/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the order of memory accesses rests on: docs/design.md, "Memory order". */
#ifndef XB_BASE_PROCESSOR_H
#define XB_BASE_PROCESSOR_H

/* 1: the processor keeps reads in the order of the program, and a branch orders those behind it. */
#if defined(__x86_64__) || defined(__i386__)
#define XB_READS_IN_ORDER 1
#else
#define XB_READS_IN_ORDER 0
#endif

#endif
