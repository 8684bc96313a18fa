"""Mathematical functions and rows of arrays on the host machine, beside NumPy's, on one core.

Run: PYGPU_TARGET=host taskset -c 1 python benchmarks/host_functions.py [--json FILE]. Nanoseconds
an element, results written into arrays that exist, of 2**21 elements, or rows of 2,046 of 2,048.
"""

from functools import partial

import numpy as np
from timing import median_seconds, report

import PyGPU
from PyGPU.gpuarray import empty, to_gpu

OF_ONE = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin")
OF_ONE += ("arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "cbrt")
OF_TWO = ("power", "arctan2", "hypot", "logaddexp")
ROWS = {
    "a[1:-1, 1:-1] + b[2:, 2:]": lambda a, b, out: np.add(
        a[1:-1, 1:-1], b[2:, 2:], out=out[1:-1, 1:-1]
    ),
    "a[:, ::2] * 2": lambda a, b, out: np.multiply(a[:, ::2], 2, out=out[:, ::2]),
    "a + b[:, :1]": lambda a, b, out: np.add(a, b[:, :1], out=out),
    "sin(a[1:-1, 1:-1])": lambda a, b, out: np.sin(a[1:-1, 1:-1], out=out[1:-1, 1:-1]),
    "exp(a[:, ::2])": lambda a, b, out: np.exp(a[:, ::2], out=out[:, ::2]),
}


def function(name, count, a, b, out):
    getattr(np, name)(*(a, b)[:count], out=out)


def calls():
    """(name, function of two arrays and the result)"""
    yield from ((f"{name}(a)", partial(function, name, 1)) for name in OF_ONE)
    yield from ((f"{name}(a, b)", partial(function, name, 2)) for name in OF_TWO)
    yield from ROWS.items()


def main():
    rng, rows = np.random.default_rng(0), {}
    for dtype in (np.float16, np.float32, np.float64):
        inside = rng.uniform(0.1, 0.9, (1024, 2048)).astype(dtype)
        other = rng.uniform(0.5, 2, inside.shape).astype(dtype)
        for name, call in calls():
            host = (inside + (name == "arccosh(a)"), other, np.empty_like(inside))
            device = (to_gpu(host[0]), to_gpu(other), empty(inside.shape, dtype))
            rows[f"{name}, {inside.dtype}"] = {
                "PyGPU": median_seconds(lambda on=device, f=call: f(*on), 9) / inside.size * 1e9,
                "NumPy": median_seconds(lambda on=host, f=call: f(*on), 9) / inside.size * 1e9,
            }
    report("Functions and rows", "ns", rows, PyGPU.cudaDeviceProp(0).name())


if __name__ == "__main__":
    main()
