"""The stubs of the compiled module say what it is: names, bases, parameters, defaults, results.

mypy.stubtest compares all that is Python's (.ci/run); it cannot read the signatures of C++."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest
import runtime_stubs

import PyGPU
from PyGPU._runtime import core

pytestmark = pytest.mark.no_device

FOLDER = Path(PyGPU.__file__).parent
OWNERS = ["HostAllocator", "DeviceAllocator", "PagelockedAllocator", "DeviceArray"]
FAMILIES = ["pointer_wrapper", *OWNERS]


def parsed(name):
    return ast.parse((FOLDER / name).read_text()).body


TYPED = parsed("_runtime/typed.pyi")
STUBS = {
    core: [
        statement
        for name in (
            "_host",
            "_gpuarray",
            "_calls",
            "_constants",
            "_launchers",
            "_owners",
            "_textures",
        )
        for statement in parsed(f"{name}.pyi")
    ],
}


def declared(body):
    """What a stub's body declares, in order: pairs of a name and its node."""
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name, node
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id, node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                yield from ((name.id, node) for name in getattr(target, "elts", [target]))
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname, node) for alias in node.names if alias.asname)


def public(names):
    return {name for name in names if not name.startswith("_")}


def live_names(module):
    """Its public names, without the aliases of hip."""
    names = getattr(module, "__all__", None) or public(vars(module))
    return {name for name in names if not (PyGPU.use_hip and name.startswith("hip"))}


def is_ours(name, value):
    """Is it a public member, or a special one that the bindings define?"""
    return not name.startswith("_") or (
        name.startswith("__")
        and name not in ("__dict__", "__weakref__")
        and type(value).__name__ in ("_Method", "getset_descriptor")
    )


def live_signature(function):
    """The signature that Python finds, as the syntax tree of a definition."""
    if inspect.isbuiltin(function) and not function.__text_signature__:
        return ast.parse(f"def {function.__doc__.splitlines()[0]}: ...").body[0]
    text = f"{function.__name__}{inspect.signature(function)}"
    text = re.sub(r"<class '[\w.]+'>", "...", text)  # a default that has no text
    live = ast.parse(f"def {text}: ...").body[0]
    if type(function).__name__ in ("_Builtin", "_Method"):  # made by functions.cpp
        live.returns = ast.parse(function.__annotations__["return"], mode="eval").body
    return live


def parameters(node):
    """Names in order, with defaults; those without a name are arg0, arg1."""
    spec = node.args
    names = [one.arg for one in spec.posonlyargs + spec.args]
    for i in range(1, len(spec.posonlyargs)):
        names[i] = f"arg{i - 1}"
    found = dict.fromkeys(names)
    found.update(zip(names[len(names) - len(spec.defaults) :], map(ast.unparse, spec.defaults)))
    if spec.vararg:
        found["*"] = None
    for one, default in zip(spec.kwonlyargs, spec.kw_defaults):
        found[one.arg] = default and ast.unparse(default)
    return found


def result(node):
    """The last word of what it returns, without subscripts; None where that is not told."""
    if node.returns is None:
        return None
    word = ast.unparse(node.returns).strip("'").split("[")[0].split(".")[-1]
    return {"object": None, "ndarray": "HostArray"}.get(word, word)


def assert_same_signature(stub, function):
    live = live_signature(function)
    expected, told = parameters(live), parameters(stub)
    open_defaults = [name for name, default in told.items() if default == "..."]
    told.update((name, expected.get(name) or "...") for name in open_defaults)
    assert list(told.items()) == list(expected.items())
    assert result(live) in (None, result(stub))


def is_property(node):
    return any(ast.unparse(one) == "property" for one in getattr(node, "decorator_list", []))


MODULES = pytest.mark.parametrize("module", STUBS, ids=lambda module: module.__name__)
CLASSES = pytest.mark.parametrize(
    ("cls", "node"),
    [
        pytest.param(getattr(module, name), node, id=name)
        for module, body in STUBS.items()
        for name, node in declared(body)
        if isinstance(node, ast.ClassDef) and not name.startswith("_")
    ],
)
FUNCTIONS = pytest.mark.parametrize(
    ("function", "node"),
    [
        pytest.param(getattr(module, name), node, id=name)
        for module, body in STUBS.items()
        for name, node in declared(body)
        if isinstance(node, ast.FunctionDef)
    ],
)


@MODULES
def test_a_stub_has_the_names_of_its_module(module):
    assert public(name for name, _ in declared(STUBS[module])) == live_names(module)


