"""An operation as in Theano: compiled once, then a thunk that maps storage to storage."""

import numpy as np

import PyGPU.autoinit  # noqa: F401
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule


class DoubleOp:
    """Doubles a float32 array of any shape."""

    source = """
    __global__ void my_fct(float *i0, float *o0, int size) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < size) {
            o0[i] = i0[i] * 2;
        }
    }
    """

    def make_thunk(self, inputs, outputs):
        """A function of nothing: reads inputs[0][0], writes outputs[0][0], a GPUArray each."""
        my_fct = SourceModule(self.source).get_function("my_fct")

        def thunk():
            x, z = inputs[0][0], outputs[0]
            assert x.dtype == np.float32 and x.flags.c_contiguous
            if z[0] is None or z[0].shape != x.shape:
                z[0] = gpuarray.zeros(x.shape, x.dtype)  # else the memory of last time serves
            grid = (-(-x.size // 512), 1)
            my_fct(x, z[0], np.intc(x.size), block=(512, 1, 1), grid=grid)

        return thunk


def function(op):
    """A Python function from NumPy arrays to NumPy arrays, around the op's thunk."""
    inputs, outputs = [[None]], [[None]]
    thunk = op.make_thunk(inputs, outputs)

    def call(x):
        inputs[0][0] = gpuarray.to_gpu(x)
        thunk()
        return outputs[0][0].get()

    return call


f = function(DoubleOp())

xv = np.ones((4, 5), dtype=np.float32)
assert np.allclose(f(xv), xv * 2)
print(f"doubled ones:\n{f(xv)}")

# The same thunk for another shape: the output's memory is made anew, over several blocks.
longer = np.arange(1500, dtype=np.float32)
assert np.array_equal(f(longer), longer * 2)
print(f"doubled range ends with {f(longer)[-3:]}")
