/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bloomd asks of bloomd-fetch, and what that answers. Both are built together and run on one
 * machine, so these are plain structures; bloomd believes no field of an answer unchecked. */
#ifndef XB_FETCH_WIRE_H
#define XB_FETCH_WIRE_H

#include <stdint.h>

#include "sandbox/wiretext.h"

/* The descriptors of bloomd-fetch beside 0 to 2, which are /dev/null. */
enum {
	FETCH_REQUEST_FD = 3,
	FETCH_RESULT_FD,
	FETCH_BODY_FD,
	FETCH_FILE_FD, /* the file of a file: URL; otherwise closed */
};

#define FETCH_URL_MAX	 2048 /* bytes, terminators included */
#define FETCH_PATH_MAX	 4096
#define FETCH_POST_MAX	 2048
#define FETCH_SOCKET_MAX 108 /* as of struct sockaddr_un */
#define FETCH_HEADER_MAX 256
#define FETCH_SECRET_MAX 4096 /* of a file with headers, or with a user */
#define FETCH_DETAIL_MAX 256

#define FETCH_MAGIC 0x78626632

enum fetch_kind {
	FETCH_LIST,	 /* the body is handed over as it is */
	FETCH_DECISIONS, /* it is JSON of CrowdSec, and becomes records: fetch/record.h */
	FETCH_POST,	 /* sends `post`; the body of the answer says nothing */
	FETCH_ADDRESSES, /* `url` is a host, which is not asked: the body has its addresses */
	FETCH_KINDS,
};

struct fetch_request {
	uint32_t magic;
	uint32_t seconds;   /* that all of it may take */
	uint64_t max_bytes; /* of the body, as it comes and decompressed */
	uint32_t accept_unframed;
	uint32_t kind; /* enum fetch_kind */
	char url[FETCH_URL_MAX];
	char ca[FETCH_PATH_MAX];	 /* file of certificates; "": those of the system */
	char etag[FETCH_HEADER_MAX];	 /* of the last good answer; "": none */
	char modified[FETCH_HEADER_MAX]; /* its Last-Modified */
	/* Of lists, for a server that wants to know who asks; "": there is none. They go to the
	 * host that `url` names alone. */
	char header_file[FETCH_PATH_MAX]; /* headers to send, a line each */
	char user_file[FETCH_PATH_MAX];	  /* user:password */
	/* Not of lists; "": there is none. Redirects are not followed then, nor proxies asked. */
	char key_file[FETCH_PATH_MAX]; /* has the key to send */
	char cert[FETCH_PATH_MAX];     /* file of a client certificate, and of its key */
	char cert_key[FETCH_PATH_MAX];
	char socket[FETCH_SOCKET_MAX]; /* path of a socket that is asked instead of the URL's host
					*/
	char post[FETCH_POST_MAX];     /* JSON, with FETCH_POST */
};

/* X(SYMBOL, name in states and metrics) */
#define FETCH_OUTCOMES(X)                                                                          \
	X(FETCH_FAILED, "failed")		     /* the process, not the server */             \
	X(FETCH_TAKEN, "ok")			     /* 200, or a file: the body is whole */       \
	X(FETCH_UNCHANGED, "unchanged")		     /* 304, or a file as it was */                \
	X(FETCH_NO_NAME, "no-name")		     /* the name does not resolve */               \
	X(FETCH_NO_CONNECTION, "no-connection")	     /* refused, unreachable, or broken */         \
	X(FETCH_TLS, "tls")			     /* not the server that was meant */           \
	X(FETCH_TIMEOUT, "timeout")		     /* not done in time */                        \
	X(FETCH_TRUNCATED, "truncated")		     /* the body ends early */                     \
	X(FETCH_UNFRAMED, "unframed")		     /* nothing shows where the body ends */       \
	X(FETCH_CORRUPT, "corrupt")		     /* gzip that is none, an unknown encoding */  \
	X(FETCH_TOO_LARGE, "too-large")		     /* more than max_bytes */                     \
	X(FETCH_REDIRECT_REFUSED, "redirect")	     /* to a weaker or local scheme */             \
	X(FETCH_REDIRECT_LOOP, "too-many-redirects") /* more than FETCH_REDIRECTS */               \
	X(FETCH_HTTP, "http-error")		     /* any other status */                        \
	X(FETCH_NO_FILE, "no-file")		     /* a file: URL that cannot be read */         \
	X(FETCH_NO_KEY, "no-key")		     /* nor a file with a key or certificate */

enum fetch_outcome {
#define FETCH_SYMBOL(symbol, name) symbol,
	FETCH_OUTCOMES(FETCH_SYMBOL)
#undef FETCH_SYMBOL
		FETCH_OUTCOME_COUNT,
};

#define FETCH_REDIRECTS 5

struct fetch_result {
	uint32_t magic;
	uint32_t outcome;     /* enum fetch_outcome */
	uint32_t status;      /* of HTTP; 0: there was none */
	uint32_t retry_after; /* seconds; 0: not said */
	uint64_t bytes;	      /* of the body, decompressed */
	int64_t content_time; /* Last-Modified, or when the file changed; 0: not said */
	char etag[FETCH_HEADER_MAX];
	char modified[FETCH_HEADER_MAX];
	char detail[FETCH_DETAIL_MAX]; /* what happened, for people */
};

#endif
