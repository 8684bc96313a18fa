"""CUDA's intrinsics of several integers in a word, each beside NumPy."""

import kernel_sources
import numpy as np
import pytest
from everywhere import COMPILERS, build, require

import PyGPU
from PyGPU import driver
from PyGPU.compiler import SourceModule
from PyGPU.gpuarray import empty, to_gpu

N = 3000
LANES = {"s2": np.int16, "u2": np.uint16, "s4": np.int8, "u4": np.uint8}


def saturated(values, dtype):
    return np.clip(values, np.iinfo(dtype).min, np.iinfo(dtype).max)


# What is done with the lanes of two words, as int64, and their dtype.
BOTH_SIGNS = {
    "__vmax{}": lambda a, b, t: np.maximum(a, b),
    "__vmin{}": lambda a, b, t: np.minimum(a, b),
    "__vabsdiff{}": lambda a, b, t: abs(a - b),
    "__vavg{}": lambda a, b, t: (a + b + ((a + b >= 0) | (np.dtype(t).kind == "u"))) >> 1,
    "__vsetge{}": lambda a, b, t: a >= b,
    "__vsetgt{}": lambda a, b, t: a > b,
    "__vsetle{}": lambda a, b, t: a <= b,
    "__vsetlt{}": lambda a, b, t: a < b,
    "__vcmpge{}": lambda a, b, t: -(a >= b).astype(int),
    "__vcmpgt{}": lambda a, b, t: -(a > b).astype(int),
    "__vcmple{}": lambda a, b, t: -(a <= b).astype(int),
    "__vcmplt{}": lambda a, b, t: -(a < b).astype(int),
}
ONE_NAME = {
    "__vadd{}": ("s", lambda a, b, t: a + b),
    "__vaddss{}": ("s", lambda a, b, t: saturated(a + b, t)),
    "__vaddus{}": ("u", lambda a, b, t: saturated(a + b, t)),
    "__vsub{}": ("s", lambda a, b, t: a - b),
    "__vsubss{}": ("s", lambda a, b, t: saturated(a - b, t)),
    "__vsubus{}": ("u", lambda a, b, t: saturated(a - b, t)),
    "__vhaddu{}": ("u", lambda a, b, t: (a + b) >> 1),
    "__vseteq{}": ("u", lambda a, b, t: a == b),
    "__vsetne{}": ("u", lambda a, b, t: a != b),
    "__vcmpeq{}": ("u", lambda a, b, t: -(a == b).astype(int)),
    "__vcmpne{}": ("u", lambda a, b, t: -(a != b).astype(int)),
}
OF_ONE = {
    "__vneg{}": lambda a, t: -a,
    "__vnegss{}": lambda a, t: saturated(-a, t),
    "__vabs{}": lambda a, t: abs(a),
    "__vabsss{}": lambda a, t: saturated(abs(a), t),
}


def lanes(words, dtype):
    return words.view(dtype).astype(np.int64)


def words(values, dtype):
    return values.astype(np.int64).astype(f"u{np.dtype(dtype).itemsize}").view(np.uint32)


def cases(x, y):
    """{a call of C: the words that it gives}"""
    found = {}
    for size in "24":
        for sign in "su":
            dtype = LANES[sign + size]
            a, b = lanes(x, dtype), lanes(y, dtype)
            for name, function in BOTH_SIGNS.items():
                found[f"{name.format(sign + size)}(x, y)"] = words(function(a, b, dtype), dtype)
            for name, (its_sign, function) in ONE_NAME.items():
                if its_sign == sign:
                    found[f"{name.format(size)}(x, y)"] = words(function(a, b, dtype), dtype)
            total = abs(a - b).reshape(len(x), -1).sum(axis=1)
            found[f"__vsad{sign}{size}(x, y)"] = total.astype(np.uint32)
        dtype = LANES["s" + size]
        for name, function in OF_ONE.items():
            found[f"{name.format(size)}(x)"] = words(function(lanes(x, dtype), dtype), dtype)
    return found


def extremes(x, y, z):
    """The same of minima and maxima of two and three (DPX)."""
    found = {}
    for suffix, dtype in {"s32": "i4", "u32": "u4", "s16x2": "i2", "u16x2": "u2"}.items():
        a, b, c = (lanes(one, dtype) for one in (x, y, z))
        added = (a + b).astype(dtype).astype(np.int64)  # which wraps
        for name, function in {"max": np.maximum, "min": np.minimum}.items():
            made = {
                f"__vi{name}3_{suffix}": ("(x, y, z)", function(function(a, b), c)),
                f"__viadd{name}_{suffix}": ("(x, y, z)", function(added, c)),
            }
            if suffix[0] == "s":
                made |= {
                    f"{one}_relu": (arguments, np.maximum(value, 0))
                    for one, (arguments, value) in made.items()
                }
                made[f"__vi{name}_{suffix}_relu"] = ("(x, y)", np.maximum(function(a, b), 0))
            first = a >= b if name == "max" else a <= b
            flags = "&low" if "x" not in suffix else "&high, &low"
            found[f"__vib{name}_{suffix}(x, y, {flags})"] = words(function(a, b), dtype)
            flag = first.reshape(len(x), -1) @ ([1, 2] if "x" in suffix else [1])
            found[f"(__vib{name}_{suffix}(x, y, {flags}), high * 2 + low)"] = flag.astype("u4")
            found |= {one + of: words(value, dtype) for one, (of, value) in made.items()}
    return found


