/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parameters of a generation: constants to the verifier, which removes every stage they leave
 * out. */
#ifndef XDP_BLOOM_PARAMS_H
#define XDP_BLOOM_PARAMS_H

#include <bpf/bpf_helpers.h>
#include "xdp_bloom/layout.h"

const volatile struct xb_params params SEC(".rodata.params");

static __always_inline struct xb_key params_key(void)
{
	return (struct xb_key){.a = params.key.a, .b = params.key.b};
}

#endif
