/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics of an installation as text for Prometheus. docs/agent.md describes each. */
#ifndef XB_ENGINE_METRICS_H
#define XB_ENGINE_METRICS_H

#include <stdio.h>

#include "engine/figures.h"

/* Writes all of them. Errors of `out` are for the caller to look at. */
void xb_metrics_write(const struct xb_paths *paths, const struct xb_figures *figures, FILE *out);

/* Those of the tallies alone. */
void xb_metrics_write_tallies(const struct xb_paths *paths, FILE *out);

#endif
