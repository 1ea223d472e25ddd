/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A change that can be put on trial, as somebody asks for it. A trial keeps its request, and the
 * commit makes the change again from it. */
#ifndef XB_MODEL_REQUEST_H
#define XB_MODEL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "model/interface.h"
#include "model/limit.h"
#include "model/listchoice.h"
#include "model/scope.h"

#define XB_DEFAULT_LIST "default" /* if none is named */

/* The numbers stand in stores: append, never insert. */
enum xb_request_kind {
	XB_REQUEST_NONE,
	XB_REQUEST_ATTACH,
	XB_REQUEST_POLICY,
	XB_REQUEST_VERDICT,
	XB_REQUEST_ROTATE,
	XB_REQUEST_IMPORT,
	XB_REQUEST_RESTORE,
	XB_REQUEST_SCOPE,
	XB_REQUEST_LIMIT_ADD,
	XB_REQUEST_LIMIT_DEL,
	XB_REQUEST_KINDS,
};

struct xb_attach_request {
	char *const *names;
	uint32_t count;
	enum xb_mode mode;
	uint32_t refuse; /* kinds of lifelines not to be allowed automatically, a bit each */
};

struct xb_policy_request {
	uint32_t policy; /* enum xb_policy */
	bool force;	 /* allow-only even while nothing is listed */
	bool known;	 /* allow-only admits known sources as well */
};

struct xb_verdict_request {
	const char *list;
	uint32_t verdict; /* enum xb_domain_verdict */
};

struct xb_scope_request {
	const char *list;
	struct xb_scope scope;
};

struct xb_rotate_request {
	double rate;	   /* 0: as it is */
	uint64_t capacity; /* with set_capacity: keys to make room for, 0: by what is listed */
	bool set_capacity;
	bool set_confirm, confirm; /* with set_confirm: whether hits are confirmed */
};

struct xb_import_request {
	const char *file; /* as it was named, "-": standard input */
	const char *list;
	const char *format, *end, *zone; /* NULL: not given */
	struct xb_list_choice choice;
	bool replace, include_bogons, force;
	bool allows;	       /* what the file excepts goes to the allowlist, for all lists */
	bool judges;	       /* the list gets a verdict */
	uint32_t verdict;      /* with judges: enum xb_domain_verdict */
	bool scopes;	       /* the list gets a scope */
	struct xb_scope scope; /* with scopes */
	uint64_t least_entries, least_bytes;
	double factor; /* the list may grow or shrink by, 0: not given */
};

struct xb_restore_request {
	const char *file; /* as it was named, "-": standard input */
	bool interfaces;  /* true: the text says which are wanted; false: they stay as they are */
};

/* The maker of a request owns its texts. */
struct xb_request {
	enum xb_request_kind kind;
	union {
		struct xb_attach_request attach;
		struct xb_policy_request policy;
		struct xb_verdict_request verdict;
		struct xb_rotate_request rotate;
		struct xb_import_request import;
		struct xb_restore_request restore;
		struct xb_scope_request scope;
		struct xb_limit limit_add;
		const char *limit_del; /* its name */
	};
};

#endif
