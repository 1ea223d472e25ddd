/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fetch/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "fetch/result.h"

#define FILE_MAX (64 << 10) /* bytes of a certificate or a key */

/* Returns how many bytes; -1 after an error. */
static ssize_t read_file(const char *path, void *out, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat about;
	ssize_t got = -1;

	if (fd < 0)
		return -1;
	errno = EINVAL;
	if (!fstat(fd, &about) && S_ISREG(about.st_mode))
		got = read(fd, out, room);
	close(fd);
	return got;
}

static bool read_key(const char *path, char key[FETCH_HEADER_MAX], struct fetch_result *result)
{
	ssize_t got = read_file(path, key, FETCH_HEADER_MAX - 1);

	if (got < 0) {
		result_set(result, FETCH_NO_KEY, "cannot read the key in %s: %s", path,
			   strerror(errno));
		return false;
	}
	key[got] = '\0';
	key[strcspn(key, "\r\n")] = '\0';
	if (*key && !strchr(key, ' ') && fetch_text_ok(key, FETCH_HEADER_MAX))
		return true;
	*key = '\0';
	result_set(result, FETCH_NO_KEY, "%s has no key in its first line", path);
	return false;
}

static bool read_pem(const char *path, char **text, size_t *size, struct fetch_result *result)
{
	ssize_t got;

	*text = malloc(FILE_MAX);
	got = *text ? read_file(path, *text, FILE_MAX) : -1;
	if (got <= 0)
		result_set(result, FETCH_NO_KEY, "cannot read %s: %s", path,
			   got ? strerror(errno) : "it is empty");
	*size = got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* It has no name that were to be looked up, and whoever is nobody could not connect any more. */
static int connect_to(const char *path, uint32_t seconds)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval most = {.tv_sec = seconds};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	_Static_assert(sizeof(address.sun_path) == FETCH_SOCKET_MAX, "a path fits");
	memcpy(address.sun_path, path, FETCH_SOCKET_MAX);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    fcntl(fd, F_SETFL, O_NONBLOCK)) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

bool credentials_read(const struct fetch_request *request, struct credentials *credentials,
		      struct fetch_result *result)
{
	*credentials = (struct credentials){.socket = -1};
	if (*request->key_file && !read_key(request->key_file, credentials->key, result))
		return false;
	if (*request->cert &&
	    (!read_pem(request->cert, &credentials->cert, &credentials->cert_size, result) ||
	     !read_pem(request->cert_key, &credentials->cert_key, &credentials->cert_key_size,
		       result)))
		return false;
	if (!*request->socket)
		return true;
	credentials->socket = connect_to(request->socket, request->seconds);
	if (credentials->socket < 0)
		result_set(result, FETCH_NO_CONNECTION, "cannot connect to %s: %s", request->socket,
			   strerror(errno));
	return credentials->socket >= 0;
}
