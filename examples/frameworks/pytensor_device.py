"""A type of PyTensor for arrays that stay on the device, so that Ops of PyGPU follow each other.

    python pytensor_device.py

The graph uploads once, computes x * exp(-x * x) by four Ops on the device and downloads once.
The linkers py and cvm run it; numba has no type for the arrays.
"""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.type import Type

import PyGPU
from PyGPU.gpuarray import GPUArray


class DeviceVariable(Variable):
    """A variable with the sum by which PyTensor joins the terms of a gradient."""

    def __add__(self, other):
        return add(self, other)


class DeviceType(Type):
    """The type of GPUArrays of float64."""

    __props__ = ()
    dtype = "float64"  # differentiable
    variable_type = DeviceVariable

    def filter(self, value, strict=False, allow_downcast=None):
        if not isinstance(value, GPUArray):
            raise TypeError(f"expected a GPUArray, got {type(value).__name__}")
        return value


class DeviceOp(Op):
    """An Op that calls a function, from its inputs to one output."""

    def __init__(self, function, pullback, output=None):
        self.function, self.pull, self.output = function, pullback, output

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [(self.output or DeviceType())()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = self.function(*inputs)

    def pullback(self, inputs, outputs, cotangents):
        return self.pull(inputs, outputs, cotangents[0])


to_host = DeviceOp(GPUArray.get, lambda x, y, g: [to_device(g)], pt.TensorType("float64", (None,)))
to_device = DeviceOp(PyGPU.to_gpu, lambda x, y, g: [to_host(g)])
add = DeviceOp(np.add, lambda x, y, g: [g, g])
negative = DeviceOp(np.negative, lambda x, y, g: [negative(g)])
multiply = DeviceOp(np.multiply, lambda x, y, g: [multiply(g, x[1]), multiply(g, x[0])])
exp = DeviceOp(np.exp, lambda x, y, g: [multiply(g, y[0])])


def main():
    x = pt.vector("x", dtype="float64")
    on_device = to_device(x)
    y = to_host(multiply(on_device, exp(negative(multiply(on_device, on_device)))))
    values = np.linspace(-2, 2, 9)
    for linker in ("py", "cvm"):
        f = pytensor.function([x], [y, pytensor.grad(y.sum(), x)], mode=Mode(linker))
        bump, slope = f(values)
        np.testing.assert_allclose(bump, values * np.exp(-(values**2)))
        np.testing.assert_allclose(slope, (1 - 2 * values**2) * np.exp(-(values**2)), atol=1e-15)
        print("values and gradient agree with NumPy by the linker", linker)


if __name__ == "__main__":
    main()
