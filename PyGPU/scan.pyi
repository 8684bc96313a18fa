"""For type checkers: the names of PyGPU.scan, which are imported at first use."""

from PyGPU._kernels.scan_kernel import ExclusiveScanKernel as ExclusiveScanKernel
from PyGPU._kernels.scan_kernel import InclusiveScanKernel as InclusiveScanKernel
