"""ReductionKernel: reductions by expression, as PyCUDA's programs write them."""

import numpy as np
import pytest
from reduction_tools import assert_close, blocks, numbers  # noqa: F401  a fixture

from PyGPU import errors
from PyGPU import reduction as red
from PyGPU.driver import Stream
from PyGPU.gpuarray import to_gpu, zeros
from PyGPU.reduction import ReductionKernel
from PyGPU.tools import ScalarArg, VectorArg, get_or_register_dtype

SIZES = [0, 1, 2, 33, 2048, 2049, 70_001]


@pytest.fixture(scope="module")
def dot_kernel():
    return ReductionKernel(
        np.float64,
        neutral="0",
        reduce_expr="a+b",
        map_expr="x[i]*y[i]",
        arguments="const double *x, double *y",
    )


@pytest.mark.parametrize("size", SIZES)
def test_a_mapped_sum(dot_kernel, size):
    x, y = numbers(size, "f8", 1), numbers(size, "f8", 2)
    result = dot_kernel(to_gpu(x), to_gpu(y))
    assert result.shape == ()
    assert_close(result.get(), (x * y).sum(), ulps=1000)


def test_map_is_the_argument_in_by_default():
    kernel = ReductionKernel(np.int32, 1, "a * b", arguments="int *in")
    assert kernel(to_gpu(np.array([2, 3, 7], "i4"))).get() == 42
    assert kernel(to_gpu(np.zeros(0, "i4"))).get() == 1


def test_scalars_stand_in_both_expressions():
    kernel = ReductionKernel(
        "f4",
        "0",
        "a + b * unit",
        "x[i] > least ? scale : 0",
        "float *x, float least, float scale, int unit",
    )
    x = numbers(50_000, "f4")
    assert_close(kernel(to_gpu(x), 1.5, np.float32(0.5), 1).get(), np.float32((x > 1.5).sum() / 2))
    assert kernel(to_gpu(x[:5000]), -100, 2, 0).get() == 0


def test_arguments_as_objects():
    arguments = [VectorArg(np.int16, "x"), ScalarArg(np.int64, "top")]
    kernel = ReductionKernel(np.int64, 0, "max(a, b)", "x[i] < top ? x[i] : 0", arguments)
    assert kernel(to_gpu(np.arange(3000, dtype="i2")), 1234).get() == 1233


def test_index_size_and_preamble():
    kernel = ReductionKernel(
        np.uint64,
        "0",
        "a + b",
        "odd(i) ? n - i : 0",
        "const float *x",
        preamble="__device__ bool odd(size_t i) { return i % 2 != 0; }",
    )
    x = zeros(9001, "f4")
    index = np.arange(9001, dtype="u8")
    assert kernel(x).get() == (9001 - index[1::2]).sum()


def test_complex_and_half():
    x = numbers(5000, "F")
    kernel = ReductionKernel(
        "F", "0", "a + b", "x[i] * pycuda::conj(x[i])", "pycuda::complex<float> *x"
    )
    assert_close(kernel(to_gpu(x)).get(), (x * x.conj()).sum(), ulps=64)
    y = numbers(500, "e")
    widest = ReductionKernel("f4", "0", "fmaxf(a, b)", "fabsf(__half2float(x[i]))", "half *x")
    assert_close(widest(to_gpu(y)).get(), np.float32(abs(y).max()))


RANGE = np.dtype([("low", np.float32), ("high", np.float32), ("at", np.int32)])
BEYOND = 1 << 30  # the place of no element
PLAIN = """
struct plain_range { float low, high; int at; };
__device__ plain_range of(float x, float y, int at) { return plain_range{x, y, at}; }
"""
# As programs for PyCUDA must write it, whose accumulators are volatile.
VOLATILE = """
struct volatile_range {
  float low, high; int at;
  __device__ volatile_range() {}
  __device__ volatile_range(float x, float y, int i) : low(x), high(y), at(i) {}
  __device__ volatile_range(volatile_range const &o) : low(o.low), high(o.high), at(o.at) {}
  __device__ volatile_range(volatile_range const volatile &o)
      : low(o.low), high(o.high), at(o.at) {}
  __device__ volatile_range volatile &operator=(volatile_range const &o) volatile {
    low = o.low; high = o.high; at = o.at; return *this;
  }
};
__device__ volatile_range of(float x, float y, int at) { return volatile_range(x, y, at); }
"""
JOIN = """
__device__ RANGE join(RANGE a, RANGE b) {
  const bool first = a.low < b.low || (a.low == b.low && a.at < b.at);
  return of(fminf(a.low, b.low), fmaxf(a.high, b.high), first ? a.at : b.at);
}
"""


