"""What scan kernels are told: neutrals, names, options, outputs; and what they refuse."""

import types

import host_memory
import numpy as np
import pytest
from campaign import each_once, rare_but
from scan_tools import WARP, both, kernel

import PyGPU
from PyGPU import driver, errors, gpuarray
from PyGPU._kernels import scan_kernel
from PyGPU._kernels.text import scan as scan_text
from PyGPU._kernels.text import scan_tiles
from PyGPU._runtime import core
from PyGPU.scan import ExclusiveScanKernel, InclusiveScanKernel


@pytest.mark.parametrize(
    ("code", "expression", "neutral", "expected"),
    [
        ("f", "a > b ? a : b", -np.inf, [-np.inf, 3, 3, 9]),
        ("e", "a > b ? a : b", np.float32(3.1), [np.float16(3.1)] * 3 + [9]),
        ("i", "max(a, b)", -(2**31), [-(2**31), 3, 3, 9]),
        ("q", "a + b", -(2**63), [-(2**63), -(2**63) + 3, -(2**63) - 2, -(2**63) + 7]),
        ("i", "a + b", "1 + 1", [2, 5, 0, 9]),
        ("F", "a * b", 2 - 1j, [2 - 1j, 6 - 3j, -30 + 15j, -270 + 135j]),
    ],
)
def test_neutrals(code, expression, neutral, expected):
    dtype = np.dtype(code)
    array = gpuarray.to_gpu(np.array([3, -5, 9, 2]).astype(dtype))
    if code == "q":
        expected = [one % 2**64 for one in expected]
        expected = np.array(expected, np.uint64).view(dtype)
    call = ExclusiveScanKernel(dtype, expression, neutral)
    assert np.array_equal(call(array).get(), np.array(expected, dtype))


@pytest.mark.parametrize(
    ("dtype", "neutral", "text"),
    [
        ("u8", 2**64 - 1, "((unsigned long)18446744073709551615ull)"),
        ("i1", -1, "((signed char)18446744073709551615ull)"),
        ("i4", 5.0, "((int)5ull)"),
        ("i4", True, "((int)1ull)"),
        ("?", 1, "true"),
        ("f8", 0.1, "(0.1)"),
        ("f8", np.float32(0.5), "(0.5)"),
        ("f4", -np.inf, "(__longlong_as_double(0xfff0000000000000ull))"),
        ("c16", 1, "pycuda::complex<double>(1.0, 0.0)"),
        ("f4", "any text", "any text"),
    ],
)
def test_numbers_as_text(dtype, neutral, text):
    assert scan_text.literal(neutral, np.dtype(dtype)) == text


def test_a_neutral_that_is_no_number():
    call = ExclusiveScanKernel(np.float64, "a + b", np.nan)
    assert np.isnan(call(gpuarray.to_gpu(np.ones(3))).get()).all()


@pytest.mark.parametrize(
    ("dtype", "neutral"),
    [
        ("i4", None),
        ("i4", 1.5),
        ("i4", 1j),
        ("i4", 2**31),
        ("i8", 2**63),
        ("i1", np.int64(300)),
        ("u4", -1),
        ("i4", np.nan),
        ("f4", 1j),
        ("f4", np.complex64(1)),
        ("f4", [1, 2]),
        ("f4", b"0"),
        ("?", 2),
        (np.dtype([("a", "i4")]), (1,)),
    ],
)
def test_neutrals_that_do_not_fit(dtype, neutral):
    with pytest.raises(ValueError, match="neutral"):
        ExclusiveScanKernel(dtype, "a + b", neutral)


def test_an_inclusive_scan_uses_no_neutral():
    for neutral in (None, 100, "this is not C"):
        call = kernel(InclusiveScanKernel, "small tiles", np.dtype("i4"), neutral=neutral)
        assert call(gpuarray.to_gpu(np.ones(4, np.int32))).get().tolist() == [1, 2, 3, 4]


def test_preamble_options_and_names():
    call = InclusiveScanKernel(
        np.int32,
        scan_expr="own_sum(a, b) + BONUS",
        neutral="0",
        name_prefix="my_scan",
        options=["-DBONUS=10"],
        preamble="__device__ int own_sum(int x, int y) { return x + y; }",
        devices=None,
    )
    assert call(gpuarray.to_gpu(np.zeros(4, np.int32))).get().tolist() == [0, 10, 20, 30]
    assert call.dtype == np.int32 and call.neutral == "0"
    name = (
        call._launcher()._chunks.name if hasattr(call._launcher(), "_chunks") else "my_scan_tiles"
    )
    assert name.startswith("my_scan")


