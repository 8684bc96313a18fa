"""Exceptions survive pickle, copy, and libraries that call ``__new__`` alone, as tblib does."""

import copy
import pickle

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


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("kind", CLASSES)
def test_every_class(kind, how):
    is_compile_error = issubclass(kind, errors.CompileError)
    error = kind("text", ["nvcc"], "out", "err") if is_compile_error else kind("text")
    found = COPIES[how](error)
    assert type(found) is kind
    assert (found.args, str(found), vars(found)) == (error.args, str(error), vars(error))


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_without_init(kind):
    made = kind.__new__(kind)
    assert type(made) is kind
    made.args = ("text",)
    assert made.args == ("text",)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("nbytes, kind", [(1 << 62, errors.MemoryError), (0, errors.LogicError)])
def test_what_a_call_raised(nbytes, kind, how):
    with pytest.raises(kind) as caught:
        drv.mem_alloc(nbytes)
    found = COPIES[how](caught.value)
    assert type(found) is kind and str(found) == str(caught.value)
    assert (found.call, found.status) == (caught.value.call, caught.value.status)
