# SPDX-License-Identifier: GPL-2.0-or-later
"""The last long run of these checks, as docs/test-results.md has it. Of what it found well, the short run reads only what
has changed since, or includes what has."""
import functools
import subprocess

PAGE = "docs/test-results.md"
# By what sources are read.
TOOLS = ("tests/checks/", "tests/support/sanitizers.py", "Makefile", ".clang-tidy", ".shellcheckrc",
         "tests/.shellcheckrc")


def git(*words):
    """Lines, or None if it fails."""
    done = subprocess.run(["git", *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.decode().splitlines() if done.returncode == 0 else None


def cells():
    with open(PAGE, encoding="utf-8") as file:
        row = next((line for line in file if line.startswith("| `checks/` |")), "")
    return [cell.strip() for cell in row.split("|")]


@functools.lru_cache(maxsize=None)
def failed():
    """Names of checks."""
    return frozenset(cells()[3].partition("failed: ")[2].split()) if len(cells()) > 3 else frozenset()


@functools.lru_cache(maxsize=None)
def commit():
    """"" if not all could be built, or what ran was not committed, or nothing is known of it here."""
    if len(cells()) < 8 or "checks/build" in failed() or ("failed" in cells()[3] and not failed()):
        return ""
    found = cells()[7]
    return found if git("cat-file", "-e", found + "^{commit}") is not None else ""


@functools.lru_cache(maxsize=None)
def changed():
    """Paths that are not as they were then; None: it cannot be told."""
    differ = git("diff", "--name-only", commit()) if commit() else None
    new = git("ls-files", "--others", "--exclude-standard")
    return None if differ is None or new is None else frozenset(differ + new)


def is_as_it_was(name, paths):
    """Of a check by its name, and the files that it reads; None: they are not known."""
    if name in failed() or paths is None or changed() is None or any(path.startswith(TOOLS) for path in changed()):
        return False
    return changed().isdisjoint(paths)
