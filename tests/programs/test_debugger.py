"""A breakpoint in a kernel, on the host machine: `gdb --args python -m PyGPU debug script.py`."""

import os
import subprocess
import sys

import needs
import pytest

import PyGPU

pytestmark = pytest.mark.skipif(PyGPU.target != "host", reason="gdb stops in the host's kernels")

PROGRAM = """
import numpy as np
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

text = "__global__ void mark(int *a, int n) { a[threadIdx.x] = n; }"
a = gpuarray.zeros(4, np.int32)
SourceModule(text).get_function("mark")(a, 41, block=(4, 1, 1))
print("result", a.get())
"""


def test_gdb_stops_in_a_kernel(tmp_path):
    gdb = needs.program("gdb")
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    steps = ["set breakpoint pending on", "break mark", "run", "print n + 1", "backtrace 2"]
    steps += ["print/d PyGPU_host_thread.block_dim.x", "delete", "continue"]
    words = [word for step in steps for word in ("-ex", step)]
    done = subprocess.run(
        [gdb, "-q", "-nx", "-batch", *words]
        + ["--args", sys.executable, "-m", "PyGPU", "debug", str(script)],
        env={**os.environ, "PYGPU_TARGET": "host", "PYGPU_HOST_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
    )
    if "ptrace: Operation not permitted" in done.stdout + done.stderr:
        pytest.skip("this machine forbids debuggers: ptrace is not permitted")
    assert "$1 = 42" in done.stdout, done.stdout + done.stderr
    assert "$2 = 4" in done.stdout and "BFD: reopening" not in done.stderr
    assert "result [41 41 41 41]" in done.stdout
