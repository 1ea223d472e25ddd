/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single addresses as the kernel and text files hold them, made entries of full length. IPv4-mapped
 * IPv6 becomes IPv4. None of these records a message. */
#ifndef XB_MACHINE_SOCKADDR_H
#define XB_MACHINE_SOCKADDR_H

#include <stdbool.h>
#include <sys/socket.h>

#include "model/entry.h"

/* bytes: 4 or 16 in network order, by family. false: neither AF_INET nor AF_INET6. */
bool xb_address_from_bytes(int family, const void *bytes, struct xb_entry *entry);

/* port in host order. */
bool xb_address_from_socket(const struct sockaddr_storage *socket, struct xb_entry *entry,
			    uint16_t *port);

/* A %scope behind the address is cut off. false: no address (a host name, a prefix). */
bool xb_address_parse(const char *text, struct xb_entry *entry);

bool xb_address_is_loopback(const struct xb_entry *entry);
bool xb_address_is_link_local(const struct xb_entry *entry);
bool xb_address_is_unspecified(const struct xb_entry *entry);

#endif