def products(x, y, z):
    """The same of dot products, which are added to a number."""
    found = {}
    for sign, c_type in {"i": "int", "u": "unsigned"}.items():
        shorts, bytes_x, bytes_y = (
            lanes(one, f"{sign}{size}").reshape(N, -1) for one, size in ((x, 2), (x, 1), (y, 1))
        )
        u = "u" if sign == "u" else ""
        lanes_of = {"__dp4a": "char4", "__dp2a_lo": "short2", "__dp2a_hi": "short2"}
        for name, factors in {
            "__dp4a": (bytes_x, bytes_y),
            "__dp2a_lo": (shorts, bytes_y[:, :2]),
            "__dp2a_hi": (shorts, bytes_y[:, 2:]),
        }.items():
            total = (np.multiply(*factors).sum(axis=1) + z).astype(np.uint32)
            found[f"{name}({c_type}(x), {c_type}(y), {c_type}(z))"] = total
            vectors = f"*(const {u}{lanes_of[name]} *)&x, *(const {u}char4 *)&y"
            found[f"{name}({vectors}, {c_type}(z))"] = total
    return found


def text(calls):
    """A kernel that makes all at once: each has its row of the results."""
    rows = "".join(f"out[{row} * n + i] = {call};\n" for row, call in enumerate(calls))
    return (
        "__global__ void all(unsigned *out, const unsigned *xs, const unsigned *ys,\n"
        "                    const unsigned *zs, int n) {\n"
        "const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
        + ("bool high = false, low = false;\n" if any("low" in call for call in calls) else "")
        + f"const unsigned x = xs[i], y = ys[i], z = zs[i]; (void)z;\n{rows}}}"
    )


def check(expected, *arguments):
    out = empty((len(expected), N), np.uint32)
    given = [to_gpu(one) for one in arguments]
    function = SourceModule(text(expected)).get_function("all")
    function(out, *given, np.int32(N), block=(128, 1, 1), grid=(-(-N // 128), 1))
    for row, (call, value) in zip(out.get(), expected.items()):
        np.testing.assert_array_equal(row, value, call)


@pytest.fixture
def numbers():
    """Words of any bits, and of what lies at the ends of lanes; some are the same in two."""
    rng = np.random.default_rng(7)
    found = rng.integers(0, 1 << 32, (3, N), np.uint32)
    ends = np.array([0, 1, 0x7F, 0x80, 0x81, 0xFF], np.uint8)
    found[:, : N // 2] = rng.choice(ends, (3, N // 2, 4)).view(np.uint32)[..., 0]
    found[1, ::5] = found[0, ::5]
    return found


def test_lane_by_lane(numbers):
    x, y, z = numbers
    check(cases(x, y), x, y, z)


def test_dot_products(numbers):
    check(products(*numbers), *numbers)


def test_minima_and_maxima_of_two_and_three(numbers):
    if PyGPU.target == "cuda" and driver.get_version()[0] < 12:
        pytest.skip("CUDA has them from version 12 on")
    check(extremes(*numbers), *numbers)


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS, ids=lambda value: value)
@pytest.mark.parametrize("family", ["cases", "extremes", "products"])
def test_compiles(prefix, backend, arch, family, numbers):
    compiler = require(prefix)
    if family == "extremes" and prefix == "nvrtc" and compiler.version() < (12, 0):
        pytest.skip("CUDA has them from version 12 on")
    x, y, z = numbers
    calls = {
        "cases": lambda: cases(x, y),
        "extremes": lambda: extremes(x, y, z),
        "products": lambda: products(x, y, z),
    }[family]()
    entry = build(kernel_sources.Text(text(calls), extern_c=False), backend, arch)
    assert entry.log == "", "kernels compile without warnings"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("ADD(a[0], a[1])", ["-DADD=__vadd4"]),  # as a program's options name them
        ("JOINED(__va, dd4)(a[0], a[1])", ["-DJOINED(x,y)=x##y"]),
        ("JOINED(__va, dd4)(a[0], a[1])", []),
    ],
)
def test_names_that_macros_make(text, options):
    define = "" if options else "#define JOINED(x, y) x##y\n"
    module = SourceModule(
        f"{define}__global__ void f(unsigned *a) {{ a[0] = {text}; }}", options=options
    )
    a = to_gpu(np.array([0x01FF7F80, 0x01010101], np.uint32))
    module.get_function("f")(a, block=(1, 1, 1))
    assert a.get()[0] == 0x02008081
