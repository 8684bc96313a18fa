"""Kernel texts behind operators and functions, in the forms of every target."""

import kernel_sources
import numpy as np
import pytest
from campaign import each_with
from everywhere import COMPILERS, build, require

from PyGPU import gpuarray
from PyGPU._kernels.text import elementwise, fused
from PyGPU.compiler import SourceModule
from PyGPU.gpuarray import to_gpu

F4, F2, C8, I4, U1 = "float32", "float16", "complex64", "int32", "uint8"


def _types(*names):
    return tuple(map(np.dtype, names))


def _values(*texts_and_types):
    pairs = zip(texts_and_types[::2], _types(*texts_and_types[1::2]))
    return tuple([fused.Value(*one) for one in pairs])


LINEAR = {"ndim": 0, "index64": False, "vector_width": 4, "vectors": 2}
ONE_BY_ONE = {**LINEAR, "vector_width": 1}
STRIDED = {"ndim": 3, "index64": False, "vector_width": 1, "vectors": 4}
NOT_ALIGNED = {**STRIDED, "vector_width": 0}
SCALAR, ARRAYS = (False, True), (False, False)

# name: operation, operands in memory, computed as, results, which are values, form
FORMS = {
    "linear": ("add", (F4, F4), (F4, F4), (F4,), ARRAYS, LINEAR),
    "linear, index64": ("add", (F4, F4), (F4, F4), (F4,), ARRAYS, {**LINEAR, "index64": True}),
    "linear, not aligned": (
        "add",
        (F4, F4),
        (F4, F4),
        (F4,),
        ARRAYS,
        ONE_BY_ONE,
    ),
    "with a value": ("multiply", (F4, F4), (F4, F4), (F4,), SCALAR, LINEAR),
    "mixed": ("add", (U1, F4), (F4, F4), (F4,), ARRAYS, LINEAR),
    "half": ("add", (F2, F2), (F2, F2), (F2,), ARRAYS, {**LINEAR, "vector_width": 8}),
    "complex": ("power", (C8, C8), (C8, C8), (C8,), ARRAYS, {**LINEAR, "vector_width": 2}),
    "integers": ("floor_divide", (I4, I4), (I4, I4), (I4,), ARRAYS, LINEAR),
    "cast": ("copy", ("float64",), ("float64",), (F2,), (False,), {**LINEAR, "vector_width": 2}),
    "fill": ("copy", (F4,), (F4,), (F4,), (True,), LINEAR),
    "strided": ("subtract", (F4, F4), (F4, F4), (F4,), ARRAYS, STRIDED),
    "strided, index64": ("less", (F4, F4), (F4, F4), (F4,), ARRAYS, {**STRIDED, "index64": True}),
    "strided, not aligned": (
        "add",
        (C8, C8),
        (C8, C8),
        (C8,),
        ARRAYS,
        NOT_ALIGNED,
    ),
}
TILED = {"ndim": 3, "index64": False, "vector_width": 0, "vectors": 8}
SUBTRACT = "subtract", (F4, F4), (F4, F4), (F4,), ARRAYS
FORMS["transposed"] = (*SUBTRACT, {**TILED, "transposed": 2})
FORMS["both transposed"] = (
    "subtract",
    (F2, C8),
    (C8, C8),
    (C8,),
    ARRAYS,
    {**TILED, "transposed": 3},
)
SQUARES = {
    "squares of 2": ("subtract", (F4, F4), (F4, F4), (F4,), ARRAYS, 2, 2),
    "squares of 4": ("subtract", ("int8", F2), (F4, F4), (F2,), ARRAYS, 4, 1),
    "squares, both": ("subtract", (F2, C8), (C8, C8), (C8,), ARRAYS, 2, 3),
}
for form, (*what, width, transposed) in SQUARES.items():
    FORMS[form] = (*what, {**TILED, "vector_width": width, "transposed": transposed})
