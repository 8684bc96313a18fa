"""Scans: prefix sums of any associative operation. The names of ``pycuda.scan``."""

from PyGPU._kernels.scan_kernel import ExclusiveScanKernel, InclusiveScanKernel

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]
