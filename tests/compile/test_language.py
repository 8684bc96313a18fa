"""CUDA C++ in a user's own source: what kernels of any target compute, against NumPy."""

import ctypes
import math
import subprocess
from pathlib import Path

import needs
import numpy as np
import pytest

import PyGPU

SOURCE = Path(__file__).with_name("language.cu")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if PyGPU.target == "hip":
        pytest.skip("the kernels include headers that only CUDA and the host target have")
    include = PyGPU.get_include()
    if PyGPU.target == "host":
        folder = PyGPU.get_library_dir()
        warnings = ["-Wall", "-Wextra", "-Wshadow", "-Werror", "-Wno-unknown-pragmas"]
        command = [needs.compiler_of_files(), "-O2", "-fPIC", "-x", "c++", *warnings]
        command += ["-I", f"{include}/PyGPU/host/cuda"]
        links = ["-L", folder, "-lPyGPU_host", f"-Wl,-rpath,{folder}"]
    else:
        command, links = [needs.program("nvcc"), "-Xcompiler", "-fPIC", "-arch=native"], []
    built = tmp_path_factory.mktemp("language") / "language.so"
    command += ["-std=c++17", "-shared", "-I", include, str(SOURCE), *links, "-o", str(built)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(built))


def run(function, *arrays):
    """Call with device copies of the arrays, ints as they are; give the arrays back."""
    device = [PyGPU.to_gpu(a) if isinstance(a, np.ndarray) else a for a in arrays]
    given = [ctypes.c_void_p(a.ptr) if hasattr(a, "ptr") else a for a in device]
    assert function(*given) == 0
    return [a.get() if hasattr(a, "ptr") else a for a in device]


