/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/budget.h"

#include "base/error.h"

int budget_take(struct budget *budget, uint64_t bytes)
{
	int error = 0;

	if (!budget)
		return 0;
	if (budget_left(budget) < bytes && budget->give_way)
		error = budget->give_way(budget->to, bytes);
	if (error)
		return error;
	if (budget_left(budget) < bytes)
		return xb_input_error("more memory is needed (--memory SIZE)");
	budget->used += bytes;
	return 0;
}
