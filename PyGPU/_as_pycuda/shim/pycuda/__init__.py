"""The module ``pycuda`` of worker processes that a program under ``python -m PyGPU run`` starts.

Workers inherit the program's ``sys.path``, which contains this folder, but not its import hook.
"""

import sys
import warnings

del sys.modules[__name__]

import PyGPU  # noqa: E402
from PyGPU._as_pycuda.run import NUMPY_COMPAT  # noqa: E402
from PyGPU._runtime import settings  # noqa: E402

with warnings.catch_warnings():  # the program has shown the warning already
    warnings.simplefilter("ignore", PyGPU.NumPyCompatWarning)
    PyGPU.install_as_pycuda(numpy_compat=settings.value(NUMPY_COMPAT) == "1")

import pycuda  # type: ignore[import-not-found]  # noqa: E402, F401  now PyGPU, which replaces this module
