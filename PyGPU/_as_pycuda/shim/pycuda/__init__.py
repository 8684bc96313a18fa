"""Found as ``pycuda`` by the worker processes of a program that ``python -m PyGPU run`` started.

They have the program's ``sys.path``, on which this folder lies, but not its import hook.
"""

import sys

del sys.modules[__name__]

import PyGPU  # noqa: E402

PyGPU.install_as_pycuda()

import pycuda  # type: ignore[import-not-found]  # noqa: E402, F401  now PyGPU, which takes this module's place
