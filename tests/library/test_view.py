"""<PyGPU/view.h>: arrays as arguments of a user's pybind11 module."""

import gc
import importlib.util
import subprocess
import sysconfig
import weakref
from pathlib import Path

import needs
import numpy as np
import pytest
from dlpack_tools import Producer

import PyGPU
from PyGPU import gpuarray

HERE = Path(__file__).parent
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = ["bool", *INTEGERS, "float32", "float64", "complex64", "complex128"]
CUDA, MANAGED, ROCM, VULKAN = 2, 13, 10, 7  # DLPack's kinds of memory


def build(folder, source=HERE / "views.cpp", *macros):
    pybind11 = needs.module("pybind11")
    out = folder / f"{source.stem}{sysconfig.get_config_var('EXT_SUFFIX')}"
    headers = [pybind11.get_include(), sysconfig.get_path("include"), PyGPU.get_include()]
    command = [needs.program("g++"), "-std=c++17", "-O0", "-shared", "-fPIC", "-Wall", "-Wextra"]
    command += ["-Werror", "-fvisibility=hidden", *macros]
    command += [word for folder in headers for word in ("-isystem", folder)]
    subprocess.run([*command, str(source), "-o", str(out)], check=True)
    spec = importlib.util.spec_from_file_location(source.stem, out)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    return build(tmp_path_factory.mktemp("views"))


class Interface:
    """An array of another library by the CUDA array interface."""

    def __init__(self, array, **changed):
        self.array = array
        whole = {"typestr": array.dtype.str, "data": (array.ctypes.data, False), "version": 3}
        whole.update(shape=array.shape, strides=array.strides, stream=None)
        self.__cuda_array_interface__ = {**whole, **changed}


def test_a_gpuarray(views):
    a = gpuarray.to_gpu(np.arange(24.0).reshape(2, 3, 4))
    pointer, shape, strides, device, _, size, ndim, is_contiguous = views.facts(a)
    assert (pointer, shape, strides) == (a.ptr, [2, 3, 4], [12, 4, 1])
    assert (device, size, ndim, is_contiguous) == (0, 24, 3, True)
    pointer, shape, strides, *_, is_contiguous = views.facts(a[:, ::-1, ::2])
    assert (pointer, shape, strides) == (a.ptr + 8 * 8, [2, 3, 2], [12, -4, 2])
    assert not is_contiguous
    empty = views.facts(gpuarray.empty((3, 0), np.float64))
    assert (empty[1], empty[5], empty[7]) == ([3, 0], 0, True)
    assert views.facts(gpuarray.to_gpu(np.array(3.0)))[1:3] == ([], [])


@pytest.mark.parametrize("dtype", [*DTYPES, "pair"])
def test_each_dtype(views, dtype):
    real = np.dtype([("first", "f4"), ("second", "i4")] if dtype == "pair" else dtype)
    a = gpuarray.empty(3, real)
    assert getattr(views, f"pointer_of_{dtype}")(a) == a.ptr
    for other in DTYPES:
        if other != dtype:
            with pytest.raises(TypeError, match=r"PyGPU\.View\["):
                getattr(views, f"pointer_of_{dtype}")(gpuarray.empty(3, other))


@pytest.mark.skipif(not needs.ON_MACHINE, reason="the CPU writes to the array")
def test_elements_are_shared(views):
    a = gpuarray.zeros((4, 3), np.float64)
    views.fill(a[:, 1], 7)
    assert a.get()[:, 1].tolist() == [7, 7, 7, 7]
    assert a.get().sum() == 28


def test_the_interface_of_other_libraries(views):
    x = np.arange(6.0).reshape(2, 3)
    assert views.facts(Interface(x))[:4] == (x.ctypes.data, [2, 3], [3, 1], -1)
    assert views.facts(Interface(x.T))[1:3] == ([3, 2], [1, 3])
    assert views.facts(Interface(x, stream=77))[4] == 77
    without_strides = Interface(x)
    without_strides.__cuda_array_interface__["strides"] = None
    del without_strides.__cuda_array_interface__["stream"]
    assert views.facts(without_strides)[1:5] == ([2, 3], [3, 1], -1, 0)


@pytest.mark.parametrize("versioned", [False, True], ids=["legacy", "versioned"])
@pytest.mark.parametrize("memory", [CUDA, MANAGED, ROCM])
def test_tensors_of_dlpack(views, versioned, memory):
    x = gpuarray.to_gpu(np.arange(24.0).reshape(4, 6))[::2, ::-3]
    tensor = Producer(x, versioned, offset=8, device_type=memory, device_id=1)
    assert views.facts(tensor)[:4] == (x.ptr, [2, 2], [12, -3], 1)
    assert tensor.ended == 1
    assert tensor.asked[-1]["stream"] == (0 if memory == ROCM else 1)
    refused = Producer(x, versioned, device_type=memory)
    with pytest.raises(TypeError):  # another dtype
        views.matrix(refused)
    assert refused.ended == 1


def test_memory_lives_as_long_as_the_view(views):
    a = gpuarray.zeros(3, np.float64)
    gone = weakref.ref(a)
    views.keep(a)
    del a
    gc.collect()
    assert gone() is not None
    views.drop_on_a_thread()
    assert gone() is None


def test_a_view_is_returned_as_the_array(views):
    a = gpuarray.zeros(3, np.float64)
    assert views.returned(a) is a


def test_overloads(views):
    assert views.overloaded(1, gpuarray.empty(3, np.float64)) == "float64"
    assert views.overloaded(1, gpuarray.empty(3, np.float32)) == "float32"
    assert views.overloaded(1, 2) == "number"
    with pytest.raises(TypeError, match="float32"):
        views.overloaded(1, gpuarray.empty(3, np.int32))


