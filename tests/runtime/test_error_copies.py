"""Exceptions survive pickle, copy, and libraries that call ``__new__`` alone, as tblib does."""

import builtins
import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import needs
import pytest

import PyGPU.driver as drv
from PyGPU import errors

CLASSES = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, BaseException)
]
COPIES = {
    "pickle": lambda error: pickle.loads(pickle.dumps(error)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def made(kind):
    is_compile_error = issubclass(kind, errors.CompileError)
    return kind("text", ["nvcc"], "out", "err") if is_compile_error else kind("text")


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("kind", CLASSES)
def test_every_class(kind, how):
    error = made(kind)
    error.note = 7
    found = COPIES[how](error)
    assert type(found) is kind
    assert (found.args, str(found), vars(found)) == (error.args, str(error), vars(error))


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_without_init(kind):
    error = kind.__new__(kind)
    assert type(error) is kind
    error.args = ("text",)
    assert error.args == ("text",)


def raise_again(error):
    """Raise an exception in another process."""
    raise error


def fails_in_a_call(nbytes):
    drv.mem_alloc(nbytes)


@pytest.fixture(scope="module")
def process():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_from_another_process(process, kind):
    error = made(kind)
    error.note = 7
    found = process.submit(raise_again, error).exception()
    assert type(found) is kind
    assert (found.args, str(found)) == (error.args, str(error))
    assert vars(error).items() <= vars(found).items()


def test_the_error_of_a_call_from_another_process(process):
    found = process.submit(fails_in_a_call, 1 << 62).exception()
    assert type(found) is errors.MemoryError and isinstance(found, builtins.MemoryError)
    assert found.call and found.status == 2


def test_every_class_with_its_traceback(python):
    """tblib makes exceptions picklable with their traceback, in the whole process."""
    needs.module("tblib")
    cases = [(kind.__name__, made(kind).args) for kind in CLASSES]
    python(f"""
import pickle, traceback
import tblib.pickling_support
from PyGPU import errors
tblib.pickling_support.install()

def failing(kind, arguments):
    error = kind(*arguments)
    error.note = 7
    raise error

for name, arguments in {cases!r}:
    kind = getattr(errors, name)
    try:
        failing(kind, arguments)
    except kind as error:
        found = pickle.loads(pickle.dumps(error))
        assert type(found) is kind and isinstance(found, kind.__mro__[1])
        assert (found.args, str(found), vars(found)) == (error.args, str(error), vars(error))
        assert traceback.extract_tb(found.__traceback__)[-1].name == "failing"
    else:
        raise SystemExit(f"{{name}}: no error")
""")


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", ["MemoryError", "RuntimeError"])
def test_builtins_catch_the_copies(name, how):
    found = COPIES[how](getattr(errors, name)("text"))
    assert isinstance(found, getattr(builtins, name)) and isinstance(found, errors.Error)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("nbytes, kind", [(1 << 62, errors.MemoryError), (0, errors.LogicError)])
def test_what_a_call_raised(nbytes, kind, how):
    with pytest.raises(kind) as caught:
        drv.mem_alloc(nbytes)
    found = COPIES[how](caught.value)
    assert type(found) is kind and str(found) == str(caught.value)
    assert (found.call, found.status) == (caught.value.call, caught.value.status)
