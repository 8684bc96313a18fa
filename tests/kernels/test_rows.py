"""Loops over rows of any length: in the middle of others, with steps, turned round, repeated. On
`host` they are different parts of a kernel: PyGPU/_kernels/text/runs.py."""

from itertools import product

import numpy as np
import pytest
from campaign import each_once

from PyGPU.gpuarray import to_gpu

WIDTHS = (1, 3, 8, 31, 32, 64, 65, 255, 257, 513, 2049, 9001)
VIEWS = {
    "whole": lambda a: a,
    "between others": lambda a: a[:, 4:-4],
    "every second": lambda a: a[:, ::2],
    "turned round": lambda a: a[::-1, ::-1],
    "columns": lambda a: a.T,
    "one column": lambda a: a[:, :1],
    "one row": lambda a: a[1],
    "three axes": lambda a: a.reshape(2, -1, a.shape[1])[:, ::2, 1:],
}


def numbers(shape, dtype, seed=1):
    x = np.random.default_rng(seed).uniform(-5, 5, (*shape, 2))
    return (x[..., 0] + 1j * x[..., 1] if dtype == "c16" else 20 * x[..., 0]).astype(dtype)


OPERATIONS = ["row * number", "row + array", "array - row"]
DTYPES = ["i1", "f2", "f4", "f8", "c16"]


@pytest.mark.parametrize(
    ("layout", "operation", "dtype"), each_once(VIEWS, list(product(OPERATIONS, DTYPES)))
)
def test_every_width(layout, operation, dtype):
    for width in WIDTHS:
        x, factor = numbers((6, width + 8), dtype), numbers((1,), dtype, 2)[0]
        host, device = VIEWS[layout](x), VIEWS[layout](to_gpu(x))
        y = numbers(host.shape, dtype, 3)
        if operation == "row * number":
            tolerance = 4e-15 if dtype == "c16" else 0  # NumPy fuses
            np.testing.assert_allclose((device * factor).get(), host * factor, tolerance)
        elif operation == "row + array":
            np.testing.assert_array_equal((device + to_gpu(y)).get(), host + y)
        else:
            np.testing.assert_array_equal((to_gpu(y) - device).get(), y - host)


@pytest.mark.parametrize(("layout", "dtype"), each_once(VIEWS, ["f2", "f4", "f8", "c16"]))
def test_a_function_of_every_width(layout, dtype):
    for width in WIDTHS:
        x = numbers((6, width + 8), dtype)
        host, device = VIEWS[layout](x), VIEWS[layout](to_gpu(x))
        tolerance = 8 * np.finfo(dtype).eps
        np.testing.assert_allclose(np.sin(device).get(), np.sin(host), tolerance)


@pytest.mark.parametrize("name", ["negative", "tanh"])
@pytest.mark.parametrize("layout", [name for name in VIEWS if not name.startswith("one")])
def test_results_into_rows(layout, name):
    """Nothing between them is touched; the result may be the operand."""
    for width in WIDTHS:
        x, function = numbers((6, width + 8), "f4"), getattr(np, name)
        operand, around = to_gpu(x), to_gpu(np.full_like(x, 7))
        expected, inside = np.full_like(x, 7), VIEWS[layout](x)
        VIEWS[layout](expected)[...] = function(to_gpu(inside)).get()
        function(VIEWS[layout](operand), out=VIEWS[layout](around))
        np.testing.assert_array_equal(around.get(), expected)
        function(VIEWS[layout](operand), out=VIEWS[layout](operand))
        VIEWS[layout](x)[...] = VIEWS[layout](expected)
        np.testing.assert_array_equal(operand.get(), x)


def test_rows_of_several_operands():
    x = [numbers((40, 700), dtype, seed) for seed, dtype in enumerate(("f4", "f8", "i1"))]
    a, b, c = (to_gpu(one) for one in x)
    got = np.logaddexp(a[:, 1:-1], b[:1, ::-1][:, 2:]) * c[:, :1]
    expected = np.logaddexp(x[0][:, 1:-1], x[1][:1, ::-1][:, 2:]) * x[2][:, :1]
    np.testing.assert_allclose(got.get(), expected, 1e-14)
