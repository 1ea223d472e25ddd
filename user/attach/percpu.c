/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/percpu.h"

#include <bpf/libbpf.h>

#include "base/error.h"

int xb_percpu_values(void)
{
	int cpus = libbpf_num_possible_cpus();

	return cpus > 0 ? cpus : xb_system_error(-cpus, "cannot tell how many CPUs there can be");
}
