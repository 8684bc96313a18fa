"""``where=`` and ``initial=`` of reductions, ``where=`` of ufuncs, and functions without NaN."""

from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from campaign import each_once, each_with, rare_but
from hypothesis import given
from strategies import arrays, examples

from PyGPU import gpuarray
from PyGPU.gpuarray import to_gpu

pytestmark = pytest.mark.filterwarnings(
    "ignore:invalid value",
    "ignore:divide by zero",
    "ignore:Mean of empty",
    "ignore:Degrees of freedom",
    "ignore:overflow",
)
X = np.random.default_rng(2).integers(-9, 9, (4, 5, 6))
M = np.random.default_rng(3).random((4, 5, 6)) > 0.4
AXES = [{}, {"axis": 1}, {"axis": (0, -1), "keepdims": True}]


def name_of(value):
    return getattr(value, "__name__", None) or str(value)


def on_device(value):
    return to_gpu(value) if isinstance(value, np.ndarray) else value


def same(function, *operands, rtol=0, **named):
    expected = np.asarray(function(*operands, **named))
    operands = list(map(np.asarray, operands))
    got = function(*map(on_device, operands), **{k: on_device(v) for k, v in named.items()})
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(got.get(), expected, rtol=rtol, atol=rtol)


MASKS = [M, M[0], M[:, :1], M[..., :1]]
NAMED = {np.max: {"initial": 0}, np.min: {"initial": 3}, np.std: {"ddof": 1}}
USUAL = [(np.sum, "i"), (np.any, "?"), (np.max, "i"), (np.mean, "f"), (np.std, "f")]
USUAL += [(np.min, "f"), (np.all, "f"), (np.var, "f"), (np.prod, "i")]
ANY = [
    *product([np.sum, np.any, np.all, np.prod], "?bHiqefdD"),
    *product([np.max, np.min], "bHiqefd"),
    *product([np.mean, np.var, np.std], "qfdD"),
]


@pytest.mark.parametrize(
    ("function", "code", "chosen"),
    [*each_once(USUAL, [0, 1, 2, 3]), *rare_but([], ((*one, k) for one in ANY for k in range(4)))],
)
@pytest.mark.parametrize("axes", rare_but(AXES[1:2], AXES), ids=str)
def test_what_where_chooses(function, code, chosen, axes):
    x = X.astype(code)
    if function is np.prod and code != "?":
        x = np.sign(x)
    named = {**NAMED.get(function, {}), **axes}
    for mask in (MASKS[chosen], np.zeros_like(MASKS[chosen])):
        same(function, x, where=mask, rtol=1e-3 if code == "e" else 1e-5, **named)
    if function is np.sum:
        same(function, x, where=False, **named)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "any", "all"])
def test_keywords_of_the_methods(name):
    for x in (X % 3 - 1, (X % 5).astype("f4").T, X[:0] * 1.0, np.array(2.0)):
        mask = np.arange(x.size).reshape(x.shape) % 3 > 0
        a, chosen = to_gpu(x), to_gpu(mask)
        given = [{"where": (mask, chosen)}] if name not in ("max", "min") else []
        if name not in ("mean", "any", "all"):
            given += [{"initial": (2, 2)}, {"initial": (-1, -1), "where": (mask, chosen)}]
        for keywords, axes in product(given, AXES if x.ndim else AXES[:1]):
            own = {key: two[1] for key, two in keywords.items()}
            expected = getattr(x, name)(**{key: two[0] for key, two in keywords.items()}, **axes)
            got = getattr(a, name)(**own, **axes).get()
            assert got.shape == np.shape(expected)
            np.testing.assert_allclose(got, expected, rtol=1e-5)
    a, mask = to_gpu(np.array([1, np.nan, 3])), to_gpu(np.array([True, True, False]))
    assert a.max(initial=2, where=mask).get() == 2  # the methods ignore NaN
    for call, text in {
        lambda: a.mean(initial=1): "mean has no initial number",
        lambda: a.sum(initial=1, stream=0): "initial= and where= exclude stream= and allocator=",
        lambda: a.sum(start=1): "start",
    }.items():
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(ValueError, match="max: where= requires initial="):
        a.max(where=mask)


STARTS = [(np.sum, 7), (np.prod, 2), (np.max, 5), (np.min, -5)]


@pytest.mark.parametrize(("function", "initial", "code"), each_once(STARTS, "qf"))
@pytest.mark.parametrize("axes", rare_but(AXES[2:], AXES), ids=str)
def test_where_it_begins(function, initial, code, axes):
    x = X.astype(code)
    same(function, np.abs(x) % 3 + 1 if function is np.prod else x, initial=initial, **axes)


def test_where_it_begins_without_elements_or_with_what_is_not_a_number():
    empty = np.zeros((0, 3), "f4")
    same(np.max, empty, axis=0, initial=-1.5)
    same(np.min, empty, initial=2.0)
    same(np.sum, empty, axis=0, initial=4)
    same(np.max, np.array([np.nan, 1.0], "f4"), initial=9.0)
    same(np.nanmax, np.array([np.nan, 1.0], "f4"), initial=0.5)
    same(np.nanmin, np.array([np.nan, np.nan], "f4"), initial=0.5)
    out = to_gpu(np.zeros(5))
    assert np.sum(to_gpu(X), axis=(0, 2), initial=1, out=out) is out
    np.testing.assert_array_equal(out.get(), X.sum((0, 2)) + 1)


def test_methods_of_ufuncs():
    a = to_gpu(X)
    np.testing.assert_array_equal(
        np.add.reduce(a, 1, where=to_gpu(M), initial=3).get(),
        np.add.reduce(X, 1, where=M, initial=3),
    )
    np.testing.assert_array_equal(
        np.maximum.reduce(a, where=to_gpu(M), initial=0).get(),
        np.maximum.reduce(X, where=M, initial=0),
    )


