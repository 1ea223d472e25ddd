# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs for end-to-end tests alone, which find them in $XB_TEST_DIR/bin, as targets of make in a folder of
built things."""
OWN = ["tests/e2e/" + name for name in ("field", "plant")]