def test_texts_that_do_not_compile():
    with pytest.raises(errors.CompileError, match="nonsense"):
        InclusiveScanKernel(np.int32, "nonsense(a, b)")
    with pytest.raises(errors.CompileError, match="another size"):
        InclusiveScanKernel(np.int32, "a + b", preamble="#define int short")


@pytest.mark.parametrize("prefix", ["", "1st", "a b", "a-b", None, "x;"])
def test_names_that_are_none(prefix):
    with pytest.raises(ValueError, match="name_prefix"):
        InclusiveScanKernel(np.int32, "a + b", name_prefix=prefix)


@pytest.mark.parametrize(
    "prefix", rare_but(["a", "P_join", "exp"], ["a", "b", "P", "P_value", "P_join", "SCAN", "exp"])
)
def test_prefixes_that_are_names_in_the_text(prefix):
    scan = ExclusiveScanKernel(np.int32, "a + b", neutral=1, name_prefix=prefix)
    np.testing.assert_array_equal(
        scan(gpuarray.to_gpu(np.arange(4, dtype=np.int32))).get(), [1, 1, 2, 4]
    )


@pytest.mark.parametrize("expression", [None, 3, b"a + b"])
def test_expressions_that_are_no_text(expression):
    with pytest.raises(TypeError, match="scan_expr"):
        InclusiveScanKernel(np.int32, expression)


@pytest.mark.parametrize("dtype", ["S3", "M8[s]", ">i4", np.dtype([("unregistered", "i4")]), "g"])
def test_dtypes_without_a_c_type(dtype):
    with pytest.raises(ValueError, match="unable to map dtype"):
        InclusiveScanKernel(dtype, "a + b")


def test_inputs_that_are_refused():
    call = both("small tiles", np.dtype("i4"))[0]
    array = gpuarray.zeros((8,), np.int32)
    for wrong, error, told in [
        (np.zeros(8, np.int32), TypeError, "input_ary: expected a GPUArray, got ndarray"),
        ([1, 2], TypeError, "input_ary: expected a GPUArray, got list"),
        (gpuarray.zeros((8,), np.float32), TypeError, "input_ary: expected dtype int32.*float32"),
        (gpuarray.zeros((8,), np.uint64), TypeError, "input_ary: .* got uint64"),
        (gpuarray.zeros((2, 4), np.int32), ValueError, r"input_ary: .* got shape \(2, 4\)"),
        (gpuarray.zeros((), np.int32), ValueError, r"input_ary: .* got shape \(\)"),
    ]:
        with pytest.raises(error, match=told):
            call(wrong)
        with pytest.raises(error, match=told.replace("input", "output")):
            call(array, wrong if wrong is not None else ()) if wrong is not None else call(wrong)
    for shape in ((7,), (9,), (0,)):
        with pytest.raises(ValueError, match=rf"output_ary: .* got \({shape[0]},\)"):
            call(array, gpuarray.zeros(shape, np.int32))
    with pytest.raises(TypeError, match="output_ary: expected a GPUArray, got str"):
        call(array, "old")
    with pytest.raises(TypeError, match="input_ary: expected a GPUArray, got NoneType"):
        call(None)


def test_elements_that_cannot_be_reached():
    call = both("small tiles", np.dtype("i4"))[0]
    whole = gpuarray.zeros((64,), np.uint8)

    def view(offset, step, n=4):
        return gpuarray.GPUArray((n,), np.int32, gpudata=whole.ptr + offset, strides=(step,))

    with pytest.raises(ValueError, match="multiples of 4"):
        call(view(1, 4))
    with pytest.raises(ValueError, match=r"input_ary.*6 bytes apart"):
        call(view(0, 6))
    with pytest.raises(ValueError, match=r"output_ary.*overlap, 0 bytes"):
        call(view(0, 4), view(32, 0))
    assert call(view(4, 0, n=1)).get().tolist() == [0]


def test_the_output():
    call = both("chunks", np.dtype("i4"))[0]
    array = gpuarray.to_gpu(np.ones(5, np.int32))
    out = gpuarray.GPUArray((5,), np.int32)
    assert call(array, out) is out
    assert call(array, output_ary=out, allocator=None, stream=None) is out
    assert out.get().tolist() == [1, 2, 3, 4, 5] and array.get().tolist() == [1] * 5
    assert call(array) is array
    assert array.get().tolist() == [1, 2, 3, 4, 5]


