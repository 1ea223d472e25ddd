/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/postfix/guest.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static bool has_rest(const struct guest *guest)
{
	return guest->in_at < guest->in_size;
}

static bool has_unsent(const struct guest *guest)
{
	return guest->out_at < guest->out_size;
}

void guest_read(struct guest *guest)
{
	ssize_t count;

	if (has_rest(guest) || guest->eof || guest->broken)
		return;
	count = recv(guest->fd, guest->in, sizeof(guest->in), MSG_DONTWAIT);
	guest->in_at = 0;
	guest->in_size = count > 0 ? (size_t)count : 0;
	guest->eof = !count;
	guest->broken = count < 0 && errno != EAGAIN && errno != EINTR;
}

bool guest_asks(struct guest *guest)
{
	enum postfix_result result;
	size_t used;

	if (guest->broken || !has_rest(guest) || guest->out_size + ANSWER_MOST > GUEST_OUT)
		return false;
	result = guest->protocol == GUEST_POLICY
			 ? policy_read(&guest->policy, guest->in + guest->in_at,
				       guest->in_size - guest->in_at, &used)
			 : socketmap_read(&guest->map, guest->in + guest->in_at,
					  guest->in_size - guest->in_at, &used);
	guest->in_at += used;
	guest->broken = result == POSTFIX_WRONG;
	return result == POSTFIX_REQUEST;
}

void guest_answer(struct guest *guest, const struct answer *answer)
{
	memcpy(guest->out + guest->out_size, answer->text, answer->size);
	guest->out_size += answer->size;
}

void guest_flush(struct guest *guest)
{
	ssize_t count;

	if (guest->broken || !has_unsent(guest))
		return;
	count = send(guest->fd, guest->out + guest->out_at, guest->out_size - guest->out_at,
		     MSG_DONTWAIT | MSG_NOSIGNAL);
	if (count < 0) {
		guest->broken = errno != EAGAIN && errno != EINTR;
		return;
	}
	guest->out_at += (size_t)count;
	if (has_unsent(guest))
		return;
	guest->out_at = guest->out_size = 0;
}

uint32_t guest_events(const struct guest *guest)
{
	if (guest->broken)
		return 0;
	if (has_unsent(guest) || has_rest(guest))
		return EPOLLOUT;
	return guest->eof ? 0 : EPOLLIN;
}
