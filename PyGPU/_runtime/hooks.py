"""What C++ calls in Python: the table ``src/python/hooks.h``, which imports no module by its name.

==================  =================================================================
exception_of        (call, status) -> the exception for a failed device call
argument_error      the class for an argument that a kernel does not take
argument_warning    the class for one that it takes for something else
shape_error         the class for shapes that do not fit together
compiler_missing    the class for: there is no compiler for kernels here
argument_handler    the class of In, Out and InOut
types               (operation, kinds of operands) -> dtypes of computation, of results
elementwise_module  an elementwise kernel's key -> the module that holds it
reduction_module    a reduction's key -> the module that holds it, bytes of what is accumulated
gather_module       a gather's key -> the module that holds it
check_module        a check's key -> the module that looks for indices out of range
join_module         (arrays, bytes of a word, rows a thread or 0) -> the module that joins them
mask_module         (itemsize, threads) -> the module that selects and assigns items by a mask
compaction_module   (itemsize, is it for few?) -> (the module that selects many, its blocks' shape)
references_of       a module -> what keeps its texture and surface references up to date
transfer_progress   (bytes, is it upwards?) -> the progress bar of a transfer that begins, or None
require_c_type      ValueError for a dtype without a C type
get_item, set_item  ``a[key]`` and ``a[key] = value`` with masks or arrays of indices
restored            what a pickled array is made from
==================  =================================================================
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from PyGPU._runtime.targets import core


def register(**hooks: Any) -> None:
    """Set hooks, by name."""
    for name, value in hooks.items():
        core._set_hook(name, value)


def loaded(module: str) -> ModuleType:
    """A module by its name.

    Its package comes first: where another thread is importing that, Python's locks of the two would
    be taken in opposite orders, which is a deadlock that one of the threads gets as an exception.
    """
    package = module.rpartition(".")[0]
    if package:
        importlib.import_module(package)
    return importlib.import_module(module)


def defer(name: str, module: str, attribute: str) -> None:
    """Set a hook to a function whose module is loaded when it is first called."""

    def load(*args: Any) -> Any:
        function = getattr(loaded(module), attribute)
        core._set_hook(name, function)
        return function(*args)

    core._set_hook(name, load)