def test_a_new_output_is_of_the_allocator():
    asked = []

    def allocator(nbytes):
        asked.append(nbytes)
        return driver.mem_alloc(nbytes)

    call = both("chunks", np.dtype("i4"))[0]
    new = call(gpuarray.to_gpu(np.ones(5, np.int32)), "new", allocator=allocator)
    assert new.allocator is allocator and asked == [20]
    assert call(new, "new").allocator is allocator and asked == [20, 20]
    assert call(new, "new").get().tolist() == [1, 3, 6, 10, 15]


@pytest.mark.parametrize("warp", [32, 64])
def test_tiles_fit_into_shared_memory(warp):
    for itemsize in [*range(1, 2000)]:
        tile = scan_tiles.tile_for(itemsize, warp)
        if tile is None:
            assert itemsize * (warp + 2) > 47 << 10 or itemsize > 600
            continue
        assert (tile.size + tile.threads // warp + 1) * itemsize + 64 <= 48 << 10
        assert tile.threads % warp == 0 and tile.items >= 1
        assert (tile.warp * tile.items * itemsize) % 16 == 0
        assert tile.words * 4 >= itemsize


@pytest.mark.skipif(PyGPU.target != "host", reason="of GPUs nobody counts all that a process holds")
@pytest.mark.parametrize("form", ["small tiles", "chunks"])
def test_a_scan_that_fails_keeps_no_memory(form, monkeypatch):
    def fail(*_):
        raise errors.LaunchError("none today")

    array = gpuarray.to_gpu(np.ones(10_000, np.int32))
    for call in both(form, np.dtype("i4")):
        if form == "chunks":
            failing = types.SimpleNamespace(prepared_async_call=fail)
            monkeypatch.setattr(call._launcher(), "_chunks", failing)
        else:  # more threads than a block can have
            tile = scan_tiles.Tile(WARP, 2048, 1, 4)
            monkeypatch.setitem(
                call._launchers,
                scan_kernel.core._current_device_key(),
                scan_kernel._tiles(call._scan, tile, None),
            )
        used = host_memory.used()
        for arguments in [(array,), (array[:-1], array[1:])]:
            with pytest.raises(errors.Error):
                call(*arguments)
        assert host_memory.used() == used


def test_room_for_a_scan_comes_from_our_pool(monkeypatch):
    """The device's own gives freed memory back to the driver whenever the device is waited for."""
    monkeypatch.setattr(core, "cudaMallocAsync", None)
    monkeypatch.setattr(core, "cudaMalloc", None)
    x = np.ones(10_000, np.int32)
    for form in ("small tiles", "chunks"):
        calls = both(form, np.dtype("i4"))
        assert np.array_equal(calls[0](gpuarray.to_gpu(x)).get(), np.cumsum(x))
        assert np.array_equal(calls[1](gpuarray.to_gpu(x)).get(), np.cumsum(x) + 2)


@pytest.mark.parametrize(
    "dtype, other, form",
    each_once([("i4", "u4"), ("u1", "i1"), ("u8", "i8")], ["small tiles", "chunks"]),
)
def test_integers_of_the_other_sign(form, dtype, other):
    """As PyCUDA's kernels, which take addresses: the kernel's dtype decides what they mean."""
    inclusive, exclusive = both(form, np.dtype(dtype), "a > b ? a : b", neutral=0)
    host = np.array([3, -5, 9, 2, -1, 4] * 50).astype(other)
    own = host.view(dtype)
    running = np.maximum.accumulate(own).view(other)
    assert_dtype_and_values(inclusive(gpuarray.to_gpu(host), "new"), running)
    in_place = gpuarray.to_gpu(host)
    assert inclusive(in_place) is in_place
    assert_dtype_and_values(in_place, running)
    shifted = np.maximum.accumulate(np.append(own[:1] * 0, own[:-1])).view(other)
    assert_dtype_and_values(exclusive(gpuarray.to_gpu(host), "new"), shifted)
    mixed = exclusive(gpuarray.to_gpu(host), gpuarray.zeros(host.shape, dtype))
    assert_dtype_and_values(mixed, shifted.view(dtype))
    shared = gpuarray.to_gpu(np.append(host, host[:1]))
    inclusive(shared[:-1], shared[1:])  # results over elements that are yet to be read
    assert_dtype_and_values(shared[1:], running)


def assert_dtype_and_values(array, expected):
    assert array.dtype == expected.dtype
    assert np.array_equal(array.get(), expected)
