/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What messages say of the program that runs: its name, and what its user can do about them. */
#ifndef XB_BASE_PROGRAM_H
#define XB_BASE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#define XB_VERSION "0.1"

/* Each ends a clause of a message: the words begin with what joins them to it. */
enum xb_advice {
	XB_ADVICE_WAIT_LONGER,	    /* others were in the way for too long */
	XB_ADVICE_REBUILD,	    /* the filter in force is of no use */
	XB_ADVICE_CONFIRM,	    /* the exact look-up is missing */
	XB_ADVICE_COMMIT,	    /* a change is on trial */
	XB_ADVICE_SHUT_OUT,	    /* a policy would shut everybody out */
	XB_ADVICE_ADMIT,	    /* a policy would admit those that nobody chose */
	XB_ADVICE_REMEMBER,	    /* nobody is known, or they are not learned */
	XB_ADVICE_ATTACH_FIRST,	    /* nothing is enforced */
	XB_ADVICE_ATTACH_WAITING,   /* wanted interfaces may still be open */
	XB_ADVICE_REPLACE_OLD,	    /* what is in force has an older layout */
	XB_ADVICE_TAKE_OVER,	    /* what is in force is another store's */
	XB_ADVICE_DETACH_THERE,	    /* another installation has the interface */
	XB_ADVICE_DETACH_AGAIN,	    /* an interface still has the program */
	XB_ADVICE_MODE_SKB,	    /* native mode cannot be, for its own reasons */
	XB_ADVICE_MODE_SKB_OR_AUTO, /* only skb mode can be */
	XB_ADVICE_MODE_NATIVE_OR_AUTO,
	XB_ADVICE_RUN_THERE,	 /* behind a command that enters another network namespace */
	XB_ADVICE_MOVE_HERE,	 /* interfaces are wanted in another network namespace */
	XB_ADVICE_GO_ON_HERE,	 /* the same, and that one is gone */
	XB_ADVICE_RESTORE_SAVED, /* the store is damaged */
	XB_ADVICE_GO_BACK,	 /* the store is that of a newer version */
	XB_ADVICE_BRING_OVER,	 /* what an older version wrote */
	XB_ADVICE_NAME_FORMAT,	 /* nobody can tell of which format a file is */
	XB_ADVICE_NAME_ZONE,	 /* a file does not name the zone that it is */
	XB_ADVICE_FORMAT,	 /* how the format of a list is chosen */
	XB_ADVICE_COLUMN,	 /* how the columns of addresses are chosen */
	XB_ADVICE_JSON,		 /* how the values of a JSON document are chosen */
	XB_ADVICE_SET,		 /* which of several sets in a file is read */
	XB_ADVICE_PLACES,	 /* how networks are chosen by country and the like */
	XB_ADVICE_SKIP_BAD,	 /* a line or value of a list is wrong */
	XB_ADVICE_SCOPE,	 /* sources are refused at some ports alone */
	XB_ADVICE_ALLOW_ONLY,	 /* all sources are refused that are not named */
	XB_ADVICE_PIPE,		 /* behind a command that writes what can be read */
	XB_ADVICE_BELOW,	 /* names of a file stand for themselves alone */
	XB_ADVICE_ALLOW,	 /* what lets an address pass */
};

/* For main(): the name from now on, and what gives the words for each advice. */
void xb_program_set(const char *name, const char *(*words)(enum xb_advice advice));

/* "xdp-bloom" unless it was set. */
const char *xb_program(void);

/* What the linker calls this build of the program, which is another one for other code. Returns its
 * bytes, which stay valid, and their number; NULL: the linker did not say. */
const uint8_t *xb_program_build(size_t *size);

/* "" unless the program has words. */
const char *xb_advice(enum xb_advice advice);

#endif
