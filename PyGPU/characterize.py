"""The names of ``pycuda.characterize``: what a device's C++ is like."""

from __future__ import annotations

import numpy as np

from PyGPU import compiler
from PyGPU._driver import copies, memory
from PyGPU.tools import context_dependent_memoize


def platform_bits() -> int:
    """32 or 64: the size of a pointer."""
    return int(np.intp(0).nbytes * 8)


def has_stack() -> bool:
    """True: devices have had a stack since compute capability 2.0."""
    return True


def has_double_support() -> bool:
    """True: devices have computed in double precision since compute capability 1.3."""
    return True


@context_dependent_memoize
def sizeof(type_name: str, preamble: str = "") -> int:
    """The size in bytes that the device's compiler gives a type (int).

    Parameters
    ----------
    type_name : str
    preamble : str
        Text that declares it.
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
