# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that time others, and what they found of a packet's cost."""
import json
import os
import statistics

from rig import PROGRAMS, run

MILLION = 1000000


def bench(scratch, name, *words):
    """What one of the programs says that time other programs."""
    environment = dict(os.environ, XB_TEST_BPFFS=scratch.pins, XB_TEST_DIR=scratch.run)
    return json.loads(run(os.path.join(PROGRAMS, name), *map(str, words), env=environment))


def cost_over(values, alone):
    """What a subject costs over parsing alone. Both took turns, so their difference in each round
    is freer of what else the machine does than each by itself."""
    return {"median": statistics.median(a - b for a, b in zip(values, alone)),
            "min": min(values) - min(alone)}
