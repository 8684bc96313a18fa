"""The benchmark suite of ``python -m PyGPU bench``; benchmarks/arrays.py uses its raw kernels."""

from PyGPU._bench.limits import raw

__all__ = ["raw"]
