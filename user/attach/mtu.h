/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The MTU of a network device. */
#ifndef XB_ATTACH_MTU_H
#define XB_ATTACH_MTU_H

/* 0: it cannot be told. */
int xb_mtu_get(const char *name);

/* Returns 0 or an error with its message. */
int xb_mtu_set(const char *name, int mtu);

#endif
