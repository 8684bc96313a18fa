"""Exceptions that a program's own ``__index__``, ``__float__`` or ``__bool__`` raises.

Wherever PyGPU converts a value, the exception reaches the program unchanged. It is neither replaced
by another one nor lost.
"""

from functools import cache

import numpy as np
import pytest

import PyGPU
from PyGPU import curandom, elementwise, gpuarray, reduction
from PyGPU import driver as drv
from PyGPU.compiler import SourceModule

ONE = (1, 1, 1)


class Unusual(Exception):
    """An exception class that PyGPU does not know."""


EXCEPTIONS = [Unusual, TypeError, ValueError, OverflowError, IndexError, KeyboardInterrupt]


def value_of(methods, raised, base=object):
    """Return an object whose methods of these names raise the exception."""

    def method(self, *given):
        raise raised

    return type("Value", (base,), dict.fromkeys(methods.split(), method))()


def property_of(name, raised):
    """Return an object whose property of this name raises the exception."""

    def method(self):
        raise raised

    return type("Value", (), {name: property(method)})()


@pytest.fixture(scope="module")
def kernels():
    return SourceModule(
        """
        extern "C" {
        __global__ void integer(int a) {}
        __global__ void small(unsigned char a) {}
        __global__ void real(float a) {}
        __global__ void truth(bool a) {}
        __global__ void pointer(float *a) {}
        }
        """
    )


def call(kernels, name, *arguments, block=ONE, **options):
    kernels.get_function(name)(*arguments, block=block, **options)


def prepared(kernels, name, declared, value):
    kernels.get_function(name).prepare(declared).prepared_call((1, 1), ONE, value)


LAUNCHES = {
    "bool, of an int": ("__bool__", int, lambda k, v: call(k, "truth", v)),
    "prepared int": ("__index__", object, lambda k, v: prepared(k, "integer", "i", v)),
    "prepared char": ("__index__", object, lambda k, v: prepared(k, "small", "B", v)),
    "prepared float": ("__float__", object, lambda k, v: prepared(k, "real", "f", v)),
    "prepared float, by index": ("__index__", object, lambda k, v: prepared(k, "real", "f", v)),
    "prepared bool": ("__bool__", object, lambda k, v: prepared(k, "truth", "?", v)),
    "prepared address": ("__index__", object, lambda k, v: prepared(k, "pointer", "L", v)),
    "address": ("__index__", object, lambda k, v: call(k, "pointer", v)),
    "block": ("__index__", object, lambda k, v: call(k, "integer", 1, block=v)),
    "block[0]": ("__index__", object, lambda k, v: call(k, "integer", 1, block=(v, 1, 1))),
    "block, iterated": ("__iter__", object, lambda k, v: call(k, "integer", 1, block=v)),
    "grid[1]": ("__index__", object, lambda k, v: call(k, "integer", 1, grid=(1, v))),
    "shared": ("__index__", object, lambda k, v: call(k, "integer", 1, shared=v)),
    "stream": ("__int__", object, lambda k, v: call(k, "integer", 1, stream=v)),
    "time_kernel": ("__bool__", object, lambda k, v: call(k, "integer", 1, time_kernel=v)),
}


@pytest.mark.parametrize("raised", EXCEPTIONS)
@pytest.mark.parametrize("launch", LAUNCHES)
def test_launches(kernels, launch, raised):
    methods, base, work = LAUNCHES[launch]
    error = raised("from the program")
    with pytest.raises(raised) as caught:
        work(kernels, value_of(methods, error, base))
    assert caught.value is error


PROPERTIES = {
    "__cuda_array_interface__": lambda k, v: call(k, "pointer", v),
    "gpudata": lambda k, v: call(k, "pointer", v),
    "ptr": lambda k, v: call(k, "pointer", v),
    "get_pointer": lambda k, v: call(k, "pointer", v),
    "__cuda_stream__": lambda k, v: call(k, "integer", 1, stream=v),
    "handle": lambda k, v: call(k, "integer", 1, stream=v),
}


@pytest.mark.parametrize("raised", [Unusual, KeyboardInterrupt])
@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_of_arguments(kernels, name, raised):
    error = raised("from the program")
    with pytest.raises(raised) as caught:
        PROPERTIES[name](kernels, property_of(name, error))
    assert caught.value is error


class NotPlain(gpuarray.GPUArray):
    ptr = property(lambda self: 1 / 0)


