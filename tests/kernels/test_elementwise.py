"""ElementwiseKernel as programs use it: expressions, preambles, scalars and structures, ranges."""

import itertools
import threading

import hypothesis.strategies as st
import needs
import numpy as np
import pytest
from hypothesis import example, given
from strategies import arrays, shapes, slices

import PyGPU.driver as drv
from PyGPU import gpuarray, tools
from PyGPU.elementwise import ElementwiseKernel, ScalarArg, VectorArg

rng = np.random.default_rng(7)


def test_a_linear_combination():
    kernel = ElementwiseKernel(
        "float a, float *x, float b, float *y, float *z",
        "z[i] = a * x[i] + b * y[i]",
        "linear_combination",
    )
    x, y = (rng.standard_normal(1237).astype(np.float32) for _ in range(2))
    z = gpuarray.empty(1237, np.float32)
    a_gpu, b_gpu = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    for a, b in [(5, 6), (0.5, np.float64(2)), (np.int8(3), True), (np.array(1.5), 1)]:
        assert kernel(a, a_gpu, b, b_gpu, z) is None
        np.testing.assert_allclose(z.get(), float(a) * x + float(b) * y, rtol=1e-5, atol=1e-6)
    kernel(2, a_gpu, 1, a_gpu, a_gpu)  # the result may be an operand
    np.testing.assert_allclose(a_gpu.get(), 3 * x, rtol=1e-6)