def test_shuffles_votes_matches_and_reductions(library):
    out, wide = run(library.shuffles, np.zeros((64, 12), np.int32), np.zeros(64))
    t = np.arange(64)
    lane, base = t % 32, t - t % 32
    sums = [t[:32].sum(), t[32:].sum()]
    assert [out[0, 0], out[32, 0]] == sums
    np.testing.assert_array_equal(out[:, 1], base + 5)
    np.testing.assert_array_equal(out[:, 2], np.where(lane < 3, t, t - 3))
    np.testing.assert_array_equal(out[:, 3], np.where(lane % 8 > 4, t, t + 3))
    np.testing.assert_array_equal(out[:, 4], t ^ 9)
    ballot = sum(1 << i for i in range(0, 32, 3))
    np.testing.assert_array_equal(out[:, 5].astype(np.uint32), ballot)
    np.testing.assert_array_equal(out[:, 6], 1)
    np.testing.assert_array_equal(out[:, 7].view(np.uint32), 15 << (lane // 4 * 4))
    np.testing.assert_array_equal(out[:, 8], 0)  # all lanes, and one
    np.testing.assert_array_equal(out[:, 9], np.where(lane < 16, base + 15, t ^ 1))
    np.testing.assert_array_equal(out[:, 10], 31 + 64)
    np.testing.assert_array_equal(out[:, 11], 32)
    np.testing.assert_array_equal(wide, (t ^ 1) * 0.5)


def test_barriers_that_count_after_threads_have_returned(library):
    (out,) = run(library.votes, np.zeros((128, 3), np.int32))
    np.testing.assert_array_equal(out[:100], [[34, 2 + 0, 2]] * 100)
    assert not out[100:].any()


def test_cooperative_groups(library):
    (out,) = run(library.groups, np.zeros((32, 4), np.int32))
    t = np.arange(32)
    tile = t // 8
    np.testing.assert_array_equal(out[:, 0], tile * 64 + 28)
    np.testing.assert_array_equal(out[:, 1], 0b11000000)
    np.testing.assert_array_equal(out[:, 2], tile * 4 + (tile == 1) * 2 + (tile >= 1))
    np.testing.assert_array_equal(out[:, 3], 32 + tile * 8 + 2)


def test_atomics_of_all_types(library):
    u = np.array([2**32 - 1, 0, 0, 0, 0, 0], np.uint32)
    i, u, wide, f, d, h = run(
        library.atomics,
        np.zeros(5, np.int32),
        u,
        np.zeros(2, np.uint64),
        np.zeros(1, np.float32),
        np.zeros(1),
        np.zeros(1, np.float16),
    )
    assert i.tolist() == [1000, -2000, 999, -999, 99]
    parity = np.bitwise_xor.reduce(np.arange(1000))
    assert u.tolist() == [0, 2**32 - 1, parity, 0, 0, 3000]
    assert wide.tolist() == [1000 << 33, 2000]
    assert (f[0], d[0], h[0]) == (500, 1000, 64)


def reversed_bits(word):
    return int(f"{word:032b}"[::-1], 2)


def test_integer_intrinsics(library):
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 2**32, (2, 256), dtype=np.uint32)
    x[:4], y[:4] = [0, 1, 2**31, 2**32 - 1], [2**32 - 1, 2**31, 3, 2**32 - 1]
    out = run(library.integers, x, y, np.zeros((256, 20), np.uint32), 256)[2]
    for a, b, found in zip(x.tolist(), y.tolist(), out.tolist()):
        sa, sb = a - (a >> 31 << 32), b - (b >> 31 << 32)
        a24, b24 = ((v & 0xFFFFFF) - ((v >> 23 & 1) << 24) for v in (a, b))
        pair = b << 32 | a
        byte = [pair >> 8 * n & 0xFF for n in (6, 1, 4, 5)]
        expected = [
            32 - a.bit_length(),
            64 - (a << 8 | 1).bit_length(),
            (a & -a).bit_length(),
            a.bit_count() * 101 + 400 if hasattr(a, "bit_count") else found[3],
            reversed_bits(a),
            reversed_bits(a),
            sum(v << 8 * n for n, v in enumerate(byte)),
            a * b >> 32,
            sa * sb >> 32,
            a * b & 0xFFFFFFFF,
            a24 * b24,
            sa + sb >> 1,
            a + b >> 1,
            abs(a - b) + 7,
            pair << 13 >> 32,
            pair >> 13,
            min(a, b),
            max(sa, sb),
            a & 0x7F7FFFFF,
            a & 0x7FEFFFFF,
        ]
        assert found == [value & 0xFFFFFFFF for value in expected]


def bessel_i(order, x):
    return sum(
        (x / 2) ** (2 * k + order) / (math.factorial(k) * math.factorial(k + order))
        for k in range(80)
    )


def test_mathematical_functions(library):
    x = np.array([0.125, 0.5, 0.7, 1.0, 1.5, 2.0, 3.25, 7.5, 10.0, 15.75])
    out = run(library.maths, x, np.zeros((x.size, 20)), x.size)[1]
    for v, found in zip(x.tolist(), out.tolist()):
        erfinv, erfcinv, normcdfinv = found[5], found[6], found[8]
        z = complex(v, found[2]) / complex(found[3], 2)
        expected = [
            v**-0.5,
            v ** (-1 / 3),
            math.sin(math.pi * math.fmod(v, 2)),
            math.cos(math.pi * math.fmod(v, 2)),
            10 ** (v / 8),
            erfinv,
            erfcinv,
            0.5 * math.erfc((3 - v) / 2**0.5),
            normcdfinv,
            math.exp(v * v) * math.erfc(v),
            bessel_i(0, v),
            bessel_i(1, v),
            math.hypot(v, 2, 3),
            1 / math.hypot(v, 1),
            max(v - 3, 0),
            found[15],
            round(v) + 100 * math.ceil(v) + 10000 * math.floor(v),
            v,
            2 + min(v, 3) + 2 + v,
            abs(z) ** 2,
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
        assert math.isclose(math.erf(erfinv), v / 16, rel_tol=1e-13)
        assert math.isclose(math.erfc(erfcinv), v / 8, rel_tol=1e-12)
        assert math.isclose(math.erfc(-normcdfinv / 2**0.5), v / 8, rel_tol=1e-12)
        assert math.isclose(found[15], math.exp(v) + v**-0.5, rel_tol=1e-5)


def test_exact_zeros_of_sinpi_and_cospi(library):
    out = run(library.maths, np.array([0.5, 1.0, 1.5, 2.0]), np.zeros((4, 20)), 4)[1]
    assert np.abs(out[:, 2]).tolist() == [1, 0, 1, 0]
    assert np.abs(out[:, 3]).tolist() == [0, 1, 0, 1]


def test_halves(library):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 256)).astype(np.float16)
    x[:5] = [6e-8, 65504, 1e-5, 0, -3]
    y[y == 0] = 1
    found = run(library.halves, x, y, np.zeros((256, 10), np.float16), 256)[2]
    a, b = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(over="ignore"):
        expected = np.stack(
            [a + b, a * b, a - b, a / b, a * b + a, np.sqrt(abs(a)), np.minimum(a, b), a + b]
        ).astype(np.float16)
        exact = np.delete(np.arange(8), 3)  # a GPU's quotient may be one unit off
        np.testing.assert_array_equal(found[:, exact].T, expected[exact])
        np.testing.assert_allclose(found[:, 3], expected[3], rtol=2**-10)
        np.testing.assert_array_equal(found[:, 8], (1 - a).astype(np.float16))
        np.testing.assert_array_equal(found[:, 9], (b * b).astype(np.float16))


def test_vector_types_have_cudas_sizes_and_alignments(library):
    x = np.arange(128, dtype=np.float32).reshape(32, 4)
    _, out, sizes = run(library.vectors, x, np.zeros_like(x), np.zeros((20, 2), np.int32))
    np.testing.assert_array_equal(out, x[:, ::-1])
    expected = "1,1 2,2 3,1 4,4 4,4 6,2 8,8 8,8 12,4 16,16 16,16 16,16 8,8 8,8 12,4 16,16 24,8"
    expected += " 12,4 4,4 16,16"
    assert sizes.tolist() == [[int(n) for n in pair.split(",")] for pair in expected.split()]
