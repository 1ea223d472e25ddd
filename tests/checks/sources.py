# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that read the sources and run nothing of them."""
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
                             "tests", "packaging"], check=True, stdout=subprocess.PIPE)
    return listed.stdout.decode().split()


def bpf_flags():
    multiarch = subprocess.run(["gcc", "-print-multiarch"], check=True, stdout=subprocess.PIPE)
    return ["-target", "bpf", "-O2", "-g", "-Iinclude", "-Ibpf",
            "-I/usr/include/" + multiarch.stdout.decode().strip()]


def clang_tidy(everything):
    """Its analyzer, which follows every path, takes five times as long as all the other checks. Without it most
    of the time of a small file is that of starting."""
    fewer, most = ([], 1) if everything else (["--checks=-clang-analyzer-*"], 16)
    found = files("bpf/*.bpf.c", "user/**/*.c", "tests/**/*.c")
    kernel = [path for path in found if path.endswith(".bpf.c")]
    user = [path for path in found if path not in kernel]
    return [["clang-tidy", "--quiet", *fewer, *those[i:i + most], "--", *flags]
            for those, flags in ((kernel, bpf_flags()), (user, USER)) for i in range(0, len(those), most)]


def tidy_reads(command):
    """Its files, and any that they may include."""
    return [word for word in command if word.endswith(".c")] + \
        files("include/**/*.h", "bpf/*.h", "user/**/*.h", "tests/**/*.h", "build/skel/*.h", ".clang-tidy")


def tidy_verdict(code, output, _directory):
    """Skeletons are bpftool's business, and the analyzer looks into them all the same."""
    found = [line for line in output.splitlines()
             if re.match(r"\S+:\d+:\d+: (error|warning): ", line)]
    ours = [line for line in found if "/skel/" not in line]
    if ours or (code and not found):
        return ours[0] if ours else "exit code %d" % code, []
    return "", []


def cppcheck():
    os.makedirs("build/cppcheck", exist_ok=True)   # what it knows of files that have not changed
    return ["cppcheck", "--quiet", "--cppcheck-build-dir=build/cppcheck", "--std=c11", "--inconclusive", "--inline-suppr",
            "--enable=warning,style,performance,portability", "--error-exitcode=1",
            "--suppressions-list=tests/checks/cppcheck.supp", "-D_GNU_SOURCE",
            "--include=tests/checks/macros.h", "-Iinclude", "-Iuser", "-Itests", "-Ibpf", "bpf",
            "user", "tests"]


def shellcheck(everything):
    """What a script sources is read with it, which takes three times as long, if it is told to, or told of both."""
    scripts = ["packaging/bloomctl.bash", "packaging/bloomd.bash", "packaging/bloomset.bash"] + scripts_of("sh|bash")
    if everything:
        return [["shellcheck", "-x", "-a", *scripts]]
    # What it cannot know then: which names have a value, left out in tests/.shellcheckrc too, and that
    # a failing cd ends the test.
    alone = ["shellcheck", "-e", "SC1091,SC2164"]
    sourced = [path for path in files("tests/*/*.sh") if path not in scripts]
    return [alone + scripts, *(alone + [path] for path in sourced)]


def shell_reads(command):
    """Its files, and any that they may source."""
    return [word for word in command if os.path.isfile(word)] + files("tests/**/*.sh", ".shellcheckrc", "tests/.shellcheckrc")


def checks(everything):
    python = files("tests/*/*.py") + scripts_of("python3")
    return [
        Check("clang-tidy", clang_tidy(everything), skeletons(), verdict=tidy_verdict, reads=tidy_reads),
        Check("cppcheck", [cppcheck()]),
        Check("gcc-analyzer", [make("analyzer", ANALYZER, "bloomctl", "bloomd", "bloomset")]),
        Check("shellcheck", shellcheck(everything), reads=shell_reads),
        Check("counters", [["scripts/counters", "--check"]]),
        Check("includes", [["tests/checks/includes"]]),
        Check("words", [["tests/checks/words"]]),
        Check("links", [["tests/checks/links"]]),
        Check("pylint", [["pylint", "--rcfile=tests/checks/pylintrc"] + python],
              reads=lambda _: python + ["tests/checks/pylintrc"]),
    ]
