# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiler flags for tests under sanitizers. Reports need functions and lines; to optimize more and to describe
variables takes gcc half of its time here. With -O1 it cannot tell how large a number that is printed may be, nor
that a variable is set wherever it is used; other builds warn of both."""
import shutil

# Links three times as fast; newer versions of Debian have it in a package of its own.
LINKER = " -fuse-ld=gold" if shutil.which("ld.gold") else ""
# With -fPIC, make links most tests to a shared library of what they try.
CHEAP = " -fPIC -fno-semantic-interposition -O1 -g1 -Wno-format-truncation -Wno-maybe-uninitialized" + LINKER
ADDRESS = "-DXB_FAULT_POINTS -fsanitize=address,undefined -fno-omit-frame-pointer" + CHEAP
THREAD = "-fsanitize=thread" + CHEAP
