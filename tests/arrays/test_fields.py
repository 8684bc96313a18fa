"""Fields of structured arrays: views of one field and of several, and assignments to them."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from strategies import assert_same, examples

from PyGPU import driver, gpuarray
from PyGPU.gpuarray import GPUArray, empty, to_gpu, zeros

INNER = [("low", "<i2"), ("high", "u1")]
FIELDS = [("x", "<f4"), ("id", "<i8"), ("at", "<f8", (3,)), ("tag", "S3"), ("inner", INNER)]
PACKED, ALIGNED = np.dtype(FIELDS), np.dtype(FIELDS, align=True)
RECORDS = [PACKED, ALIGNED]


def records(shape, dtype):
    made = np.zeros(shape, dtype)
    numbers = np.arange(made.size).reshape(shape)
    made["x"], made["id"], made["tag"] = numbers / 4, numbers - 5, b"abc"
    made["at"] = numbers[..., None] + np.array([0, 0.25, 0.5])
    made["inner"]["low"], made["inner"]["high"] = -numbers, numbers % 200
    return made


def assert_same_fields(got, expected):
    """Compare arrays without the bytes between their fields."""
    assert got.dtype == expected.dtype
    for name in got.dtype.names:
        compare = assert_same_fields if got.dtype[name].names else assert_same
        compare(got[name], expected[name])


@pytest.mark.parametrize("dtype", RECORDS, ids=["packed", "aligned"])
def test_a_field_is_a_view(dtype):
    x = records((4, 3), dtype)
    a = to_gpu(x)
    for name in dtype.names:
        view = a[name]
        assert view.ptr == a.ptr + dtype.fields[name][1] and view.base is a
        assert view.shape == x[name].shape and view.strides == x[name].strides
        compare = assert_same_fields if view.dtype.names else assert_same
        compare(view.get(), x[name])
    assert_same(a["inner"]["high"].get(), x["inner"]["high"])
    assert_same(a[1:, ::-2]["at"][..., 1].get(), x[1:, ::-2]["at"][..., 1])
    assert_same(a[2, 1]["x"].get(), x[2, 1]["x"][()].reshape(()))
    assert_same(a.T["id"].get(), x.T["id"])


@pytest.mark.parametrize("dtype", RECORDS, ids=["packed", "aligned"])
def test_fields_are_operands_and_results(dtype):
    x = records((4, 300), dtype)
    a = to_gpu(x)
    assert_same((a["x"] * 2 + a["id"]).get(), x["x"] * 2 + x["id"])
    assert_same(np.sum(a["at"], axis=0).get(), np.sum(x["at"], axis=0))
    a["id"] += 7
    x["id"] += 7
    np.multiply(a["x"], 3, out=a["x"])
    np.multiply(x["x"], 3, out=x["x"])
    np.divmod(a["id"], 4, out=(a["id"], a["at"][..., 0]))
    np.divmod(x["id"], 4, out=(x["id"], x["at"][..., 0]))
    assert_same_fields(a.get(), x)
    with pytest.raises(ValueError, match="results overlap"):
        np.divmod(a["id"], 4, out=(a["id"], a["id"]))


@pytest.mark.parametrize("dtype", RECORDS, ids=["packed", "aligned"])
def test_assignments_to_a_field(dtype):
    x = records((4, 3), dtype)
    a = to_gpu(x)
    for name, key, value in [
        ("x", ..., 2.5),
        ("id", (slice(None), 1), np.array([7, 8, 9, 10])),
        ("tag", ..., b"z"),
        ("at", (..., 2), np.full((4, 3), 0.5)),
        ("id", np.array([0, 2]), 3),
        ("x", x["x"] > 2, -1),
    ]:
        x[name][key] = value
        a[name][key] = to_gpu(value) if name == "at" else value
        assert_same_fields(a.get(), x)
    x["x"], a["x"] = np.float32(9), np.float32(9)
    x["inner"], a["inner"] = (4, 5), (4, 5)
    assert_same_fields(a.get(), x)
    a["x"].fill(1)
    a["id"].set(np.ones((4, 3), "i8"))
    x["x"], x["id"] = 1, 1
    assert_same_fields(a.get(), x)


@pytest.mark.parametrize("dtype", RECORDS, ids=["packed", "aligned"])
def test_several_fields(dtype):
    x = records((4, 3), dtype)
    a, names = to_gpu(x), ["tag", "x", "at"]
    view = a[names]
    assert view.ptr == a.ptr and view.dtype == x[names].dtype and view.shape == (4, 3)
    assert_same(view["at"].get(), x["at"])
    assert np.array_equal(view[1:].get(), x[names][1:])
    other = records((4, 3), dtype)
    other["x"], other["at"], other["tag"], other["id"] = -1, -2, b"new", -3
    expected = x.copy()
    for key in ((slice(1, None), 0), ..., np.array([1, 3]), x["id"] > 0):
        for value in (
            other[names][key],
            other[names][0, 0],
            (b"t", 7.0, np.array([1.0, 2.0, 3.0])),
            5,
        ):
            if isinstance(value, (int, tuple)) and not isinstance(key, (tuple, type(...))):
                continue  # NumPy assigns tuples to single elements
            if isinstance(value, int):
                for name in names:
                    expected[name][key] = value
            else:
                for k, name in enumerate(names):
                    part = value[k] if isinstance(value, tuple) else value[name]
                    expected[name][key] = part
            view[key] = value
            assert_same_fields(a.get(), expected)  # the other fields keep their values


def test_copies_to_several_fields_leave_the_others():
    x, names = records(50, PACKED), ["id", "x"]
    other = records(50, PACKED)
    other["id"], other["x"], other["tag"] = -1, -2, b"no"
    expected = x.copy()
    expected["id"], expected["x"] = -1, -2
    source = to_gpu(other)[names]
    stream = driver.Stream()
    for copy in (
        lambda view: view.set(other[names]),
        lambda view: view.set(source),
        lambda view: view.set(source.copy()),
        lambda view: (view.set_async(source, stream), stream.synchronize()),
        lambda view: view.__setitem__(slice(None), source),
        lambda view: view[:].__setitem__(..., other[names]),
    ):
        a = to_gpu(x)
        copy(a[names])
        assert_same_fields(a.get(), expected)
    host = x.copy()
    got = source.get(host[names])
    assert np.array_equal(got, other[names])
    assert_same_fields(host, expected)


WRITERS = {
    "take": lambda v, s, at: gpuarray.take(s, at, out=v),
    "method": lambda v, s, at: s.take(at, out=v, mode="clip"),
    "numpy": lambda v, s, at: np.take(s, to_gpu(at), out=v),
    "put": lambda v, s, at: v.put(np.argsort(at), s),
    "put on device": lambda v, s, at: v.put(to_gpu(np.argsort(at)), s),
    "put of the host": lambda v, s, at: v.put(at, s.get()[at][at]),
    "multi_take": lambda v, s, at: gpuarray.multi_take([s], at, out=[v]),
    "multi_put": lambda v, s, at: gpuarray.multi_put([s], np.argsort(at), out=[v]),
    "multi_take_put": lambda v, s, at: gpuarray.multi_take_put(
        [s], to_gpu(np.arange(at.size)), to_gpu(at), out=[v]
    ),
    "view": lambda v, s, at: renamed(v).set(renamed(s).get()[at]),
}


def renamed(array):
    """Return a view with other names for the fields."""
    dtype = array.dtype if array.dtype.names == ("id", "x") else array.dtype[["id", "x"]]
    fields = [dtype.fields[name] for name in ("id", "x")]
    formats, offsets = zip(*fields)
    names = {"names": ["p", "q"], "formats": formats, "offsets": offsets}
    return array.view(np.dtype({**names, "itemsize": dtype.itemsize}))


@pytest.mark.parametrize("step", [1, -2])
@pytest.mark.parametrize("writer", WRITERS)
def test_writes_by_index_leave_hidden_fields(writer, step):
    x, other = records(40, PACKED), records(40, PACKED)
    other["id"], other["x"], other["tag"], other["at"] = np.arange(40) * -3, np.arange(40), "no", 9
    a, source = to_gpu(x), to_gpu(other)[["id", "x"]][::step]
    at = np.random.default_rng(2).permutation(source.size)
    WRITERS[writer](a[["id", "x"]][::step], source, at)
    expected = x.copy()
    for name in ("id", "x"):
        expected[name][::step] = other[name][::step][at]
    assert_same_fields(a.get(), expected)


def test_views_of_other_kinds_have_the_hidden_bytes():
    """A view as bytes or as a whole structure is written whole, as in NumPy."""
    x = records(3, PACKED)
    a, whole = to_gpu(x), np.zeros_like(x)
    some = a.view(renamed(a[["id", "x"]]).dtype)
    some.set(np.ones(3, some.dtype))
    assert a["tag"].tolist() == [b"abc"] * 3 and a["id"].tolist() == [1, 1, 1]
    for dtype in (PACKED, f"V{PACKED.itemsize}"):
        a.set(x)
        a[["id", "x"]].view(dtype)[...] = whole.view(dtype)
        assert_same_fields(a.get(), whole)


def test_overlapping_fields_of_one_array():
    x = records(40, PACKED)
    a = to_gpu(x)
    a[["id", "x"]][1:] = a[["id", "x"]][:-1]
    expected = x.copy()
    for name in ("id", "x"):
        expected[name][1:] = x[name][:-1]
    assert_same_fields(a.get(), expected)


@examples(40)
@given(st.data())
def test_any_structure(data):
    formats = data.draw(
        st.lists(
            st.sampled_from(["?", "i1", "<i4", "<f8", "<c8", "S5", "<f2", "(2,)<i2"]), min_size=1
        )
    )
    names = [f"f{k}" for k in range(len(formats))]
    dtype = np.dtype({"names": names, "formats": formats}, align=data.draw(st.booleans()))
    shape = data.draw(st.sampled_from([(), (1,), (5,), (2, 3), (0,), (3, 1, 2)]))
    x = np.zeros(shape, dtype)
    np.frombuffer(x, "u1")[...] = np.arange(x.nbytes) % 2
    a = to_gpu(x)
    name = data.draw(st.sampled_from(names))
    assert_same(a[name].get(), x[name])
    value = np.ones((), x[name].dtype.base)
    a[name], x[name] = value[()], value[()]
    some = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    a[some][...] = 0
    for one in some:
        x[one] = 0
    for one in names:
        assert_same(a[one].get(), x[one])


def test_what_is_not_a_field():
    a, plain = zeros(3, PACKED), zeros(3)
    with pytest.raises(ValueError, match="no field of name 'no' in an array of dtype"):
        a["no"]
    with pytest.raises(KeyError, match="no"):
        a[["x", "no"]]
    for key in ("x", ["x"]):
        with pytest.raises(IndexError, match="an array of dtype float64 has no fields, got "):
            plain[key]
        with pytest.raises(IndexError, match="has no fields"):
            plain[key] = 1
    with pytest.raises(IndexError, match=r"a\[name\] selects a field alone"):
        a["x", 1]
    with pytest.raises(TypeError, match="value has 2 fields, the selection 3"):
        a[["x", "id", "at"]] = (1, 2)
    with pytest.raises(TypeError, match="value has dtype float64, the array float32"):
        a["x"] = zeros(3)
    with pytest.raises(TypeError, match="cannot be deleted"):
        del a["x"]


@pytest.mark.parametrize(
    "dtype, advice",
    [
        ("M8[s]", "compute with a.view('int64'), in which NaT is the least number"),
        ("m8[s]", "compute with a.view('int64'), in which NaT is the least number"),
        (">i4", "convert the array before to_gpu(): .astype(dtype.newbyteorder('='))"),
        ([("x", "f4")], "select a field: a['x']"),
    ],
    ids=str,
)
def test_messages_say_how_to_compute(dtype, advice):
    a = empty(3, dtype)
    calls = [lambda: a + a, lambda: a < a, lambda: np.sum(a), lambda: a.astype("f4")]
    calls += [lambda: np.less(a, a), lambda: np.where(zeros(3, bool), a, a)]
    for call in calls:
        with pytest.raises(ValueError, match="unable to map dtype") as caught:
            call()
        assert advice in str(caught.value)


def test_dates_by_their_numbers():
    x = np.array(["2020-01-01", "2021-06-01", "NaT"], "M8[s]")
    a = to_gpu(x)
    late = (a.view("i8") > x[0].astype("i8")).get().astype(bool)
    assert_same(late, x > x[0])
    assert_same((a.view("i8") - a[0].view("i8")).view("m8[s]").get()[:2], (x - x[0])[:2])


def test_subclasses_and_memory_of_others():
    x = records(6, PACKED)
    a = to_gpu(x)
    borrowed = GPUArray(6, PACKED, gpudata=a.gpudata, base=a)
    borrowed["id"][2] = 11
    x["id"][2] = 11
    assert_same_fields(a.get(), x)
