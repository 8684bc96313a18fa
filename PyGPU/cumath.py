"""Mathematical functions of arrays: the names of ``pycuda.cumath``, and further names of NumPy.

All functions accept arrays of any strides and return arrays with the same order of axes. Result
dtypes are NumPy's: floating-point dtypes stay, integers become floating-point numbers. float16 is
computed in float32, every other dtype in its own precision.
"""

import typing as _typing

from PyGPU._arrays.mathematics import *  # noqa: F403

if not _typing.TYPE_CHECKING:
    __all__ = sorted(name for name in globals() if name[0] != "_")
