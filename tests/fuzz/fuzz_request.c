/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that may be the request of a trial: no request, or one that is written as the same bytes
 * and shown as a clear line. */
#include <errno.h>

#include "engine/requesttext.h"
#include "fuzz.h"
#include "store/requestcodec.h"

static void must_come_back(const struct xb_request *request, const uint8_t *data, size_t size)
{
	uint8_t *written = malloc(size);

	must(written);
	must(xb_request_size(request) == size);
	must(xb_request_encode(request, written));
	must(!memcmp(written, data, size));
	free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of that size, so that the sanitizer sees a read behind it. */
	uint8_t *bytes = malloc(size);
	struct xb_request request;
	char command[128];
	int error;

	if (size)
		memcpy(bytes, data, size);
	error = xb_request_decode(bytes, size, &request);
	if (!error) {
		must_come_back(&request, data, size);
		xb_request_command(&request, command, sizeof(command));
		must_be_clear(command);
		xb_request_clear(&request);
	}
	must(!error || error == -EINVAL || error == -ENOMEM);
	free(bytes);
	return 0;
}
