/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bloomd and bloomd-redis say to each other. Both are built together and run on one machine,
 * so these are plain structures; bloomd believes nothing of them unchecked. */
#ifndef XB_REDIS_WIRE_H
#define XB_REDIS_WIRE_H

#include <stdint.h>

#include "sandbox/wiretext.h"

/* The descriptors of bloomd-redis beside 0 to 2, which are /dev/null. */
enum {
	REDIS_TARGET_FD = 3, /* has a struct redis_target */
	REDIS_FRAMES_FD,     /* a pair of stream sockets: frames in both directions */
};

#define REDIS_HOST_MAX	 256 /* bytes, terminators included */
#define REDIS_PATH_MAX	 4096
#define REDIS_SOCKET_MAX 108 /* as of struct sockaddr_un */
#define REDIS_USER_MAX	 256
#define REDIS_TEXT_MAX	 256

#define REDIS_MAGIC 0x78627231

/* Where the server is. "": not set. */
struct redis_place {
	char host[REDIS_HOST_MAX]; /* a name, or an address without brackets */
	uint16_t port;
	uint16_t tls;		       /* 1: the server has to show a certificate for the host */
	char socket[REDIS_SOCKET_MAX]; /* path of a socket instead of host and port */
};

/* And how to speak to it. */
struct redis_target {
	uint32_t magic;
	uint32_t seconds; /* to connect, TLS and AUTH included */
	struct redis_place place;
	char user[REDIS_USER_MAX];
	char password_file[REDIS_PATH_MAX]; /* its first line is sent */
	char ca[REDIS_PATH_MAX];	    /* file of certificates; "": those of the system */
	char cert[REDIS_PATH_MAX], cert_key[REDIS_PATH_MAX];
};

/*
 * A frame is its size, without these four bytes, and its content. From bloomd: a request, which is
 * words, each again with its size in front.
 */
#define REDIS_REQUEST_MAX ((size_t)16 << 20) /* bytes of such a frame */
#define REDIS_WORDS_MAX	  64

/* From bloomd-redis: a kind (4 bytes), and what it says. */
enum redis_frame {
	REDIS_READY = 1, /* nothing: connected and let in */
	REDIS_ANSWER,	 /* struct redis_answer, its nodes, the bytes of their texts */
	REDIS_END,	 /* struct redis_end, the last one */
};

/* The nodes of an answer come in the order in which the server sent them: an array, then its first
 * node with all that is below that, then its second. */
enum redis_kind {
	REDIS_NIL,
	REDIS_NUMBER,
	REDIS_STATUS,
	REDIS_ERROR,
	REDIS_STRING,
	REDIS_ARRAY,
	REDIS_KINDS,
};

struct redis_node {
	uint32_t kind;	/* enum redis_kind */
	uint32_t size;	/* bytes of a text, nodes of an array; otherwise 0 */
	int64_t number; /* of a number; otherwise 0 */
};

struct redis_answer {
	uint32_t nodes, pad;
};

#define REDIS_ANSWER_MAX ((size_t)64 << 20) /* bytes from the server */
#define REDIS_NODES_MAX	 262144
#define REDIS_DEPTH_MAX	 7 /* arrays in arrays */
/* Of any frame: no text is longer than what the server sent. */
#define REDIS_FRAME_MAX                                                                            \
	(REDIS_ANSWER_MAX + REDIS_NODES_MAX * sizeof(struct redis_node) +                          \
	 sizeof(struct redis_answer) + sizeof(uint32_t))

/* X(SYMBOL, name in states and metrics) */
#define REDIS_OUTCOMES(X)                                                                          \
	X(REDIS_FAILED, "failed")		/* the process, not the server */                  \
	X(REDIS_NO_NAME, "no-name")		/* the name does not resolve */                    \
	X(REDIS_NO_CONNECTION, "no-connection") /* refused, unreachable, or full */                \
	X(REDIS_TLS, "tls")			/* not the server that was meant */                \
	X(REDIS_AUTH, "auth")			/* the server does not let us in */                \
	X(REDIS_NO_KEY, "no-key")		/* no file with a password or certificate */       \
	X(REDIS_TIMEOUT, "timeout")		/* not done in time */                             \
	X(REDIS_PROTOCOL, "protocol")		/* no Redis, or not as it was agreed */            \
	X(REDIS_TOO_LARGE, "too-large")		/* an answer beyond the limits */                  \
	X(REDIS_CLOSED, "closed")		/* the connection ended */

enum redis_outcome {
#define REDIS_SYMBOL(symbol, name) symbol,
	REDIS_OUTCOMES(REDIS_SYMBOL)
#undef REDIS_SYMBOL
		REDIS_OUTCOME_COUNT,
};

struct redis_end {
	uint32_t outcome;	   /* enum redis_outcome */
	char text[REDIS_TEXT_MAX]; /* for people: visible ASCII and blanks, terminated */
};

#endif
