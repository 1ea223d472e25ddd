# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that read the sources and run nothing of them."""
import functools
import glob
import os
import re
import subprocess

from jobs import Check, make

USER = ["-std=gnu11", "-D_GNU_SOURCE", "-Iinclude", "-Iuser", "-Itests", "-isystem", "build/skel"]

# With what only GCC warns of, and only where it optimizes without sanitizers.
ANALYZER = ("-fanalyzer -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init "
            "-Wnull-dereference -Werror")


def files(*patterns):
    return sorted(path for pattern in patterns for path in glob.glob(pattern, recursive=True))


def skeletons():
    """What programs for userspace include, and make makes."""
    return [("", "", "skel/%s.skel.h" % os.path.basename(path)[:-len(".bpf.c")])
            for path in files("bpf/*.bpf.c", "tests/*/*.bpf.c")]


def scripts_of(shell):
    """Files with that interpreter in their first line."""
    listed = subprocess.run(["git", "grep", "-lE", "^#!.*[/ ](%s)$" % shell, "--", ".ci", "scripts",
                             "tests", "packaging", "findings"], check=True, stdout=subprocess.PIPE)
    return listed.stdout.decode().split()


def bpf_flags():
    multiarch = subprocess.run(["gcc", "-print-multiarch"], check=True, stdout=subprocess.PIPE)
    return ["-target", "bpf", "-O2", "-g", "-Iinclude", "-Ibpf",
            "-I/usr/include/" + multiarch.stdout.decode().strip()]


MOST = 16   # files a command: most of the time of a small one is that of starting


def groups(paths):
    return [paths[i:i + MOST] for i in range(0, len(paths), MOST)]


def clang_tidy(everything):
    """Its analyzer, which follows every path, takes five times as long as all the other checks."""
    fewer = [] if everything else ["--checks=-clang-analyzer-*"]
    found = files("bpf/*.bpf.c", "user/**/*.c", "tests/**/*.c")
    kernel = [path for path in found if path.endswith(".bpf.c")]
    user = [path for path in found if path not in kernel]
    return [["clang-tidy", "--quiet", *fewer, *those, "--", *flags]
            for all_of_them, flags in ((kernel, bpf_flags()), (user, USER))
            for those in (groups(all_of_them) if not everything else [[path] for path in all_of_them])]


INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
ROOTS = ("include", "user", "tests", "bpf", "build/skel")


@functools.lru_cache(maxsize=None)
def named_by(path):
    """The files of ours that this one includes; of a skeleton the program that is in it."""
    if path.startswith("build/skel/"):
        return tuple(files("bpf/%s.bpf.c" % os.path.basename(path).split(".")[0],
                           "tests/*/%s.bpf.c" % os.path.basename(path).split(".")[0]))
    with open(path, encoding="utf-8") as file:
        names = INCLUDE.findall(file.read())
    return tuple(os.path.normpath(place) for name in names
                 for place in [os.path.join(root, name) for root in (os.path.dirname(path), *ROOTS)]
                 if os.path.isfile(place))


def with_included(paths):
    """Those files, and all of ours that they include."""
    found, left = set(), list(paths)
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += named_by(path)
    return sorted(found)


def c_reads(command):
    return with_included([word for word in command if word.endswith(".c")]) + [".clang-tidy"]


def tidy_verdict(code, output, _directory):
    """Skeletons are bpftool's business, and the analyzer looks into them all the same."""
    found = [line for line in output.splitlines()
             if re.match(r"\S+:\d+:\d+: (error|warning): ", line)]
    ours = [line for line in found if "/skel/" not in line]
    if ours or (code and not found):
        return ours[0] if ours else "exit code %d" % code, []
    return "", []


CPPCHECK = ["cppcheck", "--quiet", "--std=c11", "--inconclusive", "--inline-suppr",
            "--enable=warning,style,performance,portability", "--error-exitcode=1",
            "--suppressions-list=tests/checks/cppcheck.supp", "-D_GNU_SOURCE",
            "--include=tests/checks/macros.h", "-Iinclude", "-Iuser", "-Itests", "-Ibpf"]


def cppcheck(everything):
    """At once, so that it follows calls from file to file, or some files after the other."""
    if everything:
        return [CPPCHECK + ["bpf", "user", "tests"]]
    return [CPPCHECK + those for those in groups(files("bpf/*.c", "user/**/*.c", "tests/**/*.c"))]


def gcc_analyzer():
    """Objects of what ships."""
    return [make("analyzer", ANALYZER, *(path[:-2] + ".o" for path in those))
            for those in groups(files("user/**/*.c"))]


def analyzer_reads(command):
    prefix = "build/analyzer/"
    return with_included([word[len(prefix):-2] + ".c" for word in command if word.startswith(prefix)])


def shellcheck(everything):
    """What a script sources is read with it, which takes three times as long, if it is told to, or told of both."""
    scripts = ["packaging/bloomctl.bash", "packaging/bloomd.bash", "packaging/bloomset.bash"] + scripts_of("sh|bash")
    if everything:
        return [["shellcheck", "-x", "-a", *scripts]]
    # What it cannot know then: which names have a value, left out in tests/.shellcheckrc too, and that
    # a failing cd ends the test.
    alone = ["shellcheck", "-e", "SC1091,SC2164"]
    sourced = [path for path in files("tests/*/*.sh") if path not in scripts]
    return [alone + those for those in groups(scripts)] + [alone + [path] for path in sourced]


def shell_reads(command):
    """Its files, and with -x any that they may source."""
    return [word for word in command if os.path.isfile(word)] + \
        files(*(["tests/**/*.sh", "findings/*"] if "-x" in command else []), ".shellcheckrc", "*/.shellcheckrc")


def checks(everything):
    python = files("tests/*/*.py") + scripts_of("python3")
    return [
        Check("clang-tidy", clang_tidy(everything), skeletons(), verdict=tidy_verdict, reads=c_reads),
        Check("cppcheck", cppcheck(everything), reads=None if everything else c_reads),
        Check("gcc-analyzer", gcc_analyzer(), skeletons(), reads=None if everything else analyzer_reads),
        Check("shellcheck", shellcheck(everything), reads=shell_reads),
        Check("counters", [["scripts/counters", "--check"]]),
        Check("pylint", [["pylint", "--rcfile=tests/checks/pylintrc"] + python],
              reads=lambda _: python + ["tests/checks/pylintrc"]),
    ]
