"""PYGPU_POOLS=0: arrays without stream-ordered memory."""

import pytest

import PyGPU

WORK = """
import numpy as np
import PyGPU, PyGPU.driver as drv, PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule
x = np.arange(100000.0)
a = gpuarray.to_gpu(x)
assert ((a + a).get() == x + x).all() and a.sum().get() == x.sum()
assert (a[a.astype(bool)].get() == x[1:]).all()
stream = drv.Stream(1)  # does not follow the null stream
for _ in range(20):
    b = gpuarray.to_gpu_async(x, stream=stream)
    c = b._axpbyz(2, b, 1, gpuarray.empty_like(b), stream=stream)
    del b
    assert (c.get_async(stream=stream), stream.synchronize())[0][-1] == 3 * x[-1]
with stream.capture() as graph:
    d = a.copy() * 2
graph.launch()
assert (d.get() == 2 * x).all()
try:
    gpuarray.empty(1 << 57, np.uint8)
except drv.MemoryError as error:
    print(str(error).split()[0])
"""


@pytest.mark.parametrize(("value", "call"), [("0", "cudaMalloc"), ("1", "cudaMallocAsync")])
def test_what_arrays_are_allocated_by(python, value, call):
    assert python(WORK, PYGPU_POOLS=value).stdout == f"{call}\n"


@pytest.mark.skipif(PyGPU.target != "host", reason="a GPU has other users")
def test_memory_goes_back_at_once(python):
    """Also where freed blocks of the pool would stay for the next array."""
    text = """
import numpy as np, PyGPU
from PyGPU.gpuarray import GPUArray
free = lambda: PyGPU.cudaMemGetInfo()[0]
GPUArray(65536, np.uint8)
before = free()
array = GPUArray(65536, np.uint8)
assert free() <= before - 65536
del array
print(free() - before)
"""
    environment = {"PYGPU_BLOCK_CACHE": 1, "PYGPU_HOST_MEMORY": "16M"}
    assert python(text, PYGPU_POOLS=0, **environment).stdout == "0\n"
