"""Helpers for tests of graphs: streams, a kernel, launches."""

import numpy as np
import pytest

import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

ADD = """
__global__ void add(float *x, float value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += value;
}
"""
X = np.arange(1000, dtype="f4")


@pytest.fixture(params=["blocking", "non-blocking"])
def stream(request):
    stream = drv.Stream(0 if request.param == "blocking" else 1)
    yield stream
    stream.synchronize()


def add_to(x, value, stream=None):
    kernel = SourceModule(ADD).get_function("add")
    kernel(
        x,
        np.float32(value),
        np.int32(x.size),
        block=(128, 1, 1),
        grid=(-(-x.size // 128), 1),
        stream=stream,
    )


def launched(graph, stream):
    graph.launch(stream)
    stream.synchronize()


def exported(given=int):
    """Return an array exported to a stream, and the stream, which `given` converts."""
    consumer = drv.Stream(1)
    return gpuarray.zeros(1000, "f4").__dlpack__(stream=given(consumer)), consumer
