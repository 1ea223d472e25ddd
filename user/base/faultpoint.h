/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fault points of the test build. XB_FAULT=NAME in the environment kills the process there, as
 * kill -9 would; XB_PAUSE=NAME stops it there until somebody sends SIGCONT. NAME:N means the N-th
 * time that the process comes there. XB_FAIL=NAME lets the step there fail with EINVAL. */
#ifndef XB_BASE_FAULTPOINT_H
#define XB_BASE_FAULTPOINT_H

#ifdef XB_FAULT_POINTS
void xb_fault(const char *name);

/* 0, or the negative errno with which the step is to fail. */
int xb_fault_fails(const char *name);
#else
static inline void xb_fault(const char *name)
{
	(void)name;
}

static inline int xb_fault_fails(const char *name)
{
	(void)name;
	return 0;
}
#endif

#endif
