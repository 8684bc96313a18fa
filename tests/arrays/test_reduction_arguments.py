"""Reductions: streams, allocators, devices, and what they say to arguments that are wrong."""

import numpy as np
import pytest
from reduction_tools import assert_close, numbers

import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU._arrays import reductions as gpu
from PyGPU.errors import LogicError
from PyGPU.gpuarray import GPUArray, to_gpu, zeros

FUNCTIONS = ["sum", "prod", "mean", "min", "max", "any", "all"]


@pytest.mark.parametrize("flags", [0, 1])
def test_streams(flags):
    stream = drv.Stream(flags)
    x = numbers((500, 300), "i4")
    a = to_gpu(x)
    for _ in range(20):
        results = [
            gpu.sum(a, stream=stream),
            gpu.sum(a, stream=stream, axis=0),
            gpu.sum(a[::2, ::-1], stream=stream, axis=1),
            gpu.dot(a, a.T.copy().T, stream=stream),
        ]
        stream.synchronize()
        expected = [
            x.sum(dtype="i4"),
            x.sum(axis=0, dtype="i4"),
            x[::2, ::-1].sum(axis=1, dtype="i4"),
            (x * x).sum(dtype="i4"),
        ]
        for result, answer in zip(results, expected):
            assert_close(result.get(), answer)
    assert gpu.sum(a, stream=int(stream)).get() == expected[0]
    with pytest.raises(TypeError):
        gpu.sum(a, stream="x")


def test_allocators():
    asked = []

    def allocate(nbytes):
        asked.append(nbytes)
        return zeros(nbytes, "u1").gpudata

    x = numbers((4, 8), "f4")
    for allocator, a in ((allocate, to_gpu(x)), (None, to_gpu(x, allocator=allocate))):
        for call, nbytes in (
            (lambda a, kw: gpu.sum(a, **kw), 4),
            (lambda a, kw: gpu.sum(a, axis=0, **kw), 32),
            (lambda a, kw: gpu.any(a[:, ::2], **kw), 1),
            (lambda a, kw: gpu.dot(a, a, **kw), 4),
        ):
            asked.clear()
            result = call(a, {"allocator": allocator})
            assert asked == [nbytes]
            assert result.allocator is allocate


def test_positional_arguments_are_pycudas():
    x = numbers(100, "f4")
    a, stream = to_gpu(x), drv.Stream()
    assert gpu.sum(a, np.float64, stream, None).dtype == np.float64
    assert_close(gpu.max(a, stream).get(), x.max())
    assert gpu.any(a, stream, None).get()
    assert gpu.dot(a, a, np.float64, stream, None).dtype == np.float64


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("value", [np.ones(3), 1.0, None, [1, 2]])
def test_what_is_no_array(name, value):
    with pytest.raises(TypeError, match="expected a GPUArray"):
        getattr(gpu, name)(value)


def test_what_is_no_array_of_two():
    a = zeros(3)
    for pair in ((a, np.ones(3)), (2, a)):
        with pytest.raises(TypeError, match=r"[ab]: expected a GPUArray"):
            gpu.dot(*pair)
        with pytest.raises(TypeError, match=r"subset: expected a GPUArray|a: expected a GPUArray"):
            gpuarray.subset_sum(*pair[::-1] if pair[0] is a else pair)


@pytest.mark.parametrize("dtype", ["S3", "M8[s]", ">f4", "g", [("weight", "f4")], "V0", []])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_types_without_arithmetic(name, dtype):
    if np.dtype(dtype) == np.dtype("f8"):
        pytest.skip("long double is double here")
    a = GPUArray(5, dtype)
    with pytest.raises(ValueError, match="unable to map dtype"):
        getattr(gpu, name)(a)
    with pytest.raises(ValueError, match="unable to map dtype"):
        gpu.sum(zeros(3), dtype=dtype)


@pytest.mark.parametrize("code", ["F", "D"])
def test_complex_numbers_have_no_order(code):
    for function in (gpu.min, gpu.max):
        with pytest.raises(TypeError, match="complex"):
            function(zeros(3, code))
    with pytest.raises(TypeError, match="complex"):
        gpuarray.subset_max(zeros(1, "u4"), zeros(3, code))


def test_sizes_that_differ():
    with pytest.raises(ValueError, match=r"sizes differ: shapes \(3,\) and \(2, 2\)"):
        gpu.dot(zeros(3), zeros((2, 2)))
    with pytest.raises(NotImplementedError):  # PyCUDA's class for shapes
        gpu.dot(zeros(3), zeros(4))
    with pytest.raises(ValueError, match="sizes differ"):
        gpuarray.subset_dot(zeros(1, "u4"), zeros(3), zeros(4))


def test_subsets_that_are_wrong():
    with pytest.raises(TypeError, match="subset: expected an integer dtype, got float64"):
        gpuarray.subset_sum(zeros(3), zeros(3))
    with pytest.raises(ValueError, match="subset has no elements"):
        gpuarray.subset_min(zeros(0, "u4"), zeros(3))


def test_an_array_on_another_device(two_devices):
    two_devices("""
import numpy as np
import PyGPU.driver as drv
from PyGPU.gpuarray import sum, to_gpu
drv.Device(1).make_context()
a = to_gpu(np.arange(5000))
drv.Context.pop()
assert sum(a).get() == 5000 * 4999 // 2
assert drv.Context.get_current() is None
""")


def test_results_that_are_not_aligned():
    memory = zeros(64, "u1")
    a = to_gpu(numbers((4, 8), "f4"))
    for shape, axis in (((), None), ((8,), 0)):
        out = GPUArray(shape, "f4", base=memory, gpudata=memory.ptr + 1)
        with pytest.raises(ValueError, match="aligned"):
            gpu.sum(a, axis=axis, out=out)


def test_subsets_of_memory_that_was_freed():
    a, subset = to_gpu(numbers(64, "f4")), to_gpu(np.arange(3))
    a.gpudata.free()
    with pytest.raises(LogicError):
        gpuarray.subset_sum(subset, a)
    with pytest.raises(LogicError):
        gpuarray.subset_sum(a.view("i4"), to_gpu(numbers(64, "f4")))
