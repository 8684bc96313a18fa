"""What CUDA's C++ has beyond C++, run: vectors, halves, warps, dynamic shared memory, printf."""

import platform

import kernel_sources
import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule


def kernel(text, name):
    return SourceModule(text.source).get_function(name)


@pytest.mark.parametrize("before", [np.int32(7), 7])
def test_vectors_by_value_stand_at_their_alignment(before):
    """float4 after an int: PyCUDA packs it four bytes too early."""
    out = gpuarray.zeros((3, 4), np.float32)
    float4 = np.zeros((), np.dtype([(name, np.float32) for name in "xyzw"]))
    float4["x"], float4["y"], float4["z"], float4["w"] = 1, 2, 3, 4
    double2 = np.array([0.5, -0.5])
    uchar3 = np.array([9, 8, 7], np.uint8)
    vectors = kernel(kernel_sources.VECTORS, "vectors")
    vectors(out, before, float4, np.int8(-3), double2, uchar3, block=(1, 1, 1))
    expected = [[4, 3, 2, 1], [7, -3, 0.5, -0.5], [9, 8, 7, 28]]
    assert out.get().tolist() == expected


def test_a_structure_with_a_vector():
    mixed = np.zeros(
        (), np.dtype({"names": ["t", "v"], "formats": ["i1", "4f4"], "offsets": [0, 16]})
    )
    mixed["t"], mixed["v"] = 5, [1, 2, 3, 4]
    out = gpuarray.zeros(1, np.float32)
    kernel(kernel_sources.VECTORS, "read_mixed")(out, mixed, block=(1, 1, 1))
    assert out.get()[0] == 10


def test_halves():
    x = np.linspace(-3, 3, 20).astype(np.float16)
    a = gpuarray.to_gpu(x)
    kernel(kernel_sources.HALVES, "halves")(a, np.float16(1.5), 20, block=(32, 1, 1))
    # A GPU may round the product and the sum once, together.
    np.testing.assert_allclose(a.get(), x * np.float16(1.5) + np.float16(1), atol=2e-3)


def test_warps():
    size = drv.Device(0).get_attribute(drv.device_attribute.WARP_SIZE)
    if size != 32:
        pytest.skip(f"the masks of this text are of 32 threads, a warp has {size}")
    a = gpuarray.to_gpu(np.arange(32, dtype=np.int32))
    kernel(kernel_sources.WARPS, "sum_warp")(a, block=(32, 1, 1))
    assert a.get()[0] == np.arange(32).sum()
    out = gpuarray.zeros(4, np.uint64)
    kernel(kernel_sources.WARPS, "votes")(out, block=(32, 1, 1))
    assert out.get().tolist() == [0xAAAAAAAA, 1, 0, 8 + 4 + 31]


def test_lanes_of_a_branch_as_a_group():
    x = np.random.default_rng(3).integers(-4, 5, 32).astype(np.int32)
    out, count = gpuarray.zeros((32, 9), np.int32), gpuarray.to_gpu(np.full(1, 100, np.int32))
    kernel(kernel_sources.GROUPS, "branch")(out, count, gpuarray.to_gpu(x), block=(32, 1, 1))
    (lanes,) = np.nonzero(x > 0)
    got, many = out.get(), len(lanes)
    assert count.get()[0] == 100 + many and 4 < many < 32
    ranks = np.arange(many)
    down = np.append(lanes[1:], lanes[-1])
    up = np.append(lanes[:2], lanes[:-2])
    for place, expected in enumerate(
        [ranks, many, 100, down, up, 0b1010, 2 * (5 in lanes) + 1, x[lanes].sum(), lanes[-1]]
    ):
        np.testing.assert_array_equal(got[lanes, place], expected, str(place))
    assert not np.delete(got, lanes, axis=0).any()


def test_folds_of_tiles():
    x = np.random.default_rng(4).integers(0, 99, 32).astype(np.int32)
    out = gpuarray.zeros((32, 3), np.int32)
    kernel(kernel_sources.GROUPS, "tiles")(out, gpuarray.to_gpu(x), block=(32, 1, 1))
    tiles = x.reshape(4, 8)
    folds = [fold.reduce(tiles, axis=1) for fold in (np.add, np.minimum, np.bitwise_xor)]
    np.testing.assert_array_equal(out.get(), np.repeat(np.stack(folds, 1), 8, axis=0))


def test_dynamic_shared_memory_of_a_file():
    x = np.arange(100, dtype=np.float32)
    a = gpuarray.to_gpu(x)
    kernel(kernel_sources.DYNAMIC_SHARED, "rotate")(a, block=(100, 1, 1), shared=400)
    np.testing.assert_array_equal(a.get(), np.roll(x, -1))


