"""ElementwiseKernel and bad input; when it compiles; its parts."""

import builtins
import struct
import warnings

import numpy as np
import pytest

import PyGPU.driver as drv
from PyGPU import elementwise, gpuarray, tools
from PyGPU.elementwise import ElementwiseKernel, ScalarArg, VectorArg
from PyGPU.errors import ArgumentError, ArgumentWarning
from PyGPU.reduction import ReductionKernel
from PyGPU.tools import dtype_to_ctype

combine = ElementwiseKernel(
    "float a, float *x, int b, float *z", "z[i] = a * x[i] + b", "combine", options=[]
)


def vectors(n=4):
    return gpuarray.zeros(n, np.float32), gpuarray.zeros(n, np.float32)


@pytest.mark.parametrize(
    ("count", "text"), [(0, "missing a, x, b, z"), (3, "missing z"), (5, "too many")]
)
def test_wrong_counts(count, text):
    x, z = vectors()
    arguments = [1, x, 2, z, 3][:count]
    with pytest.raises(struct.error, match=rf"combine\(a, x, b, z\) takes 4 .*{count}: {text}"):
        combine(*arguments)
    with pytest.raises(ArgumentError):
        combine(*arguments, range=slice(0, 1))


@pytest.mark.parametrize("bad", [None, 1.5, 1j, "1", [1], 2**31, -(2**31) - 1, np.float32(1)])
def test_what_is_no_int(bad):
    x, z = vectors()
    with pytest.raises(struct.error, match="'b'"):
        combine(1, x, bad, z)
    assert (z.get() == 0).all()


@pytest.mark.parametrize("bad", [None, 1j, "1", [1]])
def test_what_is_no_float(bad):
    x, z = vectors()
    with pytest.raises(ArgumentError, match="'a'"):
        combine(bad, x, 1, z)
    with pytest.raises(ArgumentError, match="'a'"):
        combine(x, x, 1, z)


@pytest.mark.parametrize("bad", [None, 7, 1.5, np.zeros(4, np.float32), "x", drv.mem_alloc])
def test_what_is_no_array(bad):
    x, z = vectors()
    bad = bad(16) if callable(bad) else bad
    with pytest.raises(ArgumentError, match="x: expected a GPUArray, got"):
        combine(1, bad, 2, z)
    with pytest.raises(TypeError, match="z: expected a GPUArray"):
        combine(1, x, 2, bad)


def test_a_structure_of_the_wrong_size():
    float2 = np.dtype([("x", np.float32), ("y", np.float32)])
    tools.get_or_register_dtype("float2", float2)
    kernel = ElementwiseKernel("float2 v, float *z", "z[i] = v.x")
    for bad in (np.zeros((), np.float32), b"1234", 1, None):
        with pytest.raises(ArgumentError, match="'v'"):
            kernel(bad, vectors()[0])


def test_arrays_with_gaps():
    x, z = vectors(8)
    for bad, name in (((x[::2], z[:4]), "x"), ((x[:4], z[::-2]), "z")):
        with pytest.raises(builtins.RuntimeError, match=f"non-contiguous arrays: {name} has shape"):
            combine(1, bad[0], 2, bad[1])
    assert (z.get() == 0).all()


def test_orders_that_differ():
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    c, f = gpuarray.to_gpu(values), gpuarray.to_gpu(np.asfortranarray(values))
    with pytest.raises(builtins.RuntimeError, match=r"\(2, 3\), x and z are one in C order"):
        combine(1, c, 2, f)
    for x, z in ((f, gpuarray.empty_like(f)), (c, gpuarray.empty_like(c))):
        combine(2, x, 1, z)
        assert (z.get() == 2 * values + 1).all()
    flat = gpuarray.empty(6, np.float32)  # of another shape: memory meets memory
    combine(1, f, 0, flat)
    assert (flat.get() == values.ravel("F")).all()
    column, row = (
        gpuarray.to_gpu(values[:1].T.copy()),
        gpuarray.empty((3, 1), np.float32, order="F"),
    )
    combine(1, column, 0, row)  # one axis of length: C order is Fortran order
    assert (row.get() == column.get()).all()


def test_a_dtype_of_another_size_is_told():
    x, z = vectors()
    kernel = ElementwiseKernel("float *x, float *z", "z[i] = x[i]")
    with pytest.warns(ArgumentWarning, match=r"'x' points to elements of 4 bytes.*dtype float64"):
        kernel(gpuarray.zeros(4, np.float64), z)
    with pytest.warns(ArgumentWarning, match=r"'z' points to .* floating-point .*dtype int32"):
        kernel(x, z.view(np.int32))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel(x, z.view(np.uint8)[:16])  # bytes are anything