def test_complex_numbers():
    kernel = ElementwiseKernel(
        "pycuda::complex<float> c, pycuda::complex<float> *z, float *r",
        "z[i] = c * conj(z[i]) + r[i]; r[i] = abs(z[i])",
    )
    z = (rng.standard_normal(100) + 1j * rng.standard_normal(100)).astype(np.complex64)
    r = rng.standard_normal(100).astype(np.float32)
    z_gpu, r_gpu = gpuarray.to_gpu(z), gpuarray.to_gpu(r)
    for c in (2 - 1j, np.complex64(1j), 3, 0.25):
        z_gpu.set(z), r_gpu.set(r)
        kernel(c, z_gpu, r_gpu)
        expected = c * z.conj() + r
        np.testing.assert_allclose(z_gpu.get(), expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(r_gpu.get(), abs(expected), rtol=1e-5, atol=1e-5)


def test_a_preamble_and_what_stands_around_the_loop():
    kernel = ElementwiseKernel(
        "int *x, int *first, int *calls",
        "x[i] = twice(x[i]) + OFFSET + bias  // with a comment at its end",
        preamble="""
        #include <stdint.h>
        #define OFFSET 5
        template <class T> __device__ T twice(T x) { return x + x; }
        __device__ int32_t get(const int *from) { return *from; }
        """,
        loop_prep="int bias = get(first)",
        after_loop="if (cta_start + tid == 0) *calls += bias",
        options=["-DUNUSED=1"],
        keep=False,
    )
    x = np.arange(5000, dtype=np.int32)
    x_gpu = gpuarray.to_gpu(x)
    first, calls = gpuarray.to_gpu(np.array([7], np.int32)), gpuarray.zeros(1, np.int32)
    kernel(x_gpu, first, calls)
    assert (x_gpu.get() == 2 * x + 12).all()
    assert calls.get() == [7]


def test_the_names_that_an_operation_sees():
    """Every index comes once, from a thread of those that there are."""
    kernel = ElementwiseKernel(
        "unsigned *seen, unsigned *at, unsigned long *counts",
        "seen[i] += 1; at[i] = tid + cta_start; if (i == n - 1) counts[0] = n, "
        "counts[1] = total_threads, counts[2] = blockDim.x * gridDim.x, counts[3] = sizeof(i)",
    )
    for n in (1, 31, 33, 1000, 100_003):
        seen, at = gpuarray.zeros(n, np.uint32), gpuarray.zeros(n, np.uint32)
        counts = gpuarray.zeros(4, np.uint64)
        kernel(seen, at, counts)
        assert (seen.get() == 1).all()
        size, threads, launched, width = counts.get()
        assert (size, threads, width) == (n, launched, 8)
        assert at.get().max() < threads


SCALARS = [np.dtype(code) for code in "?bBhHiIlLqQefdFD"]


def test_scalars_of_every_dtype():
    """Between others, so that a wrong size or alignment shows."""
    arguments = [ScalarArg(np.int8, "before")]
    for k, dtype in enumerate(SCALARS):
        arguments += [ScalarArg(dtype, f"a{k}"), VectorArg(dtype, f"z{k}")]
    operation = "; ".join(f"z{k}[i] = a{k}" for k in range(len(SCALARS)))
    kernel = ElementwiseKernel([*arguments, ScalarArg(np.uint8, "after")], operation)
    values = [dtype.type(k % 2 if dtype.kind == "b" else k + 1) for k, dtype in enumerate(SCALARS)]
    plain = [value.item() for value in values]
    boxed = [np.array(value) for value in values]
    for given_values in (values, plain, boxed):
        results = [gpuarray.zeros(3, dtype) for dtype in SCALARS]
        kernel(-1, *itertools.chain(*zip(given_values, results)), 255)
        for value, result in zip(values, results):
            assert (result.get() == value).all(), result.dtype


PARTICLE = np.dtype([("position", "f4", (3,)), ("mass", "f8"), ("kind", "i4")], align=True)


def test_structures():
    name = "test_elementwise_particle"
    tools.get_or_register_dtype(name, PARTICLE)
    kernel = ElementwiseKernel(
        f"char tag, {name} gain, {name} *p, double *moment",
        "moment[i] = p[i].mass * p[i].position[2] * gain.mass; p[i].kind = tag + gain.kind",
        preamble=f"struct {name} {{ float position[3]; double mass; int kind; }};",
    )
    p = np.zeros(50, PARTICLE)
    p["position"], p["mass"] = rng.standard_normal((50, 3)), np.arange(50)
    gain = np.zeros((), PARTICLE)
    gain["mass"], gain["kind"] = 0.5, 100
    p_gpu, moment = gpuarray.to_gpu(p), gpuarray.empty(50, np.float64)
    for value in (gain, gain[()], gain.tobytes()):
        kernel(7, value, p_gpu, moment)
        np.testing.assert_allclose(moment.get(), p["mass"] * p["position"][:, 2] * 0.5)
        assert (p_gpu.get()["kind"] == 107).all()


def test_vector_types():
    float4 = np.dtype([(axis, np.float32) for axis in "xyzw"])
    tools.get_or_register_dtype("float4", float4)
    kernel = ElementwiseKernel(
        "int n0, float4 v, float4 *z", "z[i] = make_float4(v.x, v.y * n0, v.z, i)"
    )
    z = gpuarray.empty(5, float4)
    kernel(3, np.array((1, 2, 3, 4), float4), z)
    assert z.get().tolist() == [(1, 6, 3, i) for i in range(5)]


def test_halves():
    kernel = ElementwiseKernel("half a, half *x", "x[i] = __float2half(float(a) * float(x[i]))")
    x = gpuarray.to_gpu(np.arange(10, dtype=np.float16))
    kernel(0.5, x)
    assert (x.get() == np.arange(10) / 2).all() and x.dtype == np.float16


fill = ElementwiseKernel("double a, double *x", "x[i] = a")


def test_no_elements():
    assert fill(1, gpuarray.empty(0, np.float64)) is None
    assert fill(1, gpuarray.empty((3, 0, 2), np.float64, order="F")) is None
    one = gpuarray.zeros((), np.float64)
    fill(3, one)
    assert one.get() == 3


def test_the_first_array_tells_the_length():
    gather = ElementwiseKernel("double *z, int *index, double *x", "z[i] = x[index[i]]")
    x, index = rng.standard_normal((20, 3)), rng.integers(0, 60, 7).astype(np.int32)
    z = gpuarray.empty(7, np.float64)
    gather(z, gpuarray.to_gpu(index), gpuarray.to_gpu(x))
    assert (z.get() == x.ravel()[index]).all()


add = ElementwiseKernel("double *x, double *y, double *z", "z[i] = x[i] + y[i]")


def on_device(array):
    """A GPUArray with the array's own strides."""
    spread = gpuarray.GPUArray(array.shape, array.dtype, strides=array.strides)
    spread.set(array)
    return spread


@given(st.data())
def test_elements_never_meet_wrong_partners(data):
    shape = data.draw(shapes(max_dims=3))
    x, y, z = (data.draw(arrays(shape, np.dtype(np.float64), writable=True)) for _ in range(3))
    on = [on_device(one) for one in (x, y, z)]
    flags = [one.flags for one in on]
    if all(f.c_contiguous for f in flags) or all(f.f_contiguous for f in flags):
        add(*on)
        assert (on[2].get() == x + y).all()
    else:
        with pytest.raises(RuntimeError, match=r"cannot deal with .*(contiguous|order)"):
            add(*on)
        assert (on[2].get() == z).all()


mark = ElementwiseKernel("long *z", "z[i] = 10 * n + i")


@given(st.integers(0, 40), st.data())
@example(5, None)
def test_slices(n, data):
    which = slice(None) if data is None else data.draw(slices(n))
    z = gpuarray.zeros(n, np.int64)
    mark(z, slice=which)
    expected = np.zeros(n, np.int64)
    expected[which] = (10 * n + np.arange(n))[which]
    assert (z.get() == expected).all()


@given(st.integers(1, 40), st.data())
def test_ranges(n, data):
    bound = st.integers(0, n - 1)
    start, stop = data.draw(bound), data.draw(st.integers(-1, n))
    step = data.draw(st.sampled_from([1, 2, 3, 7, -1, -2, -5, 2**40, -(2**40)]))
    z = gpuarray.zeros(n, np.int64)
    mark(z, range=slice(start, stop, step))
    expected = np.zeros(n, np.int64)
    for i in range(start, stop, step):
        expected[i] = 10 * n + i
    assert (z.get() == expected).all()


def test_ranges_are_absolute_and_may_leave_ends_open():
    z = gpuarray.zeros(10, np.int64)
    for which, expected in [
        (slice(None), range(10)),
        (slice(2, None), range(2, 10)),
        (slice(None, 3, None), range(3)),
        (slice(None, 6, -1), (9, 8, 7)),
        (slice(3, None, -2), (3, 1)),
        (slice(np.int64(4), np.uint8(6)), (4, 5)),
        (range(0, 10, 4), (0, 4, 8)),
        (slice(5, 5), ()),
        (slice(5, -5), ()),
    ]:
        z.fill(-1)
        mark(z, range=which)
        assert set(np.flatnonzero(z.get() != -1)) == set(expected), which
    count = ElementwiseKernel("int *count", "atomicAdd(count + (i < 0), 1)")
    counts = gpuarray.zeros(2, np.int32)
    count(counts, range=slice(-3, 1000))
    assert counts.get().tolist() == [1000, 3]


def test_indices_have_64_bits():
    far = ElementwiseKernel("long *z", "z[(i - 4294967296) / 2] = i")
    z = gpuarray.zeros(5, np.int64)
    far(z, range=slice(2**32, 2**32 + 10, 2))
    assert (z.get() == 2**32 + np.arange(0, 10, 2)).all()
    far(z, range=slice(2**32 + 8, 2**32 - 1, -2))
    assert (z.get() == 2**32 + np.arange(0, 10, 2)).all()


def test_more_than_2_to_the_32_elements():
    if needs.ON_MACHINE:
        pytest.skip("4 billion elements take the host machine too long")
    n = 2**32 + 11
    if drv.mem_get_info()[0] < 2 * n:
        pytest.skip("the device has too little memory for 2**32 elements")
    x = gpuarray.zeros(n, np.uint8)
    ElementwiseKernel("unsigned char *x", "x[i] += 1 + (i >= 4294967296)")(x)
    assert (x[-20:].get() == [1] * 9 + [2] * 11).all() and (x[:20].get() == 1).all()


def test_streams():
    x = gpuarray.zeros(1000, np.float64)
    stream = drv.Stream()
    for number, where in enumerate([None, stream, 0, stream.handle], 1):
        fill(number, x, stream=where)
        stream.synchronize()
        assert (x.get() == number).all()


def test_arguments_as_objects_are_left_alone():
    arguments = [ScalarArg(np.float32, "a"), VectorArg(np.float32, "x")]
    kernel = ElementwiseKernel(arguments, "x[i] *= a")
    x = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
    kernel(2, x), kernel(2, x, slice=slice(1, 2))
    assert x.get().tolist() == [0, 4, 4, 6] and len(arguments) == 2


def test_threads_share_a_kernel():
    kernel = ElementwiseKernel("int a, int *x", "x[i] = a + i")
    failures = []

    def work(number):
        x = gpuarray.empty(1000, np.int32)
        for turn in range(5):
            kernel(number * turn, x)
            if (x.get() != number * turn + np.arange(1000)).any():
                failures.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_each_device_has_its_own(two_devices):
    two_devices(
        """
import numpy as np
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.elementwise import ElementwiseKernel
kernel = ElementwiseKernel("int *x", "x[i] = i")
for number in (0, 1, 0):
    context = drv.Device(number).make_context()
    x = gpuarray.zeros(5, np.int32)
    kernel(x)
    kernel(x, range=slice(1, 2))
    assert x.get().tolist() == [0, 1, 2, 3, 4]
    assert kernel.generate_stride_kernel_and_types(False)[1].name == "kernel"
    context.pop()
assert len(kernel._variants) == 4
""",
    )
