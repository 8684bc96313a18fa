"""Pools of forked workers: each failure reaches the parent, which would wait forever otherwise.

A worker of ``multiprocessing.Pool`` reports no error of loading its task and no error of the repr
of its result. It ends, and the task is lost.
"""

import multiprocessing

import pytest

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork"
)

#: The waits end long after the error arrives. They only keep a failing test from hanging.
PROGRAM = """
import multiprocessing, pickle, warnings
import numpy as np
import PyGPU
from PyGPU import errors, gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.driver import Module
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import InclusiveScanKernel

warnings.simplefilter("ignore", DeprecationWarning)  # forks in a process with threads
array = gpuarray.to_gpu(np.arange(4.0, dtype="f4"))
module = SourceModule("__global__ void f(float *x) { x[0] = 1; }")

def compute(_):
    return (array + 1).get()

def give_array(_):
    return array

def use_array(given):
    assert given.shape == (4,) and given.dtype == np.float32 and given.nbytes == 16
    assert "spawn" in repr(given)
    return (given + 1).get()

def use_kernel(kernel):
    return kernel(array)

def use_module(given):
    return given.get_function("f")

def use_function(given):
    return given(array, block=(1, 1, 1))

def is_refused(name, task, kind):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        try:
            found = pool.map_async(*eval(task)).get(60)
        except eval(kind) as error:
            assert "spawn" in str(error), (name, error)
        else:
            raise SystemExit(f"{name}: no error, but {found}")

"""

ERROR = "errors.RuntimeError"
TASKS = {
    "work": ("compute, [0]", ERROR),
    "result": ("give_array, [0]", "multiprocessing.pool.MaybeEncodingError"),
    "array": ("use_array, [array]", ERROR),
    "view": ("use_array, [gpuarray.zeros((4, 2), 'f4')[:, 1]]", ERROR),
    "elementwise": ("use_kernel, [ElementwiseKernel('float *x', 'x[i] = 1')]", ERROR),
    "reduction": (
        "use_kernel, [ReductionKernel(np.float32, '0', 'a + b', arguments='float *in')]",
        ERROR,
    ),
    "scan": ("use_kernel, [InclusiveScanKernel(np.float32, 'a + b')]", ERROR),
    "module": ("use_module, [module]", ERROR),
    "module of an image": ("use_module, [Module(module.module._image)]", ERROR),
    "function": ("use_function, [module.get_function('f')]", ERROR),
}


def test_failures_reach_the_parent(python):
    python(PROGRAM + "".join(f"is_refused{(name, *TASKS[name])!r}\n" for name in TASKS))


def test_every_use_of_such_an_array_is_the_error(python):
    python("""
import os, pickle, sys, warnings
import numpy as np
import PyGPU
from PyGPU import cumath, gpuarray
warnings.simplefilter("ignore", DeprecationWarning)
text = pickle.dumps(PyGPU.to_gpu(np.arange(4.0)))
pid = os.fork()
if pid == 0:
    x = pickle.loads(text)
    uses = [
        x.get, x.copy, x.sum, x.get_async, x.tolist, lambda: x + 1, lambda: x.fill(1),
        lambda: x.set(np.zeros(4)), lambda: float(x[0]), lambda: x.__dlpack__(), lambda: np.sin(x),
        lambda: x._array_interface, lambda: x[::2].get(), lambda: x.astype("f4"),
        lambda: gpuarray.concatenate((x, x)), lambda: x.T.reshape(2, 2).get(),
        lambda: str(x), lambda: x.__setitem__(0, 1), lambda: pickle.dumps(x), lambda: cumath.exp(x),
    ]
    for use in uses:
        try:
            use()
        except PyGPU.errors.RuntimeError as error:
            assert error.status == 3 and "spawn" in str(error), error
        else:
            raise SystemExit("a forked child used an array")
    assert PyGPU.cudaMemcpy(np.zeros(4), x, 32) == 3
    assert repr(x).startswith("<GPUArray of shape (4,) and dtype float64, which cannot be read: ")
    sys.exit(0)
_, outcome = os.waitpid(pid, 0)
assert outcome == 0, outcome
""")
