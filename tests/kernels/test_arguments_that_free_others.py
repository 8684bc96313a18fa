"""An argument that runs Python code may free memory of the arguments before it."""

import numpy as np
import pytest
from stand_ins import NullInterface

import PyGPU.driver as drv
from PyGPU import errors, gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel

TEXT = """
__global__ void put(float *to, const float *from, int n) {
  if (threadIdx.x == 0) to[0] = from ? from[0] : n;
}
"""


@pytest.fixture(scope="module")
def put():
    return SourceModule(TEXT).get_function("put")


class Index:
    """An integer; its conversion takes an action."""

    def __init__(self, action):
        self.action = action

    def __index__(self):
        self.action()
        return 1


def an_array():
    a = gpuarray.zeros(64, "float32")
    return a, a.gpudata.free


def a_view():
    a = gpuarray.zeros(64, "float32")
    return a[8:], a.gpudata.free


def an_allocation():
    memory = drv.mem_alloc(256)
    return memory, memory.free


def of_every_kind(test):
    return pytest.mark.parametrize("made", [an_array, a_view, an_allocation])(test)


@of_every_kind
def test_of_a_call(put, made):
    memory, free = made()
    with pytest.raises(errors.Error, match="freed"):
        put(memory, NullInterface(free), np.int32(1), block=(1, 1, 1))


@of_every_kind
def test_of_a_prepared_call(put, made):
    put.prepare("PPi")
    for arguments in (lambda f: (NullInterface(f), 1), lambda f: (0, Index(f))):
        memory, free = made()
        with pytest.raises(errors.Error, match="freed"):
            put.prepared_call((1, 1), (1, 1, 1), memory, *arguments(free))


@of_every_kind
def test_of_an_argument_handler(put, made):
    class Freeing(drv.In):
        def pre_call(self, stream):
            free()
            super().pre_call(stream)

    memory, free = made()
    with pytest.raises(errors.Error, match="freed"):
        put(memory, Freeing(np.ones(1, "float32")), np.int32(1), block=(1, 1, 1))


def test_of_an_elementwise_kernel():
    add = ElementwiseKernel("float *to, int more", "to[i] += more", "add_to_freed")
    a, free = an_array()
    with pytest.raises(errors.Error, match="freed"):
        add(a, Index(free))


class Stream:
    """A stream of another library whose handle is asked a number of times; then it acts."""

    def __init__(self, action, number):
        self.action, self.number = action, number

    def __cuda_stream__(self):
        self.number -= 1
        if self.number == 0:
            self.action()
        return 0, 0


KERNELS = {
    "elementwise": lambda: ElementwiseKernel("float *to", "to[i] = 7", "fill_freed"),
    "reduction": lambda: ReductionKernel(
        "float32", "0", "a + b", "x[i]", "const float *x", "sum_freed"
    ),
}


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("name", KERNELS)
def test_of_a_stream(name, number):
    """A launch may ask for the handle several times; after the last, no memory is freed."""
    a, free = an_array()
    freed = []
    stream = Stream(lambda: freed.append(free()), number)
    try:
        KERNELS[name]()(a, stream=stream)
    except errors.Error as error:
        assert freed and "freed" in str(error)
    else:
        assert not freed or number > 1


def test_memory_that_was_replaced(put):
    """The kernel works on the memory that the array has when the launch begins."""
    a = gpuarray.zeros(64, "float32")
    old, new = a.gpudata, gpuarray.zeros(64, "float32").gpudata
    put(a, NullInterface(lambda: setattr(a, "gpudata", new)), np.int32(1), block=(1, 1, 1))
    assert a.get()[0] == 1
    a.gpudata = old
    assert a.get()[0] == 0