@pytest.mark.parametrize(
    ("keywords", "error", "text"),
    [
        ({"range": slice(1), "slice": slice(1)}, TypeError, "at most one"),
        ({"range": 3}, TypeError, "range: expected a slice, got 3"),
        ({"slice": range(3)}, TypeError, "slice: expected a slice"),
        ({"slice": 3}, TypeError, "slice: expected a slice, got 3"),
        ({"range": slice(0, 3, 0)}, ValueError, "range: step=0"),
        ({"slice": slice(0, 3, 0)}, ValueError, "step"),
        ({"range": slice(0.5, 3)}, TypeError, "range: start: expected an integer"),
        ({"range": slice(0, "3")}, TypeError, "range: stop: expected an integer"),
        ({"range": slice(0, 2**63)}, OverflowError, "range: stop"),
        ({"stream": "s"}, TypeError, "stream"),
        ({"block": (1, 1, 1)}, TypeError, "block"),
    ],
)
def test_bad_keywords(keywords, error, text):
    x, z = vectors()
    with pytest.raises(error, match=text):
        combine(1, x, 2, z, **keywords)
    assert (z.get() == 0).all()


def test_indices_before_the_first_element():
    x = gpuarray.zeros(20, np.float32)
    mark = ElementwiseKernel("float *z", "z[i] = 1")
    for indices in (slice(-3, 2), slice(2, -2, -1), range(-1, 0)):
        with pytest.raises(ArgumentError, match=r"range: the lowest index, -\d,"):
            mark(x[10:], range=indices)
    assert not x.get().any()
    mark(x[10:], range=slice(2, -1, -1))
    assert np.flatnonzero(x.get()).tolist() == [10, 11, 12]


def test_unknown_keywords_of_the_kernel():
    with pytest.raises(TypeError, match="block_size"):
        ElementwiseKernel("float *x", "x[i] = 0", block_size=3)


def test_nothing_is_compiled_before_the_first_call():
    x = vectors()[0]
    nonsense = ElementwiseKernel("float *x", "x[i] = nonsense(x[i])")
    for keywords in ({}, {"range": slice(1)}):
        for _ in range(2):
            with pytest.raises(drv.CompileError) as caught:
                nonsense(x, **keywords)
            assert "nonsense" in caught.value.stderr and "nonsense" in str(caught.value)
    for arguments, text in [
        ("float *x, no_such *y", "unknown type 'no_such'"),
        ("float *x, 5", "couldn't parse"),
        ([VectorArg(np.dtype("U3"), "x")], "unable to map dtype"),
    ]:
        bad = ElementwiseKernel(arguments, "x[i] = 0")
        with pytest.raises(ValueError, match=text):
            bad(x, x)
    for arguments in ("float a", "", [ScalarArg(np.float32, "a")], []):
        with pytest.raises(AssertionError, match="expected at least one pointer"):
            ElementwiseKernel(arguments, "a")(1)
    with pytest.raises(TypeError, match="expected a str or a list of Argument, got 'float"):
        ElementwiseKernel(["float *x"], "x[i] = 0")(x)


