"""PyCUDA's two stages of a reduction, made and launched one by one."""

import numpy as np
import pytest
from campaign import rare_but

from PyGPU import gpuarray
from PyGPU.reduction import (
    ReductionKernel,
    get_reduction_kernel_and_types,
    get_reduction_module,
)
from PyGPU.tools import dtype_to_ctype


@pytest.mark.parametrize("block_size", rare_but([1, 96], [1, 96, 128, 512]))
@pytest.mark.parametrize("dtype", ["f4", "c16", "i8"])
def test_both_stages(block_size, dtype):
    ctype, dtype = dtype_to_ctype(np.dtype(dtype)), np.dtype(dtype)
    settings = {"block_size": block_size, "neutral": "0", "reduce_expr": "a + b"}
    first, types = get_reduction_kernel_and_types(
        1, ctype, map_expr="x[i] * y[i]", arguments=f"const {ctype} *x, {ctype} *y", **settings
    )
    assert types == ["P", "P"]
    last, types = get_reduction_kernel_and_types(2, ctype, **settings)
    assert types == ["P"]
    n, seq_count, shared = 10_000, 7, block_size * dtype.itemsize
    x, y = ((np.arange(n) % size - 2).astype(dtype) for size in (5, 11))
    blocks = -(-n // (block_size * seq_count))
    parts, out = gpuarray.zeros(blocks, dtype), gpuarray.zeros((), dtype)
    arguments = (parts.gpudata, gpuarray.to_gpu(x), gpuarray.to_gpu(y), seq_count, n)
    first.prepared_call((blocks, 1), (block_size, 1, 1), *arguments, shared_size=shared)
    seq_count = -(-blocks // block_size)
    arguments = (out, parts, seq_count, blocks)
    last.prepared_call((1, 1), (block_size, 1, 1), *arguments, shared_size=shared)
    assert out.get() == np.dot(x, y)


def test_the_stages_of_a_kernel():
    kernel = ReductionKernel(
        np.float32,
        "0",
        "a + b",
        "x[i] * f * TWICE",
        "const float *x, int f",
        "d",
        False,
        ["-DTWICE=2"],
    )
    assert (kernel.stage1_arg_types, kernel.stage2_arg_types) == (["P", "i"], ["P", "P", "i"])
    n, size = 5000, kernel.block_size
    x, parts, out = gpuarray.zeros(n, "f4") + 1, gpuarray.zeros(3, "f4"), gpuarray.zeros((), "f4")
    launch, shared = ((size, 1, 1), None), {"shared_size": 4 * size}
    seq_count = -(-n // (3 * size))
    kernel.stage1_func((3, 1), *launch, parts.gpudata, x.gpudata, 3, seq_count, n, **shared)
    kernel.stage2_func((1, 1), *launch, out.gpudata, parts.gpudata, x.gpudata, 3, 1, 3, **shared)
    assert out.get() == 6 * n == kernel(x, 3).get()
    kernel.stage1_arg_types = "mine"  # plain attributes in PyCUDA
    assert kernel.stage1_arg_types == "mine"


def test_a_module_with_a_preamble_and_a_name():
    module = get_reduction_module(
        "int",
        64,
        "-1000",
        "larger(a, b)",
        "in[i] + bonus",
        "const int *in, int bonus",
        name="largest",
        options=["-DKEEP=1"],
        preamble="__device__ int larger(int x, int y) { return x > y ? x : y; }",
    )
    out = gpuarray.zeros(1, np.int32)
    host = np.array([3, -5, 9, 2], np.int32)
    module.get_function("largest")(
        out, gpuarray.to_gpu(host), 100, 1, len(host), block=(64, 1, 1), shared=64 * 4
    )
    assert out.get()[0] == 109


def test_defaults_and_other_stages():
    kernel, types = get_reduction_kernel_and_types(
        1, "float", 32, "0", "a + b", arguments="const float *in, float factor"
    )
    assert kernel.name == "reduce_kernel" and types == ["P", "f"]
    with pytest.raises(AssertionError, match="stage=3"):
        get_reduction_kernel_and_types(3, "float", 32, "0", "a + b")


@pytest.mark.parametrize("name", ["i", "n", "out", "seq_count", "out_type", "P_total"])
def test_names_that_the_stages_use(name):
    with pytest.raises(ValueError, match=f"the name '{name}' is taken; expected distinct names"):
        get_reduction_module("float", 32, "0", "a + b", "x[i]", f"float *x, float {name}")
