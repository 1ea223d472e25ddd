# SPDX-License-Identifier: GPL-2.0-or-later
"""What the history of a tree has."""
import subprocess


def git(tree, *words, **more):
    return subprocess.run(["git", "-C", tree, *words], check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, **more).stdout


def missing(tree, names, kind):
    """Which of the names, as `COMMIT` or `COMMIT:PATH`, are no object of this kind ("commit", "blob"). None of them where
    the history is cut off, or is not there."""
    if git(tree, "rev-parse", "--is-shallow-repository").strip() != "false":
        return set()
    said = git(tree, "cat-file", "--batch-check", input="".join(name + "\n" for name in names)).splitlines()
    return {name for name, line in zip(names, said) if line.split()[1:2] != [kind]}
