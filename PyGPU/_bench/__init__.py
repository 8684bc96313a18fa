"""The benchmark suite: ``python -m PyGPU bench`` (command.py). benchmarks/arrays.py uses its raw
kernels."""

from PyGPU._bench.limits import raw

__all__ = ["raw"]