INTERRUPTED = {
    "an argument of a library function": (
        "__cuda_array_interface__",
        lambda v: PyGPU.load("libc.so.6", "void *memchr(void *s, int c, long n);").memchr(v, 0, 0),
    ),
    "values for fields": ("dtype", lambda v: set_(gpuarray.zeros(2, "f4,f4"), ["f0", "f1"], v)),
    "to_gpu": ("__class__", gpuarray.to_gpu),
    "a stream": ("__array__", PyGPU.cudaStreamQuery),
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupt_in_a_property_is_not_lost(name):
    attribute, work = INTERRUPTED[name]
    errors = [KeyboardInterrupt()]

    def interrupted_once(self):
        raise errors.pop() if errors else AttributeError(attribute)

    members = {attribute: property(interrupted_once), "__index__": lambda self: 0}
    with pytest.raises(KeyboardInterrupt):
        work(type("Value", (), members)())


def test_an_exception_of_ptr_reaches_ctypes():
    with pytest.raises(ZeroDivisionError):
        _ = NotPlain(3, np.float32)._as_parameter_


def test_a_launch_whose_argument_raises_does_not_run():
    text = 'extern "C" __global__ void mark(int *seen, bool a) { *seen = 1; }'
    seen = gpuarray.zeros(1, np.int32)
    mark = SourceModule(text).get_function("mark")
    with pytest.raises(Unusual):
        mark(seen, value_of("__bool__", Unusual(), int), block=ONE)
    assert seen.get()[0] == 0


A = np.arange(12, dtype=np.float32).reshape(3, 4)
MASK = A > 3
set_ = gpuarray.GPUArray.__setitem__
SQUARE = elementwise.ElementwiseKernel("float *x, float c, int m", "x[i] = c * m", "square")


@cache
def total():
    return reduction.ReductionKernel(np.float32, "0", "a + b", "x[i] * c", "float *x, float c")


ARRAY_CALLS = {
    "fill by an index": ("__float__", lambda a, v: set_(a, Ellipsis, v)),
    "fill a mask": ("__float__", lambda a, v: set_(a, gpuarray.to_gpu(MASK), v)),
    "fill records": ("__float__", lambda a, v: gpuarray.zeros(3, "f4,f4").fill((v, 1))),
    "ElementwiseKernel, float": ("__float__", lambda a, v: SQUARE(a, v, 1)),
    "ElementwiseKernel, int": ("__index__", lambda a, v: SQUARE(a, 1, v)),
    "ElementwiseKernel, range": (
        "__index__",
        lambda a, v: SQUARE(a, 1, 1, range=slice(v, 3)),
    ),
    "ReductionKernel": ("__float__", lambda a, v: total()(a, v)),
    "index": ("__index__", lambda a, v: a[v]),
    "index in a tuple": ("__index__", lambda a, v: a[0, v]),
    "slice": ("__index__", lambda a, v: a[:v]),
    "assigned index": ("__index__", lambda a, v: set_(a, v, 1)),
    "axis": ("__index__", lambda a, v: np.sum(a, axis=v)),
    "axes": ("__index__", lambda a, v: np.sum(a, axis=(0, v))),
    "keepdims": ("__bool__", lambda a, v: np.sum(a, keepdims=v)),
    "decimals": ("__index__", lambda a, v: np.round(a, v)),
    "reshape": ("__index__", lambda a, v: a.reshape(2, v)),
    "transpose": ("__index__", lambda a, v: a.transpose((0, v))),
    "shape": ("__index__", lambda a, v: gpuarray.empty((2, v), np.float32)),
    "random": ("__index__", lambda a, v: curandom.rand((2, v))),
    "mem_alloc": ("__index__", lambda a, v: drv.mem_alloc(v)),
    "memset": ("__index__", lambda a, v: drv.memset_d32(a.gpudata, v, 1)),
    "page-locked": ("__index__", lambda a, v: drv.pagelocked_empty((2, v), np.float32)),
    "Device": ("__index__", lambda a, v: drv.Device(v)),
    "DLPack copy": ("__bool__", lambda a, v: a.__dlpack__(copy=v)),
}


@pytest.mark.parametrize("raised", EXCEPTIONS)
@pytest.mark.parametrize("name", ARRAY_CALLS)
def test_arrays(name, raised):
    methods, work = ARRAY_CALLS[name]
    error = raised("from the program")
    with pytest.raises(raised) as caught:
        work(gpuarray.to_gpu(A), value_of(methods, error))
    assert caught.value is error


def test_errors_of_numpy_and_python_name_the_argument(kernels):
    for value in (np.zeros(2), np.array(1.5), "1", None, 10**400):
        with pytest.raises(PyGPU.errors.ArgumentError, match="parameter #0"):
            prepared(kernels, "integer", "i", value)
    for value in (np.array("x"), "1", None, 10**400):
        with pytest.raises(PyGPU.errors.ArgumentError, match="parameter #0"):
            prepared(kernels, "real", "f", value)
    with pytest.raises(IndexError, match="expected ints"):
        gpuarray.to_gpu(A)[np.array(1.5)]


@pytest.mark.parametrize("at", [0, 1])
def test_an_axes_list_that_shrinks_while_it_is_read(at):
    class Axis:
        def __index__(self):
            axes.clear()
            return at

    axes = [Axis(), 1 - at]
    assert gpuarray.sum(gpuarray.to_gpu(A), axis=axes).get() == A.sum()


def test_a_subclass_does_not_swallow_an_interrupt():
    class Mine(gpuarray.GPUArray):
        pass

    array = Mine((3, 4), np.float32)
    with pytest.raises(KeyboardInterrupt):
        array.shape = (value_of("__index__", KeyboardInterrupt()), 4)


def test_a_value_that_frees_the_array_is_not_written_into_it():
    array = gpuarray.zeros((3, 4), np.float32)
    mask = gpuarray.to_gpu(MASK)

    class Value:
        def __float__(self):
            array.gpudata.free()
            return 1.0

    with pytest.raises(Exception, match="freed"):
        array[mask] = Value()
