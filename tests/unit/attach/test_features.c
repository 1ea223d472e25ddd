/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Features of the one device that is everywhere, and what there is not. */
#include <errno.h>

#include "attach/features.h"
#include "support/cmocka.h"

TEST(of_the_loopback)
{
	struct xb_feature found;

	assert_int_equal(xb_feature_get("lo", "loopback", &found), 0);
	assert_true(found.on);
	assert_int_equal(xb_feature_get("lo", "rx-vlan-hw-parse", &found), 0);
	assert_false(found.on || found.requested);
}

TEST(what_there_is_not)
{
	struct xb_feature found = {true, true};

	assert_int_equal(xb_feature_get("nosuch0", "loopback", &found), -ENODEV);
	assert_false(found.on || found.requested);
	found = (struct xb_feature){true, true};
	assert_int_equal(xb_feature_get("lo", "nosuch-feature", &found), -ENOENT);
	assert_false(found.on || found.requested);
	/* Names in full. */
	assert_int_equal(xb_feature_get("lo", "loop", &found), -ENOENT);
	assert_int_equal(xb_feature_get("a name that is longer than any", "loopback", &found),
			 -ENODEV);
}
