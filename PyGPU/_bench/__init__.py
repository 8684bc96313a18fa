"""The benchmark suite: ``python -m PyGPU bench``. benchmarks/arrays.py uses its raw kernels."""

from PyGPU._bench.command import main
from PyGPU._bench.limits import raw

__all__ = ["main", "raw"]