def test_kernels_compile_without_warnings():
    """Whatever of its names an operation leaves unused."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel = ElementwiseKernel("int *x", "x[0] = 1;", loop_prep=";", after_loop="{}")
        x = gpuarray.zeros(3, np.int32)
        kernel(x), kernel(x, slice=slice(2))
    assert x.get().tolist() == [1, 0, 0]


def test_the_source_can_be_kept(capsys):
    ElementwiseKernel("int *x", "x[i] = 77", keep=True)(gpuarray.zeros(1, np.int32))
    folder = capsys.readouterr().out.split()[-1]
    with open(f"{folder}/kernel.cu") as file:
        assert "x[i] = 77" in file.read()


def test_the_parts_of_a_kernel():
    module, function, arguments = combine.generate_stride_kernel_and_types(False)
    assert combine.generate_stride_kernel_and_types(use_range=False)[1] is function
    assert module.get_function("combine").name == function.name == "combine"
    assert [one.name for one in arguments] == ["a", "x", "b", "z", "n"]
    assert [one.struct_char for one in arguments][:4] == ["f", "P", "i", "P"]
    x, z = vectors()
    function.prepared_call((1, 1), (32, 1, 1), 1.5, x, 3, z.gpudata, 3)
    assert z.get().tolist() == [3, 3, 3, 0]
    arguments = combine.generate_stride_kernel_and_types(True)[2]
    assert [one.name for one in arguments][4:] == ["n", "start", "stop", "step"]
    with pytest.raises(drv.LogicError, match="no texture"):
        combine.get_texref("x")


def test_a_kernel_whose_function_is_prepared_otherwise():
    kernel = ElementwiseKernel("float *x, float *y", "y[i] = x[i] + 1")
    x, y = gpuarray.zeros(1000, np.float32), gpuarray.zeros(1000, np.float32)
    kernel.generate_stride_kernel_and_types(False)[1].prepare("PPB")
    with pytest.raises(drv.ArgumentError, match="1000 is out of the range of 1 unsigned"):
        kernel(x, y)
    kernel.generate_stride_kernel_and_types(True)[1].prepare("PPiiii")
    kernel(x, y, slice=slice(10, 0, -1))
    assert y.get().sum() == y[1:11].get().sum() == 10


# The functions below the class.


def test_modules_and_prepared_functions():
    declared = "float a, float *x"
    arguments = tools.parse_c_arg("float a"), tools.parse_c_arg("float *x")
    module = elementwise.get_elwise_module(
        [*arguments, ScalarArg(np.uintp, "n")], "x[i] += a", "one", loop_prep="a += 1"
    )
    function = module.get_function("one").prepare("fPL")
    x = vectors(5)[0]
    function.prepared_call((2, 1), (32, 1, 1), 1, x, 4)
    assert x.get().tolist() == [2, 2, 2, 2, 0]
    module = elementwise.get_elwise_range_module(
        declared + ", long start, long stop, long step", "x[i] += a", name="two"
    )
    function = module.get_function("two").prepare("fPlll")
    function.prepared_call((2, 1), (32, 1, 1), 1, x, 4, -1, -2)
    assert x.get().tolist() == [3, 2, 3, 2, 1]
    listed = list(arguments)
    function = elementwise.get_elwise_kernel(listed, "x[i] = a", after_loop="(void)x")
    assert len(listed) == 2, "the caller's list is left alone"
    function.prepared_async_call((1, 1), (1, 1, 1), None, 9, x, 2)
    _, function, found = elementwise.get_elwise_kernel_and_types(
        declared, "x[i] = a", "ranged", use_range=True
    )
    assert [one.name for one in found] == ["a", "x", "start", "stop", "step"]
    function.prepared_call((1, 1), (32, 1, 1), 8, x, 1, 5, 3)
    assert x.get().tolist() == [9, 8, 3, 2, 8]


@pytest.mark.parametrize("grid", [1, 3, 64])
@pytest.mark.parametrize("block", [1, 2, 33, 128])
def test_any_launch_covers_all_indices(grid, block):
    _, function, _ = elementwise.get_elwise_kernel_and_types("int *x", "x[i] += 1", "cover")
    for n in (1, 63, 64, 65, 1000):
        x = gpuarray.zeros(n + 1, np.int32)
        function.prepared_call((grid, 1), (block, 1, 1), x, n)
        assert x.get().tolist() == [1] * n + [0]


def test_splay():
    device = drv.Device(0)
    warp, most = device.warp_size, 32 * device.multiprocessor_count
    for n in (-5, 0, 1, warp):
        assert elementwise.splay(n) == ((1, 1), (warp, 1, 1))
    assert elementwise.splay(warp + 1, device) == ((2, 1), (warp, 1, 1))
    for n in [*range(0, 1000, 7), warp * most, warp * most + 1, 128 * most - 1, 2**33, 2**62]:
        (blocks, one), (threads, *ones) = elementwise.splay(n, dev=device)
        assert one == 1 and ones == [1, 1]
        assert threads % warp == 0 and warp <= threads <= 128
        assert 1 <= blocks <= most
        assert blocks * threads >= n or (blocks, threads) == (most, 128)
    assert elementwise.splay(2**40) == ((most, 1), (128, 1, 1))
    array = gpuarray.empty((3, 100), np.int8)
    assert (array._grid, array._block) == gpuarray.splay(300) == elementwise.splay(300)


def test_names_that_programs_import_from_here():
    for name in ("VectorArg", "ScalarArg", "dtype_to_ctype", "context_dependent_memoize"):
        assert getattr(elementwise, name) is getattr(tools, name)


def misaligned(count, dtype):
    """An array whose elements begin two bytes too late."""
    raw = gpuarray.zeros(count * np.dtype(dtype).itemsize + 2, np.uint8)
    return gpuarray.GPUArray(count, dtype, gpudata=raw.ptr + 2, base=raw)


@pytest.mark.parametrize("dtype", [np.int32, np.float64, np.complex64])
def test_elements_must_be_aligned(dtype):
    c = dtype_to_ctype(dtype)
    good, bad = gpuarray.zeros(5, dtype), misaligned(5, dtype)
    kernel = ElementwiseKernel(f"{c} *x, {c} *y", "y[i] = x[i]")
    total = ReductionKernel(dtype, "0", "a + b", "x[i] * y[i]", f"{c} *x, {c} *y")
    for arrays in [(bad, good), (good, bad)]:
        for call in (kernel, total):
            with pytest.raises(ValueError, match="multiple of"):
                call(*arrays)
    kernel(good, bad.copy())
    kernel(good[:0], bad[:0])
    assert total(good, bad.copy()).get() == 0


LENGTHS = {
    # What is used at every index must have every index.
    "z[i] = x[i]": True,
    "z[i] = x[ i ] + x[i]": True,
    # What may be used otherwise is up to the caller.
    "z[i] = x[i % 5]": False,
    "z[i] = x[i] + x[0]": False,
    "if (i < 5) z[i] = x[i]": False,
    "z[i] = i < 5 ? x[i] : 0": False,
    "for (int k = 0; k < 1; ++k) z[i] = i < 5 && x[i]": False,
    "z[i] = i": False,
}


@pytest.mark.parametrize("name", ["n", "i", "tid", "step", "z", "threadIdx", "P_end", "P_share"])
def test_names_that_mean_something_in_a_kernel(name):
    kernel = ElementwiseKernel(f"float *z, int {name}", "z[i] = 1")
    with pytest.raises(
        ValueError, match=f"arguments: the name '{name}' is taken; expected distinct names"
    ):
        kernel(gpuarray.zeros(4, np.float32), 3, range=slice(0, 2))


@pytest.mark.parametrize(
    ("make", "arguments", "own"),
    [
        (elementwise.get_elwise_module, "float *i, size_t n", "cta_start, and"),
        (
            elementwise.get_elwise_range_module,
            "float *tid, long start, long stop",
            "cta_start, and",
        ),
        (elementwise.get_elwise_kernel, "float *n", "cta_start, n, and"),
    ],
)
def test_names_that_mean_something_in_a_module(make, arguments, own):
    """`n` is the caller's own argument of a module, and one that a kernel gets in addition."""
    with pytest.raises(ValueError, match=f"the name '.*' is taken; .*{own} without the prefix P_"):
        make(arguments, "1")


