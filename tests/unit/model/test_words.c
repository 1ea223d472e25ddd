/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Policies and verdicts by name, and numbers that have none. */
#include "base/error.h"
#include "model/origin.h"
#include "model/policy.h"
#include "model/verdict.h"
#include "support/cmocka.h"

typedef const char *name_of(uint32_t number);
typedef int parse(const char *text, uint32_t *number);

/* Both ways; nothing that only looks like a name. */
static void are_names(name_of *name, parse *number_of, const char *const *names, uint32_t count,
		      const char *message)
{
	static const uint32_t beyond[] = {77, INT32_MAX, (uint32_t)INT32_MAX + 1, UINT32_MAX};
	char text[64];
	uint32_t number;

	for (uint32_t i = 0; i < count; i++) {
		size_t size = strlen(names[i]);

		number = 12345;
		assert_string_equal(name(i), names[i]);
		assert_int_equal(number_of(names[i], &number), 0);
		assert_int_equal(number, i);
		strcpy(text, names[i]);
		strcpy(text + size, " ");
		assert_int_equal(number_of(text, &number), -EINVAL);
		text[size - 1] = '\0';
		assert_int_equal(number_of(text, &number), -EINVAL);
		strcpy(text, names[i]);
		text[0] = (char)(text[0] - 'a' + 'A');
		xb_error_clear();
		assert_int_equal(number_of(text, &number), -EINVAL);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		assert_non_null(strstr(xb_error_message(), text));
		assert_non_null(strstr(xb_error_message(), message));
		assert_int_equal(number, i);
	}
	assert_string_equal(name(count), "unknown");
	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++)
		assert_string_equal(name(beyond[i]), "unknown");
	assert_int_equal(number_of("", &number), -EINVAL);
	assert_int_equal(number_of("unknown", &number), -EINVAL);
	assert_int_equal(number_of("0", &number), -EINVAL);
}

TEST(policies)
{
	static const char *const names[] = {"enforce", "monitor", "allow-only"};

	assert_int_equal(XB_POLICY_ALLOW_ONLY, 2);
	are_names(xb_policy_name, xb_policy_parse, names, 3, "enforce, monitor or allow-only");
}

TEST(verdicts)
{
	static const char *const names[] = {"drop", "refused", "nxdomain", "truncate", "count"};

	assert_int_equal(XB_DOMAIN_VERDICTS, 5);
	are_names(xb_domain_verdict_name, xb_domain_verdict_parse, names, XB_DOMAIN_VERDICTS,
		  "drop, refused, nxdomain, truncate or count");
}

TEST(origins)
{
	static const char *const names[] = {"import", "feed", "crowdsec", "fleet", "limit"};

	assert_int_equal(XB_ORIGINS, 5);
	are_names(xb_origin_name, xb_origin_parse, names, XB_ORIGINS,
		  "import, feed, crowdsec, fleet or limit");
}

/* Only one policy lets wrong hits pass. */
TEST(possible_policies)
{
	xb_error_clear();
	for (uint32_t policy = 0; policy < 4; policy++) {
		assert_int_equal(xb_policy_check(policy, true), 0);
		if (policy != XB_POLICY_ALLOW_ONLY)
			assert_int_equal(xb_policy_check(policy, false), 0);
	}
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	assert_int_equal(xb_policy_check(XB_POLICY_ALLOW_ONLY, false), -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_non_null(strstr(xb_error_message(), "needs the exact look-up"));
}