@pytest.mark.parametrize(
    ("name", "preamble"), [("plain_range", PLAIN), ("volatile_range", VOLATILE)]
)
def test_structures(name, preamble, recwarn):
    fields = [("low", "f4"), ("high", "f4"), ("at", "i4")]
    dtype = np.dtype([(f"{field}_{name}", code) for field, code in fields])
    get_or_register_dtype(name, dtype)
    kernel = ReductionKernel(
        dtype,
        neutral=f"of(INFINITY, -INFINITY, {BEYOND})",
        reduce_expr="join(a, b)",
        map_expr="of(x[i], x[i], int(i))",
        arguments="const float *x",
        preamble=preamble + JOIN.replace("RANGE", name),
    )
    x = np.random.default_rng(1).random(40_000, "f4")
    assert kernel(to_gpu(x)).get().item() == (x.min(), x.max(), x.argmin())
    assert kernel(to_gpu(x[:0])).get().item() == (np.inf, -np.inf, BEYOND)
    assert not [str(one.message) for one in recwarn.list]


@pytest.mark.parametrize("out", ["x", 5, np.zeros(1)])
def test_an_output_that_is_no_array(dot_kernel, out):
    a = to_gpu(np.arange(10.0))
    with pytest.raises(TypeError, match="out: expected a GPUArray"):
        dot_kernel(a, a, out=out)


def test_out_takes_the_result(dot_kernel):
    a = to_gpu(np.arange(10.0))
    out = zeros(4)
    assert dot_kernel(a, a, out=out) is out
    dot_kernel(a, a, out=out[2])
    assert_close(out.get(), np.array([285.0, 0, 285, 0]))
    with pytest.raises(ValueError, match="out: expected dtype float64, got float32"):
        dot_kernel(a, a, out=zeros((), "f4"))
    with pytest.raises(ValueError, match="expected at least one element"):
        dot_kernel(a, a, out=zeros(0))


def test_one_allocation_for_few_elements(dot_kernel):
    asked = []

    def allocate(nbytes):
        asked.append(nbytes)
        return zeros(nbytes, "u1").gpudata

    a = to_gpu(np.ones(70_000), allocator=allocate)
    for size in (0, 1, 1024):
        asked.clear()
        result = dot_kernel(a[:size], a[:size], allocator=allocate)
        assert asked == [8]
        assert result.allocator is allocate
    asked.clear()
    assert dot_kernel(a, a).get() == 70_000  # the first array's allocator
    assert 8 in asked and len(asked) <= 2  # parts of blocks that are counted are not asked for
    asked.clear()
    stream = Stream()
    assert dot_kernel(a, a, stream=stream).get() == 70_000  # elsewhere nothing is kept
    assert len(asked) == 2 and max(asked) > 8


def test_layouts_that_are_alike(dot_kernel):
    x = numbers((30, 40), "f8")
    c, f = to_gpu(x), to_gpu(np.asfortranarray(x))
    assert_close(dot_kernel(c, c).get(), (x * x).sum(), 64)
    assert_close(dot_kernel(f, f).get(), (x * x).sum(), 64)
    with pytest.raises(RuntimeError, match="in C order and others in Fortran order"):
        dot_kernel(c, f)
    with pytest.raises(RuntimeError, match="y: only contiguous arrays"):
        dot_kernel(c, c[:, ::2])


def test_calls_that_do_not_fit(dot_kernel):
    a = zeros(5)
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        dot_kernel(a)
    with pytest.raises(TypeError, match="y: expected a GPUArray, got ndarray"):
        dot_kernel(a, np.zeros(5))
    with pytest.raises(TypeError):
        dot_kernel(a, a, nonsense=1)
    counted = ReductionKernel(np.int32, 0, "a+b", "x[i] + k", "int *x, int k")
    with pytest.raises(TypeError):
        counted(zeros(3, "i4"), 1.5)


@pytest.mark.parametrize("arguments", [None, "", "int n", []])
def test_a_kernel_without_arrays(arguments):
    with pytest.raises(AssertionError, match="at least one pointer"):
        ReductionKernel(np.int32, 0, "a+b", "i", arguments)


def test_text_that_is_wrong():
    with pytest.raises(errors.CompileError, match="nonsense"):
        ReductionKernel(np.int32, 0, "a+b", "nonsense", "int *x")
    with pytest.raises(ValueError, match="unknown type 'whatever'"):
        ReductionKernel(np.int32, 0, "a+b", "x[i]", "whatever *x")
    with pytest.raises(ValueError, match="unable to map dtype"):
        ReductionKernel("S3", 0, "a+b", "x[i]", "int *x")


