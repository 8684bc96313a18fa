"""Scans against NumPy: dtypes, sizes, layouts, operations that do not commute."""

import hypothesis.strategies as st
import numpy as np
import pytest
from campaign import each_once, rare_but
from hypothesis import given
from scan_tools import WARP, both, kernel, shifted
from strategies import examples

from PyGPU import gpuarray, tools
from PyGPU._kernels.text import scan_tiles
from PyGPU.scan import ExclusiveScanKernel, InclusiveScanKernel

# Every size of an element, one dtype with all.
KINDS = [
    *(
        ("small tiles", kind, np.dtype(code))
        for kind, codes in ((InclusiveScanKernel, "bidF"), (ExclusiveScanKernel, "HieD"))
        for code in codes
    ),
    *(
        ("chunks", kind, np.dtype(code))
        for kind, codes in ((InclusiveScanKernel, "ie"), (ExclusiveScanKernel, "BiD"))
        for code in codes
    ),
]


def numbers(dtype, n, seed=0):
    """Numbers whose sums are exact; those of integers wrap."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return random.integers(0, 256, n * dtype.itemsize, np.uint8).view(dtype)[:n].copy()
    values = random.integers(-1, 2, n).astype(dtype)
    return values + 1j * values[::-1] if dtype.kind == "c" else values


def sizes(dtype, form):
    """Around the borders of lanes, warps and tiles; then many tiles."""
    if form == "chunks":
        return [1, 2, 99, 100, 101, 1000, 1007]
    items = {1: 16, 2: 8, 4: 12, 8: 2}.get(dtype.itemsize, 3)
    tile = 2 * WARP * items
    near = {1, 2, items, items + 1, tile // 2, tile // 2 + 1, tile - 1, tile, tile + 1}
    return sorted(near | {3 * tile, 40 * tile + 7, 70 * tile - 1})


@pytest.mark.parametrize(("form", "kind", "dtype"), rare_but(KINDS[::3], KINDS))
def test_sums(form, kind, dtype):
    is_exclusive = kind is ExclusiveScanKernel
    call = kernel(kind, form, dtype, neutral=3 if is_exclusive else None)
    for n in sizes(dtype, form):
        x = numbers(dtype, n)
        expected = np.add.accumulate(x, dtype=dtype)
        if is_exclusive:
            expected = shifted(expected, 0) + dtype.type(3)
        array = gpuarray.to_gpu(x)
        assert np.array_equal(call(array, "new").get(), expected)
        assert np.array_equal(array.get(), x)
        assert call(array) is array
        assert np.array_equal(array.get(), expected)


@pytest.mark.parametrize("code", "bi")
def test_sums_by_the_tiles_of_a_gpu(code):
    dtype = np.dtype(code)
    tile = scan_tiles.tile_for(dtype.itemsize, WARP).size
    inclusive = kernel(InclusiveScanKernel, "tiles", dtype)
    for n in (1, tile - 1, tile, tile + 1, 5 * tile, 9 * tile + 3):
        x = numbers(dtype, n)
        array = gpuarray.to_gpu(x)
        assert np.array_equal(inclusive(array).get(), np.add.accumulate(x, dtype=dtype))


def test_the_form_that_a_user_gets():
    x = numbers("i4", 300_001)
    array = gpuarray.to_gpu(x)
    sums = np.cumsum(x, dtype="i4")
    assert np.array_equal(InclusiveScanKernel(np.int32, "a+b")(array, "new").get(), sums)
    exclusive = ExclusiveScanKernel(np.int32, "a+b", neutral=0)
    assert np.array_equal(exclusive(array).get(), shifted(sums, 0))


def test_halves_are_summed_in_float():
    x = np.full(5000, 0.25, np.float16)  # a sum in halves would end at 512
    inclusive = kernel(InclusiveScanKernel, "chunks", np.dtype("e"))
    assert inclusive(gpuarray.to_gpu(x)).get()[-1] == 1250


def test_booleans():
    x = np.random.default_rng(1).random(3001) < 0.5
    exclusive = kernel(ExclusiveScanKernel, "small tiles", np.dtype("?"), "a != b", True)
    odd = shifted(np.logical_xor.accumulate(x), False)
    assert np.array_equal(exclusive(gpuarray.to_gpu(x)).get(), ~odd)


AFFINE = np.dtype([("slope", "<u4"), ("shift", "<u4")])
SOLID = np.dtype([("m", "<f8", (2, 2)), ("count", "<i4")], align=True)
TRIPLE = np.dtype([("low", "<i4"), ("high", "<i4"), ("last", "<i4")])
STRUCTURES = """
struct scan_affine { unsigned slope, shift; };
struct scan_solid { double m[2][2]; int count; };
struct scan_triple { int low, high, last; };
__device__ scan_affine after(scan_affine a, scan_affine b) {
  scan_affine c = {a.slope * b.slope, a.shift * b.slope + b.shift};
  return c;
}
__device__ scan_solid times(scan_solid a, scan_solid b) {
  scan_solid c;
  c.count = a.count + b.count;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k) c.m[i][k] = a.m[i][0] * b.m[0][k] + a.m[i][1] * b.m[1][k];
  return c;
}
__device__ scan_triple merge(scan_triple a, scan_triple b) {
  scan_triple c = {min(a.low, b.low), max(a.high, b.high), b.last};
  return c;
}
"""
for _dtype, _name in ((AFFINE, "scan_affine"), (SOLID, "scan_solid"), (TRIPLE, "scan_triple")):
    tools.get_or_register_dtype(_name, _dtype)


def composed(functions):
    """Return the compositions of the first functions, each a * x + b."""
    result, slope, shift = functions.copy(), 1, 0
    for position, (factor, addend) in enumerate(functions.tolist()):
        slope, shift = slope * factor % 2**32, (shift * factor + addend) % 2**32
        result[position] = slope, shift
    return result


@pytest.mark.parametrize("form", ["small tiles", "chunks"])
def test_composing_functions_keeps_the_order(form):
    x = numbers("u4", 6002).view(AFFINE)
    expected = composed(x)
    exclusive = kernel(
        *(ExclusiveScanKernel, form, AFFINE, "after(a, b)", "scan_affine{1, 0}", STRUCTURES)
    )
    one = np.array((1, 0), AFFINE)
    assert np.array_equal(exclusive(gpuarray.to_gpu(x)).get(), shifted(expected, one))


@pytest.mark.parametrize("form", ["tiles", "chunks"])
def test_products_of_matrices(form):
    """A structure of 40 bytes, which no vector of 16 holds; quarter turns, of either sense."""
    turns = np.random.default_rng(2).integers(0, 4, 2001)
    x = np.zeros(turns.size, SOLID)
    right = np.array([[0, 1], [-1, 0]])
    x["m"] = np.array([np.linalg.matrix_power(right, k) for k in range(4)])[turns]
    x["count"] = 1
    inclusive = kernel(InclusiveScanKernel, form, SOLID, "times(a, b)", preamble=STRUCTURES)
    result = inclusive(gpuarray.to_gpu(x)).get()
    total = np.cumsum(turns) % 4
    assert np.array_equal(result["m"], np.array([x["m"][turns == k][0] for k in range(4)])[total])
    assert np.array_equal(result["count"], np.arange(1, turns.size + 1))


def test_structures_of_three_words():
    x = np.zeros(3001, TRIPLE)
    x["low"] = x["high"] = x["last"] = np.random.default_rng(3).integers(-(10**6), 10**6, x.size)
    inclusive = kernel(
        InclusiveScanKernel, "small tiles", TRIPLE, "merge(a, b)", preamble=STRUCTURES
    )
    result = inclusive(gpuarray.to_gpu(x)).get()
    assert np.array_equal(result["low"], np.minimum.accumulate(x["low"]))
    assert np.array_equal(result["high"], np.maximum.accumulate(x["high"]))
    assert np.array_equal(result["last"], x["last"])


def test_a_structure_too_large_for_a_tile():
    dtype = np.dtype([("words", "<i4", (400,))])
    tools.get_or_register_dtype("scan_large", dtype)
    preamble = """
    struct scan_large { int words[400]; };
    __device__ scan_large sum(scan_large a, const scan_large &b) {
      for (int i = 0; i < 400; ++i) a.words[i] += b.words[i];
      return a;
    }
    """
    assert scan_tiles.tile_for(dtype.itemsize, WARP) is None
    x = np.zeros(20, dtype)
    x["words"] = np.arange(20)[:, None] + np.arange(400)
    result = InclusiveScanKernel(dtype, "sum(a, b)", preamble=preamble)(gpuarray.to_gpu(x)).get()
    assert np.array_equal(result["words"], np.cumsum(x["words"], axis=0))


@pytest.mark.parametrize("side", ["a", "b"])
def test_the_first_or_the_last_of_all(side):
    x = numbers("i4", 5000)
    result = kernel(InclusiveScanKernel, "small tiles", np.dtype("i4"), side)(gpuarray.to_gpu(x))
    assert np.array_equal(result.get(), x if side == "b" else np.full_like(x, x[0]))


@st.composite
def strided(draw, n):
    """(length of a whole array, slice of it with n elements)."""
    step = draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
    start, margin = draw(st.integers(0, 5)), draw(st.integers(0, 3))
    reach = (n - 1) * abs(step) + 1
    whole = start + reach + margin
    if step > 0:
        return whole, slice(start, start + reach, step)
    return whole, slice(start + reach - 1, start - 1 if start else None, step)


@examples(50)
@given(data=st.data())
def test_layouts(data):
    dtype = np.dtype("i")
    form = data.draw(st.sampled_from(["small tiles", "small tiles", "chunks"]))
    inclusive, exclusive = both(form, dtype)
    n = data.draw(st.integers(1, 40) | st.integers(1, 9000))
    length, part = data.draw(strided(n))
    whole = numbers(dtype, length, seed=n)
    x = whole[part]
    sums = np.add.accumulate(x, dtype=dtype)
    array = gpuarray.to_gpu(whole)
    if data.draw(st.booleans()):
        call, expected = inclusive, sums
    else:
        call, expected = exclusive, shifted(sums, 0) + dtype.type(3)
    if data.draw(st.booleans()):
        result = call(array[part])
        whole = whole.copy()
        whole[part] = expected
        assert np.array_equal(array.get(), whole)
        assert result.shape == x.shape
        return
    length, part_out = data.draw(strided(n))
    whole_out = numbers(dtype, length, seed=n + 1)
    out = gpuarray.to_gpu(whole_out)
    target = out[part_out]
    assert call(array[part], target) is target
    whole_out[part_out] = expected
    assert np.array_equal(out.get(), whole_out)
    assert np.array_equal(array.get(), whole)


@pytest.mark.parametrize("form", ["small tiles", "chunks"])
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (slice(None, -1), slice(1, None)),
        (slice(1, None), slice(None, -1)),
        (slice(None, -900), slice(900, None)),
        (slice(None, None), slice(None, None, -1)),
        (slice(None, 1500), slice(0, 3000, 2)),
    ],
    ids=str,
)
def test_an_output_over_the_input(source, target, form):
    x = numbers("i4", 3000)
    array = gpuarray.to_gpu(x)
    kernel(InclusiveScanKernel, form, np.dtype("i4"))(array[source], array[target])
    expected = x.copy()
    expected[target] = np.cumsum(x[source], dtype="i4")
    assert np.array_equal(array.get(), expected)


def test_one_element_many_times():
    one = gpuarray.to_gpu(np.array([7], np.int32))
    same = gpuarray.GPUArray((2000,), np.int32, base=one, gpudata=one.gpudata, strides=(0,))
    for form in ("small tiles", "chunks"):
        result = kernel(InclusiveScanKernel, form, np.dtype("i4"))(same, "new")
        assert np.array_equal(result.get(), 7 * np.arange(1, 2001))


def test_nothing_to_scan():
    for call in both("small tiles", np.dtype("i4")):
        array = gpuarray.GPUArray((0,), np.int32)
        assert call(array) is array
        new = call(array, "new")
        assert new is not array and new.shape == (0,) and new.dtype == np.int32


@pytest.mark.parametrize(
    ("made", "code"), each_once([InclusiveScanKernel, ExclusiveScanKernel], ["f4", "c8"])
)
def test_rounding_errors_do_not_add_up(made, code):
    """Joined one after another, a million numbers would be wrong in the second digit."""
    x = np.full(1_000_000, 0.1, code)
    result = made(code, "a + b", 0)(gpuarray.to_gpu(x), "new").get()
    exact = x[0].astype("c16").real * np.arange(len(x) + 1)
    expected = exact[1:] if made is InclusiveScanKernel else exact[:-1]
    np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize("size", [63, 64, 65, 8191, 8192, 8193, 16385, 300_001])
def test_groups_and_tiles_keep_the_order(size):
    inclusive = kernel(InclusiveScanKernel, "chunks", AFFINE, "after(a, b)", preamble=STRUCTURES)
    wide = np.zeros(2 * size, AFFINE)
    wide[::2] = numbers("u4", 2 * size).view(AFFINE)
    expected = composed(wide[::2])
    for source in (gpuarray.to_gpu(wide)[::2], gpuarray.to_gpu(wide[::2].copy())):
        assert np.array_equal(inclusive(source, "new").get(), expected)