def test_bytes_must_be_enough_for_the_declared_type():
    kernel = ElementwiseKernel("float *z, float *x", "z[i] = x[i]")
    total = ReductionKernel(np.float32, "0", "a + b", "x[i]", "float *x")
    z, x = gpuarray.zeros(20, np.float32), gpuarray.arange(20, dtype=np.uint8)
    text = "x: it has 5 elements of float32, because its dtype is uint8, but the kernel uses 20"
    with pytest.raises(ArgumentError, match=text):
        kernel(z, x)
    with pytest.raises(
        ArgumentError, match="x: it has 5 elements of float32, because its dtype is uint8"
    ):
        total(x)
    host = np.random.default_rng(0).random(20, np.float32)
    kernel(z, gpuarray.to_gpu(host.view(np.uint8)))  # bytes that are floats
    np.testing.assert_array_equal(z.get(), host)


@pytest.mark.parametrize("operation", LENGTHS)
def test_arrays_must_be_long_enough(operation):
    """As far as the text shows how they are used."""
    kernel = ElementwiseKernel("float *z, float *x", operation)
    long, short = gpuarray.zeros(12, np.float32), gpuarray.zeros(5, np.float32)
    kernel(short, long)
    kernel(long, short, slice=slice(0, 5))
    kernel(long, short, slice=slice(0, 0))
    if not LENGTHS[operation]:
        return
    for where in (
        {},
        {"slice": slice(3, 6)},
        {"range": slice(0, 9, 4)},
        {"slice": slice(8, 2, -1)},
    ):
        with pytest.raises(ArgumentError, match=r"x: it has 5 elements, but the kernel uses"):
            kernel(long, short, **where)
    value = operation.partition("= ")[2]
    total = ReductionKernel(np.float32, "0", "a + b", f"z[i] + {value}", "float *z, float *x")
    total(short, long)
    with pytest.raises(ArgumentError, match=r"x: it has 5 elements, but the kernel uses 12"):
        total(long, short)
