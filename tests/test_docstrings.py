"""Docstrings of the public API: complete by numpydoc's checks, with examples that run."""

import enum
import inspect
import re
import sys

import needs
import public_api
import pytest
import run_examples

import PyGPU

CODES = {"PR01", "PR02", "PR03", "PR07", "RT01", "RT03", "GL08", "SS03"}
TABLES = "an example would need the tables of cuRAND or rocRAND"
#: Findings of numpydoc that are not mistakes: {path: (codes, reason)}.
EXCEPTIONS = {
    f"PyGPU.curandom.{name}": ({"EX01"}, TABLES)
    for name in (
        "generate_direction_vectors",
        "generate_scramble_constants32",
        "generate_scramble_constants64",
    )
}
#: Classes without a signature: programs receive their objects, and cannot create them.
NOT_CONSTRUCTIBLE = {
    "PyGPU.ArrayFlags",
    "PyGPU.Allocator",
    "PyGPU.DeviceAllocation",
    "PyGPU.driver.ManagedAllocation",
    "PyGPU.tools.PooledDeviceAllocation",
}
#: Classes that hold flags, and make no objects.
CONSTANTS = {
    "PyGPU.driver.array3d_flags",
    "PyGPU.driver.host_alloc_flags",
    "PyGPU.driver.mem_host_register_flags",
}
#: Functions of C++ that return None.
WITHOUT_RESULT = {
    "PyGPU.DeviceAllocation.free",
    "PyGPU.driver.Function.prepared_async_call",
    "PyGPU.driver.Function.prepared_call",
    "PyGPU.gpuarray.GPUArray.set",
    "PyGPU.gpuarray.GPUArray.set_async",
}

OBJECTS = public_api.objects()
MODULES = sorted({path.rpartition(".")[0] for path in OBJECTS})


def documented(module):
    """Yield (path, object, is_member) of all that a module defines."""
    for path, thing in OBJECTS.items():
        if path.rpartition(".")[0] == module:
            yield path, thing, False
            if inspect.isclass(thing):
                for name, member in public_api.members(path, thing):
                    yield name, member, True


def is_exception(thing):
    return inspect.isclass(thing) and issubclass(thing, BaseException)


def has_signature(path, thing):
    """Report whether Python is expected to show the parameters of an object."""
    takes_anything = is_exception(thing)
    return callable(thing) and not takes_anything and path not in NOT_CONSTRUCTIBLE


def needs_examples(path, thing):
    """Report whether an object needs an example: functions and most classes do."""
    is_list = isinstance(thing, enum.EnumMeta) or path in CONSTANTS
    return not (is_list or is_exception(thing))


@pytest.mark.no_device
@pytest.mark.parametrize("module", MODULES)
def test_a_docstring_starts_with_its_summary(module):
    for path, thing, _ in documented(module):
        summary = (inspect.getdoc(thing) or "").partition("\n")[0]
        assert summary.endswith("."), path
        assert not summary.startswith(f"{path.rpartition('.')[2]}("), path


@pytest.mark.no_device
@pytest.mark.parametrize("module", MODULES)
def test_fields_have_become_sections(module):
    """A module whose docstrings have fields ends with `docstrings.complete(__name__)`."""
    for path, thing, _ in documented(module):
        text = inspect.getdoc(thing) or ""
        assert not re.search(r"^ *:(param|returns|raises)\b", text, re.M), path


@pytest.mark.no_device
@pytest.mark.parametrize("module", MODULES)
def test_python_shows_the_parameters(module):
    """The functions and classes of C++ have a text signature.

    Older Pythons do not look for the `__init__` of a class that has a `__new__`.
    """
    sees_init = sys.version_info >= (3, 11, 5)
    for path, thing, _ in documented(module):
        if has_signature(path, thing) and (sees_init or not isinstance(thing, type)):
            inspect.signature(thing)  # raises ValueError if there is none


@pytest.mark.no_device
@pytest.mark.parametrize("module", MODULES)
def test_a_function_of_cpp_documents_its_result(module):
    """numpydoc reads the source of Python functions only, and cannot find RT01 for the others."""
    for path, thing, _ in documented(module):
        if public_api.is_in_cpp(thing):
            has_section = "\nReturns\n-------\n" in inspect.getdoc(thing)
            assert has_section != (path in WITHOUT_RESULT), path


@pytest.fixture(scope="module")
def findings():
    """Return a function that lists what numpydoc finds about an object, [(code, text)]."""
    needs.module("numpydoc")
    from numpydoc.docscrape import get_doc_object
    from numpydoc.validate import Validator, validate

    return lambda thing: validate(None, lambda obj_name: Validator(get_doc_object(thing)))["errors"]


@pytest.mark.no_device
@pytest.mark.parametrize("module", MODULES)
def test_numpydoc_finds_the_docstrings_complete(module, findings):
    """Classes and functions need examples; methods, exceptions and enumerations do not."""
    wrong = []
    for path, thing, is_member in documented(module):
        excepted, _ = EXCEPTIONS.get(path, ((), ""))
        is_shown = not is_member and needs_examples(path, thing)
        wanted = {*CODES, *(("EX01",) if is_shown else ())}
        found = {code: text for code, text in findings(thing) if code in wanted}
        wrong += [f"{path}: {code} {found[code]}" for code in found if code not in excepted]
        wrong += [f"{path}: {code} is excepted, but not found" for code in {*excepted} - {*found}]
    assert not wrong, "\n".join(wrong)


def with_examples(is_compiling):
    return [module for module in MODULES if run_examples.paths(module, is_compiling)]


@pytest.mark.skipif(PyGPU.target != "host", reason="examples show what the host machine returns")
def test_examples_run_without_a_compiler(python, tmp_path):
    modules = with_examples(is_compiling=False)
    python(
        f"import run_examples; run_examples.run({modules!r}, is_compiling=False)",
        PYGPU_HOST_CXX=tmp_path / "no compiler",
        PYGPU_CACHE_DIR=tmp_path,
    )


@pytest.mark.campaign
@pytest.mark.skipif(PyGPU.target != "host", reason="examples show what the host machine returns")
@pytest.mark.parametrize("module", with_examples(is_compiling=True))
def test_examples_run_with_a_compiler(module, python):
    needs.program("g++")
    python(f"import run_examples; run_examples.run([{module!r}], is_compiling=True)")