def test_attributes_and_wrapper(dot_kernel):
    assert dot_kernel.dtype_out == np.float64
    assert dot_kernel.block_size >= 64
    calls = []

    def wrapper(launch):
        return lambda *args: (calls.append(args), launch(*args))

    a = to_gpu(np.ones(70_000))
    assert dot_kernel(a, a, kernel_wrapper=wrapper).get() == 70_000
    assert len(calls) == 2


def test_kernels_for_other_packages():
    x, y = numbers(5000, "f4", 1), numbers(5000, "f4", 2)
    a, b = to_gpu(x), to_gpu(y)
    chosen = to_gpu(np.array([7, 7, 4000], "u4"))
    assert_close(red.get_sum_kernel(np.float64, np.float32)(a).get(), x.sum(dtype="f8"))
    assert_close(
        red.get_dot_kernel(None, "f4", "f8")(a, b.astype("f8")).get(), (x.astype("f8") * y).sum()
    )
    assert red.get_any_kernel(np.bool_, np.float32)(a).get()
    assert not red.get_all_kernel(np.bool_, np.complex64)(to_gpu(np.array([1j, 0], "F"))).get()
    assert_close(red.get_minmax_kernel("min", np.float32)(a).get(), x.min())
    assert_close(red.get_minmax_kernel("max", np.int8)(a.astype("i1")).get(), x.astype("i1").max())
    assert_close(
        red.get_subset_sum_kernel(None, "u4", "f4")(chosen, a).get(), x[[7, 7, 4000]].sum()
    )
    dot = red.get_subset_dot_kernel(None, "u4", "f4", "f4")
    assert_close(dot(chosen, a, b).get(), (x * y)[[7, 7, 4000]].sum())
    assert_close(
        red.get_subset_minmax_kernel("max", "f4", "u4")(chosen, a).get(), x[[7, 4000]].max()
    )
    assert red.get_sum_kernel(np.float64, np.float32) is red.get_sum_kernel(np.float64, np.float32)


def test_neutral_numbers():
    assert "INFINITY" in red.get_minmax_neutral("min", np.float32)
    assert red.get_minmax_neutral("max", np.uint8).startswith("0")
    with pytest.raises(TypeError, match="unsupported dtype specified"):
        red.get_minmax_neutral("max", np.complex64)
    with pytest.raises(ValueError, match="what='most'"):
        red.get_minmax_neutral("most", np.float32)


@pytest.mark.parametrize(
    "dtype, c_type, neutral",
    [
        ("f4", "float", float("inf")),
        ("f8", "double", -np.inf),
        ("?", "bool", True),
        ("c8", "pycuda::complex<float>", 1 + 0j),
        ("i8", "long long", -(2**63)),
        ("u8", "unsigned long long", 2**64 - 1),
        ("u4", "unsigned", -1),  # as C has it
        ("i4", "int", np.int64(5)),
    ],
)
def test_any_number_may_be_neutral(dtype, c_type, neutral):
    first = ReductionKernel(np.dtype(dtype), neutral, "a", arguments=f"const {c_type} *in")
    with np.errstate(all="ignore"):
        expected = np.array(neutral).astype(dtype)
    assert first(zeros(3, dtype)).get() == expected


@pytest.mark.parametrize("name", ["i", "n", "out_type", "x", "blockDim", "P_at", "P_base"])
def test_names_that_the_kernel_uses(name):
    with pytest.raises(ValueError, match=f"the name '{name}' is taken; expected distinct names"):
        ReductionKernel(np.float32, "0", "a + b", "x[i]", f"float *x, float {name}")


def test_names_that_the_kernel_leaves_to_the_user():
    """Names of PyCUDA's own parameters (out, seq_count) are free, as are `a` and `b`."""
    names = ["a", "b", "out", "seq_count", "parts", "tid", "P_mine", "I"]
    total = " + ".join(names)
    arguments = ", ".join(f"float {name}" for name in names)
    kernel = ReductionKernel(
        np.float32, "0", "a + b", f"x[i] * ({total}) + i + n", f"float *x, {arguments}"
    )
    x = to_gpu(np.array([1, 2, 3], np.float32))
    expected = 6 * sum(range(8)) + (0 + 1 + 2) + 3 * 3
    assert kernel(x, *range(8)).get() == expected
