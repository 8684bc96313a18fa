"""Helpers for tests of names: look up an object by its dotted path, and check its parameters."""

import ast
import importlib
import inspect


def found(path):
    """Return the object at PyGPU.`path`, or raise AttributeError."""
    module, *names = path.split(".")
    thing = importlib.import_module(f"PyGPU.{module}")
    for name in names:
        thing = getattr(thing, name)
    return thing


def assert_parameters(thing, expected):
    """Check that the first parameters match `expected` ("a b=0") and that others are optional."""
    parameters = list(inspect.signature(thing).parameters.values())
    if parameters and parameters[0].name == "self":
        del parameters[0]
    wanted = [part.partition("=") for part in expected.split()]
    assert len(parameters) >= len(wanted)
    for parameter, (name, _, default) in zip(parameters, wanted):
        assert parameter.name == name.lstrip("*")
        if default:
            assert parameter.default == ast.literal_eval(default)
    for extra in parameters[len(wanted) :]:
        variadic = extra.kind in (extra.VAR_POSITIONAL, extra.VAR_KEYWORD)
        assert variadic or extra.default is not extra.empty


def assert_star_import(module, names):
    """Check that ``from PyGPU.module import *`` imports the names."""
    given = {}
    exec(f"from PyGPU.{module} import *", given)
    for name in names:
        assert given[name] is getattr(found(module), name)