FORMS["transposed, index64"] = (
    *FORMS["transposed"][:-1],
    {**TILED, "transposed": 2, "index64": True},
)
F8, BOOL = "float64", "bool"
NUMBERS = (True,) * 4
FORMS["range"] = ("range", (F8, F8), (F8, F8), (F4,), NUMBERS[:2], LINEAR)
FORMS["range, integers"] = (
    "range",
    ("uint32",) * 2,
    ("uint32",) * 2,
    ("int8",),
    NUMBERS[:2],
    {**LINEAR, "index64": True, "vector_width": 8},
)
RANGE_TO = (F8,) * 4
FORMS["range with its end"] = ("range_to", RANGE_TO, RANGE_TO, (F4,), NUMBERS, LINEAR)
FORMS["cube"] = ("cube", (F4,), (F4,), (F4,), (False,), LINEAR)
FORMS["cube, complex"] = ("cube", (C8,), (C8,), (C8,), (False,), {**LINEAR, "vector_width": 2})
FORMS["divmod"] = ("divmod", (F4, F4), (F4, F4), (F4, F4), ARRAYS, LINEAR)
FORMS["divmod, integers"] = (
    "divmod",
    ("int16",) * 2,
    ("int16",) * 2,
    ("int16",) * 2,
    ARRAYS,
    LINEAR,
)
FUSED = fused.Body(
    (
        fused.Step("power", _values("in0", F4, "0x1p+1f", F4), _types(F4, F4), _values("v0", F4)),
        fused.Step(
            "divmod", _values("v0", F4, "in1", F2), _types(F4, F4), _values("v1", F4, "v2", F4)
        ),
        fused.Step("multiply", _values("v1", F4, "in2", C8), _types(C8, C8), _values("v3", C8)),
        fused.Step("less", _values("v2", F4, "in3", I4), _types(F8, F8), _values("v4", BOOL)),
        fused.Step("copy", _values("v2", F4), _types(F4), _values("v5", F2)),
    ),
    _values("v3", C8, "v4", BOOL, "v5", F2),
)
fused.BODIES["fused_in_tests"] = FUSED
OPERANDS = "fused_in_tests", (F4, F2, C8, I4), (F4, F2, C8, I4), (C8, BOOL, F2)
for name, shape in [("linear", {**LINEAR, "vector_width": 2}), ("strided", STRIDED)]:
    FORMS[f"fused, {name}"] = (*OPERANDS, (False, False, False, True), shape)
FORMS["fused, transposed"] = (*OPERANDS, (False,) * 4, {**TILED, "transposed": 5})
# Rows, and a column or a row of one of the operands.
PACKS = {
    "rows": ({"ndim": 2, "vector_width": 4, "vectors": 2, "broadcast": 0}, (6, 8)),
    "a column": ({"ndim": 2, "vector_width": 4, "vectors": 2, "broadcast": 2}, (6, 1)),
    "a row": ({"ndim": 2, "vector_width": 2, "vectors": 4, "broadcast": 0}, (1, 8)),
}
RUNS = {
    "linear run": (
        "add",
        (F4, F4),
        (F4, F4),
        (F4,),
        ARRAYS,
        {**ONE_BY_ONE, "vectors": 64},
    ),
    "strided run": ("subtract", (F4, F4), (F4, F4), (F4,), ARRAYS, {**STRIDED, "vectors": 64}),
}


def text(form):
    name, inputs, compute, outputs, scalars, shape = form
    return elementwise.source(name, inputs, compute, outputs, scalars, **shape)


def packs(form):
    return ("subtract", (F4, F4), (F4, F4), (F4,), ARRAYS, {"index64": False, **PACKS[form][0]})


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS[1:3], ids=lambda value: value)
@pytest.mark.parametrize("form", FORMS)
def test_compiles(form, prefix, backend, arch):
    require(prefix)
    entry = build(kernel_sources.Text(text(FORMS[form]), extern_c=False), backend, arch)
    assert entry.log == "", "kernels compile without warnings"


@pytest.mark.no_device
@pytest.mark.parametrize(
    ("form", "loads", "stores"),
    [
        ("linear", 4, 2),
        ("linear, index64", 4, 2),
        ("with a value", 2, 2),
        ("fill", 0, 2),
        ("range", 0, 2),
        ("range with its end", 0, 2),
        ("rows", 4, 2),
        ("a column", 2, 2),
    ],
)
def test_memory_is_accessed_in_words_of_16_bytes(form, loads, stores):
    require("nvrtc")
    found = FORMS[form] if form in FORMS else packs(form)
    entry = build(kernel_sources.Text(text(found), extern_c=False), "cuda", "sm_90", "ptx")
    ptx = entry.image.decode()
    assert ptx.count("ld.global.v4") + ptx.count("ld.global.nc.v4") == loads
    assert ptx.count("st.global.v4") == stores


