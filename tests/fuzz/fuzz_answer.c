/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What bloomd-fetch tells bloomd. Any bytes: no answer, or one whose fields come back from the
 * state of the feed. And whatever a server says, bloomd takes what bloomd-fetch makes of it.
 */
#include "bloomd/feeds/fetcher.h"
#include "fetch/result.h"
#include "fuzz.h"

static void must_be_bounded(const struct fetch_result *result)
{
	const char *texts[] = {result->etag, result->modified, result->detail};

	must(fetcher_outcome(result->outcome));
	must(result->status < 1000);
	must(result->content_time >= 0 && result->content_time <= UINT32_MAX);
	for (int i = 0; i < 3; i++) {
		must(memchr(texts[i], '\0', FETCH_HEADER_MAX));
		if (*texts[i])
			must_be_clear(texts[i]);
	}
}

static void must_come_back(const struct fetch_result *result)
{
	struct xb_feed_state state = {
		.name = "fuzzed", .status = result->status, .content_time = result->content_time};
	struct xb_feed_state again;

	snprintf(state.outcome, sizeof(state.outcome), "%s", fetcher_outcome(result->outcome));
	snprintf(state.message, sizeof(state.message), "%s", result->detail);
	snprintf(state.etag, sizeof(state.etag), "%s", result->etag);
	snprintf(state.modified, sizeof(state.modified), "%s", result->modified);
	must(!xb_feed_state_write(fuzz_directory(), &state));
	must(!xb_feed_state_read(fuzz_directory(), state.name, &again));
	must(!strcmp(again.outcome, state.outcome) && !strcmp(again.message, state.message));
	must(!strcmp(again.etag, state.etag) && !strcmp(again.modified, state.modified));
	must(again.status == state.status && again.content_time == state.content_time);
}

static void take(const uint8_t *data, size_t size)
{
	/* Of that size, so that the sanitizer sees a read behind it. */
	uint8_t *bytes = malloc(size);
	struct fetch_result result;

	must(bytes);
	memcpy(bytes, data, size);
	if (fetcher_take_answer(bytes, size, &result)) {
		must_be_bounded(&result);
		must_come_back(&result);
	}
	free(bytes);
}

/* Two headers and a reason of the server, as bloomd-fetch keeps them. */
static void tell(const uint8_t *data, size_t size)
{
	size_t third = size / 3;
	struct fetch_result result = {.magic = FETCH_MAGIC}, taken;
	char *reason = strndup((const char *)data + 2 * third, size - 2 * third);

	must(reason);
	result_keep(result.etag, (const char *)data, third);
	result_keep(result.modified, (const char *)data + third, third);
	result_set(&result, data[0] % FETCH_OUTCOME_COUNT, "%s", reason);
	must(fetcher_take_answer(&result, sizeof(result), &taken));
	must(!memcmp(&taken, &result, sizeof(result)));
	free(reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	take(data, size);
	tell(data, size);
	return 0;
}
