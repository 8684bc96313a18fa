"""Arrays whose memory changes while Python makes the kernel of a launch."""

import pytest
from cases import in_turn

BEGIN = """
import threading

import numpy as np
import pytest
import PyGPU.autoinit
import PyGPU.driver as drv
from PyGPU import errors, gpuarray
from PyGPU._kernels import specializations
from PyGPU._runtime import core

N = 1 << 16
a = gpuarray.to_gpu(np.full(N, 3, np.float32))
indices = gpuarray.to_gpu(np.arange(N - 1, dtype=np.int32))
one = gpuarray.to_gpu(np.float32([5]))
shorts = a.view(np.int16)
mask = gpuarray.to_gpu(np.arange(1000) % 2 == 0)
changes = 0


def change_once(hook, change):
    # C++ calls the hook for a new kernel. `change` then runs once, in the middle of the launch.
    make = getattr(specializations, hook)

    def made(*key):
        global changes
        changes += 1
        if changes == 1:
            change()
        return make(*key)

    core._set_hook(hook, made)


def free():
    a.gpudata.free()


def free_in_a_thread():
    thread = threading.Thread(target=free)
    thread.start()
    thread.join()


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
    "overlap": ("elementwise_module", "np.subtract(a[1:], 1, out=a[:-1])"),
    "sum": ("reduction_module", "gpuarray.sum(a)"),
    "axis": ("reduction_module", "np.sum(a.reshape(256, -1), axis=0)"),
    "dot": ("reduction_module", "gpuarray.dot(a, a)"),
    "subset": ("reduction_module", "gpuarray.subset_sum(indices, a)"),
    "take": ("gather_module", "a[indices]"),
    "mask": ("mask_module", "a[:1000][mask]"),
    "mask, assigned": ("mask_module", "shorts[:1000].__setitem__(mask, shorts[1000:1500])"),
    "concatenate": ("join_module", "gpuarray.concatenate([a[:100], a[100:150]])"),
}


# Reductions hold the memory of their operands anyway.
@pytest.mark.parametrize(("name", "expected"), [("elementwise", 4), ("take", 3)])
def test_memory_that_is_replaced(python, name, expected):
    hook, operation = OPERATIONS[name]
    text = f"change_once({hook!r}, replace)\nfound = ({operation}).get()\n"
    python(f"{BEGIN}\n{text}assert changes and (found == {expected}).all(), found")


@pytest.mark.parametrize("free", ["free", "free_in_a_thread"])
def test_memory_that_is_freed(python, free):
    # A kernel that is made for one case serves the next: each case needs its own.
    cases = {
        name: f"change_once({hook!r}, {free})\n"
        f"with pytest.raises(errors.Error, match='freed'):\n    {operation}\nassert changes"
        for name, (hook, operation) in OPERATIONS.items()
    }
    python(in_turn(BEGIN, cases))


ALLOCATOR = """
import numpy as np
import PyGPU.driver as drv
import pytest
from PyGPU import errors, gpuarray

victim = None


def allocate(nbytes):
    # A pool that spills frees memory to make room.
    global victim
    if victim is not None:
        victim.gpudata.free()
        victim = None
    return drv.mem_alloc(nbytes)


a, b = (gpuarray.to_gpu(np.arange(1000, dtype=np.float32), allocator=allocate) for _ in range(2))
indices = gpuarray.to_gpu(np.arange(10))
mask = gpuarray.to_gpu(np.arange(1000) % 2 == 0)
"""


def test_allocator_that_frees_an_operand(python):
    operations = {
        "add": "a + b",
        "negative": "-a",
        "sum": "gpuarray.sum(a, allocator=allocate)",
        "axis": "gpuarray.sum(a.reshape(10, 100), axis=0, allocator=allocate)",
        "dot": "gpuarray.dot(a, b, allocator=allocate)",
        "take": "a[indices]",
        "copy": "a.copy()",
        "astype": "a.astype(np.float64)",
        "concatenate": "gpuarray.concatenate([a, b], allocator=allocate)",
        "mask": "a[mask]",
        "sine": "np.sin(a)",
        "where": "np.where(mask, a, b)",
        "running sum": "np.cumsum(a)",
    }
    cases = {
        name: f"{operation}\nvictim = a\n"
        f"with pytest.raises(errors.LogicError, match='freed'):\n    {operation}\nassert not victim"
        for name, operation in operations.items()
    }
    python(in_turn(ALLOCATOR, cases))