def test_what_is_refused():
    a, mask = to_gpu(X), to_gpu(M)
    with pytest.raises(ValueError, match="max: where= requires initial="):
        np.max(a, where=mask)
    with pytest.raises(ValueError, match="sum: where: shape"):
        np.sum(a[0], where=mask)
    with pytest.raises(ValueError, match="where"):
        np.sum(a, where=mask[:, :3])
    with pytest.raises(TypeError, match="ndarray"):
        np.sum(a, where=M)
    with pytest.raises(TypeError, match="out"):
        np.add(a, 1.5, out=to_gpu(np.zeros(X.shape, "i4")), where=mask)


@pytest.mark.skipif(np.__version__ < "2", reason="an argument of NumPy 2")
def test_corrections():
    same(np.var, X.astype("f4"), correction=1, rtol=1e-5)
    same(np.nanstd, X.astype("f4"), axis=1, correction=2, rtol=1e-5)
    with pytest.raises(ValueError, match="ddof=1 and correction=2"):
        np.var(to_gpu(X), ddof=1, correction=2)


def test_casts_of_ufuncs_where():
    x, mask = np.arange(4.0), np.array([True, False, True, True])
    expected, out = np.full(4, 9), to_gpu(np.full(4, 9))
    np.add(x, 1.5, out=expected, where=mask, casting="unsafe")
    np.add(to_gpu(x), 1.5, out=out, where=to_gpu(mask), casting="unsafe")
    np.testing.assert_array_equal(out.get(), expected)
    with pytest.raises(TypeError, match="casting='safe'"):
        np.add(to_gpu(x), 1.5, out=to_gpu(x.astype("f4")), where=to_gpu(mask), casting="safe")


def test_results_of_ufuncs_where():
    a, mask = to_gpu(X), to_gpu(M)
    for x, b in ((X, a), (X.T, a.T)):
        m, d = (M, mask) if x is X else (M.T, mask.T)
        expected, out = np.full(x.shape, 5.5), to_gpu(np.full(x.shape, 5.5))
        np.multiply(x, 2, out=expected, where=m)
        assert np.multiply(b, 2, out=out, where=d) is out
        np.testing.assert_array_equal(out.get(), expected)
    np.testing.assert_array_equal(np.sqrt(abs(a), where=mask).get()[M], np.sqrt(abs(X))[M])
    whole = to_gpu(np.array([2**63 + 1, 7], "u8"))
    np.add(whole, np.uint64(1), out=whole, where=to_gpu(np.array([False, True])))
    assert whole.get().tolist() == [2**63 + 1, 8]
    quotient, rest = to_gpu(np.zeros(6, int)), to_gpu(np.ones(6, int))
    np.divmod(a[0, 0], 4, out=(quotient, rest), where=mask[0, 0])
    expected = np.zeros(6, int), np.ones(6, int)
    np.divmod(X[0, 0], 4, out=expected, where=M[0, 0])
    np.testing.assert_array_equal(quotient.get(), expected[0])
    np.testing.assert_array_equal(rest.get(), expected[1])
    assert np.add(a[0, 0], 1, where=to_gpu(np.ones((3, 6), bool))).shape == (3, 6)


def with_nan(code):
    x = X.astype(code)
    if code != "i":
        x[M] = np.nan
        x[0] = 3
    return x


WITHOUT_NAN = [(np.nanmean, "f"), (np.nanvar, "f"), (np.nanstd, "f")]
ANY_WITHOUT_NAN = list(product([np.nanmean, np.nanvar, np.nanstd], "iefdD"))


@pytest.mark.parametrize(
    ("axes", "function", "code"),
    each_with([*AXES, {"axis": 0}], WITHOUT_NAN, ANY_WITHOUT_NAN),
    ids=name_of,
)
def test_functions_without_what_is_not_a_number(axes, function, code):
    x = with_nan(code)
    rtol = {"e": 2e-3, "f": 1e-5}.get(code, 1e-12)
    if code == "e" and function is not np.nanmean:
        pytest.skip("NumPy sums halves as halves")
    same(function, x, rtol=rtol, **axes)
    if function is not np.nanmean:
        same(function, x, ddof=1, rtol=rtol, **axes)


PLACES = [(np.nanargmax, "f"), (np.nanargmin, "f")]


@pytest.mark.parametrize(
    ("axes", "function", "code"),
    each_with(
        [{}, {"axis": 0}, {"axis": 0, "keepdims": True}],
        PLACES,
        list(product([np.nanargmax, np.nanargmin], "iefd")),
    ),
    ids=name_of,
)
def test_places_without_what_is_not_a_number(axes, function, code):
    same(function, with_nan(code), **axes)


def test_places_where_nothing_is_a_number():
    x = with_nan("f")
    x[:, 0] = np.nan
    with pytest.raises(ValueError, match="All-NaN"):
        np.nanargmax(to_gpu(x), axis=0)


@given(arrays(dtype=np.dtype("f4")), st.data())
@examples(40)
def test_any_array_and_mask(x, data):
    axis = data.draw(st.sampled_from([None, *range(x.ndim)]))
    mask = np.random.default_rng(x.size).random(x.shape) > 0.5
    x = np.asarray(np.nan_to_num(x, posinf=9, neginf=-9).clip(-1e6, 1e6))
    mask = np.asarray(mask)
    if data.draw(st.booleans()):
        same(np.sum, x, axis=axis, where=mask, rtol=1e-3)
    else:
        same(np.max, x, axis=axis, where=mask, initial=-2)
    assert gpuarray.empty(0).size == 0