@pytest.mark.parametrize("threads", [32, 128])
@pytest.mark.parametrize("form", ["linear", "linear, index64", "linear, not aligned"])
def test_linear_forms(form, threads):
    """Whole blocks, the end of an array, and nothing beyond it."""
    shape = FORMS[form][-1]
    in_block = threads * shape["vector_width"] * shape["vectors"]
    kernel = SourceModule(text(FORMS[form]), no_extern_c=True).get_function("elementwise")
    index = np.int64 if shape["index64"] else np.int32
    for n in (1, in_block - 1, in_block, in_block + 1, 3 * in_block + 17):
        x, y = np.random.default_rng(n).random((2, n), np.float32)
        out = gpuarray.zeros(n + 8, np.float32)
        grid = (-(-n // in_block), 1)
        kernel(index(n), out, to_gpu(x), to_gpu(y), block=(threads, 1, 1), grid=grid)
        np.testing.assert_array_equal(out.get(), np.append(x + y, np.zeros(8, np.float32)))


@pytest.mark.parametrize("form", [*RUNS, "strided", "strided, index64"])
def test_forms_of_one_thread_a_block_and_strided_ones(form):
    # For g++: others warn of its pragmas.
    name, *_, shape = found = {**FORMS, **RUNS}[form]
    kernel = SourceModule(text(found), no_extern_c=True, options=["-w"]).get_function("elementwise")
    index = np.int64 if shape["index64"] else np.int32
    x = np.random.default_rng(5).random((5, 7, 9), np.float32)
    y = np.random.default_rng(6).random((7, 5, 9), np.float32).transpose(1, 0, 2)[:, :, ::-1]
    a, b, out = to_gpu(x), to_gpu(y), gpuarray.zeros(x.shape, np.float32)
    loop = index(x.size)
    if shape["ndim"]:
        loop = np.array([x.size, *x.shape, *out.strides, *a.strides, *b.strides], index)
    threads, each = 1 if form in RUNS else 64, shape["vectors"]
    if form == "linear run":
        b = to_gpu(np.ascontiguousarray(y))
    grid = (-(-x.size // (threads * each)), 1)
    kernel(loop, out, a, b, block=(threads, 1, 1), grid=grid)
    np.testing.assert_array_equal(out.get(), getattr(np, name)(x, y))


@pytest.mark.parametrize("form", PACKS)
def test_packs_of_a_strided_loop(form):
    shape, other = PACKS[form]
    width = shape["vector_width"]
    kernel = SourceModule(text(packs(form)), no_extern_c=True).get_function("elementwise")
    whole = np.random.default_rng(7).random((6, 16), np.float32)
    y = np.random.default_rng(8).random(other, np.float32)
    x, a = whole[:, :8], to_gpu(whole)[:, :8]
    b, out = to_gpu(y), gpuarray.zeros(x.shape, np.float32)
    strides = [np.broadcast_to(one, x.shape).strides for one in (out.get(), x, y)]
    ends = [(slow, fast * width) for slow, fast in strides]
    count = x.size // width
    loop = np.array([count, 6, 8 // width, *ends[0], *ends[1], *ends[2]], np.int32)
    kernel(loop, out, a, b, block=(4, 1, 1), grid=(-(-count // (4 * shape["vectors"])), 1))
    np.testing.assert_array_equal(out.get(), x - y)


@pytest.mark.parametrize("form", ["transposed", "both transposed", "transposed, index64", *SQUARES])
def test_tiles_are_transposed(form):
    _, inputs, _, outputs, _, shape = FORMS[form]
    kernel = SourceModule(text(FORMS[form]), no_extern_c=True).get_function("elementwise")
    rng = np.random.default_rng(9)
    planes, rows, columns = (3, 152, 140) if form in SQUARES else (3, 50, 41)
    operands = []
    for number, code in enumerate(inputs):
        one = rng.integers(-99, 99, (planes, rows, columns)).astype(code)
        if shape["transposed"] >> number & 1:
            one = np.asarray(one.transpose(0, 2, 1), order="C").transpose(0, 2, 1)
        operands.append(one)
    x, y = operands
    a, b, out = to_gpu(x), to_gpu(y), gpuarray.zeros(x.shape, outputs[0])
    for number, one in enumerate((a, b)):
        assert one.strides[1 if shape["transposed"] >> number & 1 else 2] == one.itemsize
    index = np.int64 if shape["index64"] else np.int32
    loop = np.array([x.size, *x.shape, *out.strides, *a.strides, *b.strides], index)
    side = 32 * max(shape["vector_width"], 1)
    tiles = planes * -(-rows // side) * -(-columns // side)
    kernel(loop, out, a, b, block=(128, 1, 1), grid=(tiles, 1))
    np.testing.assert_array_equal(out.get(), x - y)


@pytest.mark.parametrize(
    ("shape", "code"),
    each_with(
        [((33, 65),), ((16, 100),), ((15, 40),), ((1, 200),), ((3, 40, 50),)],
        ["i1", "c8"],
        ["i1", "f2", "f4", "c8", "f8", "c16"],
    ),
)
def test_transposed_arrays(shape, code):
    """Whatever the target makes of them."""
    rng = np.random.default_rng(10)
    x, y = (rng.integers(-60, 60, shape).astype(code) for _ in range(2))
    reversed_shape = tuple(reversed(shape))
    z = rng.integers(-60, 60, reversed_shape).astype(code)
    a, b, c = to_gpu(x), to_gpu(y), to_gpu(z)
    np.testing.assert_array_equal((a + c.T).get(), x + z.T)
    np.testing.assert_array_equal((c.T + a).get(), x + z.T)
    np.testing.assert_array_equal((c.T * b.T.T + 1).get(), z.T * y + 1)
    out = gpuarray.zeros(reversed_shape, a.dtype)
    out[...] = a.T
    np.testing.assert_array_equal(out.get(), x.T)
    out[:, ::-1] = a.T
    np.testing.assert_array_equal(out.get(), x.T[:, ::-1])
    b += c.T
    np.testing.assert_array_equal(b.get(), y + z.T)
    if len(shape) == 3:
        for axes in ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1)):
            moved = gpuarray.zeros(x.transpose(axes).shape, a.dtype)
            moved[...] = a.transpose(axes)
            np.testing.assert_array_equal(moved.get(), x.transpose(axes))
    else:
        row = to_gpu(y[:1])
        np.testing.assert_array_equal((c.T - row).get(), z.T - y[:1])
