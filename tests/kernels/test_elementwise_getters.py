"""The kernels that other packages ask PyGPU.elementwise for, against NumPy; all of its texts with
every compiler."""

import inspect
import re

import kernel_sources
import numpy as np
import pytest
from everywhere import COMPILERS, build, require

from PyGPU import _driver, compiler, elementwise, gpuarray, tools

rng = np.random.default_rng(5)
f4, f8, i4, u1, c8, b1 = (np.dtype(code) for code in ("f4", "f8", "i4", "u1", "c8", "?"))
N = 100
x, y = rng.standard_normal(N).astype(f4), rng.standard_normal(N)
i, j = (rng.integers(1, 100, N).astype(i4) for _ in range(2))
u = i.astype(u1)
c = (x + 1j * y).astype(c8)
one = np.array([3], f4)
sign = rng.integers(-1, 2, N).astype(i4)
at = rng.permutation(N).astype(i4)
# Where results go.
zf, zd, zi, zu, zc, zb = (np.zeros(N, dtype) for dtype in (f4, f8, i4, u1, c8, b1))

# A getter's name and arguments; the kernel's arguments; the arrays that it changes, in their order.
CASES = [
    ("copy", (c8, f4), (zc, x), [x]),
    ("axpbyz", (f4, f8, f8), (2, x, -3, y, zd), [2 * x - 3 * y]),
    ("axpbyz", (f4, c8, c8, True), (2, one, 1j, c, zc), [6 + 1j * c]),
    ("axpbz", (f4, c8), (2j, x, 1, zc), [2j * x + 1]),
    ("binary_op", (i4, i4, i4, "%"), (i, j, zi), [i % j]),
    ("binary_op", (f4, c8, c8, "/"), (x, c, zc), [x / c]),
    ("binary_op", (f8, f4, i4, "<", False, True), (y, one - 3, zi), [y < 0]),
    ("rdivide_elwise", (i4, f8), (i, 7, zd), [7 / i]),
    ("binary_func", ("atan2", f4, f4, f4), (x, 2 * x, zf), [np.arctan2(x, 2 * x)]),
    ("binary_func_scalar", ("fmod", f8, f8, f8), (y, 0.3, zd), [np.fmod(y, 0.3)]),
    ("binary_minmax", ("min", f4, f8, f8, False), (x, y, zd), [np.minimum(x, y)]),
    ("binary_minmax", ("max", i4, i4, i4, True), (i, 50, zi), [np.maximum(i, 50)]),
    ("fill", (c8,), (1 + 2j, zc), [zc + 1 + 2j]),
    ("reverse", (u1,), (u, zu), [u[::-1]]),
    ("real", (c8, f4), (c, zf), [c.real]),
    ("imag", (c8, f4), (c, zf), [c.imag]),
    ("conj", (c8, c8), (c, zc), [c.conj()]),
    ("arange", (f4,), (zf, -1, 0.25), [np.arange(N) * 0.25 - 1]),
    ("fmod", (), (x, x + 3, zf), [np.fmod(x, x + 3)]),
    ("modf", (f8,), (5 * y, zd, zd), np.modf(5 * y)[::-1]),
    ("frexp", (), (x, zf, zf), np.frexp(x)),
    ("ldexp", (), (x, sign.astype(f4), zf), [np.ldexp(x, sign)]),
    ("pow_array", (i4, f8, f8, True, False), (i, 0.5, zd), [np.sqrt(i)]),
    ("pow_array", (i4, i4, i4, False, True), (2, sign + 2, zi), [2 ** (sign + 2)]),
    ("pow", (f4,), (0.5, abs(x), zf), [np.sqrt(abs(x))]),
    ("pow", (c8,), (2 + 1j, c, zc), [c ** (2 + 1j)]),
    ("unary_func", ("exp", f8), (y, zd), [np.exp(y)]),
    ("unary_func", ("fabs", f4, f8), (x, zd), [abs(x)]),
    ("if_positive", (i4, f4), (sign, x, 2 * x, zf), [np.where(sign > 0, x, 2 * x)]),
    ("where", (f4, u1), (sign.astype(f4), u, 255 - u, zu), [np.where(sign, u, 255 - u)]),
    ("scalar_op", (i4, f8, b1, ">="), (i, 49.5, zb), [i > 49]),
    ("logical_not", (c8, b1), (c * (sign > 0), zb), [sign <= 0]),
    ("take", (f4, i4, 2), (at, zf, zf, x, 2 * x), [x[at], 2 * x[at]]),
    ("put", (f8, i4), (at, zd, y[at]), [y]),
    ("take_put", (f8, i4, False), (at, at, zd, y), [y]),
    ("take_put", (u1, i4, True, 2), (at, 0 * i, zu, zu, u, u, 0, 7), [zu + u[0], zu + u[7]]),
    (
        "linear_combination",
        (((False, f4, f4), (True, f4, f8)), f8),
        (2, x, y, zd),  # and one, by a texture reference
        [2 * x + 3 * y],
    ),
]


def getter(name):
    return getattr(elementwise, f"get_{name}_kernel")


