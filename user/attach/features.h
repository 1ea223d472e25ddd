/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Features of network devices, by the kernel's names for them, such as "rx-vlan-hw-parse"; see
 * netdev_features_strings[] in net/ethtool/common.c. */
#ifndef XB_ATTACH_FEATURES_H
#define XB_ATTACH_FEATURES_H

#include <stdbool.h>

struct xb_feature {
	bool on;
	bool requested; /* somebody wants it, whether or not the driver has it on */
};

/*
 * The feature of the device with this name. Returns 0, or a negative errno without a message, and
 * then *found is neither: -ENODEV, there is no such device; -ENOENT, this kernel knows no such
 * feature; or what kept the kernel from saying.
 */
int xb_feature_get(const char *name, const char *feature, struct xb_feature *found);

/* Asks the device to turn the feature on. Returns as xb_feature_get() does; 0 does not say that the
 * feature is on. */
int xb_feature_turn_on(const char *name, const char *feature);

/* An ethtool command (linux/ethtool.h) to the device: what ioctl() returned, or a negative errno.
 */
typedef int xb_ethtool(const char *name, void *command);

/* For tests: whom to ask instead of the kernel; NULL: the kernel. */
void xb_features_ask(xb_ethtool *whom);

#endif
