"""The value of a vector of short integers or bools, which kernels of reductions find before they
add it to others (text/folding.py): every byte in every place of a word, beside NumPy."""

import kernel_sources
import numpy as np
import pytest
from campaign import rare_but
from everywhere import COMPILERS, build, require

from PyGPU import gpuarray
from PyGPU._kernels.text.common import Element, vector_of
from PyGPU._kernels.text.folding import ReductionKey, accumulator, folds_vectors
from PyGPU._kernels.text.reduction import source
from PyGPU.compiler import SourceModule
from PyGPU.gpuarray import to_gpu

SUMS = [("sum", code, result) for code in "?bBhH" for result in ("i8", "u8", "f8", "f4", "i4")]
ASKED = [(name, code, "?") for name in ("any", "all", "max", "prod") for code in "?bB"]


def values(form):
    """A kernel that writes the value of each vector."""
    vector = vector_of(Element(form.inputs[0]), form.vector_width)
    return SourceModule(
        f"""{source(form)}
extern "C" __global__ void values(const {vector} *x, A *out, int n) {{
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = P_of_vector(x[i]);
}}""",
        no_extern_c=True,
    ).get_function("values")


WIDTHS = [2, 4, 8, 16]
USUAL = [(*form, width) for form, width in zip(SUMS[::3] + ASKED[::2], WIDTHS * 4)]
CASES = [(*form, width) for form in SUMS + ASKED for width in WIDTHS]


@pytest.mark.parametrize(("operation", "code", "result", "width"), rare_but(USUAL, CASES))
def test_value_of_a_vector(operation, code, result, width):
    form = ReductionKey(operation, (np.dtype(code),), (), np.dtype(result), width)
    assert folds_vectors(form)
    rng = np.random.default_rng(width)
    raw = rng.integers(0, 256, (600, width * np.dtype(code).itemsize), np.uint8)
    raw[:100] = rng.integers(0, 2, raw[:100].shape)
    raw[100], raw[101], raw[102], raw[103] = 0, 255, 128, 127
    ones = np.tile(np.uint8([1, 0]), raw.shape[1])[: raw.shape[1]]
    raw[104], raw[105] = ones, ones[::-1]
    for byte in range(raw.shape[1]):  # a single zero, a single one, in each place
        raw[110 + 2 * byte], raw[111 + 2 * byte] = 255, 0
        raw[110 + 2 * byte, byte], raw[111 + 2 * byte, byte] = 0, 1
    x = raw.view(code if code != "?" else np.uint8)
    out = gpuarray.empty(len(x), accumulator(form))
    values(form)(to_gpu(raw), out, np.int32(len(x)), block=(64, 1, 1), grid=(-(-len(x) // 64), 1))
    x = x != 0 if code == "?" or result == "?" else x
    expected = getattr(x, operation)(axis=1) if result == "?" else x.sum(1, dtype=result)
    np.testing.assert_array_equal(out.get(), expected.astype(out.dtype))


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS[1:3], ids=lambda value: value)
@pytest.mark.parametrize(("operation", "code", "result"), SUMS[::4] + ASKED[::2])
@pytest.mark.parametrize(
    "axes",
    [
        {},
        {"output_axes": 1, "reduced_axes": 1},
        {"output_axes": 2, "reduced_axes": 1, "outputs": 4},
    ],
)
def test_compiles(operation, code, result, axes, prefix, backend, arch):
    require(prefix)
    form = ReductionKey(operation, (np.dtype(code),), (), np.dtype(result), 16, **axes)
    entry = build(kernel_sources.Text(source(form), extern_c=False), backend, arch)
    assert entry.log == "", "kernels compile without warnings"
