"""C libraries that intercept PyGPU's calls of the host machine, by LD_PRELOAD."""

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
    """Compile a library whose functions replace those of the machine, and return its path."""
    (folder / "between.c").write_text(HEAD + text)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    options = ["-shared", "-fPIC", "between.c", "-o", "between.so", "-ldl"]
    subprocess.run([*compiler, *options], cwd=folder, check=True)
    return folder / "between.so"


def output(path, program):
    """Return the output of a program that runs with the library at `path` preloaded."""
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
