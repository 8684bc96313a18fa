"""Arrays whose memory changes while Python makes the kernel of a launch."""

import pytest
from cases import in_turn

BEGIN = """
import numpy as np
import pytest
import PyGPU.autoinit
import PyGPU.driver as drv
from PyGPU import errors, gpuarray
from PyGPU._kernels import reduction_specializations, specializations
from PyGPU._runtime import core

N = 1 << 16
a = gpuarray.to_gpu(np.full(N, 3, np.float32))
indices = gpuarray.to_gpu(np.arange(N - 1, dtype=np.int32))
one = gpuarray.to_gpu(np.float32([5]))
changes = 0


def change_once(hook, change):
    # C++ calls the hook for a new kernel. `change` then runs once, in the middle of the launch.
    module = reduction_specializations if hook == "reduction_module" else specializations
    make = getattr(module, hook)

    def made(*key):
        global changes
        changes += 1
        if changes == 1:
            change()
        return make(*key)

    core._set_hook(hook, made)


def free():
    a.gpudata.free()


def replace():
    # The old memory is free now, and the allocation after it may get its place.
    global junk, new
    new = gpuarray.to_gpu(np.full(N, 3, np.float32))
    a.gpudata = new.gpudata
    junk = [drv.mem_alloc(a.nbytes) for _ in range(8)]
    for one_of in junk:
        drv.memset_d32(one_of, 0x42c80000, N)  # 100.0
"""

OPERATIONS = {
    "elementwise": ("elementwise_module", "a + np.float32(1)"),
    "overlap": ("elementwise_module", "np.add(a[1:], 1, out=a[:-1])"),
    "sum": ("reduction_module", "gpuarray.sum(a)"),
    "axis": ("reduction_module", "np.sum(a.reshape(256, -1), axis=0)"),
    "dot": ("reduction_module", "gpuarray.dot(a, a)"),
    "subset": ("reduction_module", "gpuarray.subset_sum(indices, a)"),
    "take": ("gather_module", "a[indices]"),
}


# Reductions hold the memory of their operands anyway.
@pytest.mark.parametrize(("name", "expected"), [("elementwise", 4), ("take", 3)])
def test_memory_that_is_replaced(python, name, expected):
    hook, operation = OPERATIONS[name]
    text = f"change_once({hook!r}, replace)\nfound = ({operation}).get()\n"
    python(f"{BEGIN}\n{text}assert changes and (found == {expected}).all(), found")


def test_memory_that_is_freed(python):
    cases = {
        name: f"change_once({hook!r}, free)\n"
        f"with pytest.raises(errors.Error, match='freed'):\n    {operation}\nassert changes"
        for name, (hook, operation) in OPERATIONS.items()
    }
    python(in_turn(BEGIN, cases))
