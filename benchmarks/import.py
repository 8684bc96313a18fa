"""Importing PyGPU beyond NumPy, beside the peers: the median of fresh processes.

Run: python benchmarks/import.py [--json FILE]
"""

import importlib.util
import os
import statistics
import subprocess
import sys

from timing import report

import PyGPU

LIBRARIES = {"PyGPU": "PyGPU", "CuPy": "cupy", "torch": "torch", "PyCUDA": "pycuda.gpuarray"}
PROGRAM = """
import numpy, time
start = time.perf_counter()
import {}
print(time.perf_counter() - start)
"""


def milliseconds(module, rounds=15):
    command = [sys.executable, "-c", PROGRAM.format(module)]
    environment = {**os.environ, "PYGPU_TARGET": PyGPU.target}
    seconds = [
        float(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
        for _ in range(rounds + 1)
    ]
    return 1000 * statistics.median(seconds[1:])  # the first finds the files not yet in memory


row = {
    name: milliseconds(module)
    for name, module in LIBRARIES.items()
    if importlib.util.find_spec(module.split(".")[0])
}
report("import beyond NumPy", "ms", {"import": row}, PyGPU.target)
