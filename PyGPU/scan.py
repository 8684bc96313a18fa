"""Scans: prefix sums of any associative operation. The names of ``pycuda.scan``."""

from PyGPU._runtime import hooks

#: Names that are loaded at first use, and their module.
DEFERRED = hooks.by_name({"PyGPU._kernels.scan_kernel": "ExclusiveScanKernel InclusiveScanKernel"})
__getattr__, __dir__ = hooks.late_names(globals(), DEFERRED)
__all__ = [*DEFERRED]