def test_printf_comes_in_its_order(python):
    """Synchronisation brings what kernels printed, before what the program prints next."""
    done = python(
        f"""
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule
report = SourceModule({kernel_sources.PRINTS.source!r}).get_function("report")
print("before", flush=True)
for n in (2, 3):
    report(n, 0.5, 0, block=(n, 1, 1))
drv.Device(0).make_context().synchronize()
print("after", flush=True)
"""
    )
    lines = ["before", "thread 1 of 2: 0.5 text%", "thread 1 of 3: 0.5 text%", "after"]
    assert done.stdout.splitlines() == lines and done.stderr == ""


def test_reference_parameters():
    """A reference is an address, as in a launch by NVIDIA's driver."""
    text = """
    typedef float Real;
    struct Pair { int n; float s; };
    __global__ void scale(int &n, const Real &s, float *a) { a[0] = s * n; n = 5; }
    __global__ void members(const Pair &p, float (&v)[2], float *a) { a[0] = p.n * p.s + v[1]; }
    """
    module = SourceModule(text)
    n, s = gpuarray.to_gpu(np.array([3], "i4")), gpuarray.to_gpu(np.array([2.5, 4], "f4"))
    a = gpuarray.zeros(1, np.float32)
    scale = module.get_function("scale")
    scale(n, s, a, block=(1, 1, 1))
    assert (a.get()[0], n.get()[0]) == (7.5, 5)
    scale.prepare("PPP").prepared_call((1, 1), (1, 1, 1), n.gpudata, s.gpudata, a.gpudata)
    assert a.get()[0] == 12.5
    with pytest.raises(PyGPU.errors.ArgumentError, match="'n': expected a pointer"):
        scale(np.int32(3), s, a, block=(1, 1, 1))
    pair = gpuarray.to_gpu(np.array([(3, 2)], [("n", "i4"), ("s", "f4")]))
    module.get_function("members")(pair, s, a, block=(1, 1, 1))
    assert a.get()[0] == 10


def test_find_first_set_of_every_integer_type():
    text = """
    __global__ void find(int *a, unsigned long long u, unsigned long v, short s, unsigned w, bool b)
    {
      __builtin_assume(s > 0 && w > 0);
      a[0] = __ffs(u), a[1] = __ffsll(u), a[2] = __ffs(v), a[3] = __ffsll(v), a[4] = __ffs(s);
      a[5] = __ffsll(s), a[6] = __ffs(w), a[7] = __ffsll(w), a[8] = __ffs(b), a[9] = __ffsll('b');
    }
    """
    a = gpuarray.zeros(10, np.int32)
    numbers = (np.uint64(8), np.uint64(16), np.int16(4), np.uint32(2), np.bool_(True))
    SourceModule(text).get_function("find")(a, *numbers, block=(1, 1, 1))
    assert a.get().tolist() == [4, 4, 5, 5, 3, 3, 2, 2, 1, 2]


@pytest.mark.parametrize(
    ("dtype", "c_type"),
    [("i1", "signed char"), ("i2", "short"), ("i4", "int"), ("i8", "long long")],
)
def test_division_of_the_smallest_integer_by_minus_one(dtype, c_type):
    """The quotient wraps and the remainder is 0; x86 raises a signal, which ends the launch."""
    text = f"""
    typedef {c_type} T;
    __global__ void divide(T *quotient, T *remainder, const T *x, const T *y)
    {{
      __shared__ T z[4];
      const int i = threadIdx.x;
      z[i] = y[i];
      quotient[i] = x[i] / y[i];
      remainder[i] = x[i] % z[i];
    }}
    """
    least = np.iinfo(dtype).min
    x, y = np.array([[least, least, 7, least], [-1, 2, -2, -1]], dtype)
    quotient, remainder = gpuarray.zeros(4, dtype), gpuarray.zeros(4, dtype)
    divide = SourceModule(text).get_function("divide")
    arguments = (quotient, remainder, gpuarray.to_gpu(x), gpuarray.to_gpu(y))
    if PyGPU.target == "host" and platform.machine() == "x86_64" and x.itemsize >= 4:
        with pytest.raises(drv.LaunchError, match="of the smallest integer by -1"):
            divide(*arguments, block=(4, 1, 1))
        return
    divide(*arguments, block=(4, 1, 1))
    assert quotient.get().tolist() == [least, least // 2, -3, least]
    assert remainder.get().tolist() == [0, 0, 1, 0]
