"""A PyTensor Op whose values and gradient are kernels of PyGPU.

    python pytensor_op.py [--linker py|cvm|numba]

The Op computes x * exp(-x * x) of all elements. The gradient is an Op of the same class, so that
PyTensor differentiates it again.
"""

import argparse
from functools import lru_cache

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

import PyGPU
from PyGPU.elementwise import ElementwiseKernel

# The function and its derivatives by the number of derivations, in C.
EXPRESSIONS = ("x[i] * e", "(1 - 2 * x[i] * x[i]) * e", "(4 * x[i] * x[i] - 6) * x[i] * e")


@lru_cache
def kernel(dtype, order):
    c_type = {"float32": "float", "float64": "double"}[dtype]
    statement = f"{c_type} e = exp(-x[i] * x[i]); y[i] = {EXPRESSIONS[order]}"
    return ElementwiseKernel(f"const {c_type} *x, {c_type} *y", statement, "bump")


class Bump(Op):
    """The function, or its first or second derivative."""

    __props__ = ("order",)  # Ops of equal properties are merged

    def __init__(self, order=0):
        self.order = order

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        if x.dtype not in ("float32", "float64"):
            raise TypeError(f"x: expected float32 or float64, got {x.dtype}")
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        (x,) = inputs
        on_device = PyGPU.to_gpu(np.ascontiguousarray(x))
        y = PyGPU.gpuarray.empty_like(on_device)
        kernel(x.dtype.name, self.order)(on_device, y)
        outputs[0][0] = y.get()

    def infer_shape(self, fgraph, node, shapes):
        return shapes

    def pullback(self, inputs, outputs, cotangents):
        if self.order + 1 == len(EXPRESSIONS):
            raise NotImplementedError("Bump has derivatives up to the second")
        return [cotangents[0] * Bump(self.order + 1)(inputs[0])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--linker", default="cvm", choices=["py", "cvm", "numba"])
    linker = parser.parse_args().linker
    x = pt.vector("x", dtype="float64")
    total = Bump()(x).sum()
    f = pytensor.function([x], [Bump()(x), pytensor.grad(total, x)], mode=Mode(linker))
    values = np.linspace(-2, 2, 9)
    y, slope = f(values)
    np.testing.assert_allclose(y, values * np.exp(-values * values))
    np.testing.assert_allclose(slope, (1 - 2 * values**2) * np.exp(-values * values), atol=1e-15)
    print("values and gradient agree with NumPy by the linker", linker)


if __name__ == "__main__":
    main()