@MODULES
def test_names_are_what_the_stub_says(module):
    for name, node in declared(STUBS[module]):
        if name.startswith("_"):
            continue
        value = getattr(module, name)
        if isinstance(node, ast.ClassDef):
            assert isinstance(value, type), name
        elif isinstance(node, ast.ImportFrom) and node.module not in ("PyGPU", "PyGPU._gpuarray"):
            assert value is getattr(importlib.import_module(node.module), name), name
        elif isinstance(node, ast.AnnAssign):
            told = ast.unparse(node.annotation).split("[")[0]
            assert told in (type(value).__name__, "Literal"), name
        elif isinstance(node, ast.Assign) and ast.unparse(node.value) == "_constants":
            assert type(value) is int, name
        elif isinstance(node, ast.Assign):
            told = getattr(module, node.value.id)
            assert value is told or inspect.signature(value) == inspect.signature(told), name


@FUNCTIONS
def test_functions_take_and_return_what_the_stub_says(function, node):
    assert_same_signature(node, function)


@CLASSES
def test_a_class_has_the_members_of_its_stub(cls, node):
    told = {name for name, _ in declared(node.body)} - {"__buffer__"}  # shown since Python 3.12
    live = {name for name, value in vars(cls).items() if is_ours(name, value)}
    ignored = {*vars(object), "__array__", "__buffer__"}
    assert not live - told - ignored, "the stub lacks them"
    assert not told - set(vars(cls)), "the class lacks them"


@CLASSES
def test_methods_and_properties_are_what_the_stub_says(cls, node):
    for name, member in declared(node.body):
        getattr(cls, name, None)  # loads what is loaded when it is asked for
        value = vars(cls).get(name)
        if type(value).__name__ == "wrapper_descriptor":
            continue  # a slot, whose parameters are Python's
        of_cpp = inspect.isgetsetdescriptor(value)
        declared_so = ast.unparse(getattr(member, "annotation", ast.Constant("ClassVar")))
        settable = "ClassVar" not in declared_so
        assert (isinstance(value, property) or of_cpp) == (is_property(member) or settable), name
        if of_cpp:
            told = declared_so if settable else result(member)
            assert value.__doc__.split(":")[0] in ("object", told, told.split("[")[0]), name
        elif isinstance(member, ast.FunctionDef) and callable(getattr(value, "__func__", value)):
            assert_same_signature(member, getattr(value, "__func__", value))


@CLASSES
def test_classes_have_the_bases_of_the_stub(cls, node):
    told = [ast.unparse(base).split(".")[-1] for base in node.bases]
    live = [base.__name__ for base in cls.__bases__]
    assert (told or ["object"]) == live


def test_the_classes_of_each_dtype_are_those_of_the_stub():
    told = {
        (name, ast.unparse(node.bases[0]) if isinstance(node, ast.ClassDef) else node.value.id)
        for name, node in declared(TYPED)
        if not name.startswith("_")
    }
    expected = set()
    for dtype in PyGPU.SUPPORTED_DTYPES:
        pointer = f"pointer_wrapper_{dtype}"
        expected |= {(pointer, "_pointer_wrapper"), (f"ptr_wrapper_{dtype}", pointer)}
        expected |= {(f"{family}_{dtype}", f"_{family}[{pointer}]") for family in OWNERS}
        for family in FAMILIES:
            cls = getattr(PyGPU, f"{family}_{dtype}")
            assert cls.__bases__ == (getattr(PyGPU, family),)
            assert cls.dtype == dtype
            assert public(vars(cls)) == {"dtype"}
    assert told == expected


def test_what_the_stub_adds_for_each_dtype_is_there():
    for name, node in declared(TYPED):
        if isinstance(node, ast.ClassDef) and name.startswith("_"):
            assert ast.unparse(node.bases[0]) == name[1:] in FAMILIES
            own = {member for member, _ in declared(node.body)} - {"dtype"}
            assert own <= set(dir(getattr(PyGPU, name[1:])))


def test_the_package_has_what_the_compiled_module_has():
    for name in live_names(core):
        assert getattr(PyGPU, name) is getattr(core, name)


def test_what_python_calls_in_the_compiled_module_is_there():
    for name, node in declared(STUBS[core]):
        if name.startswith("_") and isinstance(node, ast.ClassDef):
            members = {member for member, _ in declared(node.body)}
            assert members <= set(dir(getattr(core, name))), name


@pytest.mark.skipif(PyGPU.target != "host", reason="the target host has the names of CUDA alone")
@pytest.mark.parametrize("file", runtime_stubs.STUBS)
def test_the_generated_stubs_are_up_to_date(file):
    command = "PYGPU_TARGET=host python tests/support/runtime_stubs.py"
    assert (FOLDER / file).read_text() == runtime_stubs.STUBS[file](), command


def test_stubs_are_short():
    for path in FOLDER.rglob("*.pyi"):
        assert len(path.read_text().splitlines()) <= 470, path.name
