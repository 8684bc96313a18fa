"""Names and methods that are imported at their first use, first used by several threads at once."""

import sys
from pathlib import Path

from PyGPU import _arrays
from PyGPU._arrays import (
    bound_arrays,
    gather,
    html,
    joining,
    methods,
    numpy_dispatch,
    numpy_functions,
    pickling,
    reductions,
    subclassing,
)
from PyGPU._kernels import launch_shape


def test_first_uses_by_several_threads(python):
    text = """
import sys, threading
import numpy as np
import PyGPU

x = np.arange(6.0)
a = PyGPU.to_gpu(x)
uses = [
    lambda: PyGPU.arange(6, dtype=np.float64).get(),
    lambda: PyGPU.gpuarray.full(6, 1.0).get() * x,
    lambda: (a + a).get() - x,
    lambda: np.add(a, 0).get(),
    lambda: a[a >= 0].get(),
    lambda: a.conj().get(),
    lambda: __import__("PyGPU.cumath").cumath.fabs(a).get(),
    lambda: (PyGPU.timer, __import__("PyGPU.driver").driver.Linker) and x,
]
assert not {"PyGPU.gpuarray", "PyGPU.driver", "PyGPU._kernels", "PyGPU.cumath"} & {*sys.modules}
sys.setswitchinterval(1e-5)
barrier, results = threading.Barrier(len(uses)), []

def first(use):
    barrier.wait()
    results.append(use())

threads = [threading.Thread(target=first, args=(use,)) for use in uses]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(results) == len(uses)
for result in results:
    np.testing.assert_array_equal(result, x)
"""
    python(text)


def test_every_method_has_a_placeholder():
    modules = (bound_arrays, gather, html, joining, launch_shape, methods, numpy_dispatch)
    modules += (numpy_functions, pickling, reductions, subclassing)
    assert sorted(_arrays.NAMES) == sorted(name for one in modules for name in one.METHODS)
    found = {path.stem for path in Path(_arrays.__file__).parent.glob("*.py")}
    found = {name for name in found if hasattr(sys.modules.get(f"PyGPU._arrays.{name}"), "METHODS")}
    assert found | {"launch_shape"} == {one.__name__.rpartition(".")[2] for one in modules}
