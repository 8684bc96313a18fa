"""Kernels pickle and copy by what they were made of, before and after calls."""

import copy
import pickle

import needs
import numpy as np
import pytest

from PyGPU.compiler import SourceModule, compile
from PyGPU.driver import Module
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.gpuarray import to_gpu
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import ExclusiveScanKernel, InclusiveScanKernel
from PyGPU.tools import ScalarArg, VectorArg

COPIES = {
    **{
        f"protocol {protocol}": lambda one, protocol=protocol: pickle.loads(
            pickle.dumps(one, protocol)
        )
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
    **{"copy": copy.copy, "deepcopy": copy.deepcopy},
    "cloudpickle": lambda one: pickle.loads(needs.module("cloudpickle").dumps(one)),
}
X = np.array([1, 2, 3], "f4")


class Scaled(ElementwiseKernel):
    """A subclass with a constructor of its own."""

    def __init__(self, factor):
        super().__init__("float *x", f"x[i] *= {factor}", "scaled")
        self.factor = factor


def elementwise():
    arguments = [VectorArg(np.float32, "x"), ScalarArg(np.float32, "a")]
    return ElementwiseKernel(arguments, "x[i] = three() * a * x[i]", preamble="#define three() 3")


def run_elementwise(kernel, x):
    kernel(x, 2.0)
    return x.get()


def run_in_place(kernel, x):
    kernel(x)
    return x.get()


def reduction():
    return ReductionKernel(
        np.float32, neutral="0", reduce_expr="a + b", map_expr="x[i] * x[i]", arguments="float *x"
    )


KERNELS = {
    "elementwise": (elementwise, run_elementwise),
    "subclass": (lambda: Scaled(4), run_in_place),
    "reduction": (reduction, lambda kernel, x: kernel(x).get()),
    "inclusive scan": (lambda: InclusiveScanKernel(np.float32, "a + b"), run_in_place),
    "exclusive scan": (
        lambda: ExclusiveScanKernel(np.float32, "a + b", neutral=0, name_prefix="mine"),
        run_in_place,
    ),
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name, how):
    make, run = KERNELS[name]
    kernel = make()
    before = COPIES[how](kernel)
    expected = run(kernel, to_gpu(X))
    after = COPIES[how](COPIES[how](kernel))
    for one in (before, after):
        assert type(one) is type(kernel)
        np.testing.assert_array_equal(run(one, to_gpu(X)), expected)
    if name == "subclass":
        assert after.factor == 4


TEXT = "template <class T> __global__ void add(T *x, T a) { x[threadIdx.x] += SIGN a; }"


def added(function, prepared=False):
    x = to_gpu(X)
    if prepared:
        function.prepared_call((1, 1), (3, 1, 1), x.gpudata, 2.0)
    else:
        function(x, np.float32(2), block=(3, 1, 1))
    return x.get()


@pytest.mark.parametrize("how", COPIES)
def test_modules_of_text_and_their_functions(how):
    module = SourceModule(
        TEXT, options=["-DSIGN=-"], no_extern_c=True, name_expressions=["add<float>"]
    )
    function = module.get_function("add<float>")
    np.testing.assert_array_equal(added(function), X - 2)
    again = COPIES[how]([module, function])
    np.testing.assert_array_equal(added(again[0].get_function("add<float>")), X - 2)
    np.testing.assert_array_equal(added(again[1]), X - 2)
    function.prepare("Pf")
    np.testing.assert_array_equal(added(COPIES[how](function), prepared=True), X - 2)


@pytest.mark.parametrize("how", COPIES)
def test_modules_of_images(how):
    image = compile("__global__ void add(float *x, float a) { x[threadIdx.x] += a; }")
    function = Module(image).get_function("add")
    np.testing.assert_array_equal(added(COPIES[how](function)), X + 2)


def test_pickles_are_of_text():
    """A pickle has no image that was compiled for this device."""
    module = SourceModule("__global__ void f() {}")
    assert len(pickle.dumps(module.get_function("f"))) < 1000
