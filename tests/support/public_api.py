"""Public objects of PyGPU: modules, classes, functions, and the public members of classes."""

import functools
import importlib
import importlib.util
import inspect
import types
from pathlib import Path

import PyGPU

FOLDER = Path(PyGPU.__file__).parent
#: Modules that change the process when they are imported; they define no public objects.
WITH_EFFECTS = {"PyGPU.autoinit", "PyGPU.autoprimaryctx", "PyGPU.debug", "PyGPU.gl.autoinit"}
#: Modules that need another package: they are left out where it is not installed.
OPTIONAL = {"PyGPU.dask": "dask"}


def modules():
    """Return the public modules, PyGPU first."""
    files = (path.relative_to(FOLDER.parent) for path in sorted(FOLDER.rglob("*.py")))
    parts = (
        path.parent.parts if path.stem == "__init__" else (*path.parent.parts, path.stem)
        for path in files
    )
    names = [".".join(each) for each in parts if not any(part.startswith("_") for part in each)]
    missing = {name for name, needed in OPTIONAL.items() if not importlib.util.find_spec(needed)}
    left_out = WITH_EFFECTS | missing
    return [importlib.import_module(name) for name in names if name not in left_out]


def _is_ours(thing):
    return (getattr(thing, "__module__", None) or "").split(".")[0] == "PyGPU"


def _is_documented(thing):
    return _is_ours(thing) and (inspect.isclass(thing) or inspect.isroutine(thing))


def exported(module):
    """Return {name: object} of the classes and functions that a module exports."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [*vars(module), *(module.gpuarray.__all__ if module is PyGPU else ())]
    things = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return {name: thing for name, thing in things.items() if _is_documented(thing)}


def objects():
    """Return {path: object} of all exported classes and functions, each object once.

    The module of the path is the one that defines the object, else the last that exports it: names
    of PyGPU.gpuarray are exported by PyGPU as well. An alias is used only if no module exports the
    object by its own name.
    """
    paths = {}
    for module in modules():
        for name, thing in exported(module).items():
            paths.setdefault(id(thing), []).append((f"{module.__name__}.{name}", thing))
    found = {}
    for entries in paths.values():
        thing = entries[0][1]
        own_name = f".{getattr(thing, '__name__', '')}"
        entries = [entry for entry in entries if entry[0].endswith(own_name)] or entries
        home = f"{thing.__module__}."
        path, thing = next((entry for entry in entries if entry[0].startswith(home)), entries[-1])
        found[path] = thing
    return found


def is_in_cpp(thing):
    """Report whether a function or method is defined in C++."""
    return inspect.isroutine(thing) and not isinstance(
        thing, (types.FunctionType, types.MethodType, functools.cached_property)
    )


def members(path, thing):
    """Yield (path, object) of the public methods and properties that a class defines."""
    for base in inspect.getmro(thing):
        if not _is_ours(base) or (base is not thing and not base.__name__.startswith("_")):
            continue  # a public base has a path of its own
        for name in [name for name in vars(base) if not name.startswith("_")]:
            value = getattr(thing, name)  # replaces the placeholders of GPUArray's methods
            member = vars(base)[name]
            if isinstance(member, (staticmethod, classmethod)):
                member = value
            # Fields of named tuples are Parameters of the docstring of their class.
            is_property = (
                inspect.isdatadescriptor(member) and type(member).__name__ != "_tuplegetter"
            )
            if inspect.isroutine(member) or is_property:
                yield f"{path}.{name}", member