def test_messages_of_pybind11_name_argument_and_type(views):
    with pytest.raises(TypeError, match=r"a: PyGPU\.View\[float64, ndim=1, writable\]"):
        views.fill(gpuarray.zeros((2, 2), np.float64), 1)
    with pytest.raises(TypeError, match=r"a: PyGPU\.View\[float32, ndim=2, order='C'\]"):
        views.matrix(gpuarray.zeros((2, 3), np.float32).T)
    assert views.columns(gpuarray.zeros((2, 3), np.float32).T) == 6


def device_array():
    return gpuarray.to_gpu(X)


X = np.arange(6.0).reshape(2, 3)
REFUSED = [
    (lambda: gpuarray.zeros((2, 3), np.float32), "GPUArray; its dtype is float32"),
    (lambda: gpuarray.zeros(6, np.float64), "it has 1 axes"),
    (lambda: Interface(X, data=(4096, True)), "it is read-only"),
    (lambda: Producer(device_array(), flags=1, device_type=CUDA), "it is read-only"),
    (lambda: X, "numpy.ndarray; it is in the memory of the CPU"),
    (lambda: Producer(device_array(), device_type=VULKAN), "its memory is of DLPack's kind 7"),
    (lambda: Interface(X.astype(">f8")), "'>f8' is not in the machine's byte order"),
    (lambda: Interface(X, mask=X), "it has a mask"),
    (lambda: [[1.0]], "got list; it has neither __cuda_array_interface__ nor __dlpack__"),
    (lambda: None, "got NoneType; it is no array"),
    (lambda: gpuarray.GPUArray, "it is no array"),
]


@pytest.mark.parametrize("case", REFUSED, ids=[reason for _, reason in REFUSED])
def test_view_of_names_argument_expectation_and_reason(views, case):
    make, reason = case
    with pytest.raises(TypeError) as refused:
        views.checked(make())
    text = str(refused.value)
    assert text.startswith("grid: expected a writable device array of float64 with 2 axes, got ")
    assert reason in text


def test_view_of_checks_order_and_strides(views):
    a = gpuarray.zeros((2, 3), np.float64)
    views.checked_order(a)
    views.checked_order(Interface(X, data=(4096, True)))  # const elements
    with pytest.raises(TypeError, match=r"contiguous in C order, got .*; its elements are in ano"):
        views.checked_order(a.T)
    field = np.zeros(3, [("a", "f8"), ("b", "i4")])["a"]
    with pytest.raises(TypeError, match="its stride of 12 bytes is no multiple of its item size"):
        views.checked_order(Interface(field))


def test_errors_of_the_array_itself_are_its_own(views):
    class Broken:
        @property
        def __cuda_array_interface__(self):
            raise ZeroDivisionError("broken")

    with pytest.raises(ZeroDivisionError, match="broken"):
        views.facts(Broken())


MEMORY = {"CUDA": CUDA, "HIP": ROCM, "HOST": 1}
FOR_HIP = """
#include <PyGPU/view.h>
PYBIND11_MODULE(for_hip, m) {
  m.def("device", [](pybind11::object a) { return PyGPU::view_of<PyGPU::View<double>>(a).device; });
}
"""


@pytest.mark.parametrize("target", MEMORY)
def test_each_target_has_its_memory(target, tmp_path):
    source = tmp_path / "kinds.cpp"
    tests = [
        f"static_assert({'' if other == target else '!'}PyGPU::library::is_target_memory({kind}));"
        for other, kind in MEMORY.items()
    ]
    source.write_text("\n".join(["#include <PyGPU/vendor/memory_kinds.h>", *tests, ""]))
    words = [needs.program("g++"), "-std=c++17", f"-DPYGPU_TARGET_{target}"]
    subprocess.run([*words, "-fsyntax-only", "-I", PyGPU.get_include(), str(source)], check=True)


@pytest.mark.campaign
def test_the_target_of_the_module_decides_about_memory(tmp_path):
    source = tmp_path / "for_hip.cpp"
    source.write_text(FOR_HIP)
    for_hip = build(tmp_path, source, "-DPYGPU_TARGET_HIP")
    tensor = Interface(X)
    tensor.__dlpack__ = None
    tensor.__dlpack_device__ = lambda: (ROCM, 3)
    assert for_hip.device(tensor) == 3
    tensor.__dlpack_device__ = lambda: (CUDA, 3)
    with pytest.raises(TypeError, match="it is not in the memory of a ROCm device"):
        for_hip.device(tensor)


def test_dlpack_where_the_interface_fails(views):
    """A tensor of bfloat16 or one that needs gradients has no CUDA array interface."""

    class Tensor(Producer):
        error = KeyError

        @property
        def __cuda_array_interface__(self):
            raise self.error("no typestr")

    x = device_array()
    assert views.facts(Tensor(x, device_type=CUDA))[0] == x.ptr
    interrupted = Tensor(x, device_type=CUDA)
    interrupted.error = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        views.facts(interrupted)


def test_pointers(views):
    p = PyGPU.pointer_wrapper_float64(4096)
    assert views.address(p) == 4096
    assert views.address_f32(PyGPU.pointer_wrapper_float32(64)) == 64
    for wrong in (PyGPU.pointer_wrapper_float32(64), 4096, None, gpuarray.zeros(3, np.float64)):
        with pytest.raises(TypeError, match=r"PyGPU\.pointer_wrapper_float64"):
            views.address(wrong)
