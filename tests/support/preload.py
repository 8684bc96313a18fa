"""Libraries in C that stand between PyGPU and the host's machine: they are loaded before it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

SUPPORT = Path(__file__).parent

HEAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
static void *machine(const char *name)
{
  return dlsym(dlopen("libPyGPU_host.so", RTLD_LAZY | RTLD_NOLOAD), name);
}
"""


def library(folder, text):
    """The path of a library whose functions are called in place of the machine's."""
    (folder / "between.c").write_text(HEAD + text)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    options = ["-shared", "-fPIC", "between.c", "-o", "between.so", "-ldl"]
    subprocess.run([*compiler, *options], cwd=folder, check=True)
    return folder / "between.so"


def output(path, program):
    """What a program prints with the library at `path` loaded before the machine."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={
            **os.environ,
            "LD_PRELOAD": str(path),
            "PYTHONPATH": os.pathsep.join(
                filter(None, [str(SUPPORT), os.environ.get("PYTHONPATH", "")])
            ),
            "PYGPU_TARGET": "host",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
