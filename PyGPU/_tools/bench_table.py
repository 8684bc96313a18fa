"""Table of the benchmarked operations, one per line: an expression valid in all libraries.

The expressions use the names of `bench_libraries.py` and of the libraries' modules; `n` is the
number of elements, `dtype` their type. A line also has the expressions of libraries with another
spelling, or None for a library that lacks the operation. The memory traffic of a line is the
minimum that the operation needs: `arrays` times n elements of the dtype, plus `extra` times n
bytes. Results are allocated by each library's own memory pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

Text = Union[str, None]
SAME = "the line's text"


class Work(NamedTuple):
    """A line of the table."""

    text: str
    arrays: float
    dtypes: str = "float32"
    extra: float = 0
    PyGPU: Text = SAME
    CuPy: Text = SAME
    torch: Text = SAME
    check: str = "values"  # that agree with NumPy's; "moments" of random numbers; "shape"
    sizes: str = "big small"

    def of(self, library: str) -> Text:
        """Return the text for a library, or None."""
        own: Text = self.text if library == "NumPy" else getattr(self, library)
        return self.text if own == SAME else own


class Row(NamedTuple):
    """One measurement: a line with a dtype and a size."""

    group: str
    name: str
    work: Work
    dtype: str
    kind: str  # "big", "small" or "transfer"
    n: int
    direction: str = ""  # of a transfer: "up" or "down"
    own: bool = True  # the line lists the dtype itself

    @property
    def nbytes(self) -> float:
        """Minimum memory traffic in bytes."""
        return self.n * (self.work.arrays * np.dtype(self.dtype).itemsize + self.work.extra)

    @property
    def unit(self) -> str:
        """Unit of the speed: "GB/s" or "us"."""
        is_small = self.kind == "small" or (self.kind == "transfer" and self.n < 1 << 20)
        return "us" if is_small else "GB/s"


#: All dtypes, in the order of the measurements.
DTYPES = (
    *("float32", "float64", "float16", "int32", "int64", "int8", "uint8", "complex64", "bool"),
    *("int16", "uint16", "uint32", "uint64", "complex128"),
)
_ALL = "float32 float64 float16 int32 int64 int8 complex64"
_REAL = "float32 float64"
_OF_TORCH = "dtype=dtype, device=device"


#: {array: elements of each sum along the axes 0 and 1}; 0 means many.
_SUMMED = {"tall": (0, 4), "high": (0, 256), "square": (0, 0), "low": (256, 0), "wide": (4, 0)}


def _sums(dtypes: str) -> list[Work]:
    return [
        Work(f"{array}.sum(axis={axis})", 1 + (1 / count if count else 0), dtypes)
        for array, counts in _SUMMED.items()
        for axis, count in enumerate(counts)
    ]


def _spelled(text: str, arrays: float, ours: str, cupy: str, torch: str, **options: Any) -> Work:
    """Return a line that each library spells in its own way."""
    return Work(text, arrays, PyGPU=ours, CuPy=cupy, torch=torch, **options)


def _conversion(dtype: str, dtypes: str = "float32") -> Work:
    """Return a conversion, which in torch copies arrays of the same dtype as well."""
    torch = f"a.to({dtype}, copy=True)"
    return Work(f"a.astype({dtype})", 1, dtypes, np.dtype(dtype).itemsize, torch=torch)


def _permuted(i: int, j: int, k: int) -> Work:
    target, axes = f"cube_{i}{j}{k}", f"{i}, {j}, {k}"
    torch = f"{target}[...] = cube.permute({axes})"
    return Work(f"{target}[...] = cube.transpose(({axes}))", 2, torch=torch)


WORKS = {
    "arithmetic": [
        Work("a + b", 3, _ALL),
        Work("a - b", 3),
        Work("a * b", 3, "float32 complex64"),
        Work("a / b", 3, _REAL),
        Work("a * 2", 2, "float32 float64 float16 int32 complex64"),
        Work("2 * a + b", 3),
        Work("a ** 2", 2, _REAL),
        Work("a ** 3", 2),
        Work("a ** 0.5", 2),
        Work("-a", 2, "float32 int32"),
        Work("abs(a)", 2, "float32 int32"),
        Work("abs(a)", 1, "complex64", extra=4),
        Work("iadd(c, b)", 3, _REAL),
        Work("imul(c, 1)", 2),
        Work("a // b", 3, "float32 int32"),
        Work("a % b", 3, "float32 int32"),
        Work("divmod(a, b)", 4, torch="(a // b, a % b)"),
        Work("square + row", 2),
        Work("square + column", 2),
        _spelled(
            *("2 * a + b", 3, "axpy(2.0, a, b, out)", "axpy(2.0, a, b, out)"),
            "add(b, a, alpha=2.0, out=out)",
            dtypes=_REAL,
        ),
    ],
    "mathematics": [
        Work("sqrt(a)", 2, _REAL),
        Work("exp(a)", 2, "float32 float64 float16 complex64"),
        Work("log(a)", 2, "float32 float64 complex64"),
        Work("log1p(a)", 2),
        Work("sin(a)", 2, "float32 float64 float16"),
        Work("cos(a)", 2),
        Work("tan(a)", 2),
        Work("tanh(a)", 2),
        Work("arctan2(a, b)", 3),
        Work("hypot(a, b)", 3),
        Work("power(a, b)", 3, _REAL, torch="pow(a, b)"),
        Work("maximum(a, b)", 3, "float32 int32"),
        Work("floor(a)", 2),
        Work("rint(a)", 2, torch="round(a)"),
    ],
    "comparisons, logic and bits": [
        Work("a > 0.9", 1, extra=1),
        Work("greater(a, b)", 2, extra=1),
        Work("equal(a, b)", 2, "int32", extra=1, torch="eq(a, b)"),
        Work("isnan(a)", 1, extra=1),
        Work("logical_and(m, on)", 3, "bool"),
        Work("where(m, a, b)", 3, "float32 float64 int8", extra=1),
        Work("a.clip(0.9, 1.1)", 2),
        Work("a & b", 3, "int32 int8"),
        Work("a ^ b", 3, "int32"),
        Work("a << 2", 2, "int32"),
        Work("~a", 2, "int32"),
    ],
    "reductions": [
        Work("a.sum()", 1, "float32 float64 float16 int32 complex64"),
        Work("a.max()", 1, "float32 int32"),
        Work("a.min()", 1),
        Work("a.mean()", 1),
        Work("a.prod()", 1),
        Work("dot(a, b)", 2, _REAL),
        Work("off.any()", 1, "bool"),
        Work("on.all()", 1, "bool"),
        Work("sum(m, dtype=int64)", 1, "bool"),
    ],
    "reductions by axis": [
        *_sums(_REAL),
        Work("square.max(axis=0)", 1, torch="square.amax(0)"),
        Work("square.max(axis=1)", 1, torch="square.amax(1)"),
    ],
    "statistics": [
        Work("argmax(a)", 1, "float32 float64 int32 int8"),
        Work("argmin(a)", 1),
        *(
            Work(f"argmax({array}, axis={axis})", 1)
            for array in ("square", "tall", "wide")
            for axis in (0, 1)
        ),
        Work("var(a)", 1, "float32 float64", torch="var(a, correction=0)"),
        Work("std(a)", 1, torch="std(a, correction=0)"),
        *(
            Work(f"var({array}, axis={axis})", 1, torch=f"var({array}, {axis}, correction=0)")
            for array in ("square", "tall", "wide")
            for axis in (0, 1)
        ),
        Work("ptp(a)", 1, torch="a.max() - a.min()"),
        Work("count_nonzero(a)", 1),
        Work("histogram(a, 100)[0]", 1, torch=None),
    ],
    "rearranging": [
        Work("flip(a, 0)", 2, torch="flip(a, (0,))"),
        Work("roll(a, 7)", 2),
        Work("diff(a)", 2),
        Work("tile(a, 2)", 3),
        Work("repeat(a, 2)", 3, torch="repeat_interleave(a, 2)"),
        Work("nan_to_num(a)", 2),
    ],
    "scans": [
        _spelled(
            *("cumsum(a, dtype=dtype, out=out)", 2, "scan(a, out)", SAME),
            "cumsum(a, 0, dtype=dtype, out=out)",
            dtypes="float32 float64 int32",
        ),
        *(
            Work(f"cumsum({array}, axis={axis})", 2)
            for array in ("square", "tall", "wide", "low")
            for axis in (0, 1)
        ),
    ],
    "transposed and strided": [
        Work("turned[...] = square.T", 2, "float32 float64 float16 int8"),
        _permuted(1, 0, 2),
        _permuted(0, 2, 1),
        _permuted(2, 1, 0),
        _permuted(1, 2, 0),
        Work("square + square.T", 3),
        Work("a[::2].copy()", 1, _REAL, torch="a[::2].clone()"),
        Work("c[::2] = b[::2]", 1),
        Work("a[::2] + b[::2]", 1.5),
        Work("a[::-1].copy()", 2, torch="flip(a, (0,))"),
        Work("square[1:-1, 1:-1].copy()", 2, torch="square[1:-1, 1:-1].clone()"),
        Work("square[:, ::2].copy()", 1, torch="square[:, ::2].clone()"),
        Work("square[::2].sum(axis=1)", 0.5),
    ],
    "conversions": [
        *map(_conversion, ("float64", "float16", "int32", "int8", "complex64")),
        _conversion("float32", "float64 float16 int32 int8"),
    ],
    "masks": [
        Work("a[m]", 1.5, _REAL, extra=1),
        Work("c[m] = 0.5", 0.5, extra=1),
        Work("c[m] = a[m]", 2, extra=2),
    ],
    "indexing": [
        Work("take(a, i)", 2, _REAL, extra=8),
        Work("take(a, i, mode='clip')", 2, extra=8, CuPy="take(a, i)", torch=None),
        Work("a[i]", 2, extra=8),
        Work("high[r]", 2, _REAL),
        Work("c[i] = b", 2, extra=8),
    ],
    "joining": [
        Work("concatenate((a, b))", 4, "float32 int8"),
        Work("concatenate((square, square), 1)", 4),
        Work("stack((a, b))", 4),
        Work("stack((a, b), 1)", 4),
    ],
    "filling and copying": [
        Work("c.fill(2)", 1, "float32 int8", torch="c.fill_(2)"),
        Work("zeros(n, dtype)", 1, torch=f"zeros(n, {_OF_TORCH})"),
        Work("full(n, 2, dtype)", 1, torch=f"full((n,), 2, {_OF_TORCH})"),
        Work("arange(n, dtype=dtype)", 1, "float32 int32", torch=f"arange(n, {_OF_TORCH})"),
        Work("linspace(0, 1, n, dtype=dtype)", 1, torch=f"linspace(0, 1, n, {_OF_TORCH})"),
        Work("a.copy()", 2, "float32 int8 complex64", torch="a.clone()"),
        Work("c[...] = a", 2),
    ],
    "random numbers": [
        _spelled(
            *("generator.random(n, dtype)", 1, "rand(n, dtype)", "random.random(n, dtype)"),
            f"rand(n, {_OF_TORCH})",
            dtypes=_REAL,
            check="moments",
        ),
        _spelled(
            *("generator.standard_normal(n, dtype)", 1, "generator.gen_normal(n, dtype)"),
            *("random.standard_normal(n, dtype)", f"randn(n, {_OF_TORCH})"),
            dtypes=_REAL,
            check="moments",
        ),
    ],
    "objects": [
        Work("empty(n, dtype)", 0, torch=f"empty(n, {_OF_TORCH})", check="shape", sizes="small"),
        Work("a[10:500]", 0, sizes="small"),
        Work("a.reshape(-1, 32)", 0, sizes="small"),
        Work("a.view(int32)", 0, sizes="small"),
        Work("square.T", 0, sizes="small"),
    ],
}

_TRANSFERS = {
    "up": [
        _spelled("d[...] = h", 1, "to_gpu(h)", "asarray(h)", "from_numpy(h).to(device)"),
        # An asynchronous copy; the measurement waits for it.
        _spelled(
            *("d[...] = pinned", 1, "d.set_async(pinned)", "d.set(pinned)"),
            "d.copy_(from_numpy(pinned), non_blocking=True)",
        ),
        *(
            _spelled(f"d[...] = {h}", 1, call, f"wait(d.set({h}))", f"d.copy_(from_numpy({h}))")
            for call, h in (
                ("d.set(pinned)", "pinned"),
                ("d.set(h)", "h"),
                ("memcpy_htod(d.gpudata, h)", "h"),
                ("cudaMemcpy(d.gpudata, h, n)", "h"),
            )
        ),
    ],
    "down": [
        _spelled("d.copy()", 1, "d.get()", "d.get()", "d.cpu().numpy()"),
        *(
            _spelled(f"{g}[...] = d", 1, call, f"d.get(out={g})", f"from_numpy({g}).copy_(d)")
            for call, g in (
                ("d.get(g)", "g"),
                ("d.get(pinned)", "pinned"),
                ("memcpy_dtoh(g, d.gpudata)", "g"),
                ("cudaMemcpy(g, d.gpudata, n)", "g"),
            )
        ),
    ],
}
_SIZES = (4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20)


def rows(n: int, small: int, dtypes: Sequence[str] = ()) -> Iterator[Row]:
    """Yield all rows of a run.

    Without `dtypes`, they are every line in each of its dtypes at `n` elements, every line in its
    first dtype at `small` elements, and transfers of up to 4 n bytes. With `dtypes`, they are every
    line in these dtypes at both sizes, without transfers.
    """
    for kind, size in (("big", n), ("small", small)):
        for dtype in dtypes or DTYPES:
            for group, works in WORKS.items():
                for work in works:
                    own = work.dtypes.split()
                    wanted = dtypes or (own if kind == "big" else own[:1])
                    if kind in work.sizes and dtype in wanted:
                        name = work.of("PyGPU") or work.text
                        yield Row(group, name, work, dtype, kind, size, own=dtype in own)
    for size in [size for size in _SIZES if size <= 4 * n and not dtypes]:
        words = f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB"
        for direction, works in _TRANSFERS.items():
            for work in works:
                name = f"{work.of('PyGPU')}, {words}"
                yield Row("transfers", name, work, "uint8", "transfer", size, direction)
