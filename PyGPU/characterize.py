"""The names of ``pycuda.characterize``: properties of C++ on the device."""

from __future__ import annotations

import numpy as np

from PyGPU import compiler
from PyGPU._driver import copies, memory
from PyGPU._runtime import docstrings as _docstrings
from PyGPU.tools import context_dependent_memoize


def platform_bits() -> int:
    """Return the bits of a pointer.

    :returns: 32 or 64.

    >>> from PyGPU.characterize import platform_bits
    >>> platform_bits()
    64
    """
    return int(np.intp(0).nbytes * 8)


def has_stack() -> bool:
    """Report whether devices have a stack.

    :returns: Always True: devices have a stack from compute capability 2.0 on.

    >>> from PyGPU.characterize import has_stack
    >>> has_stack()
    True
    """
    return True


def has_double_support() -> bool:
    """Report whether devices compute in double precision.

    :returns: Always True: devices have double precision from compute capability 1.3 on.

    >>> from PyGPU.characterize import has_double_support
    >>> has_double_support()
    True
    """
    return True


@context_dependent_memoize
def sizeof(type_name: str, preamble: str = "") -> int:
    """Return the size of a C++ type on the device.

    :param type_name: Name of the type.
    :param preamble: Text that declares the type.
    :returns: Size in bytes.

    >>> from PyGPU.characterize import sizeof
    >>> sizeof("float4")
    16
    """
    module = compiler.SourceModule(
        f"""
        {preamble}
        extern "C" __global__ void write_size(unsigned long long *output)
        {{ *output = sizeof({type_name}); }}
        """,
        no_extern_c=True,
    )
    output = memory.mem_alloc(8)
    module.get_function("write_size")(output, block=(1, 1, 1), grid=(1, 1))
    return int(copies.from_device(output, (1,), np.uint64)[0])


_docstrings.complete(__name__)
