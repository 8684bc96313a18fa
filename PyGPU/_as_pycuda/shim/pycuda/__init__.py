"""Found as ``pycuda`` by the worker processes of a program that ``python -m PyGPU run`` started.

They have the program's ``sys.path``, on which this folder lies, but not its import hook.
"""

import os
import sys
import warnings

del sys.modules[__name__]

import PyGPU  # noqa: E402
from PyGPU._as_pycuda.run import NUMPY_COMPAT  # noqa: E402

with warnings.catch_warnings():  # the program has been warned
    warnings.simplefilter("ignore", PyGPU.NumPyCompatWarning)
    PyGPU.install_as_pycuda(numpy_compat=os.environ.get(NUMPY_COMPAT) == "1")

import pycuda  # type: ignore[import-not-found]  # noqa: E402, F401  now PyGPU, which takes this module's place
