/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By ioctl: Debian 12's kernel speaks ethtool over netlink, too, but not every kernel is built so.
 */
#include "attach/features.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define FEATURES_MAX 1024 /* Linux 6.18 has 65 */

static int ask_kernel(const char *name, void *command)
{
	struct ifreq request = {.ifr_data = command};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), result;

	if (fd < 0)
		return -errno;
	memcpy(request.ifr_name, name, strnlen(name, sizeof(request.ifr_name) - 1));
	result = ioctl(fd, SIOCETHTOOL, &request);
	if (result < 0)
		result = -errno;
	close(fd);
	return result;
}

static xb_ethtool *ask = ask_kernel;

void xb_features_ask(xb_ethtool *whom)
{
	ask = whom ? whom : ask_kernel;
}

static int count_features(const char *name, uint32_t *count)
{
	struct ethtool_sset_info *info = calloc(1, sizeof(*info) + sizeof(*count));
	int error;

	if (!info)
		return -ENOMEM;
	info->cmd = ETHTOOL_GSSET_INFO;
	info->sset_mask = 1ULL << ETH_SS_FEATURES;
	error = ask(name, info);
	*count = info->data[0];
	if (error >= 0)
		error = info->sset_mask && *count && *count <= FEATURES_MAX ? 0 : -ENOENT;
	free(info);
	return error;
}

/* Its place among all features. */
static int find_feature(const char *name, const char *feature, uint32_t count, uint32_t *place)
{
	struct ethtool_gstrings *names =
		calloc(1, sizeof(*names) + (size_t)FEATURES_MAX * ETH_GSTRING_LEN);
	int error;

	if (!names)
		return -ENOMEM;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = count;
	/* The kernel gives as many names as it has. */
	error = ask(name, names);
	for (*place = 0; error >= 0 && *place < count; ++*place)
		if (!strncmp((const char *)names->data + (size_t)*place * ETH_GSTRING_LEN, feature,
			     ETH_GSTRING_LEN))
			break;
	free(names);
	return error < 0 ? error : *place < count ? 0 : -ENOENT;
}

static int locate(const char *name, const char *feature, uint32_t *count, uint32_t *place)
{
	int error = count_features(name, count);

	return error ? error : find_feature(name, feature, *count, place);
}

static bool has(uint32_t word, uint32_t place)
{
	return word >> place % 32 & 1;
}

int xb_feature_get(const char *name, const char *feature, struct xb_feature *found)
{
	struct ethtool_gfeatures *get;
	uint32_t count, place;
	int error = locate(name, feature, &count, &place);

	*found = (struct xb_feature){0};
	if (error)
		return error;
	get = calloc(1, sizeof(*get) + (count + 31) / 32 * sizeof(get->features[0]));
	if (!get)
		return -ENOMEM;
	get->cmd = ETHTOOL_GFEATURES;
	get->size = (count + 31) / 32;
	error = ask(name, get);
	if (error >= 0)
		*found = (struct xb_feature){
			.on = has(get->features[place / 32].active, place),
			.requested = has(get->features[place / 32].requested, place),
		};
	free(get);
	return error < 0 ? error : 0;
}

int xb_feature_turn_on(const char *name, const char *feature)
{
	struct ethtool_sfeatures *set;
	uint32_t count, place;
	int error = locate(name, feature, &count, &place);

	if (error)
		return error;
	set = calloc(1, sizeof(*set) + (count + 31) / 32 * sizeof(set->features[0]));
	if (!set)
		return -ENOMEM;
	set->cmd = ETHTOOL_SFEATURES;
	set->size = (count + 31) / 32;
	set->features[place / 32].valid = 1U << place % 32;
	set->features[place / 32].requested = 1U << place % 32;
	error = ask(name, set);
	free(set);
	/* Above 0: bits of enum ethtool_sfeatures_retval_bits. */
	return error < 0 ? error : 0;
}
