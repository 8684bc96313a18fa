"""Generator of PyGPU/_calls.pyi and PyGPU/_constants.pyi, from the compiled module.

PYGPU_TARGET=host python tests/support/runtime_stubs.py
"""

import inspect
import textwrap
from pathlib import Path

import PyGPU
from PyGPU._runtime import core

WIDTH = 100
CALLS = '''"""Types of the runtime's calls in the compiled module.

Only other stubs import this file: there is no module of this name. Its generator is
tests/support/runtime_stubs.py.
"""

from collections.abc import Callable

from PyGPU._host import cudaError_t, cudaEvent_t, cudaStream_t
from PyGPU._types import Address, Int, Memory, StreamLike

'''
CONSTANTS = '''"""Types of the compiled module's constants, which have CUDA's names on every target.

Only other stubs import this file: there is no module of this name. Its generator is
tests/support/runtime_stubs.py.
"""

_constants: tuple[int, ...]

# fmt: off
(
'''


def _runtime_names(is_wanted):
    return [
        name for name, value in vars(core).items() if name.startswith("cuda") and is_wanted(value)
    ]


def _definition(name):
    """The stub of a function in at most 100 columns, as the formatter writes it."""
    function = getattr(core, name)
    types = function.__annotations__
    parameters = [
        f"{one.name}: {types[one.name]}"
        + ("" if one.default is one.empty else f" = {one.default!r}")
        for one in inspect.signature(function).parameters.values()
    ]
    start, end = f"def {name}(", f") -> {types['return']}: ..."
    listed = ", ".join(parameters)
    if len(start + listed + end) <= WIDTH:
        return start + listed + end
    if len(listed) + 4 <= WIDTH:
        return f"{start}\n    {listed}\n{end}"
    return "\n".join([start, *(f"    {one}," for one in parameters), end])


def calls():
    """The text of _calls.pyi."""
    kind = type(core.cudaGetDevice)
    return CALLS + "".join(
        _definition(name) + "\n" for name in _runtime_names(lambda v: type(v) is kind)
    )


def constants():
    """The text of _constants.pyi."""
    names = ", ".join(_runtime_names(lambda value: type(value) is int)) + ","
    indent = " " * 4
    lines = textwrap.fill(names, WIDTH - 1, initial_indent=indent, subsequent_indent=indent)
    return f"{CONSTANTS}{lines}\n) = _constants\n"


#: Files of the package, and the functions that make their texts.
STUBS = {"_calls.pyi": calls, "_constants.pyi": constants}

if __name__ == "__main__":
    for file, text in STUBS.items():
        (Path(PyGPU.__file__).parent / file).write_text(text())