def renamed(source, number):
    """A kernel's text with a name that goes together with others."""
    return source.replace("__global__ void ", f"__global__ void kernel_{number}_")


def all_texts():
    """All kernels of CASES and two more as one text."""
    caught = []

    class Caught(Exception):
        pass

    def catch(source, **settings):
        assert settings["no_extern_c"]
        caught.append(renamed(source, len(caught)))
        raise Caught

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_driver, "SourceModule", catch)
        for name, given, *_ in CASES:
            with pytest.raises(Caught):
                getter(name).__wrapped__(*given)
        for use_range in (False, True):
            with pytest.raises(Caught):
                elementwise.get_elwise_kernel(
                    "half h, half *x, pycuda::complex<double> c, double *y, bool *b",
                    "x[0] = h; y[0] = c.real()",
                    use_range=use_range,
                )
    return "\n".join(caught)


@pytest.fixture(scope="module")
def all_compiled():
    """One module instead of many: that takes a fraction of the time."""
    return compiler.SourceModule(all_texts(), no_extern_c=True)


@pytest.fixture
def compiled(all_compiled, monkeypatch):
    """compiled(number): the kernel of that case comes from the module that is there."""

    class One:
        def __init__(self, source, **settings):
            pass

        def get_function(self, name):
            return all_compiled.get_function(f"kernel_{self.number}_{name}")

        def get_texref(self, name):
            return all_compiled.get_texref(name)

    def choose(number):
        One.number = number
        monkeypatch.setattr(_driver, "SourceModule", One)

    return choose


@pytest.mark.parametrize(
    "number", range(len(CASES)), ids=[f"{k}-{name}" for k, (name, *_) in enumerate(CASES)]
)
def test_a_getter(number, compiled):
    name, given, arguments, expected = CASES[number]
    compiled(number)
    function = getter(name)(*given)
    assert getter(name)(*given) is function, "kept for the device"
    if name == "linear_combination":  # as in PyCUDA, with a list of texture references
        function, (texref,) = function
        factor = gpuarray.to_gpu(one)
        factor.bind_to_texref_ext(texref)
    arrays = [gpuarray.to_gpu(a) for a in arguments if isinstance(a, np.ndarray)]
    on_device = iter(arrays)
    passed = [next(on_device) if isinstance(a, np.ndarray) else a for a in arguments]
    function.prepared_async_call(*elementwise.splay(N), None, *passed, N)
    before = [a for a in arguments if isinstance(a, np.ndarray)]
    results = iter(expected)
    for was, now in zip(before, (a.get() for a in arrays)):
        if any(was is target for target in (zf, zd, zi, zu, zc, zb)):
            rtol = 2e-6 if now.dtype in (f4, c8) else 1e-14
            np.testing.assert_allclose(now, np.asarray(next(results)), rtol=rtol, atol=rtol)
        else:
            assert (now == was).all()
    assert next(results, None) is None


def test_extrema_ignore_nans():
    function = getter("binary_minmax")("min", f4, f8, f8, False)
    a, b = np.array([np.nan, 1, np.nan], f4), np.array([2, np.nan, np.nan])
    z = gpuarray.zeros(3, f8)
    function.prepared_call((1, 1), (32, 1, 1), gpuarray.to_gpu(a), gpuarray.to_gpu(b), z, 3)
    np.testing.assert_array_equal(z.get(), np.fmin(a, b))


def test_every_getter_is_there_and_has_a_case():
    found = (re.fullmatch(r"get_(\w+)_kernel", name) for name in dir(elementwise))
    names = {match.group(1) for match in found if match} - {"elwise"}
    assert names == {name for name, *_ in CASES}
    assert {f"get_{name}_kernel" for name in names} < set(elementwise.__all__)
    for name in names:
        assert getter(name).__doc__ and getter(name).__name__ == f"get_{name}_kernel"
        assert getter(name) in tools.context_dependent_memoized_functions


def test_getters_take_keywords_and_refuse_others():
    signature = inspect.signature(elementwise.get_binary_op_kernel)
    assert list(signature.parameters)[:4] == ["dtype_x", "dtype_y", "dtype_z", "operator"]
    assert signature.parameters["x_is_scalar"].default is False
    function = elementwise.get_fill_kernel(dtype=np.float32)
    z = gpuarray.zeros(3, f4)
    function.prepared_call((1, 1), (32, 1, 1), 5, z, 2)
    assert z.get().tolist() == [5, 5, 0]
    with pytest.raises(TypeError, match="dtype"):
        elementwise.get_fill_kernel()
    with pytest.raises(TypeError, match="color"):
        elementwise.get_fill_kernel(f4, color=1)
    with pytest.raises(ValueError, match="unable to map dtype"):
        elementwise.get_fill_kernel(np.dtype("U3"))


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS[1:3], ids=lambda value: value)
def test_every_text_compiles_everywhere(prefix, backend, arch):
    require(prefix)
    text = all_texts()
    entry = build(kernel_sources.Text(text, extern_c=False), backend, arch)
    assert entry.image.startswith((b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__"))
    assert entry.log == "", "kernels compile without warnings"
    assert text.count("__global__") == len(CASES) + 2
