"""Tensors of other libraries in host memory: the value of their only element is no address."""

import enum

import numpy as np
import pytest

import PyGPU
from PyGPU import driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

ONE = (1, 1, 1)


class Tensor:
    """Has the conversions of the tensors of PyTorch and JAX, and one of their protocols."""

    def __init__(self, values, protocol):
        self.values = np.asarray(values)
        setattr(self, protocol, getattr(self.values, protocol))

    def __index__(self):
        if self.values.dtype.kind == "f" or self.values.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self)

    def __int__(self):
        return int(self.values.ravel()[0])


class Series:
    """Has the conversions of the series of pandas."""

    __int__ = Tensor.__int__

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


TENSORS = {
    "one integer": lambda: Tensor(7, "__dlpack__"),
    "a list of one integer": lambda: Tensor([7], "__array__"),
    "numbers": lambda: Tensor([1.5, 2.5], "__dlpack__"),
    "a series": lambda: Series([7]),
    "an ndarray of no axes": lambda: np.array(7),
    "a bool": lambda: True,
}


@pytest.fixture(scope="module")
def kernels():
    return SourceModule(
        """
        extern "C" __global__ void read(unsigned long long *out, const float *p) {
          *out = (unsigned long long) p;
        }
        """
    )


@pytest.fixture(scope="module")
def out():
    return gpuarray.zeros(1, np.uint64)


def prepared(kernels, out, declared, value):
    kernels.get_function("read").prepare(declared).prepared_call((1, 1), ONE, out.gpudata, value)


def memchr(value):
    PyGPU.load("libc.so.6", "void *memchr(const void *s, int c, unsigned long n);").memchr(
        value, 0, 1
    )


#: What the error names, and the call.
CALLS = {
    "a kernel": ("'p'", lambda k, o, x: k.get_function("read")(o, x, block=ONE)),
    "a prepared kernel": ("'p'", lambda k, o, x: prepared(k, o, "PP", x)),
    "a declared integer": ("'p'", lambda k, o, x: prepared(k, o, "PQ", x)),
    "a library function": ("'s'", lambda k, o, x: memchr(x)),
    "GPUArray": ("gpudata", lambda k, o, x: gpuarray.GPUArray((1,), "f4", gpudata=x)),
    "an allocator": (
        "allocator",
        lambda k, o, x: gpuarray.GPUArray((1,), "f4", allocator=lambda nbytes: x),
    ),
    "memcpy_htod": ("dest", lambda k, o, x: drv.memcpy_htod(x, bytes(4))),
    "memcpy_dtoh": ("src", lambda k, o, x: drv.memcpy_dtoh(bytearray(4), x)),
    "memcpy_dtod": ("dest", lambda k, o, x: drv.memcpy_dtod(x, o.gpudata, 4)),
    "memset": ("dest", lambda k, o, x: drv.memset_d8(x, 0, 4)),
    "cudaFree": ("address", lambda k, o, x: PyGPU.cudaFree(x)),
    "a stream": ("stream", lambda k, o, x: o.fill(1, stream=x)),
}


@pytest.mark.parametrize("tensor", TENSORS)
@pytest.mark.parametrize("call", CALLS)
def test_the_element_of_a_tensor_is_no_address(kernels, out, call, tensor):
    name, work = CALLS[call]
    with pytest.raises((TypeError, drv.LogicError), match=name):
        work(kernels, out, TENSORS[tensor]())
    assert out.get() == 0


def test_host_memory_of_a_tensor_is_no_address():
    with pytest.raises(TypeError, match=r"src: .*numpy\.asarray\(x\)"):
        PyGPU.cudaMemcpy(drv.mem_alloc(4), Tensor(7, "__array__"), 4, 1)


class Number(enum.IntEnum):
    ADDRESS = 64


class Indexed:
    def __index__(self):
        return 64


class Holder:
    def get_pointer(self):
        return Indexed()


@pytest.mark.parametrize(
    "address",
    [64, Number.ADDRESS, np.int64(64), Indexed(), Holder(), type("Held", (), {"ptr": 64})()],
)
def test_numbers_are_addresses(kernels, address):
    for declared in (None, "PP", "PQ"):
        if declared == "PQ" and not hasattr(address, "__index__"):
            continue
        out = gpuarray.zeros(1, np.uint64)
        if declared:
            prepared(kernels, out, declared, address)
        else:
            kernels.get_function("read")(out, address, block=ONE)
        assert out.get() == 64
    assert gpuarray.GPUArray((1,), "f4", gpudata=address).ptr == 64


class OnGPU:
    """An array of another library in a GPU's memory, as its two protocols describe it."""

    def __init__(self, device=2):
        self.device = device
        self.memory = np.zeros(4, np.float32)

    @property
    def __cuda_array_interface__(self):
        data = (self.memory.ctypes.data, False)
        return {"shape": (4,), "typestr": "<f4", "data": data, "version": 3}

    def __dlpack_device__(self):
        return (self.device, 0)


@pytest.mark.skipif(PyGPU.target != "host", reason="GPUs reach their memory")
def test_arrays_on_a_gpu_are_refused_by_the_host_machine():
    with pytest.raises(TypeError, match=r"gpudata: expected memory of the host.*on a GPU"):
        gpuarray.GPUArray((4,), np.float32, gpudata=OnGPU())
    kernel = SourceModule("__global__ void f(float *x) { *x = 1; }").get_function("f")
    with pytest.raises(TypeError, match="expected memory of the host"):
        kernel(OnGPU(), block=ONE)
    with pytest.raises(TypeError, match="expected memory of the host"):
        drv.memcpy_dtoh(np.zeros(4, np.float32), OnGPU())
    reached = OnGPU(device=1)
    kernel(reached, block=ONE)
    assert reached.memory[0] == 1
